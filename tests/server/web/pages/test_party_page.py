import re

from fairpool.exchange.plan import SignedPlan
from tests.server.agreed import agreed, csv_of, draft_of, rows
from tests.server.web.pages.test_round_pages import pages_of, plain
from tests.server.work.computed import Computed
from tests.support.exchange import KEYS


def test_who_keeps_its_rows_finds_the_plan_and_what_to_do_with_it(database, tmp_path):
    keys = {"north": str(KEYS["North"].public)}
    toml = draft_of("north", "south", "west", keys=keys)
    pages = pages_of(Computed(agreed=agreed(database, tmp_path, toml=toml)))
    them = pages.them
    pages.computed.agreed.propose()
    pages.computed.agreed.accept_all()
    page = pages.browser(them.of_north).get(pages.here).text
    assert "fairpool contribute plan.json --data mine.csv" in plain(page)
    link = re.search(r'href="([^"]+/plan)"', page)[1]
    assert link in pages.browser(them.of_north).get(f"{pages.here}/terms").text
    plan = pages.browser(them.of_north).get(link)
    assert SignedPlan.of_content(plan.content, "plan.json")
    assert "/plan" not in pages.browser(them.of_south).get(pages.here).text


def test_what_was_refused_stands_back_once_something_else_was_sent(database, tmp_path):
    pages = pages_of(Computed(agreed=agreed(database, tmp_path)))
    north = pages.them.of_north
    pages.computed.agreed.propose()
    pages.computed.agreed.accept_all()
    where = pages.computed.agreed
    where.checked(north, b"x,kind,y\n1,blue,about 90\n", "slips.csv")
    page = pages.see(north)
    assert "things to correct" in page
    assert "not usable" not in page
    right = where.checked(north, csv_of(rows()), "right.csv")
    page = pages.see(north)
    assert "things to correct" not in page
    assert "Sent before, and not usable slips.csv" in page
    where.submit(north, right)
    page = pages.see(north)
    assert page.index("right.csv") < page.index("Send another file") < page.index("slips.csv")
