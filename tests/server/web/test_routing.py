import pytest

from fairpool.server.store.tables import Person
from fairpool.server.web.routing import InOneThread, api_router
from fairpool.server.web.signed_in import Reading, Transaction
from tests.server.consortium import Service


def _names(service: Service) -> list[str]:
    with service.database.reading() as session:
        return [person.name for person in session.query(Person)]


def test_a_transaction_is_kept_when_its_endpoint_has_ended_and_before_the_answer_is_made(
    service: Service,
) -> None:
    router = api_router()
    seen: list[list[str]] = []

    class Answer(dict[str, str]):
        """Looks at the database when it is written out."""

        def items(self):  # type: ignore[no-untyped-def]
            seen.append(_names(service))
            return super().items()

    @router.get("/adds", response_model=None)
    def add(session: Transaction) -> dict[str, str]:
        session.add(Person(email="a@example.org", name="a", password=""))
        session.flush()
        return Answer(done="yes")

    service.app.include_router(router)
    assert service.client().get("/api/v1/adds").status_code == 200
    assert seen
    assert set(map(tuple, seen)) == {("a",)}


def test_nothing_is_kept_where_an_endpoint_fails_or_only_reads(service: Service) -> None:
    router = api_router()

    @router.get("/fails")
    def fail(session: Transaction) -> None:
        session.add(Person(email="a@example.org", name="a", password=""))
        session.flush()
        raise RuntimeError

    @router.get("/reads")
    def read(session: Reading) -> int:
        session.add(Person(email="b@example.org", name="b", password=""))
        return 1

    service.app.include_router(router)
    assert service.client().get("/api/v1/fails").status_code == 500
    assert service.client().get("/api/v1/reads").status_code == 200
    assert _names(service) == []


def test_what_is_asynchronous_gets_no_session() -> None:
    async def endpoint(session: Transaction) -> None: ...

    with pytest.raises(TypeError, match="must not wait for a database"):
        InOneThread("/path", endpoint)
