"""Running a consortium: configuration, tables, the run, and what it writes."""
