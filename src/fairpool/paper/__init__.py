"""The paper's experiments, as a thin user of the library: data sets, partitioning, one module per
kind of figure.
"""
