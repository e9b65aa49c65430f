"""What pages load besides themselves: style, scripts and pictures, which ship with the package.

An address carries the beginning of the file's SHA-256, so that browsers may keep it for good, and
ask for the new one as soon as there is one.
"""

import hashlib
from functools import cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"

HTMX = "htmx-2.0.11.min.js"
"""Of the npm package htmx.org 2.0.11 (Zero-Clause BSD: htmx-LICENSE.txt), as it is there."""

DIGITS = 12
"""Of the hash, in an address."""


class KeptFiles(StaticFiles):
    """The folder of static files, which browsers may keep: another file has another address."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file; for a year, where its address names its content."""
        response = await super().get_response(path, scope)
        if response.status_code == 200 and scope["query_string"]:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


@cache
def static_address(name: str) -> str:
    """Where a page finds a static file."""
    digest = hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
    return f"/static/{name}?{digest[:DIGITS]}"
