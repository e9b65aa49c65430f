"""Benchmarks: fairpool beside its peers, the naive way and the floor. Not part of the package; see
`bench.run`.
"""
