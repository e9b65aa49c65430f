"""Dense linear algebra: all of it, so that a GPU would be used here and nowhere else.

Other rooms write their formulas with products and with these words; none calls LAPACK, BLAS,
`scipy.linalg` or `numpy.linalg` itself, but for the length of a vector.
"""
