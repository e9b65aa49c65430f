import unicodedata

import pytest

from fairpool.errors import DataError
from fairpool.server.people import passwords


def test_a_password_is_kept_as_argon2id_and_found_right_and_wrong() -> None:
    kept = passwords.hashed("four words together")
    assert kept.startswith("$argon2id$")
    assert "four words" not in kept
    assert passwords.is_right(kept, "four words together")
    assert not passwords.is_right(kept, "four words Together")
    assert not passwords.is_outdated(kept)


def test_the_same_letter_written_otherwise_is_the_same_password() -> None:
    kept = passwords.hashed("für vier Wörter")
    assert passwords.is_right(kept, unicodedata.normalize("NFD", "für vier Wörter"))


@pytest.mark.parametrize("kept", [None, "", "none"])
def test_where_there_is_no_password_none_is_right(kept: str | None) -> None:
    assert not passwords.is_right(kept, "nobody signs in with this")


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("short", "it has 5 characters; take 12 to 200"),
        ("x" * 201, "it has 201 characters"),
        ("abcabcabcabcabc", "fewer than 5 different"),
        ("anna@example.org", "your name or e-mail"),
        ("anna long name", "your name or e-mail"),
    ],
)
def test_what_is_guessed_soon_is_refused(password: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        passwords.refuse_unfit(password, email="anna@example.org", name="Anna Long Name")
