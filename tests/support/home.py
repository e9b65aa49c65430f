"""A party's own machine for tests: its home, its table, and what becomes of them."""

import csv

import numpy as np

from fairpool.consortium.home.contributing import contribute_table
from fairpool.consortium.home.making import Choices
from fairpool.consortium.home.own_table import OWNER
from fairpool.consortium.tables import Source
from fairpool.exchange.home import KEY_FILE
from tests.support.exchange import KEYS, LEVELS

COLUMNS = ("a", "b", "c", "y")


def rows_of(count, *, seed=0, classes=False):
    """Rows that suit `a_plan`: two numbers, a category, and a label."""
    rng = np.random.default_rng(seed)
    rows = []
    for number, (a, b) in enumerate(rng.normal(size=(count, 2)).round(6).tolist()):
        label = LEVELS[number % 3] if classes else round(10 + a - b + rng.normal(), 6)
        rows.append((1 + 2 * a, b, "xy"[number % 2], label))
    return rows


def write_table(path, rows, header=COLUMNS):
    """A CSV file."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def a_home(folder, party="North"):
    """A person's folder with a key."""
    folder.mkdir(exist_ok=True)
    if not (folder / KEY_FILE).exists():
        KEYS[party].write(folder / KEY_FILE)
    return folder


def prepared(plan, table, home, *, party="North", **settings):
    """What `fairpool contribute` would write."""
    names = Choices.__dataclass_fields__
    choices = Choices(**{name: settings.pop(name) for name in list(settings) if name in names})
    return contribute_table(
        plan, Source(OWNER, (table,)), key=KEYS[party], home=home, choices=choices, **settings
    )


def contributed(plan, table, home, out, **settings):
    """What `fairpool contribute` writes."""
    made = prepared(plan, table, home, **settings)
    made.write(out)
    return made
