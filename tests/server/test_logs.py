import logging

import pytest
import structlog

from fairpool.server.logs import write_logs
from fairpool.server.store.tables import JobKind
from fairpool.server.work.queue import Taken
from fairpool.server.work.worker import _logged

TAKEN = Taken(
    id="the-job",
    kind=JobKind.PREVIEW,
    collaboration_id="clinics",
    round_id="r",
    submission_id=None,
    person_id="p",
    worker="w",
    fence=1,
    tries=1,
    is_cancelled=False,
)


@pytest.fixture(autouse=True)
def _as_before():
    yield
    structlog.reset_defaults()


def test_a_worker_s_lines_say_which_job_they_are_about(capsys):
    write_logs()
    log = structlog.get_logger("fairpool.worker")
    with _logged(TAKEN):
        log.info("begun")
    log.info("idle")
    begun, idle = capsys.readouterr().err.splitlines()
    assert "event=begun" in begun
    assert "job=the-job" in begun
    assert "kind=preview" in begun
    assert "the-job" not in idle


def test_what_is_less_is_left_out(capsys):
    write_logs(logging.WARNING)
    log = structlog.get_logger("fairpool.worker")
    log.info("begun")
    log.warning("the database does not answer", password="hush")  # of nobody
    [line] = capsys.readouterr().err.splitlines()
    assert "the database does not answer" in line
    assert "hush" not in line
