"""Fuzzers: hostile variants of everything that fairpool reads, at random and for a given time."""
