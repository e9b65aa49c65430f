"""What a reader is taken to have before a section of a page: tables, files that somebody sent.

A page, then a heading of it ("" is the page's top), then what is made.
"""

import re
import shutil

import numpy as np

from fairpool.exchange.plan import SignedPlan
from tests.support.exchange import NAMES
from tests.support.home import a_home, contributed, write_table
from tests.support.pages import HERE
from tests.support.planned import planned_project
from tests.support.projects import round_folder, table, write

PROJECT = "my-project"


def tables_of_three(walk):
    """`tables/`, a file for each party and one for tests, with a column `yield`."""
    for number, name in enumerate(("Ash", "Elm", "Oak", "test")):
        content = table(60, number)
        renamed = [*content.column_names[:-1], "yield"]
        write(walk.machine() / "tables" / f"{name}.csv", content.rename_columns(renamed))


def given_to_a_party(walk):
    """What Hospital A was handed in the first round, and what it has itself."""
    here, party = walk.machine(), walk.machine("party")
    shutil.copytree(
        round_folder(here / PROJECT) / "parties" / "Hospital-A", party, dirs_exist_ok=True
    )
    shutil.copy(here / PROJECT / "test.csv", party / "patients.csv")
    shutil.copy(here / PROJECT / "hospital_a.csv", party / "mine.csv")


def after_two_rounds(walk):
    """Hospital B has left, Hospital A has taken a row out, and has a letter with the head."""
    project = walk.machine() / PROJECT
    letter = (round_folder(project) / "parties" / "Hospital-A" / "letter.html").read_text()
    (walk.variables["HEAD"],) = re.findall(r"a record with the hash <code>(\w+)</code>", letter)
    text = (project / "collaboration.toml").read_text()
    before, _, after = text.partition('[[parties]]\nname = "Hospital B"')
    (project / "collaboration.toml").write_text(
        before + "[[parties]]" + after.split("[[parties]]")[1]
    )
    mine = project / "hospital_a.csv"
    mine.write_text("".join(mine.read_text().splitlines(keepends=True)[:-1]))


def rows_under_the_plan(count, seed):
    """Rows that suit `planned_project`: a weight, a sex, a day, and a label."""
    rng = np.random.default_rng([17, seed])
    weight = rng.uniform(40, 110, count).round(1)
    days = rng.integers(17000, 19000, count).astype("datetime64[D]").astype(str)
    label = (2 * weight + 20 * rng.normal(size=count)).round(1).clip(0, 300)
    sex = np.where(rng.random(count) < 0.5, "f", "m")
    return list(zip(weight.tolist(), sex.tolist(), days.tolist(), label.tolist(), strict=True))


def planned(walk, **settings):
    """A project with a plan, of three parties who keep their rows; and the plan."""
    folder = walk.machine() / PROJECT
    if folder.exists():
        folder.rename(walk.machine() / "another-project")
    planned_project(folder, **settings)
    walk.run(HERE, f"fairpool plan {PROJECT}")
    return SignedPlan.of_content((folder / "plan.json").read_bytes(), "plan.json")


def contributions_sent(walk):
    """Every party has contributed; what it sent and what it keeps is on its own machine, too."""
    folder = walk.machine() / PROJECT
    plan = planned(walk, data="{party}*.contribution")
    for number, name in enumerate(NAMES):
        own = walk.machine(name.lower())
        mine = write_table(
            own / "mine.csv", rows_under_the_plan(150, number), ("weight", "sex", "seen", "y")
        )
        file = own / f"{name.lower()}.contribution"
        contributed(plan, mine, a_home(own / "home", name), file, party=name)
        shutil.copy(file, folder / f"{name}.contribution")
        shutil.copy(folder / "plan.json", own)


def handed_out(walk):
    """A round by sums has been released, and every party has its files and its receipt."""
    contributions_sent(walk)
    walk.run(HERE, f"fairpool receipts {PROJECT}")
    walk.run(HERE, f"fairpool run {PROJECT}")
    walk.run(HERE, "fairpool keys new --out auditor.key")
    folder = walk.machine() / PROJECT
    for name in NAMES:
        own = walk.machine(name.lower())
        shutil.copytree(round_folder(folder) / "parties" / name, own, dirs_exist_ok=True)
    (receipt,) = (folder / "receipts").glob("North-*")
    shutil.copy(receipt, walk.machine() / "north.receipt")
    shutil.copy(walk.machine("north") / "plan.json", walk.machine() / "norths-plan.json")


def elsewhere_a_round(walk):
    """North has a reward of another project, and is asked to contribute again."""
    handed_out(walk)
    (walk.machine() / PROJECT).rename(walk.machine() / "another-project")
    (walk.machine("north") / "north.contribution").unlink()


def asked_to_contribute(walk):
    """A party with its key, its table, and a plan that came."""
    plan = planned(walk, data="{party}*.contribution")
    here = walk.machine()
    (here / "plan.json").write_bytes(plan.document.content)
    write_table(here / "mine.csv", rows_under_the_plan(400, 1), ("weight", "sex", "seen", "y"))
    a_home(here / "home")


STAGES = {
    "operator-guide": {
        "From a folder of files to a collaboration": tables_of_three,
        "What a party does with its model": given_to_a_party,
        "Between rounds: looking, leaving, forgetting, handing over": after_two_rounds,
        "Parties who keep their rows": contributions_sent,
    },
    "README": {"": elsewhere_a_round},
    "party-guide": {"": asked_to_contribute},
    "verify": {"": handed_out},
}
