"""Of `web/api`: collaborations, drafts, terms, acceptances, submissions."""

from tests.server.lines.line import line
from tests.server.world import (
    AUDITOR,
    MEMBERS,
    OPERATOR,
    OTHER_OPERATOR,
    OTHER_PARTY,
    PARTY,
    STRANGER,
)

HERE = "/api/v1/collaborations/{collaboration_id}"
TERMS = f"{HERE}/terms/{{digest}}"
SUBMISSION = f"{HERE}/submissions/{{submission_id}}"

PARTIES = (PARTY, OTHER_PARTY)

LINES = {
    "POST /api/v1/collaborations": line(
        (OPERATOR, OTHER_OPERATOR),
        201,
        also=dict.fromkeys((STRANGER, *PARTIES, AUDITOR), 403),  # who may not begin any
        body={"name": "New"},
    ),
    f"GET {HERE}": line(MEMBERS),
    f"GET {HERE}/draft": line([OPERATOR]),
    f"PUT {HERE}/draft": line([OPERATOR], body={"toml": ""}),
    f"GET {HERE}/parties": line([OPERATOR]),
    f"GET {HERE}/checklist": line([OPERATOR]),
    # The newest round is closed.
    f"POST {HERE}/terms": line([OPERATOR], 409),
    f"GET {HERE}/terms": line(MEMBERS),
    f"GET {TERMS}/changes": line(MEMBERS),
    f"GET {TERMS}/document": line(MEMBERS),
    f"GET {TERMS}/plan": line([]),  # all send rows
    f"GET {HERE}/acceptances": line(MEMBERS),
    f"POST {HERE}/acceptances": line(PARTIES, 201, body={"digest": "{digest}"}),
    f"GET {HERE}/acceptances/{{acceptance_id}}/document": line((OPERATOR, AUDITOR, PARTY)),
    f"GET {HERE}/standing": line(PARTIES),
    f"GET {HERE}/visible": line(PARTIES),
    f"POST {HERE}/submissions": line(PARTIES, 409, content=b"x"),
    f"GET {SUBMISSION}": line([PARTY]),
    f"POST {SUBMISSION}/submit": line([PARTY], 409),
    f"POST {SUBMISSION}/withdraw": line([PARTY], 409),
    f"GET {SUBMISSION}/receipt": line([]),  # it is a table
}
