"""Of `web/pages`: signing in, joining, the own account, people."""

from tests.server.lines.line import line
from tests.server.world import (
    MEMBERS,
    NOBODY,
    OPERATOR,
    OTHER_OPERATOR,
    OTHER_PARTY,
    PARTY,
    SIGNED_IN,
    STRANGER,
)

HERE = "/collaborations/{collaboration_id}"

EVERYBODY = (NOBODY, *SIGNED_IN)

LINES = {
    "GET /": line(EVERYBODY, 303, for_all=True),
    "GET /sign-in": line([NOBODY], also=dict.fromkeys(SIGNED_IN, 303), for_all=True),
    "POST /sign-in": line(
        EVERYBODY,
        401,
        for_all=True,
        form={"email": "operator@example.org", "password": "not the password"},
    ),
    # Without a provider, which is how this service is set up, there are none of these.
    "POST /sign-in/provider": line(EVERYBODY, 404, for_all=True, form={"next": ""}),
    "GET /sign-in/provider/callback": line(EVERYBODY, 404, for_all=True),
    "POST /account/provider": line(SIGNED_IN, 404, browser_only=True, form={"shown": "x"}),
    "POST /account/provider/remove": line(SIGNED_IN, 404, browser_only=True),
    "POST /sign-out": line(SIGNED_IN, 303, browser_only=True),
    "GET /invitations/{secret}": line(EVERYBODY, for_all=True),
    "POST /invitations/{secret}": line(
        (STRANGER, OTHER_OPERATOR),
        303,
        also=dict.fromkeys(MEMBERS, 409),
        by_link=True,
        browser_only=True,
    ),
    "POST /invitations/{secret}/account": line(
        EVERYBODY,
        303,
        for_all=True,
        form={"name": "New", "email": "new@example.org", "password": "four words together"},
    ),
    "POST /invitations/{secret}/password": line(
        EVERYBODY, 410, for_all=True, form={"password": "four words together"}
    ),
    "GET /account": line(SIGNED_IN, browser_only=True),
    "POST /account/name": line(SIGNED_IN, 303, browser_only=True, form={"name": "Another"}),
    "POST /account/mail": line(SIGNED_IN, 303, browser_only=True, form={"mail": "digest"}),
    "POST /account/password": line(
        SIGNED_IN,
        401,
        browser_only=True,
        form={"old": "not the password", "password": "four words together"},
    ),
    "POST /account/tokens": line(SIGNED_IN, browser_only=True, form={"label": "backup"}),
    "POST /account/tokens/{token_id}/revoke": line([PARTY], 303, browser_only=True),
    "POST /account/close": line(SIGNED_IN, 409, browser_only=True, form={"sure": ""}),
    "POST /account/sessions": line(SIGNED_IN, 303, browser_only=True),
    f"GET {HERE}/people": line(MEMBERS, browser_only=True),
    f"POST {HERE}/people/invite": line(
        [PARTY, OTHER_PARTY], also={OPERATOR: 422}, browser_only=True, form={"as": "party"}
    ),
    f"POST {HERE}/people/invitations/{{invitation_id}}/revoke": line(
        [OPERATOR, PARTY], 303, browser_only=True
    ),
    f"POST {HERE}/people/{{member_id}}/remove": line([OPERATOR, PARTY], 303, browser_only=True),
    f"GET {HERE}/history": line([OPERATOR], browser_only=True),
}
