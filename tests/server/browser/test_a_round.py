"""The demonstration's second round, from its middle to letters that are checked at home."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairpool.consortium.example import example_files
from fairpool.server.demo import early_rows
from tests.server.browser.conftest import make_demo
from tests.server.browser.doings import accept, audit, look, release, stop_and_go_on, verify
from tests.server.browser.keeping import Kept, kept
from tests.server.browser.people import Viewer, viewer
from tests.support.shared import built_once


@pytest.fixture
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """A demonstration that may be killed."""
    made = built_once(tmp_path_factory, "demo", make_demo)
    folder = tmp_path_factory.mktemp("killed") / "pool"
    shutil.copytree(made / "pool", folder)
    with kept(folder, "--demo", "--workers", "1") as one:
        yield one


@pytest.fixture
def somebody(service: Kept, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    with viewer(tmp_path_factory.mktemp("profile"), service.address) as one:
        yield one


def test_a_round_is_closed_stopped_gone_on_with_released_and_checked(
    service: Kept, somebody: Viewer, tmp_path: Path
):
    accept(somebody, somebody.look_as("Clara"), "Hospital C")
    here = somebody.look_as("Olga")
    somebody.press("Close round 2")
    assert "Nobody can change anything in it now" in somebody.text
    stop_and_go_on(somebody, service)
    look(somebody)
    assert re.search(r"Hospital A\s+170\s+100%", somebody.text)
    release(somebody, 2)
    somebody.wait_for("Round 3")
    somebody.look_as("Ben")
    table = tmp_path / "hospital_b.csv"
    table.write_text(early_rows(example_files()["hospital_b.csv"]))
    verify(somebody, here, "Hospital B", table)
    somebody.look_as("Noor")
    audit(somebody, here, 2, tmp_path)
