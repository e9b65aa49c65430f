"""Whole rounds in any order, with workers killed anywhere, beside a model that fits on a page."""

import os
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import Phase
from hypothesis import settings as how_often
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fairpool.consortium.rounds.context import open_context
from fairpool.server.check import check_service
from fairpool.server.consortia import closing, rounds
from fairpool.server.leftovers import remove
from fairpool.server.refused import RefusedError
from fairpool.server.work.queue import MOST_TRIES
from fairpool.server.work.vault import Vault
from tests.server.agreed import agreed, csv_of, draft_of, rows
from tests.server.work.computed import Computed
from tests.server.work.worlds import World, expire_leases, releases, sqlite_in
from tests.support.job_kills import workers

NAMES = ("north", "south")
MOST_DEATHS = MOST_TRIES - 1
"""At one job: whoever takes it after one more gives up, which `test_stages` shows."""

WORTH = ("died while computing", "died while releasing", "cancelled", "round 2 open")
REACHED = Counter()
"""How often what was worth reaching came about, over all examples."""


class Rounds(RuleBasedStateMachine):
    """A collaboration of two parties.

    The model: the terms' version and who accepted them, what each party has in the round, the
    round's number and state, whether there is a preview, and how often a worker died at the job.
    """

    world = None
    forked = None
    made = None

    def __init__(self):
        super().__init__()
        self.world.put_back()
        self.version = 0
        self.accepted = set()
        self.own = {name: [] for name in NAMES}  # submissions of this round
        self.had = dict.fromkeys(NAMES, False)  # something from earlier rounds
        self.number = 0
        self.state = None
        self.is_previewed = False
        self.deaths = 0
        self.is_cancelled = False
        self.seed = 0

    def person(self, name):
        return getattr(self.made.agreed.consortium, f"of_{name}")

    def may(self, allowed, action):
        """Do something, which must be refused exactly where the model says so."""
        try:
            done = action()
        except RefusedError:
            assert not allowed
            return None
        assert allowed
        return done

    @rule(rho=st.sampled_from([0.4, 0.6, 0.8]))
    def propose(self, rho):
        allowed = self.state in (None, "open")
        toml = draft_of(*NAMES).replace("rho = 0.6", f"rho = {rho}")
        self.made.agreed.put_draft(toml)
        before = self.version
        terms = self.may(allowed, self.made.agreed.propose)
        if terms is None:
            return
        self.version = terms.version
        if self.version != before:
            self.accepted = set()
            self.made.look_at_all()
        if self.state is None:
            self.number, self.state = 1, "open"

    @precondition(lambda self: self.version)
    @rule(name=st.sampled_from(NAMES))
    def accept(self, name):
        self.may(True, lambda: self.made.agreed.accept(self.person(name)))
        self.accepted.add(name)

    @rule(name=st.sampled_from(NAMES), count=st.sampled_from([40, 45, 50]))
    def submit(self, name, count):
        self.seed += 1
        content = csv_of(rows(count, self.seed))
        is_open = self.state == "open"
        sent = self.may(is_open, lambda: self.made.agreed.send(self.person(name), content))
        if sent is None:
            self.repair()  # the file was there before anybody said no
            return
        self.made.look_at_all()
        submitted = self.may(
            name in self.accepted, lambda: self.made.agreed.submit(self.person(name), sent)
        )
        if submitted is not None:
            self.own[name] = [submitted]

    @precondition(lambda self: any(self.own.values()))
    @rule(name=st.sampled_from(NAMES))
    def withdraw(self, name):
        for sent in self.own[name]:
            allowed = self.state == "open"
            self.may(allowed, lambda sent=sent: self.made.agreed.withdraw(self.person(name), sent))
            if allowed:
                self.own[name] = []

    @rule()
    def close(self):
        has_all = all(self.own[name] or self.had[name] for name in NAMES)
        ready = self.state == "open" and self.accepted == {*NAMES} and has_all
        if self.may(ready, lambda: self.made.act(closing.close)):
            self.state = "closed"

    @rule()
    def reopen(self):
        allowed = self.state in ("closed", "previewed")
        if self.may(allowed, lambda: self.made.act(rounds.reopen)):
            self.state, self.is_previewed = "open", False

    @rule()
    def preview(self):
        allowed = self.state in ("closed", "previewed")
        if self.may(allowed, lambda: self.made.act(rounds.preview)):
            self.state, self.deaths, self.is_cancelled = "computing", 0, False

    @rule()
    def release(self):
        newest = self.made.rounds()[-1:]
        preview = newest[0].preview_id if newest else None
        allowed = self.state == "previewed"
        if self.may(allowed, lambda: self.made.act(rounds.release, preview or "none")):
            self.state, self.deaths, self.is_cancelled = "releasing", 0, False

    @precondition(lambda self: self.state in ("computing", "releasing"))
    @rule()
    def cancel(self):
        job = self.made.job_at_work()
        if self.may(not job.is_final, lambda: self.made.act(rounds.cancel, job.id)) is None:
            return
        if job.state == "queued":
            self.step_back()
        else:
            self.is_cancelled = True

    @rule()
    def work(self):
        expire_leases(self.made.database)
        assert self.forked.work(self.made.agreed.settings, self.made.database) == ""
        self.job_has_ended()

    @precondition(
        lambda self: self.state in ("computing", "releasing") and self.deaths < MOST_DEATHS
    )
    @rule(point=st.integers(0, 150))
    def work_and_die(self, point):
        expire_leases(self.made.database)
        died = self.forked.work(self.made.agreed.settings, self.made.database, point)
        if died:
            self.deaths += 1
            REACHED[f"died while {self.state}"] += 1
        if not died or self.made.job_at_work() is None:  # it died with everything done
            self.job_has_ended()

    @rule(
        steps=st.integers(4, 10),
        in_preview=st.lists(st.integers(0, 60), max_size=2),
        in_release=st.lists(st.integers(0, 120), max_size=2),
        cancels=st.sampled_from([False, False, True]),
    )
    def get_on(self, steps, in_preview, in_release, cancels):
        """What a consortium does that wants a release: by chance alone hardly one comes about."""
        for _ in range(steps):
            deaths = {"computing": in_preview, "releasing": in_release}.get(self.state)
            if deaths and self.deaths < MOST_DEATHS:
                self.work_and_die(deaths.pop())
                if cancels and self.state in ("computing", "releasing"):
                    self.cancel()
            else:
                self.next_step()
            self.check_invariants_between()

    def check_invariants_between(self):
        self.round_is_as_the_model_has_it()
        self.every_round_is_released_once()
        self.no_submission_is_lost()

    def next_step(self):
        if self.state is None:
            self.propose(0.6)
        elif self.state == "closed":
            self.preview()
        elif self.state == "previewed":
            self.release()
        elif self.state in ("computing", "releasing"):
            self.work()
        elif self.accepted != {*NAMES}:
            self.accept(min({*NAMES} - self.accepted))
        elif not all(self.own[name] or self.had[name] for name in NAMES):
            self.submit(min(name for name in NAMES if not (self.own[name] or self.had[name])), 40)
        else:
            self.close()

    @rule()
    def server_dies_after_an_upload(self):
        orphan = Vault(self.made.agreed.settings).store_bytes(b"x").id
        found = self.found()
        assert [orphan in text for text in found] == [True]
        self.repair()

    def job_has_ended(self):
        if self.state == "computing":
            if self.is_cancelled:
                REACHED["cancelled"] += 1
                self.step_back()
            else:
                self.state, self.is_previewed = "previewed", True
        elif self.state == "releasing":
            if self.is_cancelled:
                self.step_back()
            else:
                self.had = dict.fromkeys(NAMES, True)
                self.own = {name: [] for name in NAMES}
                self.number += 1
                REACHED[f"round {self.number} open"] += 1
                self.state, self.is_previewed = "open", False
        self.is_cancelled = False

    def step_back(self):
        self.state = "previewed" if self.is_previewed else "closed"

    def told_by_ledger(self):
        if not (self.made.folder / "ledger.jsonl").exists():
            return []
        return [past.number for past in open_context(self.made.folder).history.rounds]

    def found(self):
        return [one.text for one in check_service(self.made.agreed.settings, self.made.database)]

    def repair(self):
        settings = self.made.agreed.settings
        for one in check_service(settings, self.made.database):
            os.utime(one.path, (time.time() - 7200,) * 2)
        remove(check_service(settings, self.made.database))

    @invariant()
    def round_is_as_the_model_has_it(self):
        found = [(one.number, one.state) for one in self.made.rounds()]
        expected = [(number, "released") for number in range(1, self.number)]
        if self.state is not None:
            expected.append((self.number, self.state))
        assert found == expected

    @invariant()
    def every_round_is_released_once(self):
        assert len(releases(self.made.database)) == max(0, self.number - 1)
        if self.state != "releasing":
            assert self.told_by_ledger() == [*range(1, self.number)]

    @invariant()
    def no_submission_is_lost(self):
        if self.number:
            expected = {name for name in NAMES if self.own[name] or self.had[name]}
            assert self.made.who_has_data() == expected

    @invariant()
    def files_and_database_belong_together(self):
        assert self.found() == []


@pytest.fixture(scope="module")
def world():
    """A collaboration of which nothing is agreed, and a program that forks workers."""
    with tempfile.TemporaryDirectory() as place, workers() as program:
        database = sqlite_in(Path(place) / "server")
        Rounds.made = Computed(agreed=agreed(database, Path(place)))
        Rounds.world = World.put_aside(Rounds.made.agreed.settings.folder, database)
        Rounds.forked = program
        yield
        database.close()
        shutil.rmtree(place)
        Path(place).mkdir()


def play(examples, steps):
    often = how_often(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=[Phase.reuse, Phase.generate],  # a smaller example would take minutes to find
    )
    run_state_machine_as_test(Rounds, settings=often)


def test_two_rounds_with_deaths_and_a_change_of_mind(world):
    """What chance may miss."""
    played = Rounds()
    played.get_on(steps=9, in_preview=[15], in_release=[], cancels=True)
    played.get_on(steps=4, in_preview=[5], in_release=[70, 20], cancels=False)
    played.submit("north", 50)
    played.get_on(steps=8, in_preview=[], in_release=[40], cancels=True)
    played.withdraw("south")
    played.reopen()
    played.propose(0.8)
    played.get_on(steps=10, in_preview=[], in_release=[], cancels=False)
    assert played.number > 1
    played.files_and_database_belong_together()


def test_rounds_in_any_order_with_deaths(world):
    play(examples=3, steps=10)


@pytest.mark.soak
def test_many_rounds_in_any_order_with_deaths(world):
    REACHED.clear()
    play(examples=150, steps=60)
    assert min(REACHED[what] for what in WORTH) > 20, REACHED
