"""People: who they are, how they sign in, and what lets a program or an invited person in."""
