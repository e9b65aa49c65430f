"""A collaboration that goes on: who its rows are, what is kept of them, and what was released."""
