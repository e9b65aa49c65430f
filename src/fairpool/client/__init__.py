"""Rounds by program: what operator, parties and auditor do at a service, without a browser.

Nothing but Python is needed for it: a party installs fairpool without any extra.
"""

from fairpool.client.client import Client
from fairpool.client.refused import RefusedByServiceError, UnreachableError

__all__ = ["Client", "RefusedByServiceError", "UnreachableError"]
