"""The paper's experiments, as a thin user of the library.

There are its data sets, its partitioning, and one module per kind of figure.
"""
