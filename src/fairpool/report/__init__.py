"""What people and programs read.

There are the terminal's text, JSON, the operator's report, each party's letter, and their charts.
"""
