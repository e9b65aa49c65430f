"""What people do in a collaboration: each is a function of an open session and of who asks."""
