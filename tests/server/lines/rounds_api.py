"""Of `web/api`: rounds, jobs, and what a released round left."""

from tests.server.lines.line import line
from tests.server.world import AUDITOR, MEMBERS, OPERATOR, OTHER_PARTY, PARTY

HERE = "/api/v1/collaborations/{collaboration_id}"
ROUND = f"{HERE}/rounds/{{number}}"
JOB = f"{HERE}/jobs/{{job_id}}"

PARTIES = (PARTY, OTHER_PARTY)

LINES = {
    f"GET {HERE}/rounds": line(MEMBERS),
    f"GET {ROUND}": line(MEMBERS),
    # The round of the address was released, and another one is at hand.
    f"POST {ROUND}/close": line([OPERATOR], 409),
    f"POST {ROUND}/reopen": line([OPERATOR], 409),
    f"POST {ROUND}/preview": line([OPERATOR], 409),
    f"POST {ROUND}/release": line([OPERATOR], 409, body={"preview": "{job_id}"}),
    # The job is a preview that is done.
    f"GET {JOB}": line([OPERATOR]),
    f"GET {JOB}/events": line([OPERATOR]),
    f"GET {JOB}/result": line([OPERATOR]),
    f"GET {JOB}/report": line([OPERATOR]),
    f"POST {JOB}/cancel": line([OPERATOR], 409),
    f"POST {JOB}/resume": line([OPERATOR], 409),
    f"GET {ROUND}/letter": line(PARTIES),
    f"GET {ROUND}/letter.html": line(PARTIES),
    f"GET {ROUND}/reward": line(PARTIES),
    f"GET {ROUND}/model-card": line(PARTIES),
    f"GET {ROUND}/statement": line(PARTIES),
    f"GET {ROUND}/report": line([OPERATOR]),
    f"GET {ROUND}/result": line([OPERATOR]),
    f"GET {HERE}/ledger": line([OPERATOR, AUDITOR]),
}
