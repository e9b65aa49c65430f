"""The pages of a round, from the first draft to what was released, as everybody sees them."""

import html
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from fairpool.server.consortia.events import ACTIONS
from fairpool.server.store.tables import Collaboration, Person
from fairpool.server.web.app import create_app
from fairpool.server.web.pages.event_words import WORDS
from tests.server.agreed import agreed, csv_of, draft_of, rows
from tests.server.consortium import Consortium, Service
from tests.server.work.computed import Computed
from tests.server.work.worlds import World, sqlite_in


@dataclass(frozen=True, kw_only=True)
class Pages:
    """A collaboration as it is seen in browsers."""

    computed: Computed
    service: Service

    @property
    def them(self) -> Consortium:
        return self.computed.agreed.consortium

    @property
    def here(self) -> str:
        return f"/collaborations/{self.computed.agreed.id}"

    def browser(self, person: Person) -> TestClient:
        return self.service.browser(person)

    def see(self, person: Person, more: str = "") -> str:
        """What a page says, as text without its tags."""
        answer = self.browser(person).get(self.here + more)
        assert answer.status_code == 200, answer.text
        return plain(answer.text)

    def do(self, person: Person, more: str, **form: str) -> str:
        """What is said after a button was pressed."""
        browser = self.browser(person)
        answer = browser.post(self.here + more, data=form)
        if answer.status_code == 303:
            answer = browser.get(answer.headers["location"])
            assert answer.status_code == 200
        return plain(answer.text)


def plain(page: str) -> str:
    """What can be read of a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


def pages_of(computed: Computed) -> Pages:
    settings, database = computed.agreed.settings, computed.database
    app = create_app(settings, database)
    service = Service(app=app, settings=settings, database=database)
    return Pages(computed=computed, service=service)


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    """A draft that nobody has proposed yet."""
    database = sqlite_in(tmp_path / "server")
    return pages_of(Computed(agreed=agreed(database, tmp_path)))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pages, World]:
    """A round that was previewed, and how everything was then."""
    folder = tmp_path_factory.mktemp("pages")
    computed = Computed(agreed=agreed(sqlite_in(folder / "server"), folder))
    pages = pages_of(computed)
    computed.agreed.propose()
    computed.agreed.accept_all()
    computed.send(pages.them.of_north, csv_of(rows(40, 1)))
    computed.send(pages.them.of_south, csv_of(rows(60, 2)))
    pages.do(pages.them.operator, "/rounds/1/close")
    computed.preview()
    return pages, World.put_aside(folder / "server", computed.database)


@pytest.fixture
def previewed(world: tuple[Pages, World]) -> Pages:
    world[1].put_back()
    return world[0]


def test_terms_are_proposed_read_and_accepted(pages: Pages):
    them = pages.them
    assert "Read the terms once more, and propose them" in pages.see(them.operator)
    assert "The operator is preparing the terms" in pages.see(them.of_north)
    said = pages.do(them.operator, "/terms/propose")
    assert "The terms are proposed" in said
    assert "Read and accept the terms" in said
    assert "Read the terms, and decide for north" in pages.see(them.of_north)
    page = pages.browser(them.of_north).get(f"{pages.here}/terms").text
    digest = re.search(r'name="digest" value="(\w+)"', page)[1]
    assert "What is predicted" in plain(page)
    refused = pages.do(them.of_north, "/terms/accept", digest=digest)
    assert "Say that you have read the terms" in refused
    accepted = pages.do(them.of_north, "/terms/accept", digest=digest, read="yes")
    assert "You accepted the terms" in accepted
    assert "Send the table of north" in accepted
    assert "Accept for north" not in pages.see(them.of_north, "/terms")
    assert "Accept for south" in pages.see(them.of_south, "/terms")


def test_changed_terms_are_accepted_anew_and_what_changed_is_said_first(pages: Pages):
    them = pages.them
    pages.computed.agreed.propose()
    pages.computed.agreed.accept_all()
    old = pages.browser(them.of_north).get(f"{pages.here}/terms").text
    old_digest = re.search(r"SHA-256 <code>(\w+)</code>", old)[1]
    text = draft_of("north", "south").replace("rho = 0.6", "rho = 0.8")
    pages.do(them.operator, "/draft", toml=text.replace("\n", "\r\n"))
    drafted = pages.see(them.operator, "/terms")
    assert "before: 0.6" in drafted
    assert "now: 0.8" in drafted
    pages.do(them.operator, "/terms/propose")
    assert "The terms have changed" in pages.see(them.of_north)
    changed = pages.see(them.of_north, "/terms")
    assert "What changed since version 1" in changed
    assert "now: 0.8" in changed
    refused = pages.do(them.of_north, "/terms/accept", digest=old_digest, read="yes")
    assert "no longer in force" in refused


def test_a_draft_with_faults_is_kept_and_they_are_listed(pages: Pages):
    operator = pages.them.operator
    said = pages.do(operator, "/draft", toml=draft_of("north", "south", toml="target = 'y'\n"))
    assert "It cannot be proposed like this" in said
    said = pages.do(operator, "/draft", toml="name = ")
    assert "This did not work" in said
    kept = pages.browser(operator).get(f"{pages.here}/draft").text
    assert "target = &#39;y&#39;" in kept


def test_a_draft_is_edited_as_a_form_and_keeps_its_other_settings(pages: Pages):
    operator = pages.them.operator
    page = pages.browser(operator).get(f"{pages.here}/draft").text
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input id="(\w+)"[^>]* value="([^"]*)"', page)
    }
    assert fields["target"] == "y: 0 to 300"
    columns = html.unescape(re.search(r'name="columns"[^>]*>\n([^<]*)<', page)[1])
    assert columns == "x: -10 to 10\nkind: red, green"
    sent = {**fields, "columns": columns, "parties": "north\nsouth\neast", "rho": "fair"}
    said = pages.do(operator, "/draft/form", **sent)
    assert "Saved." in said
    with pages.service.database.reading() as session:
        kept = session.get_one(Collaboration, pages.computed.agreed.id).draft
    assert 'rho = "fair"' in kept
    assert "inducing_points = 8" in kept
    assert 'name = "east"' in kept
    refused = pages.do(operator, "/draft/form", **{**sent, "columns": "x: many"})
    assert "as in “age: 0 to 120”" in refused


def test_a_draft_is_shown_to_the_letter(pages: Pages):
    text = "\tname = \"Tabs\" # </textarea><script>alert('é')</script>\n"
    pages.do(pages.them.operator, "/draft", toml=text)
    page = pages.browser(pages.them.operator).get(f"{pages.here}/draft").text
    assert "&lt;/textarea&gt;&lt;script&gt;" in page
    assert ">\n\tname = " in page


def test_a_file_is_looked_at_submitted_and_withdrawn(pages: Pages):
    north = pages.them.of_north
    made = pages.computed.agreed
    made.propose()
    made.accept_all()
    sent = made.send(north, csv_of(rows(40, 1)))
    assert "mine.csv is being looked at" in pages.see(north)
    card = pages.browser(north).get(f"{pages.here}/files/{sent.id}")
    assert "hx-refresh" not in card.headers
    made.work_off()
    card = pages.browser(north).get(f"{pages.here}/files/{sent.id}")
    assert card.headers["hx-refresh"] == "true"
    assert "Submit mine.csv" in pages.see(north)
    said = pages.do(north, f"/files/{sent.id}/submit")
    assert "Submitted. You can withdraw it" in said
    assert "You have done everything" in said
    assert "Takes part with 40 rows" in pages.see(pages.them.operator)
    assert "Withdrawn" in pages.do(north, f"/files/{sent.id}/withdraw")
    assert "Send the table of north" in pages.see(north)
    south = pages.browser(pages.them.of_south)
    assert south.get(f"{pages.here}/files/{sent.id}").status_code == 404


def test_all_that_is_wrong_with_a_table_stands_beside_its_first_rows(pages: Pages):
    north = pages.them.of_north
    pages.computed.agreed.propose()
    pages.computed.agreed.accept_all()
    table = csv_of(rows(20, 1)).decode().splitlines()
    table[2] = "99,blue,<b>many</b>"
    pages.computed.agreed.checked(north, "\n".join(table).encode(), "<i>.csv")
    page = pages.browser(north).get(pages.here).text
    assert "<b>many</b>" not in page
    assert "<i>" not in page
    text = plain(page)
    assert "Correct 3 things in <i>.csv" in text
    for what in ('column "x"', 'column "kind"', 'column "y"'):
        assert what in text
    assert "Correct the table, and send it again" in pages.see(pages.them.operator)
    assert "99" not in pages.see(pages.them.operator)


def test_a_round_cannot_be_closed_while_something_is_lacking(pages: Pages):
    pages.computed.agreed.propose()
    answer = pages.browser(pages.them.operator).post(f"{pages.here}/rounds/1/close")
    assert answer.status_code == 409
    assert "This did not work" in answer.text


def test_a_preview_is_looked_at_and_released(previewed: Pages):
    operator, north = previewed.them.operator, previewed.them.of_north
    assert "Look at round 1, and decide" in previewed.see(operator)
    assert "Round 1 is closed" in previewed.see(north)
    look = previewed.see(operator, "/rounds/1/preview")
    assert re.search(r"south 60 100% \d+%", look)
    page = previewed.browser(operator).get(f"{previewed.here}/rounds/1/preview").text
    frame = re.search(r'<iframe[^>]* src="([^"]+)" sandbox="allow-scripts"', page)[1]
    report = previewed.browser(operator).get(frame)
    assert "sandbox allow-scripts" in report.headers["content-security-policy"]
    ask = previewed.browser(operator).get(f"{previewed.here}/rounds/1/release").text
    preview = re.search(r'name="preview" value="([^"]+)"', ask)[1]
    unsure = previewed.do(operator, "/rounds/1/release", preview=preview)
    assert "Say that you have read the report" in unsure
    other = previewed.do(operator, "/rounds/1/release", preview="x" * 22, sure="yes")
    assert "newer preview" in other
    assert "is being released" in previewed.do(
        operator, "/rounds/1/release", preview=preview, sure="yes"
    )
    previewed.computed.work_off()
    assert "Round 2 is open" in previewed.see(operator) or "close round 2" in previewed.see(
        operator
    )
    stale = previewed.browser(operator).post(f"{previewed.here}/rounds/1/reopen")
    assert stale.status_code == 409
    assert "Your letter and your model are here" in previewed.see(north)
    _released(previewed)


def _released(pages: Pages) -> None:
    """What is to be seen once a round is released."""
    results = pages.browser(pages.them.of_north).get(f"{pages.here}/results").text
    assert "of the best model's information is yours" in results
    links = re.findall(r'href="(/api/[^"]+)" download', results)
    assert [link.rpartition("/")[2] for link in links] == [
        "reward",
        "letter.html",
        "model-card",
        "statement",
    ]
    for person in (pages.them.of_south, pages.them.operator):
        for link in links:
            own = pages.browser(pages.them.of_north).get(link)
            assert own.status_code == 200
            other = pages.browser(person).get(link)
            assert other.status_code == 404 or other.content != own.content
    assert pages.browser(pages.them.of_north).get(f"{pages.here}/results/2").status_code == 404
    assert "Round 1" in pages.see(pages.them.auditor, "/ledger")
    assert "Compute round 1 anew" in pages.see(pages.them.auditor)
    assert "Nothing is FALSE." in pages.do(pages.them.auditor, "/rounds/1/audit")
    wrong = pages.do(pages.them.auditor, "/rounds/1/audit/signature", document="{}")
    assert "audit.json" in wrong
    assert "Released rounds" in pages.see(pages.them.operator, "/history")


def test_all_that_can_happen_has_words():
    assert set(WORDS) == ACTIONS


def test_a_round_is_opened_again_computed_anew_and_stopped(previewed: Pages):
    operator = previewed.them.operator
    assert "The round is open again" in previewed.do(operator, "/rounds/1/reopen")
    previewed.do(operator, "/rounds/1/close")
    running = previewed.do(operator, "/rounds/1/compute")
    assert "Round 1 is being computed" in running
    job = previewed.computed.job_at_work()
    stopped = previewed.do(operator, f"/jobs/{job.id}/cancel")
    assert "Go on computing round 1" in stopped
    assert "being computed" in previewed.do(operator, f"/jobs/{job.id}/resume")


def test_pages_are_for_those_whom_they_concern(previewed: Pages):
    them = previewed.them
    of_operator = ["/draft", "/history", "/rounds/1/preview", "/rounds/1/release"]
    for person, hidden in (
        (them.of_north, [*of_operator, "/ledger"]),
        (them.auditor, [*of_operator, "/results", "/changes"]),
        (them.operator, ["/results"]),
    ):
        browser = previewed.browser(person)
        for more in hidden:
            assert browser.get(previewed.here + more).status_code == 404, more


def test_a_page_is_told_to_load_itself_anew_only_when_something_changed(previewed: Pages):
    operator, north = previewed.them.operator, previewed.them.of_north
    watches = {}
    for person in (operator, north):
        page = previewed.browser(person).get(previewed.here).text
        watches[person.id] = re.search(r'hx-get="([^"]+/changes[^"]+)"', page)[1]
        answer = previewed.browser(person).get(watches[person.id])
        assert (answer.status_code, "hx-refresh" in answer.headers) == (204, False)
    previewed.do(operator, "/people/invite", **{"as": "auditor"})
    assert "hx-refresh" in previewed.browser(operator).get(watches[operator.id]).headers
    assert "hx-refresh" not in previewed.browser(north).get(watches[north.id]).headers
    previewed.do(operator, "/rounds/1/reopen")
    assert "hx-refresh" in previewed.browser(north).get(watches[north.id]).headers


def test_one_s_collaborations_say_whose_turn_it_is(previewed: Pages):
    for person, says in (
        (previewed.them.operator, "round 1: to be released"),
        (previewed.them.of_north, "round 1: the operator computes"),
        (previewed.them.auditor, "round 1"),
    ):
        assert says in plain(previewed.browser(person).get("/collaborations").text)
