"""Noise that hides single rows in the sums that a party sends, and what it guarantees."""
