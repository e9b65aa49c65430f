"""By what rewards moved between two rounds: against all orderings of the factors, and in cases."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process.kernels import RBF

import fairpool as fp
from fairpool import collaboration
from fairpool.rounds import FACTORS, RoundGame, explain_changes, round_game
from tests.support.examples import INDUCING, MODELS
from tests.support.rounds import (
    BLR,
    a_round,
    everything_changes,
    parts_by_orderings,
    party,
    rewards_of,
)

CLASSES = fp.Classifier(fp.BayesianLinearRegression(1.0), classes=3)


def as_classes(game):
    """The same round with labels that are classes."""
    parties = {}
    for i, data in game.by_id.items():
        parties[i] = fp.Party(data.name, data.X, np.arange(len(data)) % 3)
    more = {"rho": game.rho, "contributions": game.contributions, "kept": game.kept}
    return a_round(game.number, parties, model=CLASSES, **more)


def summed_up(game):
    """The same round by sums instead of rows."""
    return RoundGame(
        number=game.number,
        model=game.model,
        parties=tuple(game.model.summarise(data) for data in game.parties),
        ids=game.ids,
        rho=game.rho,
        contributions=game.contributions,
        kept=game.kept,
    )


@pytest.mark.parametrize(
    ("model", "sums"),
    [
        ("gp", False),
        ("sparse", False),
        ("sparse", True),
        ("blr", False),
        ("blr", True),
        ("blr-wide", False),
        ("classes", False),
        ("classes", True),
    ],
)
def test_parts_are_those_of_all_orderings(model, sums):
    if model == "classes":
        before, after = (as_classes(game) for game in everything_changes())
    else:
        before, after = everything_changes(MODELS[model])
    if sums:
        before, after = summed_up(before), summed_up(after)
    changes = explain_changes(before, after)
    assert changes.comparable
    assert not changes.reason
    assert changes.factors == FACTORS
    for i in ("a", "b"):
        found = changes.of(i)
        expected = parts_by_orderings(before, after, i)
        assert dict(found.parts.by_factor) == pytest.approx(expected, abs=1e-8)
        assert found.parts.total == pytest.approx(found.after - found.before, abs=1e-9)
        assert found.errors is None


def test_both_ends_are_what_the_rounds_gave():
    before, after = everything_changes()
    changes = explain_changes(before, after)
    old, new = rewards_of(before), rewards_of(after)
    assert [one.id for one in changes.parties] == ["d", "b", "a", "c"]
    for one in changes.parties:
        assert one.before == (pytest.approx(old[one.id]) if one.id in old else None)
        assert one.after == (pytest.approx(new[one.id]) if one.id in new else None)
    joined, left = changes.of("d"), changes.of("c")
    assert (joined.parts, joined.moved, joined.share_before) == (None, None, None)
    assert (left.parts, left.moved, left.share_after) == (None, None, None)
    total = fp.InformationGain(after.model, after.parties).total
    assert changes.after.total == pytest.approx(total)
    assert changes.of("a").share_after == pytest.approx(new["a"] / total)
    assert (changes.before.rho, changes.after.rho) == (0.8, 0.5)
    assert (changes.before.parties, changes.after.parties) == (3, 3)


def test_nothing_changed_is_exactly_nothing():
    before, _ = everything_changes(MODELS["sparse"])
    # The same data in other objects.
    again = {i: fp.Party(data.name, data.X, data.y) for i, data in before.by_id.items()}
    changes = explain_changes(before, a_round(2, again, model=before.model, rho=before.rho))
    assert changes.factors == ()
    for one in changes.parties:
        assert set(one.parts.by_factor.values()) == {0.0}
        assert one.moved == 0.0


def test_factors_that_did_not_change_are_exactly_0():
    before, _ = everything_changes()
    more = before.by_id | {"a": party("A", 20, 77)}
    changes = explain_changes(before, a_round(2, more, rho=before.rho))
    own, others = changes.of("a").parts, changes.of("b").parts
    assert own.own_data == pytest.approx(changes.of("a").moved, abs=1e-12)
    assert own.own_data > 0.1
    assert others.others_data == pytest.approx(changes.of("b").moved, abs=1e-12)
    for parts, factor in ((own, "own_data"), (others, "others_data")):
        assert {name for name, part in parts.by_factor.items() if part} == {factor}


def test_labels_alone_are_worth_nothing():
    before, _ = everything_changes()
    corrected = {i: fp.Party(data.name, data.X, -data.y) for i, data in before.by_id.items()}
    changes = explain_changes(before, a_round(2, corrected, rho=before.rho))
    for one in changes.parties:
        assert set(one.parts.by_factor.values()) == {0.0}


def test_a_word_is_looked_up_in_every_state_and_is_no_change_of_terms():
    before, after = everything_changes()
    old = a_round(1, before.by_id, rho="stable")
    new = a_round(2, after.by_id, rho="stable")
    changes = explain_changes(old, new)
    assert changes.before.rho != changes.after.rho
    for i in ("a", "b"):
        assert changes.of(i).parts.terms == 0.0
        expected = parts_by_orderings(old, new, i)
        assert dict(changes.of(i).parts.by_factor) == pytest.approx(expected, abs=1e-8)


def test_only_terms():
    before, _ = everything_changes()
    after = a_round(2, before.by_id, rho=0.2, kept=[1.0, 0.5, 1.0])
    changes = explain_changes(before, after)
    assert changes.factors == ("terms",)
    for one in changes.parties:
        assert one.parts.terms == pytest.approx(one.moved, abs=1e-12)
    # By a discount alone, the others' terms are as they were.
    discounted = explain_changes(before, a_round(2, before.by_id, rho=0.8, kept=[1, 0.5, 1]))
    assert discounted.of("b").parts.terms < 0
    assert discounted.of("a").parts.terms == discounted.of("c").parts.terms == 0.0


def test_twins_that_change_alike_have_the_same_parts():
    twin, grown = party("A", 6, 1), party("A", 16, 2)
    third = party("C", 30, 3)
    before = a_round(1, {"a": twin, "b": fp.Party("B", twin.X, twin.y), "c": third}, rho=0.6)
    after = a_round(2, {"a": grown, "b": fp.Party("B", grown.X, grown.y), "c": third}, rho=0.9)
    changes = explain_changes(before, after)
    a, b = changes.of("a").parts, changes.of("b").parts
    assert dict(a.by_factor) == pytest.approx(dict(b.by_factor), abs=1e-9)
    assert a.own_data > 0 > a.terms


def test_a_joiner_that_is_a_twin_is_the_joiners_part_alone():
    old = {"a": party("A", 12, 1), "b": party("B", 30, 2)}
    twin = fp.Party("twin", old["a"].X, old["a"].y)
    changes = explain_changes(a_round(1, old, rho=1.0), a_round(2, old | {"t": twin}, rho=1.0))
    found = changes.of("a")
    assert changes.factors == ("joiners",)
    # It takes what it adds from its twin: they are paid the same, and less than it was.
    assert found.parts.joiners == pytest.approx(found.moved, abs=1e-12)
    assert found.share_after < found.share_before
    assert changes.of("t").after == pytest.approx(found.after, rel=1e-9)


def test_a_renamed_party_is_the_same_one_and_another_of_its_name_is_not():
    old = {"a": party("North", 12, 1), "b": party("South", 14, 2), "c": party("East", 9, 3)}
    new = {
        "a": fp.Party("Far North", old["a"].X, old["a"].y),
        "b": old["b"],
        "d": party("North", 20, 4),
    }
    changes = explain_changes(a_round(1, old), a_round(2, new))
    renamed = changes.of("a")
    assert (renamed.name, renamed.former_name) == ("Far North", "North")
    assert renamed.parts.own_data == 0.0
    assert renamed.parts.joiners != 0.0 != renamed.parts.leavers
    assert changes.of("d").before is None
    assert changes.of("b").former_name is None


@pytest.mark.parametrize(
    "model",
    [
        fp.BayesianLinearRegression(0.5, 1.1),
        fp.BayesianLinearRegression(0.51),
        fp.SparseGaussianProcess(RBF([1.0, 1.0, 1.0]), 0.5, INDUCING),
    ],
    ids=["prior", "noise", "kind"],
)
def test_a_model_learned_anew_leaves_totals(model):
    before, after = everything_changes()
    other = a_round(2, after.by_id, model=model, rho=0.5)
    changes = explain_changes(before, other)
    assert not changes.comparable
    assert "learned anew" in changes.reason
    for one in changes.parties:
        assert one.parts is None
    expected = rewards_of(other)
    assert changes.of("a").after == pytest.approx(expected["a"])
    assert changes.of("a").before == pytest.approx(rewards_of(before)["a"])


def test_length_scales_are_told_apart_and_equal_models_are_not():
    parties, _ = everything_changes()
    for scale in (0.5, 1.0, 20.0):
        kernel = RBF([scale, 1.0, 5.0])
        same = [fp.GaussianProcess(kernel, 0.3) for _ in range(2)]
        rounds = [a_round(k, parties.by_id, model=model) for k, model in enumerate(same)]
        assert explain_changes(*rounds).comparable
        other = fp.GaussianProcess(RBF([1.001 * scale, 1.0, 5.0]), 0.3)
        assert not explain_changes(rounds[0], a_round(2, parties.by_id, model=other)).comparable


def test_other_columns_or_another_encoding_leave_totals():
    before, _ = everything_changes()
    wide = {"a": party("A", 9, 1, inputs=4), "b": party("B", 9, 2, inputs=4)}
    assert "4" in explain_changes(before, a_round(2, wide, rho=0.8)).reason
    scaled = a_round(2, before.by_id, rho=before.rho, encoding="other")
    changes = explain_changes(before, scaled)
    assert not changes.comparable
    assert "scaling" in changes.reason


def test_nobody_in_both_rounds():
    changes = explain_changes(
        a_round(1, {"a": party("A", 5, 1)}), a_round(2, {"b": party("B", 5, 1)})
    )
    assert changes.comparable
    assert [one.parts for one in changes.parties] == [None, None]


def test_nothing_to_share():
    """Data that tell nothing: no reward, no share, no part."""
    nothing = {
        "a": fp.Party("A", np.zeros((3, 2)), [1, 2, 3]),
        "b": fp.Party("B", np.zeros((2, 2)), [1, 2]),
    }
    model = fp.BayesianLinearRegression(0.5, bias=False)
    some = nothing | {"b": fp.Party("B", np.ones((2, 2)), [1, 2])}
    changes = explain_changes(a_round(1, nothing, model=model), a_round(2, some, model=model))
    assert changes.of("b").share_before is None
    assert changes.of("b").share_after == pytest.approx(1.0)
    assert changes.of("b").parts.own_data == pytest.approx(changes.of("b").after)
    assert changes.of("a").after == 0.0


def test_a_party_of_huge_numbers_that_left_harms_nobody():
    model = fp.BayesianLinearRegression(1.0, bias=False)
    stays = fp.Party("stays", [[1.0, 0.0], [0.0, 2.0]], [1, 2])
    huge = fp.Party("huge", 1e5 * np.array([[1.0, 1.0], [1.0, 1 + 1e-6]]), [1, 2])
    before = a_round(1, {"s": stays, "h": huge}, model=model, rho=0.5)
    changes = explain_changes(before, a_round(2, {"s": stays}, model=model, rho=0.5))
    assert changes.of("s").after == pytest.approx(0.5 * np.log(2 * 5), rel=1e-12)


def test_a_state_that_cannot_be_valued_leaves_totals():
    """Each of two parties of huge, nearly equal columns can be valued, and both together not."""
    model = fp.BayesianLinearRegression(1.0, bias=False)
    stays = fp.Party("stays", [[1.0, 0.0], [0.0, 2.0]], [1, 2])
    nearly_singular = 1e8 * np.array([[1.0, 1.0], [1.0, 1 + 6.3e-7]])
    old = {"s": stays, "l": fp.Party("left", nearly_singular, [1, 2])}
    new = {"s": stays, "j": fp.Party("joined", nearly_singular, [1, 2])}
    changes = explain_changes(
        a_round(1, old, model=model, rho=0.5), a_round(2, new, model=model, rho=0.5)
    )
    assert "a state between the two rounds cannot be valued: rounding may put" in changes.reason
    assert changes.of("s").parts is None
    assert changes.of("s").moved == pytest.approx(0.0, abs=1e-6)


def many(n, *, changed=(), seed=0, sums=True):
    """A round of many parties, some of them with other data."""
    parties = {}
    for i in range(n):
        data = party(f"P{i}", 4 + i % 5, seed + i + 1000 * (i in changed))
        parties[f"p{i}"] = BLR.summarise(data) if sums else data
    return parties


def test_many_parties_are_sampled_with_errors_that_hold():
    n = 17
    before = a_round(1, many(n), rho=0.7)
    after = a_round(2, many(n, changed=(0,)), rho=0.7)
    changes = explain_changes(before, after)
    assert changes.sampled
    exact = {}
    for game in (before, after):
        values = fp.InformationGain(game.model, game.parties)
        phi = fp.shapley(values, "exact")
        exact[game.number] = fp.RewardScheme(values, phi).rewards(0.7)
    deviations = []
    for i, one in enumerate(changes.parties):
        assert one.parts.total == pytest.approx(one.moved, abs=1e-9)
        factor = "own_data" if i == 0 else "others_data"
        error = one.errors.by_factor[factor]
        off = one.parts.by_factor[factor] - (exact[2][i] - exact[1][i])
        deviations.append(off / max(error, 1e-6))
        assert set(one.parts.by_factor.values()) - {one.parts.by_factor[factor]} == {0.0}
    assert np.sqrt(np.mean(np.square(deviations))) < 3
    # What the rounds gave is what a run would have given.
    run = fp.collaborate(before.parties, before.model, 0.7, rng=0)
    np.testing.assert_allclose([one.before for one in changes.parties], run.rewards, rtol=1e-9)


def test_the_seed_is_that_of_every_run():
    assert round_game.SAMPLING_SEED == collaboration.SAMPLING_SEED


def test_too_many_states_leave_totals():
    before = a_round(1, many(40))
    after = a_round(2, many(40, changed=range(40)) | {"new": party("New", 5, 3)})
    changes = explain_changes(before, after)
    assert changes.comparable
    assert (
        "41 parties, of whom 40 have other data than before, 1 joined and 0 left" in changes.reason
    )
    assert all(one.parts is None for one in changes.parties)
    assert changes.of("p3").before > 0


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"ids": ("a",)}, "round 1 has 2 parties and 1 ids; give every party one"),
        ({"ids": ("a", "a")}, "two parties have the id 'a'"),
        ({"kept": [1.0]}, "kept .* are not one finite number for each of the 2 parties"),
        ({"kept": [1.0, 1.5]}, r"kept is \[1.0, 1.5\]; what a party keeps is a share in 0 .. 1"),
        ({"contributions": "shapely"}, "is not a way to measure contributions"),
    ],
)
def test_rounds_that_are_none(wrong, match):
    parties = (party("A", 5, 1), party("B", 5, 2))
    right = {"number": 1, "model": BLR, "parties": parties, "ids": ("a", "b"), "rho": 0.5}
    with pytest.raises(fp.FairpoolError, match=match):
        RoundGame(**(right | wrong))


def test_changes_as_json():
    changes = explain_changes(*everything_changes())
    told = json.loads(json.dumps(changes.to_dict(), allow_nan=False))
    assert told["before"]["terms"]["rho"] == 0.8
    assert [one["id"] for one in told["parties"]] == ["d", "b", "a", "c"]
    b = told["parties"][1]
    assert sum(b["parts"].values()) == pytest.approx(b["moved"], abs=1e-9)
    assert told["parties"][0]["parts"] is None


IDS = ("a", "b", "c", "d")


@st.composite
def rounds(draw):
    """Two rounds of up to four parties each, with ties, empty tables and null players."""
    found = []
    for number in (1, 2):
        ids = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True))
        parties = {}
        for i in ids:
            cells = draw(st.lists(st.integers(-2, 2), min_size=0, max_size=4))
            X = np.array(cells, dtype=float).reshape(-1, 1)
            parties[i] = fp.Party(i, X, X[:, 0])
        rho = draw(st.sampled_from([0.0, 0.3, 1.0, "fair", "stable", "rational", "welfare"]))
        contributions = draw(st.sampled_from(["shapley", "banzhaf"]))
        kept = draw(st.sampled_from([None, [0.5] * len(ids), [1.0] * len(ids)]))
        more = {"rho": rho, "contributions": contributions, "kept": kept}
        found.append(a_round(number, parties, **more))
    return found


@settings(max_examples=60, deadline=None)
@given(rounds())
def test_parts_add_up_and_null_factors_are_0(two):
    before, after = two
    changes = explain_changes(before, after)
    there_and_back = explain_changes(after, before)
    for one in changes.parties:
        if one.parts is None:
            assert one.before is None or one.after is None
            continue
        assert one.parts.total == pytest.approx(one.moved, abs=1e-9)
        back = there_and_back.of(one.id).parts
        swapped = {"joiners": "leavers", "leavers": "joiners"}
        for name, part in one.parts.by_factor.items():
            assert back.by_factor[swapped.get(name, name)] == pytest.approx(-part, abs=1e-9)
        if set(before.ids) >= set(after.ids):
            assert one.parts.joiners == 0.0
        if set(after.ids) >= set(before.ids):
            assert one.parts.leavers == 0.0


@settings(max_examples=15, deadline=None)
@given(rounds())
def test_any_rounds_have_the_parts_of_all_orderings(two):
    before, after = two
    changes = explain_changes(before, after)
    for one in changes.parties:
        if one.parts is not None:
            expected = parts_by_orderings(before, after, one.id)
            assert dict(one.parts.by_factor) == pytest.approx(expected, abs=1e-7)
