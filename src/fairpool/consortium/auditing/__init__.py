"""A round computed anew by an auditor whom all trust, from what parties signed, without any row."""
