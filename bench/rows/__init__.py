"""One module per row of the table; each prints its measurements as JSON lines."""
