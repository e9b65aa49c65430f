"""The API: JSON under /api/v1. A new file of it is named in `routers`."""

from collections.abc import Iterator

from fastapi import APIRouter

from fairpool.server.web.api import (
    account,
    auditing,
    collaborations,
    invitations,
    jobs,
    members,
    released,
    rounds,
    signing_in,
    submissions,
    terms,
    tokens,
)


def routers() -> Iterator[APIRouter]:
    """Of all files."""
    yield signing_in.router
    yield account.router
    yield tokens.router
    yield invitations.router
    yield members.router
    yield collaborations.router
    yield terms.router
    yield submissions.router
    yield rounds.router
    yield jobs.router
    yield released.router
    yield auditing.router
