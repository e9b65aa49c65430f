"""Dense linear algebra: factors, log-determinants, elimination, and how exact they are."""
