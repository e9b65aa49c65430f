"""Every page that is to be reached by links, as each of its people sees it."""

import pytest

from tests.server.browser.people import Viewer, pages_from

WINDOWS = {
    "desktop": (1280, {"prefers_color_scheme": "light"}),
    "phone": (390, {"prefers_color_scheme": "dark", "prefers_reduced_motion": "reduce"}),
}

PEOPLE = {"Olga": 9, "Ben": 7, "Clara": 7, "Noor": 6}
"""Who looks, and how many pages there are for them at least."""


@pytest.fixture(params=WINDOWS)
def window(request: pytest.FixtureRequest, somebody: Viewer) -> None:
    width, preferences = WINDOWS[request.param]
    somebody.set_size(width)
    somebody.prefer(**preferences)


@pytest.mark.parametrize("name", PEOPLE)
def test_pages_are_in_order(somebody: Viewer, window: None, name: str):
    seen = pages_from(somebody, somebody.look_as(name))
    assert {path: faults for path, faults in seen.items() if faults} == {}
    assert len(seen) >= PEOPLE[name], sorted(seen)


def test_pages_for_everybody_are_in_order(somebody: Viewer, window: None):
    somebody.browser.delete_all_cookies()
    for path in ("/sign-in", "/demo"):
        somebody.open(path)
        assert somebody.faults() == []


def test_what_is_not_there_is_told_with_a_way_on(somebody: Viewer, window: None):
    somebody.look_as("Olga")
    somebody.open("/nothing")
    faults = [one for one in somebody.faults() if "404 (Not Found)" not in one]
    assert faults == []
    somebody.press("To your collaborations")
    assert somebody.path == "/collaborations"
