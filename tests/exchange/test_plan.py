"""Plans: what was agreed comes back to the last bit, and nothing else is read."""

from dataclasses import replace

import numpy as np
import pytest

import fairpool.errors
from fairpool.exchange.plan import KIND, Plan, SignedPlan
from fairpool.signatures import SigningKey, sign
from tests.support.exchange import KEYS, NAMES, OPERATOR, a_plan, signed_plan, some_rows


@pytest.mark.parametrize("classes", [False, True])
def test_a_plan_comes_back_and_sums_rows_up_to_the_same_bits(classes):
    plan = a_plan(classes=classes)
    read = signed_plan(plan).plan
    for name in set(Plan.__dataclass_fields__) - {"model"}:
        assert getattr(read, name) == getattr(plan, name), name
    X, y = some_rows(plan)
    for before, after in zip(plan.model.moments(X, y), read.model.moments(X, y), strict=True):
        assert np.array_equal(before, after)
    assert read.features_digest == plan.features_digest
    assert read.signed(OPERATOR).content == plan.signed(OPERATOR).content


def test_the_plan_says_who_signed_it():
    plan = signed_plan(a_plan())
    assert plan.operator == OPERATOR.public
    assert plan.digest == a_plan().signed(OPERATOR).digest


def test_other_terms_leave_the_features_as_they_are_and_other_features_do_not():
    plan = a_plan()
    terms = replace(plan.terms, rho=0.5)
    assert replace(plan, terms=terms).features_digest == plan.features_digest
    assert a_plan(weights=5).features_digest != plan.features_digest
    louder = replace(plan, model=replace(plan.model, noise_variance=0.4))
    assert louder.features_digest != plan.features_digest


def test_another_unit_is_another_way_to_sum_rows_up():
    plan = a_plan(units={"a": "mm"})
    assert plan.features_digest != a_plan().features_digest
    assert a_plan(drops=("a",)).features_digest == a_plan().features_digest


def test_a_party_reads_in_the_plan_how_much_a_contribution_needs():
    plan = a_plan()
    said = plan.signed(OPERATOR).body["minimum"]
    assert said == {
        "parties": 3,
        "rows": plan.fewest_rows,
        "of_a_class": 10,
        "of_a_level": 3,
    }


@pytest.mark.parametrize("rho", ["magic", "stable\n", 1.5, -0.1, True, None])
def test_a_plan_with_a_rho_that_there_is_not_is_refused(rho):
    body = a_plan().signed(OPERATOR).body
    content = sign(OPERATOR, KIND, body | {"terms": body["terms"] | {"rho": rho}}).content
    with pytest.raises(fairpool.errors.PlanError, match="not a usable plan: rho"):
        SignedPlan.of_content(content, "plan.json")


def test_parties_are_found_by_who_they_are_and_by_their_keys():
    plan = a_plan()
    assert [plan.party(name).name for name in NAMES] == list(NAMES)
    assert plan.party_of(KEYS["South"].public).id == "South"
    assert plan.party("East") is None
    assert plan.party_of(SigningKey.fresh().public) is None


@pytest.mark.parametrize(("weights", "fewest"), [(1, 10), (4, 12), (20, 210), (50, 1275)])
def test_a_contribution_needs_three_times_the_rows_that_could_be_solved_for(weights, fewest):
    plan = a_plan(weights=weights)
    assert plan.fewest_rows == fewest == max(10, 3 * weights, 3 * weights * (weights + 1) / 2 / 3)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "version 2, this fairpool reads version 1; update"),
        ({"more": 1}, "unknown entry 'more'"),
        ({"label_bound": -1.0}, "label_bound -1.0 is outside"),
        ({"feature_bound": "big"}, "not a finite number"),
        ({"learned_from_sums": 1}, "must be true or false"),
        ({"parties": [{"id": "a"}]}, "unknown party"),
        ({"parties": [{"id": "a", "name": "a", "key": "x"}]}, "no public key"),
        ({"parties": [{"id": n, "name": "a", "key": None} for n in "ab"]}, "have the same name"),
        ({"terms": {}}, "unknown terms"),
        ({"minimum": {"rows": 1}}, "minimum counts .* are not those of its model"),
        ({"name": "a\x1b[2J"}, "has a control character"),
        ({"origin": "a\u202eb"}, "has a control character"),
        ({"name": "a" * 501}, "has more than 500 characters"),
        ({"discloses": ["a" * 2001]}, "has more than 2000 characters"),
        ({"units": ["mm"]}, "not a usable plan"),
        ({"units": {"a": 3}}, "3 is not a name"),
        ({"drops": [3]}, "3 is not a name"),
        ({"name": 7}, "7 is not a name"),
        ({"encoding": {"columns": []}}, "not a usable plan"),
        ({"model": {"description": {"kind": "magic"}, "tensors": {}}}, "no model of kind"),
        ({"model": {}}, "lacks 'tensors'"),
    ],
)
def test_a_plan_that_cannot_be_used_is_refused_with_the_reason(changes, reason):
    body = a_plan().signed(OPERATOR).body | changes
    content = sign(OPERATOR, KIND, body).content
    with pytest.raises(fairpool.errors.PlanError, match=reason):
        SignedPlan.of_content(content, "plan.json")


@pytest.mark.parametrize(
    "array", [{"shape": [2], "float64": "AAAA"}, {"shape": [-2], "float64": ""}, {}, 7]
)
def test_a_plan_with_a_damaged_array_is_refused(array):
    body = a_plan().signed(OPERATOR).body
    tensors = dict.fromkeys(body["model"]["tensors"], array)
    model = body["model"] | {"tensors": tensors}
    content = sign(OPERATOR, KIND, body | {"model": model}).content
    with pytest.raises(fairpool.errors.PlanError, match="not a usable plan"):
        SignedPlan.of_content(content, "plan.json")


def test_a_plan_that_somebody_edited_is_refused():
    content = signed_plan(a_plan()).document.content.replace(b'"stable"', b'"fair"')
    with pytest.raises(fairpool.errors.SignatureError, match="signature is wrong"):
        SignedPlan.of_content(content, "plan.json")
