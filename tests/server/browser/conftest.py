"""The demonstration, made once, and a copy of it for each file of tests."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairpool.server.demo import prepared_demo
from fairpool.server.settings import Settings
from tests.server.browser.people import Viewer, viewer
from tests.server.served import Served, served
from tests.support.shared import built_once


def make_demo(folder: Path) -> None:
    """A demonstration that is complete."""
    prepared_demo(Settings.of(folder / "pool", environment={})).close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = built_once(tmp_path_factory, "demo", make_demo)
    folder = tmp_path_factory.mktemp("served") / "pool"
    shutil.copytree(made / "pool", folder)
    with served(folder, "--demo", "--workers", "1") as service:
        yield service


@pytest.fixture(scope="module")
def somebody(demo: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    with viewer(tmp_path_factory.mktemp("profile"), demo.address) as one:
        yield one
