"""What people and programs read: terminal, JSON, the operator's report, each party's letter, and
their charts.
"""
