"""A collaboration over years: which rows take part, who holds what, and what changed."""
