"""A real provider, canaille, for tests: run by the Python of an environment that it has for itself.

Its only argument is a port. Standard input has a command a line, each a JSON object, and each is
answered by a line: {"user": NAME, "email": ..., "verified": true} adds somebody, whose password is
the name; {"client": ID, "secret": ..., "redirect": ...} a service; {"remove": NAME} takes somebody
away. canaille keeps no record of which addresses were verified, so that claim is added here.
"""

import json
import sys
import threading

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from canaille.oidc import provider
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

verified = set()
claims_of = provider.generate_user_claims


def with_verified(user, *given):
    claims = claims_of(user, *given)
    return claims | {"email_verified": user.user_name in verified}


def follow(order):
    if "user" in order:
        if order["verified"]:
            verified.add(order["user"])
        one = models.User(
            user_name=order["user"],
            family_name=order["user"],
            formatted_name=order["user"].title(),
            emails=[order["email"]],
            password=order["user"],
        )
        Backend.instance.save(one)
    elif "client" in order:
        one = models.Client(
            client_id=order["client"],
            client_secret=order["secret"],
            client_name="fairpool",
            client_uri="http://127.0.0.1",
            redirect_uris=[order["redirect"]],
            grant_types=["authorization_code"],
            response_types=["code"],
            scope=["openid", "profile", "email"],
            token_endpoint_auth_method="client_secret_basic",
        )
        Backend.instance.save(one)
        one.audience = [one]
        Backend.instance.save(one)
    else:
        Backend.instance.delete(Backend.instance.get(models.User, user_name=order["remove"]))


def main(port):
    key = RSAKey.generate_key(2048, auto_kid=True)
    app = create_app(
        {
            "SECRET_KEY": "of the tests",
            "SERVER_NAME": f"127.0.0.1:{port}",
            "PREFERRED_URL_SCHEME": "http",
            "WTF_CSRF_SSL_STRICT": False,
            "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False, "HTMX": False},
            "CANAILLE_OIDC": {"ACTIVE_JWKS": [key.as_dict(private=True)]},
        }
    )
    provider.generate_user_claims = with_verified
    # One request after the other: what is kept in memory is not for several threads.
    server = make_server("127.0.0.1", port, app, threaded=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    for line in sys.stdin:
        with app.app_context(), Backend.instance.session():
            follow(json.loads(line))
        print("done", flush=True)


main(int(sys.argv[1]))
