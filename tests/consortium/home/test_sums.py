"""Sums that are made at home are those of the rows, for every model, and however files come."""

import numpy as np
import pytest

from fairpool.consortium.home.contributing import contribute_table
from fairpool.consortium.home.own_table import OWNER
from fairpool.consortium.tables import Source
from fairpool.exchange.arrival import Sender, arrive
from tests.support.exchange import KEYS
from tests.support.home import a_home
from tests.support.projects import write
from tests.support.sums import MODELS, Case, classes, contribution_of, numbers

CASES = [(kind, of_classes) for kind in MODELS for of_classes in (False, True)]


@pytest.mark.parametrize(("kind", "of_classes"), CASES)
def test_sums_at_home_are_the_sums_of_the_rows(kind, of_classes, tmp_path):
    make = classes if of_classes else numbers
    tables = {name: make(150, seed) for seed, name in enumerate(KEYS)}
    project = tmp_path / "project"
    project.mkdir()
    plan = Case(folder=project, tables=tables, kind=kind, classes=of_classes).planned()
    mine = tables["North"]
    files = (tmp_path / "first.csv", tmp_path / "second.parquet")
    write(files[0], mine.slice(0, 60))
    write(files[1], mine.slice(60))
    made = contribute_table(
        plan, Source(OWNER, files), key=KEYS["North"], home=a_home(tmp_path / "home")
    )
    expected = contribution_of(mine, plan, "North").arrays
    assert set(expected) == set(made.file.arrays)
    for name, array in expected.items():
        scale = np.abs(array).max()
        np.testing.assert_allclose(made.file.arrays[name], array, rtol=1e-12, atol=1e-12 * scale)
    sender = Sender(id="North", name="North", key=KEYS["North"].public)
    assert len(arrive(made.content, "mine", plan=plan, sender=sender)) == 150
