"""Who computes, where results are kept meanwhile, and how files are written.

Nothing here knows what is computed.
"""
