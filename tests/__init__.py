"""Tests, in the order of `src`; what they share is in `tests.support`."""
