"""A party's own machine: its table becomes a contribution, and nothing else leaves."""
