"""The proxy of a house, through which its machines reach others."""

import urllib.request
from urllib.parse import urlsplit

from fairpool.client.address import Address
from fairpool.errors import ServiceError


def proxy_for(address: Address) -> tuple[str, int] | None:
    """Where connections to elsewhere go, as HTTPS_PROXY and NO_PROXY say; None: directly there."""
    named = urllib.request.getproxies().get("https")
    if not named or urllib.request.proxy_bypass(address.netloc):
        return None
    try:
        parts = urlsplit(named if "://" in named else f"http://{named}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or "@" in named:
        # Not shown: there may be a password in it.
        raise ServiceError(
            "HTTPS_PROXY: this is no address of a proxy that fairpool can use; give one such as"
            " http://proxy.example.org:3128, without a name and a password"
        )
    return host, port or 80
