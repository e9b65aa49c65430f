"""Benchmarks: fairpool beside its peers, the naive way and the floor.

They are not part of the package; see `bench.run`.
"""
