"""Of `web/pages`: collaborations, drafts, terms, files, rounds, results, audits."""

from tests.server.lines.line import line
from tests.server.world import (
    AUDITOR,
    MEMBERS,
    OPERATOR,
    OTHER_OPERATOR,
    OTHER_PARTY,
    PARTY,
    SIGNED_IN,
)

HERE = "/collaborations/{collaboration_id}"
FILE = f"{HERE}/files/{{submission_id}}"
ROUND = f"{HERE}/rounds/{{number}}"
JOB = f"{HERE}/jobs/{{job_id}}"

PARTIES = (PARTY, OTHER_PARTY)
CREATORS = (OPERATOR, OTHER_OPERATOR)
NOT_CREATORS = dict.fromkeys((one for one in SIGNED_IN if one not in CREATORS), 404)

LINES = {
    "GET /collaborations": line(SIGNED_IN, browser_only=True),
    "GET /collaborations/new": line(CREATORS, also=NOT_CREATORS, browser_only=True),
    "POST /collaborations/new": line(
        CREATORS, 303, also=NOT_CREATORS, browser_only=True, form={"toml": 'name = "New"'}
    ),
    f"GET {HERE}": line(MEMBERS, browser_only=True),
    f"GET {HERE}/changes": line([OPERATOR, *PARTIES], 204, browser_only=True),
    f"GET {HERE}/draft": line([OPERATOR], browser_only=True),
    f"POST {HERE}/draft": line([OPERATOR], browser_only=True, form={"toml": 'name = "New"'}),
    f"POST {HERE}/draft/form": line([OPERATOR], 422, browser_only=True, form={"name": "New"}),
    # The newest round is closed.
    f"GET {HERE}/terms": line(MEMBERS, browser_only=True),
    f"POST {HERE}/terms/propose": line([OPERATOR], 409, browser_only=True),
    f"POST {HERE}/terms/accept": line(
        PARTIES, 303, browser_only=True, form={"digest": "{digest}", "read": "yes"}
    ),
    f"GET {FILE}": line([PARTY], browser_only=True),
    f"POST {FILE}/submit": line([PARTY], 409, browser_only=True),
    f"POST {FILE}/withdraw": line([PARTY], 409, browser_only=True),
    # The round of the address was released, and the next one is previewed.
    f"POST {ROUND}/close": line([OPERATOR], 409, browser_only=True),
    f"POST {ROUND}/reopen": line([OPERATOR], 409, browser_only=True),
    f"POST {ROUND}/compute": line([OPERATOR], 409, browser_only=True),
    f"GET {ROUND}/preview": line([OPERATOR], 409, browser_only=True),
    f"GET {ROUND}/release": line([OPERATOR], 409, browser_only=True),
    f"POST {ROUND}/release": line(
        [OPERATOR], 409, browser_only=True, form={"preview": "{job_id}", "sure": "yes"}
    ),
    # The job is a preview that is done.
    f"POST {JOB}/cancel": line([OPERATOR], 409, browser_only=True),
    f"POST {JOB}/resume": line([OPERATOR], 409, browser_only=True),
    f"GET {HERE}/results": line(PARTIES, browser_only=True),
    f"GET {HERE}/results/{{number}}": line(PARTIES, browser_only=True),
    f"GET {HERE}/visible": line(PARTIES, browser_only=True),
    f"GET {HERE}/ledger": line([OPERATOR, AUDITOR], browser_only=True),
    f"POST {ROUND}/audit": line([AUDITOR], browser_only=True),
    f"POST {ROUND}/audit/signature": line(
        [AUDITOR], 422, browser_only=True, form={"document": "{}"}
    ),
}
