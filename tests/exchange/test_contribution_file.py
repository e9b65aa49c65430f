"""Contribution files: what was signed comes back, and anything else is refused with the reason."""

import json

import numpy as np
import pytest
import safetensors.numpy

import fairpool.errors
from fairpool.exchange.contribution_file import (
    ENTRY,
    KIND,
    ContributionFile,
    Privacy,
    most_bytes,
    shapes_of,
)
from fairpool.signatures import sign
from tests.support.exchange import KEYS, a_contribution, a_plan, signed_plan

PLAN = signed_plan(a_plan())


def _content(body, arrays):
    """A file with a manifest that was signed as it is, whatever it says."""
    text = sign(KEYS["North"], KIND, body).content.decode().removesuffix("\n")
    return safetensors.numpy.save(dict(arrays), metadata={ENTRY: text})


@pytest.mark.parametrize("classes", [False, True])
def test_a_contribution_comes_back_from_its_file(classes):
    plan = signed_plan(a_plan(classes=classes))
    contribution = a_contribution(
        plan,
        earlier=("ab" * 32,),
        replaces=("cd" * 32,),
        rows_may_be_seen=True,
        privacy=Privacy(epsilon=3.0, delta=1e-6, noise=2.5),
    )
    content = contribution.to_bytes()
    read = ContributionFile.of_bytes(content, "north.contribution")
    assert read.manifest == contribution.manifest
    assert read.document == contribution.document
    assert read.to_bytes() == content
    for name, array in contribution.arrays.items():
        assert np.array_equal(read.arrays[name], array)
    assert {name: array.shape for name, array in read.arrays.items()} == shapes_of(plan.plan)
    assert len(content) <= most_bytes(plan.plan)


def test_two_contributions_of_the_same_rows_have_names_of_their_own():
    one, other = a_contribution(PLAN), a_contribution(PLAN, nonce="0" * 31 + "1")
    assert one.name != other.name
    assert one.name == one.digest[:32]


def test_no_byte_can_be_changed():
    content = a_contribution(PLAN).to_bytes()
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1
        with pytest.raises(fairpool.errors.ContributionError, match=r"^north\.contribution: "):
            ContributionFile.of_bytes(bytes(damaged), "north.contribution")


@pytest.mark.parametrize("length", [0, 7, 8, 100, -1, -100])
def test_a_file_that_was_cut_is_refused(length):
    content = a_contribution(PLAN).to_bytes()[:length]
    with pytest.raises(fairpool.errors.ContributionError, match=r"^north\.contribution: "):
        ContributionFile.of_bytes(content, "north.contribution")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "version 2, this fairpool reads version 1"),
        ({"more": 1}, "unknown entry 'more'"),
        ({"operator": "x"}, "no public key"),
        ({"plan": "ab"}, "'ab' is no digest"),
        ({"features": None}, "None is no digest"),
        ({"nonce": "AB" * 16}, "is none"),
        ({"rows": -1}, "no number of rows"),
        ({"rows": 1.5}, "not a whole number"),
        ({"rows": True}, "not a whole number"),
        ({"rows": 2**60}, "no number of rows"),
        ({"counts": [1, -1]}, "no number of rows"),
        ({"earlier": ["ab"]}, "no digest"),
        ({"earlier": ["ab" * 32] * 2}, "names a contribution twice"),
        ({"earlier": "ab" * 32}, "no digests"),
        ({"rows_may_be_seen": "yes"}, "must be true or false"),
        ({"privacy": {"epsilon": 1}}, "unknown privacy"),
        ({"privacy": {"epsilon": -1, "delta": 0, "noise": 1}}, "epsilon -1 is outside"),
        ({"arrays": {}}, "not those that were signed"),
        ({"arrays": None}, "not a usable contribution"),
    ],
)
def test_a_signed_manifest_that_makes_no_sense_is_refused(changes, reason):
    good = a_contribution(PLAN)
    content = _content(good.document.body | changes, good.arrays)
    with pytest.raises(fairpool.errors.ContributionError, match=reason):
        ContributionFile.of_bytes(content, "north.contribution")


def test_arrays_that_are_not_those_which_were_signed_are_refused():
    good = a_contribution(PLAN)
    doubled = {name: np.asarray(2 * array) for name, array in good.arrays.items()}
    content = _content(good.document.body, doubled)
    with pytest.raises(fairpool.errors.ContributionError, match="not as it was signed"):
        ContributionFile.of_bytes(content, "north.contribution")


def test_values_that_are_not_finite_are_refused_even_where_they_were_signed():
    gram = np.full((4, 4), np.inf)
    content = a_contribution(PLAN, arrays={"gram": gram}).to_bytes()
    with pytest.raises(fairpool.errors.ContributionError, match="not finite"):
        ContributionFile.of_bytes(content, "north.contribution")


def test_single_precision_is_refused():
    good = a_contribution(PLAN)
    single = {name: array.astype(np.float32) for name, array in good.arrays.items()}
    content = _content(good.document.body, single)
    with pytest.raises(fairpool.errors.ContributionError, match="needs F64"):
        ContributionFile.of_bytes(content, "north.contribution")


@pytest.mark.parametrize("metadata", [None, {"fairpool": "{}"}, {ENTRY: "{}", "more": "1"}])
def test_another_safetensors_file_is_refused(metadata):
    content = safetensors.numpy.save({"gram": np.eye(2)}, metadata=metadata)
    with pytest.raises(fairpool.errors.ContributionError, match="not of a contribution"):
        ContributionFile.of_bytes(content, "north.contribution")


def test_a_header_that_is_no_json_is_refused():
    text = json.dumps({"a": 1}).encode()
    content = len(text).to_bytes(8, "little") + text
    with pytest.raises(fairpool.errors.ContributionError, match="no contribution of fairpool"):
        ContributionFile.of_bytes(content, "north.contribution")
