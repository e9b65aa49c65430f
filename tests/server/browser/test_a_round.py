"""The demonstration's second round, from its middle to letters that are checked at home."""

import re
import shlex
import zipfile
from pathlib import Path

import httpx
import pytest
from selenium.webdriver.common.by import By

from fairpool.consortium.example import example_files
from fairpool.server.demo import early_rows
from fairpool.server.settings import Settings
from fairpool.server.web.signed_in import cookie_name
from tests.server.browser.people import Viewer, wait_until
from tests.server.served import Served
from tests.support.browser import console
from tests.support.projects import fairpool


# On a busy machine the computation may be over before it is stopped; until that is a step of its
# own, this is not among the tests of every change.
@pytest.mark.soak
def test_a_round_is_closed_computed_looked_at_released_and_checked(
    demo: Served, somebody: Viewer, tmp_path: Path
):
    _accept(somebody)
    _compute(somebody)
    _look(somebody)
    _release(somebody)
    _verify(somebody, tmp_path)
    _audit(somebody, tmp_path)


def _accept(somebody: Viewer) -> None:
    somebody.look_as("Clara")
    somebody.press("Read the terms")
    somebody.find("#read").click()
    somebody.press("Accept for Hospital C")


def _compute(somebody: Viewer) -> None:
    somebody.look_as("Olga")
    somebody.press("Close round 2")
    assert "Nobody can change anything in it now" in somebody.text
    somebody.press("Compute a preview")
    assert somebody.find("[data-job-stage]").get_attribute("aria-live") == "polite"
    somebody.press("Stop")
    somebody.wait_for("Go on computing round 2")
    somebody.press("Go on")
    somebody.wait_for("Look at round 2, and decide")


def _look(somebody: Viewer) -> None:
    somebody.press("Look at it")
    assert re.search(r"Hospital A\s+170\s+100%", somebody.text)
    somebody.browser.switch_to.frame(somebody.find("iframe"))
    wait_until(
        lambda: bool(somebody.browser.find_elements(By.CSS_SELECTOR, "#rho-chart svg")),
        "the report's chart",
    )
    before = somebody.find("#live-rewards").text
    somebody.browser.execute_script(
        "const rho = document.querySelector('#rho'); rho.value = 0;"
        "rho.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    wait_until(lambda: somebody.find("#live-rewards").text != before, "other rewards")
    somebody.browser.switch_to.default_content()
    assert console(somebody.browser) == []


def _release(somebody: Viewer) -> None:
    somebody.press("Release round 2")
    assert "This cannot be taken back" in somebody.text
    somebody.press("Release round 2")
    assert "This cannot be taken back" in somebody.text  # the box was not ticked
    somebody.find("#sure").click()
    somebody.press("Release round 2")
    somebody.wait_for("Round 3")


def _verify(somebody: Viewer, tmp_path: Path) -> None:
    """What the page says that a party should do at home is done, to the letter."""
    somebody.look_as("Ben")
    somebody.open(f"{somebody.path}/results")
    assert "Round 2" in somebody.text
    somebody.browser.switch_to.frame(somebody.find("iframe"))
    assert "To Hospital B" in somebody.find("h1").text
    somebody.browser.switch_to.default_content()
    with _same_browser(somebody) as client:
        for link in somebody.browser.find_elements(By.CSS_SELECTOR, "main a[download]"):
            _save(client, link.get_attribute("href") or "", tmp_path)
    (tmp_path / "hospital_b.csv").write_text(early_rows(example_files()["hospital_b.csv"]))
    commands = [one.text for one in somebody.browser.find_elements(By.CSS_SELECTOR, "pre code")]
    program, *arguments = shlex.split(commands[-1])
    assert program == "fairpool"
    done = fairpool(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing is FALSE." in done.stdout


def _audit(somebody: Viewer, tmp_path: Path) -> None:
    """The auditor computes here and at home, and what is signed at home is kept here."""
    somebody.look_as("Noor")
    somebody.press("Compute it here")
    somebody.wait_for("Nothing is FALSE.")
    copy = somebody.find("a[href$='/rounds/2/audit.zip']").get_attribute("href") or ""
    with _same_browser(somebody) as client:
        packed = _save(client, copy, tmp_path)
    with zipfile.ZipFile(packed) as archive:
        for one in archive.infolist():
            path = Path(archive.extract(one, tmp_path / packed.stem))
            path.chmod(one.external_attr >> 16)
    for place in ("#audit-2-1", "#audit-2-2"):
        command = somebody.find(place).get_property("textContent")
        done = fairpool(*shlex.split(str(command))[1:], cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    somebody.browser.execute_script(
        "document.querySelector('#signed-2').value = arguments[0];"
        "document.querySelector('#signed-2').closest('form').submit()",
        (tmp_path / "audit.json").read_text(),
    )
    somebody.wait_for("signed by you")


def _same_browser(somebody: Viewer) -> httpx.Client:
    """A client that is signed in as the browser is."""
    cookie = somebody.browser.get_cookie(cookie_name(Settings.of(environment={})))
    assert cookie is not None
    return httpx.Client(
        base_url=somebody.address, timeout=60, cookies={cookie["name"]: cookie["value"]}
    )


def _save(client: httpx.Client, address: str, folder: Path) -> Path:
    """What a browser saves, under the name that it is given."""
    answer = client.get(address)
    assert answer.status_code == 200
    name = re.search(r'filename="([^"]+)"', answer.headers["content-disposition"])
    assert name is not None
    path = folder / name[1]
    path.write_bytes(answer.content)
    return path
