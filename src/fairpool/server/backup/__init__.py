"""A service as one file, and a service of such a file."""
