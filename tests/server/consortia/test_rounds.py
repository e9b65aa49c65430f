import pytest
from sqlalchemy.exc import IntegrityError

from fairpool.server.consortia import events, rounds
from fairpool.server.consortia.who import require
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.tables import Job, JobKind, Release, Round, RoundState
from fairpool.server.work import queue
from tests.server.consortium import add_consortium

LONG = 60.0


@pytest.fixture
def consortium(database):
    consortium = add_consortium(database)
    with database.transaction() as session:
        rounds.open_next(session, consortium.collaboration)
    return consortium


def by(session, consortium, person=None):
    return require(session, person or consortium.operator, consortium.collaboration.id)


def act(database, consortium, what, *more, person=None):
    """What somebody does, in a transaction of its own."""
    with database.transaction() as session:
        return what(session, by(session, consortium, person), *more)


def put_in(database, consortium, state, preview_id=None):
    with database.transaction() as session:
        round_ = rounds.current(session, consortium.collaboration)
        round_.state = state.value
        round_.preview_id = preview_id


def state(database, consortium):
    with database.reading() as session:
        return rounds.current(session, consortium.collaboration).state


def ended(database, consortium, taken, how):
    """What a worker writes in the end."""
    with database.transaction() as session:
        rounds.lock(session, consortium.collaboration.id)
        how(session, taken)


def finish_preview(session, taken):
    queue.finish(session, taken, {"total": 1.0})
    rounds.previewed(session, taken)


def finish_release(session, taken):
    queue.finish(session, taken, {})
    rounds.released(session, taken, "h" * 64)


def be_cancelled(session, taken):
    queue.cancelled(session, taken)
    rounds.stopped(session, taken, "cancelled")


def take(database):
    return queue.take(database, "w", LONG)


def previewed(database, consortium):
    """A round whose preview is there, and the preview's job."""
    put_in(database, consortium, RoundState.CLOSED)
    job = act(database, consortium, rounds.preview)
    ended(database, consortium, take(database), finish_preview)
    return job


def test_a_round_goes_its_way_and_the_next_one_is_open(database, consortium):
    put_in(database, consortium, RoundState.CLOSED)
    job = act(database, consortium, rounds.preview)
    assert state(database, consortium) == "computing"
    ended(database, consortium, take(database), finish_preview)
    assert state(database, consortium) == "previewed"
    act(database, consortium, rounds.release, job.id)
    assert state(database, consortium) == "releasing"
    ended(database, consortium, take(database), finish_release)
    with database.reading() as session:
        both = session.query(Round).order_by(Round.number).all()
        assert [(round_.number, round_.state) for round_ in both] == [(1, "released"), (2, "open")]
        release = session.query(Release).one()
        assert (release.round_id, release.head) == (both[0].id, "h" * 64)
        assert release.released_by == consortium.operator.id
        told = [event.action for event in events.of(session, consortium.collaboration)]
        assert told == [
            "round-opened",
            "preview-asked",
            "previewed",
            "release-asked",
            "released",
            "round-opened",
        ]
        assert events.faults(session, consortium.collaboration) == []


def test_opening_the_next_round_twice_opens_one(database, consortium):
    with database.transaction() as session:
        first = rounds.open_next(session, consortium.collaboration)
        assert rounds.open_next(session, consortium.collaboration).id == first.id
    with database.reading() as session:
        assert session.query(Round).count() == 1


def test_a_round_is_released_once(database, consortium):
    job = previewed(database, consortium)
    act(database, consortium, rounds.release, job.id)
    ended(database, consortium, take(database), finish_release)
    with database.reading() as session:
        released = session.query(Round).filter_by(number=1).one().id
    with pytest.raises(IntegrityError), database.transaction() as session:  # noqa: PT011
        session.add(Release(round_id=released, head="other", released_by=consortium.operator.id))
    with pytest.raises(RefusedError, match="round 2 is open, and this needs one that is previewed"):
        act(database, consortium, rounds.release, job.id)


MOVES = {
    "reopen": (rounds.reopen, ()),
    "preview": (rounds.preview, ()),
    "release": (rounds.release, ("p",)),
}
ALLOWED = {
    "reopen": {RoundState.CLOSED, RoundState.PREVIEWED},
    "preview": {RoundState.CLOSED, RoundState.PREVIEWED},
    "release": {RoundState.PREVIEWED},
}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("before", list(RoundState))
def test_each_move_is_for_some_states_alone(database, consortium, before, move):
    put_in(database, consortium, before, "p")
    what, more = MOVES[move]
    if before in ALLOWED[move]:
        act(database, consortium, what, *more)
        return
    with pytest.raises(RefusedError, match=f"round 1 is {rounds.WORDS[before]}, and this needs"):
        act(database, consortium, what, *more)
    assert state(database, consortium) == before


@pytest.mark.parametrize("move", MOVES)
def test_nobody_but_an_operator_moves_a_round(database, consortium, move):
    put_in(database, consortium, RoundState.PREVIEWED, "p")
    what, more = MOVES[move]
    for person in (consortium.of_north, consortium.auditor):
        with pytest.raises(NotFoundError, match="no such page"):
            act(database, consortium, what, *more, person=person)
    job = act(database, consortium, rounds.preview)
    for person in (consortium.of_north, consortium.auditor):
        for wanted in (rounds.cancel, rounds.resume):
            with pytest.raises(NotFoundError, match="no such page"):
                act(database, consortium, wanted, job.id, person=person)


def test_before_terms_there_is_no_round_to_move(database):
    consortium = add_consortium(database)
    with pytest.raises(RefusedError, match="no round yet; propose terms first"):
        act(database, consortium, rounds.preview)


def test_only_the_newest_preview_is_released(database, consortium):
    old = previewed(database, consortium)
    act(database, consortium, rounds.preview)
    ended(database, consortium, take(database), finish_preview)
    with pytest.raises(RefusedError, match="a newer preview than the one"):
        act(database, consortium, rounds.release, old.id)


def test_opening_again_forgets_what_was_previewed(database, consortium):
    job = previewed(database, consortium)
    round_ = act(database, consortium, rounds.reopen)
    assert (round_.state, round_.preview_id, round_.terms_id) == ("open", None, None)
    with pytest.raises(RefusedError, match="is open"):
        act(database, consortium, rounds.release, job.id)


def test_a_computation_that_nobody_has_begun_is_cancelled_at_once_and_goes_on(database, consortium):
    put_in(database, consortium, RoundState.CLOSED)
    job = act(database, consortium, rounds.preview)
    act(database, consortium, rounds.cancel, job.id)
    assert state(database, consortium) == "closed"
    assert take(database) is None
    other = act(database, consortium, rounds.resume, job.id)
    assert state(database, consortium) == "computing"
    assert take(database).id == other.id


def test_a_computation_that_is_cancelled_goes_back_to_where_the_round_was(database, consortium):
    preview = previewed(database, consortium)
    for ask, more in ((rounds.preview, ()), (rounds.release, (preview.id,))):
        job = act(database, consortium, ask, *more)
        taken = take(database)
        act(database, consortium, rounds.cancel, job.id)
        assert state(database, consortium) in ("computing", "releasing")
        ended(database, consortium, taken, be_cancelled)
        assert state(database, consortium) == "previewed"
        with pytest.raises(RefusedError, match="has ended already: it is cancelled"):
            act(database, consortium, rounds.cancel, job.id)
    resumed = act(database, consortium, rounds.resume, job.id)
    assert resumed.kind == JobKind.RELEASE


def test_what_has_not_stopped_cannot_go_on(database, consortium):
    job = previewed(database, consortium)
    with pytest.raises(RefusedError, match="this job is done; only what was stopped"):
        act(database, consortium, rounds.resume, job.id)


def test_a_job_of_another_collaboration_is_not_there(database, consortium):
    other = add_consortium(database, "other-")
    with database.transaction() as session:
        rounds.open_next(session, other.collaboration)
    put_in(database, other, RoundState.CLOSED)
    job = act(database, other, rounds.preview)
    for wanted in (rounds.cancel, rounds.resume):
        with pytest.raises(NotFoundError, match="no such page"):
            act(database, consortium, wanted, job.id)
        with pytest.raises(NotFoundError, match="no such page"):
            act(database, consortium, wanted, "nothing")


def test_a_check_is_nobody_s_to_cancel(database, consortium):
    with database.transaction() as session:
        round_ = rounds.current(session, consortium.collaboration)
        job = queue.enqueue(
            session,
            collaboration_id=consortium.collaboration.id,
            round_id=round_.id,
            kind=JobKind.CHECK,
            person_id=consortium.of_north.id,
        )
    with pytest.raises(NotFoundError, match="no such page"):
        act(database, consortium, rounds.cancel, job.id)
    with database.reading() as session:
        assert session.get_one(Job, job.id).state == "queued"


def test_a_worker_that_lost_its_job_moves_no_round(database, consortium):
    put_in(database, consortium, RoundState.CLOSED)
    act(database, consortium, rounds.preview)
    dead = queue.take(database, "dead", -1.0)
    take(database)
    with pytest.raises(queue.LeaseLostError, match="number 1"):
        ended(database, consortium, dead, finish_preview)
    assert state(database, consortium) == "computing"
