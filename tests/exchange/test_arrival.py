"""What the operator refuses, with the reason: forged, replayed, wrongly addressed, impossible."""

from dataclasses import replace

import numpy as np
import pytest

from fairpool import BayesianLinearRegression
from fairpool.errors import ContributionError
from fairpool.exchange.arrival import Sender, arrive, refuse_together
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.plan import PlannedParty
from fairpool.signatures import SigningKey, sign
from tests.support.exchange import KEYS, OPERATOR, a_contribution, a_plan, signed_plan

PLAN = signed_plan(a_plan())
OF_CLASSES = signed_plan(a_plan(classes=True))
NORTH = Sender(id="North", name="North", key=KEYS["North"].public)
STRANGER = SigningKey(bytes([77] * 32))
"""A key that nobody has registered."""


def received(file, *, plan=PLAN, sender=NORTH):
    return arrive(file.to_bytes(), "north.contribution", plan=plan, sender=sender)


def sums(plan=PLAN, **of):
    """The arrays of a contribution."""
    return {name: np.array(array) for name, array in a_contribution(plan, **of).arrays.items()}


def with_arrays(plan=PLAN, **changes):
    """A contribution whose arrays a function has changed, signed as if they were right."""
    arrays = sums(plan)
    for name, change in changes.items():
        arrays[name] = np.asarray(change(arrays[name]), float)
    return a_contribution(plan, arrays=arrays)


def lopsided(gram):
    gram[..., 0, 1] += 1.0
    return gram


def indefinite(gram):
    w = np.zeros(len(gram))
    w[:2] = 1.0, -1.0
    return gram - 1.01 * (w @ gram @ w) / 4 * np.outer(w, w)


def other_plan(**changes):
    """A plan of the same operator."""
    return signed_plan(a_plan(**changes))


def by_another_operator():
    return a_contribution(signed_plan(a_plan(), STRANGER))


def without_north():
    parties = [party for party in PLAN.plan.parties if party.id != "North"]
    return other_plan(parties=(*parties, PlannedParty(id="East", name="East", key=None)))


REFUSED = {
    "signed by another party": (
        lambda: a_contribution(PLAN, key=KEYS["South"]),
        "it is signed with the key .* and the registered key of this party is",
    ),
    "signed by nobody who is registered": (
        lambda: a_contribution(PLAN, key=STRANGER),
        "ask the party, over the telephone",
    ),
    "signed by the operator": (
        lambda: a_contribution(PLAN, key=OPERATOR),
        "it is signed with the key",
    ),
    "says that it is another's": (
        lambda: a_contribution(PLAN, party="South", key=KEYS["North"]),
        "it says that it is of 'South'",
    ),
    "says that it is nobody's": (
        lambda: a_contribution(PLAN, party="", key=KEYS["North"]),
        "it says that it is of ''",
    ),
    "for another collaboration": (by_another_operator, "made for another collaboration"),
    "of other inducing points": (
        lambda: a_contribution(other_plan(weights=5)),
        "made under another plan",
    ),
    "of another scaling": (
        lambda: a_contribution(signed_plan(a_plan(units={"a": "cm"}))),
        "made under another plan",
    ),
    "of numbers, where classes were agreed on": (
        lambda: a_contribution(OF_CLASSES),
        "made under another plan",
    ),
    "of no row": (
        lambda: a_contribution(PLAN, rows=0),
        "it has no row",
    ),
    "of too few rows": (
        lambda: a_contribution(PLAN, rows=PLAN.plan.fewest_rows - 1),
        "rows could be computed",
    ),
    "an array of another shape": (
        lambda: with_arrays(gram=lambda gram: gram[:3, :3]),
        "it has the arrays .* and the plan's model needs",
    ),
    "a moment of another shape": (
        lambda: with_arrays(moment=lambda moment: moment[:, None]),
        "it has the arrays",
    ),
    "squares that are no number": (
        lambda: with_arrays(squares=lambda squares: [squares]),
        "it has the arrays",
    ),
    "an array too many": (
        lambda: a_contribution(PLAN, arrays={"rows": np.eye(3)}),
        "it has the arrays",
    ),
    "a Gram matrix that is not symmetric": (
        lambda: with_arrays(gram=lopsided),
        "gram is not a sum of squares",
    ),
    "a Gram matrix with a negative eigenvalue": (
        lambda: with_arrays(gram=indefinite),
        "gram is not a sum of squares",
    ),
    "a negative Gram matrix": (
        lambda: with_arrays(gram=lambda gram: -gram),
        "gram is not a sum of squares",
    ),
    "a Gram matrix of a hundred times the rows": (
        lambda: with_arrays(gram=lambda gram: 100 * gram, squares=lambda s: 2 * s),
        "the trace of gram is .* at most",
    ),
    "a moment that the labels cannot have": (
        lambda: with_arrays(moment=lambda moment: 50 * moment),
        "the moment needs labels whose squares sum to",
    ),
    "a moment of noise": (
        lambda: with_arrays(
            moment=lambda moment: moment + np.random.default_rng(0).normal(0, 1e3, moment.shape)
        ),
        "the moment needs labels whose squares sum to",
    ),
    "no labels": (
        lambda: with_arrays(squares=lambda squares: 0 * squares),
        "the moment needs labels whose squares sum to",
    ),
    "squares below 0": (
        lambda: with_arrays(squares=lambda squares: -squares),
        "is not a finite number from 0",
    ),
    "labels beyond the target's range": (
        lambda: with_arrays(squares=lambda squares: squares + 9.1 * 100),
        "the squares of its labels sum to",
    ),
    "more rows than its sums have": (
        lambda: a_contribution(PLAN, rows=100, arrays=sums(rows=100), counts=(50, 50)),
        "it says that there are",
    ),
}

REFUSED_OF_CLASSES = {
    "counts of other rows": (
        lambda: a_contribution(OF_CLASSES, counts=(50, 25, 25)),
        "it says that there are .* rows of each class, and its sums are over",
    ),
    "no counts": (
        lambda: a_contribution(OF_CLASSES, counts=None),
        "it says that there are None rows of each class",
    ),
    "counts that are not whole": (
        lambda: with_counts(lambda counts: counts + 0.5),
        "its counts of classes .* are none",
    ),
    "counts below 0": (
        lambda: with_counts(lambda counts: counts * [-1, 1, 1]),
        "its counts of classes .* are none",
    ),
    "counts of more rows": (
        lambda: with_counts(lambda counts: counts + np.eye(3)[2]),
        "it says that it has 100 rows, and its classes have 101",
    ),
    "a class of few rows": (
        lambda: few_of_a_class(9),
        "it has 9 row.s. of a class, and needs 10",
    ),
    "a class of one row": (lambda: few_of_a_class(1), "it has 1 row.s. of a class"),
    "a class whose Gram matrix is not symmetric": (
        lambda: with_arrays(OF_CLASSES, gram=lopsided),
        "not a sum of squares",
    ),
    "class sums that rows cannot have": (
        lambda: with_arrays(OF_CLASSES, moment=lambda sums: 3 * sums),
        "the moment needs labels whose squares sum to",
    ),
    "class sums of the other sign": (
        lambda: with_arrays(OF_CLASSES, moment=lambda sums: -10 * sums),
        "the moment needs labels whose squares sum to",
    ),
}


def with_counts(change):
    """Counts that a function has changed; the manifest says the same, as far as it can."""
    arrays = sums(OF_CLASSES)
    arrays["squares"] = np.asarray(change(arrays["squares"]), float)
    says = tuple(abs(int(count)) for count in arrays["squares"])
    return a_contribution(OF_CLASSES, arrays=arrays, counts=says)


def few_of_a_class(count):
    """Sums over rows of which so many are of the last class, rightly said."""
    plan = OF_CLASSES.plan
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, plan.inputs))
    y = np.arange(300.0) % 2
    y[:count] = 2.0
    arrays = {name: np.asarray(a, float) for name, a in plan.model.moments(X, y)._asdict().items()}
    counts = tuple(int(of_class) for of_class in arrays["squares"])
    return a_contribution(OF_CLASSES, rows=300, arrays=arrays, counts=counts)


@pytest.mark.parametrize("case", REFUSED)
def test_a_contribution_of_numbers_is_refused_with_the_reason(case):
    make, reason = REFUSED[case]
    with pytest.raises(ContributionError, match=reason) as raised:
        received(make())
    assert str(raised.value).startswith('party "North": north.contribution: ')


@pytest.mark.parametrize("case", REFUSED_OF_CLASSES)
def test_a_contribution_of_classes_is_refused_with_the_reason(case):
    make, reason = REFUSED_OF_CLASSES[case]
    with pytest.raises(ContributionError, match=reason) as raised:
        received(make(), plan=OF_CLASSES)
    assert str(raised.value).startswith('party "North": north.contribution: ')


@pytest.mark.parametrize("plan", [PLAN, OF_CLASSES], ids=["numbers", "classes"])
def test_a_contribution_as_it_should_be_is_taken(plan):
    file = a_contribution(plan)
    arrived = received(file, plan=plan)
    assert len(arrived) == 100
    assert arrived.manifest == file.manifest
    assert len(arrived.data) == 100


def test_a_contribution_for_a_plan_that_lacks_its_party_is_refused():
    with pytest.raises(ContributionError, match=r"plan\.json does not have this party"):
        received(a_contribution(PLAN), plan=without_north())


def test_a_contribution_with_a_key_that_the_plan_does_not_have_is_refused():
    planned = [replace(party, key=STRANGER.public) for party in PLAN.plan.parties[:1]]
    plan = other_plan(parties=(*planned, *PLAN.plan.parties[1:]))
    with pytest.raises(ContributionError, match="does not have this party with this key"):
        received(a_contribution(PLAN), plan=plan)


def test_other_terms_leave_contributions_as_they_are():
    terms = replace(PLAN.plan.terms, rho=0.5)
    assert len(received(a_contribution(PLAN), plan=other_plan(terms=terms))) == 100


def test_few_rows_are_taken_where_their_party_said_that_they_may_be_seen():
    assert len(received(a_contribution(PLAN, rows=9, rows_may_be_seen=True))) == 9


def test_what_another_document_is_signed_for_signs_no_contribution():
    """A party signs a receipt, say, that a manifest's words are in: it is no contribution."""
    good = a_contribution(PLAN)
    other = sign(KEYS["North"], "statement", good.document.body)
    content = good.to_bytes().replace(
        good.document.signature.hex().encode(), other.signature.hex().encode()
    )
    with pytest.raises(ContributionError, match="its signature is wrong"):
        arrive(content, "north.contribution", plan=PLAN, sender=NORTH)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_what_was_cut_short_is_refused(share):
    content = a_contribution(PLAN).to_bytes()
    with pytest.raises(ContributionError, match="cut short"):
        arrive(content[: int(share * len(content))], "c", plan=PLAN, sender=NORTH)


def test_every_changed_byte_is_found():
    content = a_contribution(PLAN).to_bytes()
    for place in range(0, len(content), 29):
        changed = bytearray(content)
        changed[place] ^= 0x20
        with pytest.raises(ContributionError, match=": "):
            arrive(bytes(changed), "c", plan=PLAN, sender=NORTH)


def test_the_same_contribution_does_not_count_twice():
    one = received(a_contribution(PLAN))
    with pytest.raises(ContributionError, match="is listed twice, or is a copy"):
        refuse_together([one, one], NORTH)


def test_the_same_sums_with_another_nonce_do_not_count_twice():
    first = a_contribution(PLAN)
    again = a_contribution(PLAN, nonce="ab" * 16, earlier=(first.digest,))
    with pytest.raises(ContributionError, match="have the same sums to the last bit"):
        refuse_together([received(first), received(again)], NORTH)


@pytest.mark.parametrize("of_classes", [False, True], ids=["numbers", "classes"])
def test_features_longer_than_declared_ranges_allow_are_refused(of_classes):
    """Of a model that does not bound them by itself: a few rows could claim any worth."""
    model = BayesianLinearRegression(0.3)
    if of_classes:
        model = OF_CLASSES.plan.encoding.target.classifier(model)
    plan = signed_plan(a_plan(classes=of_classes, model=model, feature_bound=60.0))
    arrays = sums(plan)
    rows = np.asarray(arrays["squares"]) if of_classes else 100.0
    free = np.trace(arrays["gram"], axis1=-2, axis2=-1) - rows  # the last feature is 1
    for factor, is_refused in [(0.999, False), (1.001, True)]:
        by = np.ones(np.shape(arrays["moment"]))
        by[..., :-1] = np.sqrt((factor * 60.0 * rows - rows) / free)[..., None]
        longer = {
            "gram": arrays["gram"] * by[..., :, None] * by[..., None, :],
            "moment": arrays["moment"] * by,
        }
        file = a_contribution(plan, arrays=longer)
        if is_refused:
            with pytest.raises(ContributionError, match="the squares of its features sum to"):
                received(file, plan=plan)
        else:
            assert len(received(file, plan=plan)) == 100


def test_sums_that_were_signed_again_with_the_same_nonce_do_not_count_twice():
    one = received(a_contribution(PLAN))
    other = received(a_contribution(PLAN, made="2020-01-03T00:00:00Z"))
    with pytest.raises(ContributionError, match="is listed twice, or is a copy"):
        refuse_together([one, other], NORTH)


def test_contributions_that_do_not_know_of_each_other_are_refused_together():
    one, other = received(a_contribution(PLAN)), received(a_contribution(PLAN, seed=1))
    with pytest.raises(ContributionError, match="without knowing of each other"):
        refuse_together([one, other], NORTH)


def test_an_increment_is_taken_with_what_it_adds_to():
    first = a_contribution(PLAN)
    second = a_contribution(PLAN, seed=1, earlier=(first.digest,))
    refuse_together([received(first), received(second)], NORTH)
    refuse_together([received(second), received(first)], NORTH)


def test_a_replacement_is_refused_beside_what_it_stands_in_place_of():
    first = a_contribution(PLAN)
    second = a_contribution(PLAN, seed=1, replaces=(first.digest,))
    with pytest.raises(ContributionError, match="stands in place of"):
        refuse_together([received(first), received(second)], NORTH)


def test_a_contribution_is_read_without_pickle_or_anything_that_runs():
    """What is no safetensors file is refused before anything of it is used."""
    import pickle

    for content in (pickle.dumps({"gram": np.eye(3)}), b"PK\x03\x04", b"\x93NUMPY"):
        with pytest.raises(ContributionError, match="no contribution of fairpool"):
            ContributionFile.of_bytes(content, "c")
