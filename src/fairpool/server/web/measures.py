"""What is counted of requests, for Prometheus: by the pattern of an address, never by the address.

No label names a person, a party, a collaboration or anything else that has an identity, and none
takes a value that a client makes up: whoever reads the numbers learns of no one.
"""

from collections.abc import Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from fairpool.server.store.database import Database
from fairpool.server.store.tables import Blob, Job, JobKind, JobState

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Of requests; a client may call one whatever it likes, and all others are one."""

OTHER = "other"

SIGN_INS = frozenset({("POST", "/api/v1/session"), ("POST", "/sign-in")})
"""Where a password is shown."""

REFUSED = {401: "wrong", 429: "waits"}
"""Logins that were refused, by the status of the answer: a wrong password, or too many of them."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Measures:
    """What a service counts; it changes with every request, and what it gives is thread-safe.

    Args:
        database: Of the service, for what is counted there when somebody looks.
    """

    def __init__(self, database: Database) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "fairpool_requests",
            "Requests that were answered",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "fairpool_request_seconds",
            "How long answers took, whole streams among them",
            ["method", "route"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._received = Counter(
            "fairpool_received_bytes",
            "Bytes of what came with requests: uploads, but for little",
            ["route"],
            registry=self._registry,
        )
        self._refused = Counter(
            "fairpool_logins_refused",
            "Logins that were refused",
            ["why"],
            registry=self._registry,
        )
        for why in REFUSED.values():
            self._refused.labels(why)  # known from the start, so that a first one is seen
        ProcessCollector(registry=self._registry)
        self._registry.register(OfDatabase(database))

    def count(self, *, method: str, route: str, status: int, seconds: float, received: int) -> None:
        """Count a request that was answered.

        Args:
            method: As the client says.
            route: The pattern of the address; "none": there is none.
            status: Of the answer; 0: the client went before there was one.
            seconds: How long it took.
            received: Bytes of its body that came.
        """
        method = method if method in METHODS else OTHER
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)
        if received:
            self._received.labels(route).inc(received)
        if (method, route) in SIGN_INS and status in REFUSED:
            self._refused.labels(REFUSED[status]).inc()

    def shown(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)


class OfDatabase(Collector):
    """What the database tells at the moment somebody looks.

    Args:
        database: Of the service.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def describe(self) -> list[Metric]:
        """Nothing: nobody asks the database before somebody looks."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Jobs by kind and state, and the uploads that are kept."""
        answers = GaugeMetricFamily("fairpool_database_answers", "Whether the database answers")
        jobs = GaugeMetricFamily("fairpool_jobs", "Jobs", labels=["kind", "state"])
        kept = GaugeMetricFamily("fairpool_uploads_kept", "Uploads that are kept")
        size = GaugeMetricFamily("fairpool_uploads_kept_bytes", "Bytes of uploads that are kept")
        try:
            with self._database.reading() as session:
                found = session.execute(
                    select(Job.kind, Job.state, func.count()).group_by(Job.kind, Job.state)
                ).all()
                uploads = select(func.count(), func.coalesce(func.sum(Blob.size), 0))
                count, total = session.execute(uploads.select_from(Blob)).one()
        except (DBAPIError, NoConnection):
            answers.add_metric([], 0)
            yield answers
            return
        counted = {(kind, state): number for kind, state, number in found}
        for kind in JobKind:
            for state in JobState:
                jobs.add_metric(
                    [kind.value, state.value], counted.get((kind.value, state.value), 0)
                )
        answers.add_metric([], 1)
        kept.add_metric([], count)
        size.add_metric([], float(total))
        yield from (answers, jobs, kept, size)
