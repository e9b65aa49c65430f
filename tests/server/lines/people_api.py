"""Of `web/api`: signing in, accounts, tokens, invitations, members."""

from tests.server.lines.line import line
from tests.server.world import (
    AUDITOR,
    MEMBERS,
    NOBODY,
    OPERATOR,
    OTHER_OPERATOR,
    OTHER_PARTY,
    PARTY,
    SIGNED_IN,
    STRANGER,
)

HERE = "/api/v1/collaborations/{collaboration_id}"

LINES = {
    # Signing in and out.
    "POST /api/v1/session": line(
        [NOBODY, *SIGNED_IN],
        401,
        for_all=True,
        body={"email": "operator@example.org", "password": "not the password"},
    ),
    "GET /api/v1/session": line(SIGNED_IN, browser_only=True),
    "DELETE /api/v1/session": line(SIGNED_IN, 204, browser_only=True),
    "GET /api/v1/sessions": line(SIGNED_IN, browser_only=True),
    "DELETE /api/v1/sessions": line(SIGNED_IN, browser_only=True),
    # One's own account.
    "GET /api/v1/account": line(SIGNED_IN),
    "PATCH /api/v1/account": line(SIGNED_IN, browser_only=True, body={"name": "Another"}),
    "POST /api/v1/account/password": line(
        SIGNED_IN,
        401,
        browser_only=True,
        body={"old": "not the password", "new": "four words together"},
    ),
    "DELETE /api/v1/account": line(
        (STRANGER, PARTY, OTHER_PARTY, AUDITOR),
        204,
        also={OPERATOR: 409, OTHER_OPERATOR: 409},  # the last operator of a collaboration
        browser_only=True,
    ),
    "GET /api/v1/tokens": line(SIGNED_IN, browser_only=True),
    "POST /api/v1/tokens": line(SIGNED_IN, 201, browser_only=True, body={"name": "backup"}),
    "DELETE /api/v1/tokens/{token_id}": line([PARTY], 204, browser_only=True),
    # Invitations: whoever has the link has the right; for a party its people make them.
    "GET /api/v1/invitations/{secret}": line([NOBODY, *SIGNED_IN], for_all=True),
    "POST /api/v1/invitations/{secret}/acceptance": line(
        (STRANGER, OTHER_OPERATOR), 200, also=dict.fromkeys(MEMBERS, 409), by_link=True
    ),
    "POST /api/v1/invitations/{secret}/account": line(
        [NOBODY, *SIGNED_IN],
        201,
        for_all=True,
        body={"name": "New", "email": "new@example.org", "password": "four words together"},
    ),
    "POST /api/v1/invitations/{secret}/password": line(
        [NOBODY, *SIGNED_IN], 410, for_all=True, body={"password": "four words together"}
    ),
    f"GET {HERE}/invitations": line([OPERATOR, PARTY, OTHER_PARTY]),
    f"POST {HERE}/invitations": line(
        [PARTY, OTHER_PARTY], 201, also={OPERATOR: 422}, body={"role": "party"}
    ),
    f"DELETE {HERE}/invitations/{{invitation_id}}": line([OPERATOR, PARTY], 204),
    # Members, and what happened.
    "GET /api/v1/collaborations": line(SIGNED_IN),
    f"GET {HERE}/members": line(MEMBERS),
    f"DELETE {HERE}/members/{{member_id}}": line([OPERATOR, PARTY], 204),
    f"GET {HERE}/events": line([OPERATOR, AUDITOR]),
}
