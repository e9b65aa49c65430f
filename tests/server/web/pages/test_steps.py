from datetime import UTC, datetime

import pytest

from fairpool.server.store.tables import Job, JobKind, JobState, Role, Round, RoundState
from fairpool.server.web.pages import operator_steps, party_steps
from fairpool.server.web.pages.operator_steps import OperatorsView
from fairpool.server.web.pages.party_steps import PartysView
from fairpool.server.web.pages.party_views import SubmissionCard
from fairpool.server.web.pages.round_steps import line_of


def operators(**known):
    view = {
        "address": "/c",
        "round": None,
        "job": None,
        "draft_problems": (),
        "waiting_for": (),
        "nobody": (),
    }
    return operator_steps.next_step(OperatorsView(**view | known))


def round_in(state, number=2):
    return Round(number=number, state=state.value)


def job_in(state, kind=JobKind.PREVIEW, problem=None, **flags):
    return Job(id="j", kind=kind.value, state=state.value, problem=problem, **flags)


def addresses(step):
    return [action.address for action in step.actions]


def test_an_operator_first_completes_the_draft_then_proposes_it():
    step = operators(draft_problems=("features: missing",))
    assert "Complete the draft" in step.title
    assert addresses(step)[0] == "/c/draft"
    step = operators(nobody=("North",))
    assert addresses(step)[0] == "/c/terms"
    assert "Nobody is there yet for North." in step.texts


def test_an_operator_waits_then_closes_computes_looks_and_releases():
    waiting = operators(round=round_in(RoundState.OPEN), waiting_for=("North has sent no data",))
    assert waiting.eyebrow == "Waiting for others"
    assert "North has sent no data." in waiting.texts
    assert "/c/rounds/2/close" not in addresses(waiting)
    assert "/c/rounds/2/close" in addresses(operators(round=round_in(RoundState.OPEN)))
    assert "/c/rounds/2/compute" in addresses(operators(round=round_in(RoundState.CLOSED)))
    assert addresses(operators(round=round_in(RoundState.PREVIEWED))) == ["/c/rounds/2/preview"]


@pytest.mark.parametrize("state", [RoundState.COMPUTING, RoundState.RELEASING])
def test_an_operator_can_stop_what_is_at_work_once(state):
    step = operators(round=round_in(state), job=job_in(JobState.RUNNING))
    assert addresses(step) == ["/c/jobs/j/cancel"]
    step = operators(round=round_in(state), job=job_in(JobState.RUNNING, cancel=True))
    assert addresses(step) == []
    assert "stops" in step.texts[0]
    assert (
        addresses(operators(round=round_in(state), job=job_in(JobState.RUNNING, is_final=True)))
        == []
    )


@pytest.mark.parametrize(
    ("state", "kind"),
    [(RoundState.CLOSED, JobKind.PREVIEW), (RoundState.PREVIEWED, JobKind.RELEASE)],
)
def test_an_operator_goes_on_with_what_failed_or_was_stopped(state, kind):
    failed = job_in(JobState.FAILED, kind, problem="the disk is full; make room")
    step = operators(round=round_in(state), job=failed)
    assert step.tone == "alarm"
    assert "The disk is full; make room." in step.texts
    assert "/c/jobs/j/resume" in addresses(step)
    step = operators(round=round_in(state), job=job_in(JobState.CANCELLED, kind))
    assert "/c/jobs/j/resume" in addresses(step)


def card(state, problems=()):
    return SubmissionCard(
        id="s",
        address="/c/files/s",
        file_name="mine.csv",
        size=1,
        state=state,
        state_in_words=state,
        tone="",
        created=datetime.now(UTC),
        problems=problems,
    )


def partys(**known):
    view = {
        "address": "/c",
        "party": "North",
        "round": 2,
        "state": RoundState.OPEN,
        "takes_part": True,
        "has_agreed": True,
        "is_new_version": False,
        "files": (),
        "sends_sums": False,
        "from_round": None,
        "unread": None,
    }
    return party_steps.next_step(PartysView(**view | known))


@pytest.mark.parametrize(
    ("known", "title"),
    [
        ({"round": None}, "preparing the terms"),
        ({"takes_part": False}, "takes no part"),
        ({"state": RoundState.COMPUTING}, "Round 2 is closed"),
        ({"has_agreed": False}, "Read the terms"),
        ({"has_agreed": False, "is_new_version": True}, "have changed"),
        ({}, "Send the table of North"),
        ({"sends_sums": True}, "Send the contribution of North"),
        ({"files": (card("checking"),)}, "is being looked at"),
        ({"files": (card("refused", ("a", "b")),)}, "Correct 2 things in mine.csv"),
        ({"files": (card("refused", ("a",)),)}, "Correct one thing in mine.csv"),
        ({"files": (card("checked"),)}, "Submit mine.csv"),
        ({"files": (card("submitted"),)}, "You have done everything"),
        ({"from_round": 1}, "You have done everything"),
        ({"from_round": 1, "unread": 1}, "Your letter and your model"),
        ({"has_agreed": False, "files": (card("checked"),), "unread": 1}, "Read the terms"),
    ],
)
def test_a_party_has_one_next_step(known, title):
    assert title in partys(**known).title


@pytest.mark.parametrize(
    ("role", "state", "at"),
    [
        (Role.OPERATOR, RoundState.OPEN, "Send data"),
        (Role.OPERATOR, RoundState.CLOSED, "Preview"),
        (Role.OPERATOR, RoundState.RELEASING, "Release"),
        (Role.PARTY, RoundState.OPEN, "Send data"),
        (Role.PARTY, RoundState.PREVIEWED, "Wait"),
    ],
)
def test_a_line_of_steps_has_what_is_done_before_what_is_now(role, state, at):
    line = line_of(round_in(state), role, all_agreed=True, all_sent=False)
    states = [step.state for step in line.steps]
    assert [step.title for step in line.steps if step.state == "now"] == [at]
    assert states == sorted(states, key=["done", "now", "ahead"].index)
