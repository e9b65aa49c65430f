"""`fairpool keys`: made once, for its owner alone, and shown as others need it."""

import json
import stat

import pytest

from fairpool.signatures import PublicKey, SigningKey
from tests.support.projects import fairpool


@pytest.fixture
def home(monkeypatch, tmp_path):
    folder = tmp_path / "home"
    monkeypatch.setenv("FAIRPOOL_HOME", str(folder))
    return folder


def test_a_new_key_is_for_its_owner_alone_and_its_public_half_is_printed(home):
    done = fairpool("keys", "new")
    assert done.returncode == 0, done.stderr
    path = home / "signing.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    key = SigningKey.read(path)
    assert f'\n  key = "{key.public}"\n' in done.stdout
    assert key.public.fingerprint in done.stdout
    assert key.material.hex() not in done.stdout + done.stderr


def test_what_is_shown_later_is_the_same(home):
    made = json.loads(fairpool("keys", "new", "--json").stdout)
    shown = json.loads(fairpool("keys", "show", "--json").stdout)
    assert made == shown
    assert PublicKey.of_text(shown["key"]).fingerprint == shown["fingerprint"]
    assert shown["file"] == str(home / "signing.key")


def test_a_key_is_never_overwritten(home):
    assert fairpool("keys", "new").returncode == 0
    before = (home / "signing.key").read_bytes()
    done = fairpool("keys", "new")
    assert done.returncode == 2
    assert "never overwritten" in done.stderr
    assert (home / "signing.key").read_bytes() == before


def test_it_may_go_elsewhere(home, tmp_path):
    path = tmp_path / "stick" / "north.key"
    assert fairpool("keys", "new", "--out", path).returncode == 0
    assert not home.exists()
    done = fairpool("keys", "show", path)
    assert str(SigningKey.read(path).public) in done.stdout


def test_without_a_key_the_error_says_how_to_make_one(home):
    done = fairpool("keys", "show")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {home}/signing.key: there is no key; if you have one, ")
    assert "FAIRPOOL_HOME" in done.stderr
    assert done.stderr.endswith("make one only if you never had any: fairpool keys new\n")


def test_a_key_that_others_can_read_is_refused(home):
    assert fairpool("keys", "new").returncode == 0
    (home / "signing.key").chmod(0o640)
    done = fairpool("keys", "show")
    assert done.returncode == 2
    assert "chmod 600" in done.stderr


def test_a_folder_that_cannot_be_made_is_told(home, tmp_path):
    (tmp_path / "file").write_text("")
    done = fairpool("keys", "new", "--out", tmp_path / "file" / "north.key")
    assert done.returncode == 2
    assert "the folder for the key cannot be made" in done.stderr
    assert "Traceback" not in done.stderr
