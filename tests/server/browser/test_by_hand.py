"""What is done with a keyboard, with files, and while one waits."""

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from fairpool.consortium.example import example_files
from tests.server.browser.people import Viewer, wait_until


@pytest.fixture(scope="module", autouse=True)
def _elsewhere(somebody: Viewer) -> None:
    """Whoever looks is in Tokyo."""
    somebody.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})


def test_terms_are_read_and_accepted_by_keyboard_alone(somebody: Viewer):
    here = somebody.look_as("Clara")
    somebody.open(here)
    somebody.tab_to("Skip to the page")
    somebody.press_key(Keys.ENTER)
    somebody.tab_to("Read the terms")
    somebody.press_key(Keys.ENTER)
    wait_until(lambda: somebody.path == f"{here}/terms", "the terms")
    somebody.tab_to("read")
    somebody.press_key(Keys.SPACE)
    somebody.tab_to("Accept for Hospital C")
    somebody.press_key(Keys.ENTER)
    somebody.wait_for("You accepted the terms")
    assert "Takes part with 83 rows, as in the round before" in somebody.text


def test_the_menu_is_opened_and_left_by_keyboard(somebody: Viewer):
    somebody.open(somebody.look_as("Ben"))
    somebody.tab_to("BO")
    somebody.press_key(Keys.ENTER)
    wait_until(lambda: somebody.find(".menu a").is_displayed(), "the menu")
    somebody.press_key(Keys.ESCAPE)
    wait_until(lambda: not somebody.find(".menu a").is_displayed(), "no menu")


def test_times_are_those_of_whoever_looks(somebody: Viewer):
    somebody.look_as("Olga")
    shown = somebody.browser.execute_script(
        "const one = document.querySelector('time');"
        "return [one.textContent, new Date(one.dateTime).getUTCHours(),"
        " new Date(one.dateTime).getUTCMinutes()]"
    )
    text, hours, minutes = shown
    assert text.endswith(f"{(hours + 9) % 24:02}:{minutes:02}")


def test_a_table_is_sent_looked_at_submitted_withdrawn_and_sent_again(
    somebody: Viewer, tmp_path: Path
):
    somebody.look_as("Ben")
    assert "Correct 4 things in hospital_b_new.csv" in somebody.text
    somebody.find("#file").send_keys(str(_table(tmp_path, "corrected.csv")))
    somebody.wait_for("Submit it")
    somebody.press("Submit it")
    assert "You have done everything that is asked of you" in somebody.text
    somebody.press("Withdraw it")
    somebody.wait_for("Withdrawn")
    somebody.find("#file").send_keys(str(_table(tmp_path, "again.csv")))
    somebody.wait_for("Submit it")
    somebody.press("Submit it")
    assert "You have done everything that is asked of you" in somebody.text


def test_a_file_of_another_kind_is_refused_at_once(somebody: Viewer, tmp_path: Path):
    somebody.look_as("Amina")
    letter = tmp_path / "letter.docx"
    letter.write_text("Dear all")
    somebody.find("#file").send_keys(str(letter))
    somebody.wait_for("is no table that can be read here")
    assert somebody.find("#file").is_displayed()


def test_a_draft_is_dropped_onto_its_field(somebody: Viewer):
    somebody.look_as("Olga")
    somebody.open("/collaborations/new")
    somebody.find("details.card summary").click()
    somebody.browser.execute_script(
        "const data = new DataTransfer();"
        "data.items.add(new File(['name = \"Dropped\"\\n'], 'collaboration.toml'));"
        "document.querySelector('#toml').dispatchEvent("
        "new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))"
    )
    wait_until(
        lambda: somebody.find("#toml").get_property("value") == 'name = "Dropped"\n', "the text"
    )


def _table(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(example_files()["hospital_b.csv"])
    return path
