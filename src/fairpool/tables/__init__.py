"""The border: arrays and tables as they come in, and how a table becomes numbers."""
