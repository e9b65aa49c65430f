"""Dense linear algebra: factors, log-determinants, stacks of them, elimination; how exact they are."""
