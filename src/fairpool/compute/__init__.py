"""Who computes, where results are kept meanwhile, and how files are written: nothing here knows
what is computed.
"""
