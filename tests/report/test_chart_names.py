"""Long names in charts are cut, and are still different ones."""

from hypothesis import given
from hypothesis import strategies as st

from fairpool.report.chart_names import LONGEST, columns_of, names_in_charts

words = st.lists(st.sampled_from(["clinic", "No", "1", "2", "北京", "é", "e\u0301", "🏥", "a" * 9]))
names = st.lists(words.map(" ".join).filter(bool), unique=True, min_size=1, max_size=6)


@given(names, st.integers(14, 40))
def test_every_name_is_another_one_and_short_ones_stay(found, longest):
    cut = names_in_charts(found, longest)
    assert len(set(cut)) == len(found)
    for name, text in zip(found, cut, strict=True):
        assert columns_of(text) <= longest or text == name
        if columns_of(name) <= longest:
            assert text == name
        else:
            assert text == name or "…" in text


def test_the_end_is_kept_and_where_that_is_the_same_what_differs():
    first, second = (f"University clinic of the northern provinces, ward {k}" for k in (1, 2))
    assert names_in_charts([first, second]) == (
        "University clinic…ces, ward 1",
        "University clinic…ces, ward 2",
    )
    alike = [f"University clinic {k:02d} of the northern provinces" for k in range(40)]
    cut = names_in_charts(alike)
    assert cut[7] == "University…07 of the northern…"
    assert max(map(columns_of, cut)) <= LONGEST


def test_letters_keep_their_marks_and_wide_ones_count_twice():
    marked = "e\u0301" * 40
    (cut,) = names_in_charts([marked])
    assert columns_of(cut) == LONGEST
    head, tail = cut.split("…")
    assert head == "e\u0301" * 18
    assert tail == "e\u0301" * 11
    (cut,) = names_in_charts(["北" * 16])
    assert columns_of(cut) <= LONGEST
    assert names_in_charts(["北" * 15]) == ("北" * 15,)


def test_names_that_differ_far_apart_are_whole():
    """Whatever part of them is shown, two would look alike."""
    pool = ["A" * 20 + a + "B" * 40 + b + "C" * 40 for a in "xy" for b in "xy"]
    assert names_in_charts(pool) == tuple(pool)
