"""Three parties, an operator and an auditor play two whole rounds, each in a browser of their own.

Ben has a telephone, Clara no mouse.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairpool.consortium.example import example_files
from tests.server.browser.doings import (
    accept,
    audit,
    invite,
    join,
    look,
    release,
    send,
    stop_and_go_on,
    submit,
    verify,
)
from tests.server.browser.keeping import Kept, kept
from tests.server.browser.people import Viewer, pages_from, several, wait_until

COLUMNS = ("age", "bmi", "bp", "progression")

PARTIES = {"Hospital A": "amina", "Hospital B": "ben", "Hospital C": "clara"}

NAMES = {
    "olga": "Olga Berg",
    "noor": "Noor Haddad",
    "amina": "Amina Diallo",
    "ben": "Ben Okafor",
    "clara": "Clara Winter",
}


def table_of(party: str, rows: int) -> str:
    """The first rows of a hospital of the example, without most of its columns."""
    name = party.lower().replace(" ", "_")
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for number, row in enumerate(csv.DictReader(io.StringIO(example_files()[f"{name}.csv"]))):
        if number < rows:
            writer.writerow(row)
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class Play:
    """Who plays, and where.

    Attributes:
        service: That they use.
        folder: A folder for each of them is in it.
        people: Everybody's browser, by the first name.
        here: The collaboration's first page.
    """

    service: Kept
    folder: Path
    people: dict[str, Viewer]
    here: str

    def of(self, party: str) -> Viewer:
        """Who acts for a party."""
        return self.people[PARTIES[party]]

    def file(self, party: str, name: str, text: str) -> Path:
        """A file on the machine of a party."""
        path = self.folder / party / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Kept]:
    with kept(tmp_path / "pool", "--workers", "1") as one:
        yield one


@pytest.fixture
def people(service: Kept, tmp_path: Path) -> Iterator[dict[str, Viewer]]:
    has_mouse = {name: name != "clara" for name in NAMES}
    with several(tmp_path / "profile", service.address, **has_mouse) as everybody:
        everybody["ben"].set_size(390, 800)
        yield everybody


def begin(service: Kept, people: dict[str, Viewer], folder: Path) -> Play:
    """From nothing to terms that were proposed, with everybody there."""
    olga = people["olga"]
    assert service.now.link is not None
    join(olga, service.now.link, NAMES["olga"])
    olga.press("Create a collaboration")
    assert olga.faults() == []
    olga.fill("name", "Three hospitals")
    olga.fill("target", "progression")
    olga.fill("columns", "age: 0 to\nbmi: 10 to 70 kg/m2\nbp")
    olga.fill("parties", "\n".join(PARTIES))
    olga.fill("size", "20")
    olga.press("Create the draft")
    assert "say a range, as in" in olga.text
    olga.fill("columns", "age: 0 to 120\nbmi: 10 to 70 kg/m2\nbp")
    olga.press("Create the draft")
    assert "The draft is made" in olga.text
    here = olga.path.removesuffix("/terms")
    for party, name in PARTIES.items():
        join(people[name], invite(olga, here, f"For {party}"), NAMES[name])
        assert "The operator is preparing the terms" in people[name].text
    join(people["noor"], invite(olga, here, "As an auditor"), NAMES["noor"])
    olga.open(f"{here}/terms")
    olga.press("Propose these terms")
    assert "The terms are proposed" in olga.text
    folder.mkdir()
    return Play(service=service, folder=folder, people=people, here=here)


def change_terms(play: Play, rho: str) -> None:
    """The operator proposes others, and parties find what changed."""
    olga = play.people["olga"]
    olga.open(f"{play.here}/draft")
    olga.tick(f"rho-{rho}")
    olga.press("Save the draft")
    olga.open(f"{play.here}/terms")
    assert olga.faults() == []
    olga.press("Propose these terms")


def fill_round(play: Play) -> None:
    """Tables come: one is refused, one withdrawn; and then the terms change."""
    for party in ("Hospital A", "Hospital B"):
        accept(play.of(party), play.here, party)
    amina = play.file("Hospital A", "a.csv", table_of("Hospital A", 90))
    submit(play.of("Hospital A"), play.here, amina)
    ben = play.of("Hospital B")
    faulty = table_of("Hospital B", 73).replace("\n", "\nabout 40,25,80,100\n", 1)
    send(ben, play.here, play.file("Hospital B", "slip.csv", faulty))
    ben.wait_for("Correct one thing in slip.csv, and send it again")
    assert ben.faults() == []
    submit(ben, play.here, play.file("Hospital B", "b.csv", table_of("Hospital B", 73)))
    change_terms(play, "fair")
    for party in PARTIES:
        accept(play.of(party), play.here, party)
    clara = play.of("Hospital C")
    submit(clara, play.here, play.file("Hospital C", "wrong.csv", table_of("Hospital C", 40)))
    clara.press("Withdraw it")
    assert "Withdrawn" in clara.text
    olga = play.people["olga"]
    olga.open(play.here)
    assert "Send a table for round 1" in olga.text
    submit(clara, play.here, play.file("Hospital C", "c.csv", table_of("Hospital C", 83)))


def close(play: Play, number: int) -> Viewer:
    """The operator closes the round, once what was sent has been looked at by the newest terms."""
    olga = play.people["olga"]

    def ready() -> bool:
        olga.open(play.here)
        return f"Close round {number}" in olga.text

    wait_until(ready, f"round {number} to be closed")
    assert olga.faults() == []
    olga.press(f"Close round {number}")
    return olga


def test_a_consortium_begins(service: Kept, people: dict[str, Viewer], tmp_path: Path):
    play = begin(service, people, tmp_path / "home")
    fill_round(play)
    olga = close(play, 1)
    assert "Compute round 1, to look at it" in olga.text
    people["clara"].open(play.here)
    assert "Round 1 is closed" in people["clara"].text


@pytest.mark.soak
def test_two_whole_rounds(service: Kept, people: dict[str, Viewer], tmp_path: Path):
    play = begin(service, people, tmp_path / "home")
    fill_round(play)
    olga = close(play, 1)
    stop_and_go_on(olga, service)
    look(olga)
    release(olga, 1)
    service.kill(*people.values(), with_workers=True)
    olga.wait_for("Round 2")
    for party in PARTIES:
        file = {"Hospital A": "a.csv", "Hospital B": "b.csv", "Hospital C": "c.csv"}[party]
        verify(play.of(party), play.here, party, tmp_path / "home" / party / file)
    auditors = tmp_path / "home" / "auditor"
    auditors.mkdir()
    audit(people["noor"], play.here, 1, auditors)
    _second_round(play)
    audit(people["noor"], play.here, 2, auditors)
    clara = people["clara"]
    clara.open(f"{play.here}/results")
    assert "round 2" in str(clara.find("svg.chart").get_attribute("aria-label"))
    for name, viewer in people.items():
        seen = pages_from(viewer, play.here)
        assert {path: faults for path, faults in seen.items() if faults} == {}, name


def _second_round(play: Play) -> None:
    """Other terms, a newer table of one, and death at every turn."""
    change_terms(play, "stable")
    for party in PARTIES:
        accept(play.of(party), play.here, party)
    newer = play.file("Hospital A", "newer.csv", table_of("Hospital A", 130))
    submit(play.of("Hospital A"), play.here, newer)
    everybody = tuple(play.people.values())
    play.service.kill(*everybody, with_workers=True)
    olga = close(play, 2)
    olga.press("Open it again")
    assert "The round is open again" in olga.text
    olga = close(play, 2)
    with play.service.nobody_computes(play.here):
        olga.press("Compute a preview")
        olga.wait_for("waiting for another run")
        play.service.kill(*everybody, with_workers=True)
    olga.wait_for("Look at round 2, and decide")
    look(olga)
    release(olga, 2)
    olga.wait_for("Round 3")
    verify(play.of("Hospital B"), play.here, "Hospital B", play.folder / "Hospital B" / "b.csv")
