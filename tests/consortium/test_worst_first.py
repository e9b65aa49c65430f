"""In which order problems are told."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fairpool.consortium.problems import Problem, Severity, worst_first

PROBLEMS = st.builds(
    Problem, text=st.text(max_size=3), severity=st.sampled_from(Severity), rows=st.integers(0, 5)
)


@given(st.lists(PROBLEMS, max_size=8))
def test_nothing_is_lost_and_nothing_worse_comes_later(problems):
    told = worst_first(problems)
    assert sorted(told, key=repr) == sorted(problems, key=repr)
    for first, second in pairwise(told):
        assert first.severity <= second.severity
        if first.severity == second.severity:
            assert first.rows >= second.rows


def test_equally_bad_ones_stay_as_they_come():
    problems = [Problem(text=text, severity=Severity.FILE) for text in "bac"]
    assert worst_first(problems) == problems
