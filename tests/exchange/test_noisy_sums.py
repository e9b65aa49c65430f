"""What the operator makes sure of before it uses sums with noise."""

from dataclasses import replace

import numpy as np
import pytest

from fairpool.errors import ContributionError, PrivacyError
from fairpool.exchange.arrival import Sender, arrive
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.noisy_sums import noise_for, row_bounds_of
from fairpool.parties import NoisySummary
from tests.support.exchange import KEYS, a_contribution, a_plan, signed_plan
from tests.support.noisy import noisy_file

NUMBERS = signed_plan(a_plan())
CLASSES = signed_plan(a_plan(classes=True))
NORTH = Sender(id="North", name="North", key=KEYS["North"].public)


def noisy(plan, *, rows=400, epsilon=3.0, seed=1):
    return noisy_file(plan, a_contribution(plan, rows=rows), epsilon, name="North", seed=seed)


def arrived(file, plan):
    return arrive(file.to_bytes(), "north.contribution", plan=plan, sender=NORTH)


def edited(file, edit):
    """The contribution with other sums, signed by the party itself."""
    arrays = {name: np.array(array) for name, array in file.arrays.items()}
    edit(arrays)
    return ContributionFile.made(KEYS["North"], file.manifest, arrays)


@pytest.mark.parametrize("plan", [NUMBERS, CLASSES], ids=["numbers", "classes"])
@pytest.mark.parametrize("rows", [1, 20, 5000])
@pytest.mark.parametrize("epsilon", [0.1, 3.0, 10.0])
def test_honest_noise_is_taken(plan, rows, epsilon):
    for seed in range(3):
        one = arrived(noisy(plan, rows=rows, epsilon=epsilon, seed=seed), plan)
        assert isinstance(one.data, NoisySummary)
        assert len(one) == one.manifest.rows == len(one.data)
        deviations = row_bounds_of(plan.plan).deviations(one.manifest.privacy.noise)
        (sums,) = one.data.sums
        assert (sums.noise[..., 0] == deviations.gram).all()
        assert (sums.noise[..., 1] == deviations.moment).all()


def huge_gram(arrays):
    arrays["gram"] += 1e6 * np.eye(arrays["gram"].shape[-1])


def negative_gram(arrays):
    arrays["gram"] -= 280 * np.eye(arrays["gram"].shape[-1])


def wide_gram(arrays):
    arrays["gram"][..., 0, 1] = arrays["gram"][..., 1, 0] = 1e300


def uneven_gram(arrays):
    arrays["gram"][..., 0, 1] += 1e-3


def long_moment(arrays):
    arrays["moment"] += 1e5


def many_squares(arrays):
    arrays["squares"] = arrays["squares"] + 1e7


def negative_squares(arrays):
    arrays["squares"] = arrays["squares"] - 1e7


EDITS = [
    (huge_gram, "the trace of gram is .*, above"),
    (negative_gram, "gram has an eigenvalue of .*, below"),
    (wide_gram, "gram has an entry of size 1e"),
    (uneven_gram, "gram is not symmetric"),
    (long_moment, "moment has the length .*, above"),
    (negative_squares, "squares is -"),
]


@pytest.mark.parametrize("plan", [NUMBERS, CLASSES], ids=["numbers", "classes"])
@pytest.mark.parametrize(("edit", "reason"), EDITS)
def test_what_no_rows_and_noise_give_is_refused(plan, edit, reason):
    with pytest.raises(ContributionError, match=f"north.contribution: {reason}"):
        arrived(edited(noisy(plan), edit), plan)


def test_more_squares_than_labels_can_have_are_refused():
    with pytest.raises(ContributionError, match=r"squares is .*, above"):
        arrived(edited(noisy(NUMBERS), many_squares), NUMBERS)


def test_noise_that_is_not_what_it_says_is_refused():
    file = noisy(NUMBERS)
    for privacy in (
        replace(file.manifest.privacy, noise=1e-3),
        replace(file.manifest.privacy, epsilon=2.0),
    ):
        manifest = replace(file.manifest, privacy=privacy)
        other = ContributionFile.made(KEYS["North"], manifest, file.arrays)
        with pytest.raises(ContributionError, match="it says that its noise has the deviation"):
            arrived(other, NUMBERS)


def test_an_epsilon_that_is_none_is_refused():
    file = noisy(NUMBERS)
    privacy = replace(file.manifest.privacy, epsilon=1e6)
    other = ContributionFile.made(
        KEYS["North"], replace(file.manifest, privacy=privacy), file.arrays
    )
    with pytest.raises(ContributionError, match="epsilon 1e"):
        arrived(other, NUMBERS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"feature_bound": None}, "does not say how long a row's features can be"),
        ({"label_bound": None}, "does not say how large labels can be"),
    ],
)
def test_without_bounds_nobody_knows_how_much_noise_is_enough(changes, reason):
    with pytest.raises(PrivacyError, match=reason):
        noise_for(a_plan(**changes), 3.0, 1e-6)


@pytest.mark.parametrize("plan", [NUMBERS, CLASSES], ids=["numbers", "classes"])
@pytest.mark.parametrize("entry", ["gram", "moment", "squares"])
@pytest.mark.parametrize("number", [1e308, -1e308, 1e-308, 1e200, -1e200])
def test_numbers_that_nothing_can_be_computed_of_are_refused_or_taken(plan, entry, number):
    def edit(arrays):
        arrays[entry][...] = number

    file = edited(noisy(plan), edit)
    says_other_rows = plan is CLASSES and entry == "squares"
    if abs(number) < 1 and not says_other_rows:
        assert len(arrived(file, plan)) == file.manifest.rows
    else:
        with pytest.raises(ContributionError, match="no rows with this noise"):
            arrived(file, plan)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0, 1e308, 0.0, "3", None, [3]])
@pytest.mark.parametrize("name", ["epsilon", "delta", "noise"])
def test_privacy_that_is_none_is_refused(name, number):
    file = noisy(NUMBERS)
    privacy = replace(file.manifest.privacy, **{name: number})
    try:
        content = ContributionFile.made(
            KEYS["North"], replace(file.manifest, privacy=privacy), file.arrays
        ).to_bytes()
    except ValueError:
        return  # JSON has no such number, and nobody can sign it
    with pytest.raises(ContributionError, match=r"privacy|epsilon|delta|noise"):
        arrive(content, "north.contribution", plan=NUMBERS, sender=NORTH)
