"""Two copies of a collaboration's folder that both go on: what tells of that, and what it costs."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

from fairpool.consortium.rounds.kept import Kept
from fairpool.errors import DataError
from fairpool.realisation.reward_file import decode_reward
from tests.support.batch_histories import fewest_in_any_combination, rows_in
from tests.support.consortia import Consortium, numbers
from tests.support.projects import fairpool


def model_of(consortium, number, party):
    """A party's model of a round, from its file."""
    (path,) = consortium.folder.glob(f"rounds/{number:04d}/parties/{party}/reward.safetensors")
    return decode_reward(path.read_bytes(), str(path))


@pytest.fixture
def copies(tmp_path):
    """A first round; then two copies of the folder, in each of which a second one is made.

    In one of them a party has one row more than in the other.
    """
    first = Consortium(folder=tmp_path / "one", tables={"A": numbers(60, 1), "V": numbers(60, 2)})
    first.next_round()
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    second = Consortium(folder=tmp_path / "other", tables=dict(first.tables))
    for consortium, count in ((first, 15), (second, 16)):
        more = numbers(16, 5).slice(0, count)
        consortium.tables["V"] = pa.concat_tables([numbers(60, 2), more])
        consortium.rho = 0.3
        consortium.next_round()
    return first, second


def verified(consortium, *heads):
    words = [word for head in heads for word in ("--head", head)]
    done = fairpool("ledger", "verify", consortium.folder, *words, "--json")
    return done.returncode, json.loads(done.stdout)


def test_each_copy_alone_is_right_and_the_others_heads_tell_of_it(copies):
    heads = [model_of(one, 2, "A").ledger.head for one in copies]
    common = model_of(copies[0], 1, "A").ledger.head
    assert heads[0] != heads[1]
    for consortium, own, others in zip(copies, heads, reversed(heads), strict=True):
        assert verified(consortium)[0] == 0
        assert verified(consortium, common, own)[0] == 0
        code, found = verified(consortium, common, own, others)
        assert code == 2
        (problem,) = found["problems"]
        assert others[:12] in problem
        assert "was cut or replaced after record" in problem
        # The letter of the round carries the same head, and so a party can tell as well.
        (letter,) = consortium.folder.glob("rounds/0002/parties/A/letter.html")
        assert own in letter.read_text()
        assert others not in letter.read_text()


def test_a_model_of_the_other_copy_is_not_taken_for_ones_own(copies):
    first, second = copies
    place = "rounds/0002/parties/A/reward.safetensors"
    shutil.copy(second.folder / place, first.folder / place)
    code, found = verified(first)
    assert code == 2
    assert any(f"{place}: not the model that was released" in one for one in found["problems"])
    with pytest.raises(DataError, match="not the model that was released in round 2"):
        first.next_round(rho=0.2)


def test_noise_is_the_same_in_both_copies(tmp_path):
    """It goes by the secret, which both have: two looks at a label are no more than one."""
    models = []
    for copy in ("one", "other"):
        tables = {"A": numbers(60, 1), "V": numbers(60, 2)}
        # Else both ledgers would be the same where both rounds are of one second.
        whom = f'contact = "{copy}@example.org"'
        consortium = Consortium(
            folder=tmp_path / copy, tables=tables, extra=f'{whom}\ntarget = "y"'
        )
        consortium.next_round()
        models.append(model_of(consortium, 1, "A"))
    assert models[0].ledger.head != models[1].ledger.head
    assert np.isfinite(models[0].eta)
    assert models[0].eta > 0
    np.testing.assert_array_equal(*(model.posterior.weights for model in models))


def test_batches_of_two_copies_know_nothing_of_each_other(copies):
    """Each copy alone tells of ten rows at least, and both together of one: so nobody should go on
    with two copies.
    """
    releases = [
        set().union(*(rows_of(consortium, batch) for batch in consortium.releases()[-1]["batches"]))
        for consortium in copies
    ]
    before = set().union(
        *(rows_of(copies[0], batch) for batch in copies[0].releases()[0]["batches"])
    )
    for release in releases:
        assert fewest_in_any_combination([before, release]) >= 10
    assert fewest_in_any_combination(releases) == 1


def rows_of(consortium, batch):
    """The rows of a batch, as the copy keeps them."""
    kept = Kept(consortium.folder / ".fairpool/kept", b"")
    rows = set()
    for body in consortium.releases():
        for part in body["batches"].get(batch, {"parts": ()})["parts"]:
            rows |= rows_in(kept.keys(part, body["parts"][part]["party"]))
    return rows
