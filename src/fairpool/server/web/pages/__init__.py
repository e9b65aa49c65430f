"""The pages: HTML. A new file of them is named in `routers`."""

from collections.abc import Iterator

from fastapi import APIRouter

from fairpool.server.web.pages import (
    account,
    auditor,
    changes,
    collaboration,
    creating,
    draft,
    files,
    history,
    joining,
    overview,
    people,
    results,
    rounds,
    signing_in,
    single_sign_on,
    terms,
    visible,
)


def routers() -> Iterator[APIRouter]:
    """Of all files."""
    # "/collaborations/new" comes before what could be called so.
    for file in (
        signing_in,
        single_sign_on,
        joining,
        account,
        overview,
        creating,
        collaboration,
        people,
    ):
        yield file.router
    for file in (draft, terms, rounds, files, results, history, auditor, changes, visible):
        yield file.router
