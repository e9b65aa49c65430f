"""A collaboration's folder: held by one job at a time, with tables in the clear only meanwhile."""

import stat
import threading

import pytest

from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.errors import LedgerError
from fairpool.server.settings import Settings
from fairpool.server.work.places import PartyFiles
from fairpool.server.work.project import (
    Layout,
    folder_of,
    held,
    laid_out,
    make_secret,
    released_head,
)
from fairpool.server.work.vault import Vault

TOML = """\
target = "y"
[model]
kind = "blr"
[[parties]]
name = "North"
[[parties]]
name = "South"
"""


class StoppedError(Exception):
    """What a hold raises for a job that is not to go on."""


def go_on(text, done=0, total=None):
    """A hold of a job that goes on."""


def stop(text, done=0, total=None):
    raise StoppedError(text)


@pytest.fixture
def settings(tmp_path):
    return Settings.of(tmp_path, environment={})


@pytest.fixture
def layout(settings):
    vault = Vault(settings)
    uploads = [vault.store_bytes(content).id for content in (b"x,y\n1,2\n", b"x,y\n3,4\n", b"z")]
    return Layout(
        folder=folder_of(settings, "c"),
        toml=TOML,
        plan=None,
        parties=(
            PartyFiles(party="North", uploads=((uploads[0], ".csv"), (uploads[1], ".csv"))),
            PartyFiles(party="South", uploads=((uploads[2], ".parquet"),)),
        ),
    )


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_tables_are_there_while_it_lasts_and_for_this_user_alone(settings, layout):
    data = layout.folder / "data"
    with held(layout.folder, go_on), laid_out(layout, Vault(settings), go_on):
        assert files_in(data) == {
            "North/0001.csv": b"x,y\n1,2\n",
            "North/0002.csv": b"x,y\n3,4\n",
            "South/0001.parquet": b"z",
        }
        for path in (data, *data.rglob("*")):
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077
        parties = load_configuration(layout.folder).parties
        assert [party.data for party in parties] == ["data/North", "data/South"]
    assert not data.exists()


def test_tables_go_whatever_happens(settings, layout):
    with (
        pytest.raises(StoppedError, match="reading what North sent"),
        held(layout.folder, go_on),
        laid_out(layout, Vault(settings), stop),
    ):
        pass
    assert not (layout.folder / "data").exists()


def test_what_a_killed_job_left_in_the_clear_goes_with_the_next_one(layout):
    (layout.folder / "data" / "North").mkdir(parents=True)
    (layout.folder / "data" / "North" / "0001.csv").write_text("x,y\n1,2\n")
    with held(layout.folder, go_on):
        assert not (layout.folder / "data").exists()


def test_a_folder_is_one_job_s_at_a_time_and_whoever_waits_can_be_stopped(layout):
    with held(layout.folder, go_on):
        with (
            pytest.raises(StoppedError, match="waiting for another run"),
            held(layout.folder, stop),
        ):
            pass
        entered = threading.Event()

        def wait():
            with held(layout.folder, go_on):
                entered.set()

        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.wait(0.2)
    assert entered.wait(30)
    thread.join(30)


def test_a_secret_is_made_once(layout):
    with held(layout.folder, go_on):
        make_secret(layout.folder)
        before = (layout.folder / ".fairpool" / "secret.key").read_bytes()
        make_secret(layout.folder)
        assert (layout.folder / ".fairpool" / "secret.key").read_bytes() == before


def test_a_ledger_that_is_gone_is_told_and_nothing_begins_anew(layout):
    with held(layout.folder, go_on):
        assert released_head(layout.folder, 1) is None
        with pytest.raises(LedgerError, match=r"tells of 0 round\(s\), and this is round 2"):
            released_head(layout.folder, 2)
        assert not (layout.folder / ".fairpool" / "secret.key").exists()


def test_the_command_line_and_a_job_exclude_each_other(layout):
    with (
        held(layout.folder, go_on),
        pytest.raises(LedgerError, match="another run is at work"),
        one_at_a_time(layout.folder),
    ):
        pass
