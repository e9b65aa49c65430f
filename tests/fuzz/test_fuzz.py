"""A few cases of every fuzzer; `make fuzz` gives each a minute, or FUZZ_SECONDS."""

import os
import random
import time

import pytest

from tests.fuzz.fuzzers import FUZZERS, SENT, agreed_project, cleared
from tests.fuzz.mutations import damaged, with_other_values
from tests.support.exchange import OPERATOR
from tests.support.home import a_home
from tests.support.projects import fairpool

CASES = 12


@pytest.mark.parametrize("fuzzer", FUZZERS, ids=lambda fuzzer: fuzzer.__name__)
def test_a_few_cases(fuzzer, tmp_path):
    for seed in range(CASES):
        run_case(fuzzer, tmp_path, seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("fuzzer", FUZZERS, ids=lambda fuzzer: fuzzer.__name__)
def test_many_cases(fuzzer, tmp_path, capsys):
    start = time.monotonic()
    seconds = float(os.environ.get("FUZZ_SECONDS", "60"))
    first = int(os.environ.get("FUZZ_SEED", random.SystemRandom().randrange(10**9)))
    cases = 0
    while time.monotonic() < start + seconds:
        run_case(fuzzer, tmp_path, first + cases)
        cases += 1
    with capsys.disabled():
        print(f"\n{fuzzer.__name__}: {cases} cases from seed {first}")


def run_case(fuzzer, tmp_path, seed):
    """One case; a failure says how to see it again."""
    try:
        fuzzer(cleared(tmp_path / "case"), random.Random(seed))
    except BaseException as failure:
        failure.add_note(
            f"again: FUZZ_SEED={seed} FUZZ_SECONDS=1 python -m pytest -m fuzz -k {fuzzer.__name__}"
        )
        raise


def test_mutations_change_something_and_can_be_repeated():
    content, tree = b"some,bytes\n1,2\n" * 5, {"a": [1, {"b": "c"}], "d": 2.5}
    changed = sum(damaged(content, random.Random(seed)) != content for seed in range(50))
    others = sum(with_other_values(tree, random.Random(seed)) != tree for seed in range(50))
    assert changed > 40
    assert others > 40
    assert damaged(content, random.Random(3)) == damaged(content, random.Random(3))
    assert tree == {"a": [1, {"b": "c"}], "d": 2.5}


def test_an_undamaged_plan_and_contribution_work(tmp_path, monkeypatch):
    """Otherwise every case would be refused for the same reason."""
    folder = agreed_project(tmp_path / "project")
    monkeypatch.setenv("FAIRPOOL_HOME", str(a_home(tmp_path / "home")))
    given = ("--data", folder / "mine.csv", "--out", tmp_path / "out.contribution", "--yes")
    trust = ("--trust", OPERATOR.public.fingerprint)
    for command in (
        ("inspect", folder / "plan.json"),
        ("inspect", folder / SENT),
        ("check", folder),
        ("contribute", folder / "plan.json", *given, *trust),
    ):
        done = fairpool(*command)
        assert done.returncode == 0, done.stderr
