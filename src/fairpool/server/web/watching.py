"""For whatever watches the service: whether it lives, whether it is ready, and its numbers.

Whether it lives and is ready anybody may know. The numbers tell how much happens here, and are for
who has the token of metrics; where there is none, for who asks from this machine and by its name.
What came by a proxy did not: it has a header that says so, or the name of the service.
"""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from fairpool.server.people.secret_words import is_same
from fairpool.server.readiness import lacking
from fairpool.server.refused import NotFoundError
from fairpool.server.starting import LOOPBACK
from fairpool.server.web.routing import InOneThread
from fairpool.server.web.signed_in import CurrentDatabase, CurrentSettings

router = APIRouter(tags=["watching"], route_class=InOneThread)

FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""What proxies add."""

METRICS: dict[int | str, dict[str, object]] = {
    200: {"content": {"text/plain": {}}},
    404: {"description": "Not from there, or not without the token."},
}


class Alive(BaseModel):
    """The process answers."""

    alive: bool = True


class Ready(BaseModel):
    """Whether the service can do what it is there for; what it lacks otherwise."""

    ready: bool
    lacking: list[str]


@router.get("/healthz")
def show_alive() -> Alive:
    """Whether the process lives; it asks nothing of the database."""
    return Alive()


@router.get("/readyz", responses={503: {"model": Ready, "description": "Something is lacking."}})
def show_ready(settings: CurrentSettings, database: CurrentDatabase) -> Response:
    """Whether database, migrations, disk and a worker are as they must be; 503: not all."""
    found = lacking(settings, database)
    content = Ready(ready=not found, lacking=found).model_dump()
    return JSONResponse(content, status_code=503 if found else 200)


@router.get("/metrics", responses=METRICS, response_class=Response)
def show_metrics(request: Request, settings: CurrentSettings) -> Response:
    """Numbers for Prometheus."""
    if not _may_see(request, settings.metrics_token):
        raise NotFoundError
    content = request.app.state.measures.shown()
    return Response(content, media_type=CONTENT_TYPE_LATEST)


def _may_see(request: Request, token: str | None) -> bool:
    if token is not None:
        shown = request.headers.get("authorization", "")
        return is_same(shown, f"Bearer {token}")
    is_here = request.client is not None and request.client.host in LOOPBACK
    is_direct = not any(name in request.headers for name in FORWARDED)
    return is_here and is_direct and request.url.hostname in LOOPBACK
