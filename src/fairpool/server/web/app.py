"""The application: routers of the API and of the pages, behind what guards them all."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI

from fairpool.__about__ import __version__
from fairpool.server.settings import Settings
from fairpool.server.single_sign_on.configured import CALLBACK
from fairpool.server.single_sign_on.provider import Provider
from fairpool.server.store.database import Database
from fairpool.server.web import api, errors, pages, watching
from fairpool.server.web.bodies import BodyLimits
from fairpool.server.web.coming import Uploads
from fairpool.server.web.journal import Journal
from fairpool.server.web.measures import Measures
from fairpool.server.web.routing import API
from fairpool.server.web.security import Guard
from fairpool.server.web.static_files import KeptFiles

THREADS = 20
"""So many requests are worked on at a time; each may have two connections to the database."""


@asynccontextmanager
async def _begun(_app: FastAPI) -> AsyncIterator[None]:
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def create_app(settings: Settings, database: Database) -> FastAPI:
    """The service as an ASGI application.

    Args:
        settings: How it is set up.
        database: With all its tables.
    """
    app = FastAPI(
        title="fairpool",
        version=__version__,
        summary="Where parties agree, submit, see and fetch.",
        openapi_url=f"{API}/openapi.json",
        redirect_slashes=False,  # a thing has one address
        docs_url=None,  # their pages ask other servers for scripts
        redoc_url=None,
        lifespan=_begun,
    )
    app.state.settings = settings
    app.state.database = database
    app.state.demo = None  # or where one can be somebody else
    app.state.provider = None
    if settings.provider is not None:
        app.state.provider = Provider(settings.provider, settings.address + CALLBACK)
    app.state.uploads = Uploads(settings.uploads_at_once)
    errors.add_handlers(app)
    app.state.measures = Measures(database)
    for router in (*api.routers(), *pages.routers(), watching.router):
        app.include_router(router)
    app.mount("/static", KeptFiles(), name="static")
    # The last one stands first.
    app.add_middleware(BodyLimits, settings=settings)
    app.add_middleware(Guard, settings=settings)
    app.add_middleware(Journal, measures=app.state.measures)
    return app
