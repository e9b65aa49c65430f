"""What letters say of the others in numbers: two digits after the point, in words and pictures."""

import re

import numpy as np
import pyarrow as pa

from fairpool.exchange.statement import SignedStatement
from fairpool.report.sealed_letter import unsealed
from tests.support.consortia import Consortium, numbers
from tests.support.letters_over_time import Letters, attacks
from tests.support.reconstruction import together_by_chance

OTHERWISE = re.compile(
    r"[0-9a-f]{64}|(?:[0-9a-f]{4} ){7}[0-9a-f]{4}"
    r"|clip\d+"
    r'|<data id="fairpool-statement" value="[^"]+"'
    r"|<h2>Does it predict better.*?(?=<h2>)",
    re.DOTALL,
)
"""Hashes, keys, names within a picture, the signature, and how the model predicts that it was sent
in the first round: another row has other noise."""


def second_letter(folder, nudge):
    """The letter of a party whose own rows alone are new, and what all data are worth.

    Args:
        folder: Where.
        nudge: What is added to an input of another party.
    """
    tables = {name: numbers(60, i, 0.3 * i) for i, name in enumerate("ABC")}
    x = tables["C"]["x"].to_pylist()
    x[7] += nudge
    tables["C"] = tables["C"].set_column(0, "x", pa.array(x))
    consortium = Consortium(folder=folder, tables=tables, rho="stable")
    consortium.next_round()
    tables["A"] = pa.concat_tables([tables["A"], numbers(40, 9)])
    done = consortium.next_round()
    assert not done.collaboration.received[0].sent
    (path,) = folder.glob("rounds/0002/parties/A/letter.html")
    content = path.read_bytes()
    signed = SignedStatement.of_content(unsealed(content, "letter").statement, "letter")
    page = OTHERWISE.sub("", content.decode())
    assert "share: " in page  # of a picture
    return page, signed.statement, done.collaboration


def test_a_letter_without_a_model_has_no_more_digits_than_it_shows(tmp_path):
    """A ten-thousandth more in another's row moves v_N, r_i and rho, and nothing in the letter."""
    page, said, result = second_letter(tmp_path / "one", 0.0)
    other_page, other_said, other_result = second_letter(tmp_path / "other", 1e-4)
    assert 0 < abs(result.game.total - other_result.game.total) < 1e-3
    assert result.rho != other_result.rho
    assert page == other_page
    assert said.reward == round(float(result.rewards[0]), 2) == other_said.reward
    assert said.rho == float(f"{result.rho:.4g}") == other_said.rho
    assert (said.total, said.contribution) == (other_said.total, other_said.contribution)


def test_attack_rows_come_out_of_what_letters_say_all_data_are_worth():
    """With all digits, ten letters tell rows of a party that is large enough for one file."""
    found = attacks(Letters(d=6, p=1, k=10, letters=10, decimals=None), draws=4)
    assert all(one.some for one in found)
    assert np.median([one.error for one in found]) < 0.05


def test_attack_with_two_digits_rows_stay_where_they_are_enough_for_two_files():
    """Where they are enough for one, guesses are still nearer than blind ones; so the page says."""
    few = attacks(Letters(d=6, p=1, k=10, letters=10, decimals=2), draws=4)
    assert not any(one.all for one in few)
    enough = attacks(Letters(d=6, p=1, k=18, letters=10, decimals=2), draws=4)
    assert together_by_chance(enough) > 1e-3
    assert np.median([one.error for one in enough]) > 0.7
