"""Of `web/api`: what an auditor computes anew, and signs."""

from tests.server.lines.line import line
from tests.server.world import AUDITOR

ROUND = "/api/v1/collaborations/{collaboration_id}/rounds/{number}"

LINES = {
    f"POST {ROUND}/audit": line([AUDITOR]),
    f"GET {ROUND}/audit.zip": line([AUDITOR]),
    f"POST {ROUND}/audit/signature": line([AUDITOR], 422, body={"document": "{}"}),
    f"GET {ROUND}/audit/signature": line([]),  # nobody has signed anything
}
