"""What people do in a round, each at the own browser."""

import re
import shlex
import zipfile
from pathlib import Path

import httpx
from selenium.webdriver.common.by import By

from fairpool.server.settings import Settings
from fairpool.server.web.signed_in import cookie_name
from tests.server.browser.keeping import Kept
from tests.server.browser.people import Viewer, wait_until
from tests.support.browser import console
from tests.support.projects import fairpool

PASSWORD = "four words nobody says"  # of nobody

WAITS = "waiting for another run on this collaboration to end"


def join(viewer: Viewer, link: str, name: str) -> None:
    """Open a link that one was sent, and make an account."""
    viewer.open(link.removeprefix(viewer.address))
    assert viewer.faults() == []
    viewer.fill("name", name)
    viewer.fill("email", f"{name.split()[0].lower()}@pool.example")
    viewer.fill("password", PASSWORD)
    viewer.press("Make the account")
    assert "Your account is made" in viewer.text or "You take part now" in viewer.text


def invite(operator: Viewer, here: str, as_whom: str) -> str:
    """Make a link for somebody."""
    operator.open(f"{here}/people")
    operator.choose("as", as_whom)
    operator.press("Make a link")
    assert operator.faults() == []
    return str(operator.find("#invitation-link").get_property("value"))


def accept(viewer: Viewer, here: str, party: str) -> None:
    """Read the terms, and accept them."""
    viewer.open(here)
    viewer.press("Read the terms")
    assert viewer.faults() == []
    viewer.tick("read")
    viewer.press(f"Accept for {party}")
    assert "You accepted the terms" in viewer.text


def send(viewer: Viewer, here: str, path: Path) -> None:
    """Send a file; what was found in it stands there after a while."""
    viewer.open(here)
    viewer.find("#file").send_keys(str(path))


def submit(viewer: Viewer, here: str, path: Path) -> None:
    """Send a file with which nothing is wrong, and submit it."""
    send(viewer, here, path)
    viewer.wait_for(f"Submit {path.name}")
    viewer.press("Submit it")
    assert "You have done everything that is asked of you" in viewer.text
    assert viewer.faults() == []


def stop_and_go_on(operator: Viewer, kept: Kept) -> None:
    """Have a preview computed, stop that, and go on; then the service dies in the middle."""
    with kept.nobody_computes(operator.path):
        operator.press("Compute a preview")
        assert operator.find("[data-job-stage]").get_attribute("aria-live") == "polite"
        operator.wait_for(WAITS)
        operator.press("Stop")
        operator.wait_for("Go on computing")
        operator.press("Go on")
        operator.wait_for(WAITS)
        kept.kill(operator, with_workers=False)
    operator.wait_for("and decide")
    assert operator.faults() == []


def look(operator: Viewer) -> None:
    """Look at a preview, and at what another rho would give."""
    operator.press("Look at it")
    with operator.in_frame("Who receives what, and why"):
        wait_until(
            lambda: bool(operator.browser.find_elements(By.CSS_SELECTOR, "#rho-chart svg")),
            "the report's chart",
        )
        before = operator.find("#live-rewards").text
        operator.browser.execute_script(
            "const rho = document.querySelector('#rho'); rho.value = rho.value > 0.5 ? 0 : 1;"
            "rho.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        wait_until(lambda: operator.find("#live-rewards").text != before, "other rewards")
    assert console(operator.browser) == []


def release(operator: Viewer, number: int) -> None:
    """Release what was looked at, which has to be confirmed."""
    operator.press(f"Release round {number}")
    assert "This cannot be taken back" in operator.text
    operator.press(f"Release round {number}")
    assert "This cannot be taken back" in operator.text  # the box was not ticked
    operator.tick("sure")
    operator.press(f"Release round {number}")


def verify(viewer: Viewer, here: str, party: str, table: Path) -> None:
    """What the page says that a party should do at home is done, to the letter.

    Args:
        viewer: Somebody of the party.
        here: The collaboration's first page.
        party: Its name.
        table: What it sent, in a folder of its own.
    """
    viewer.open(f"{here}/results")
    with viewer.in_frame(f"To {party}"):
        assert f"To {party}" in viewer.find("h1").text
    with _same_browser(viewer) as client:
        for link in viewer.browser.find_elements(By.CSS_SELECTOR, "main a[download]"):
            _save(client, link.get_attribute("href") or "", table.parent)
    commands = [one.text for one in viewer.browser.find_elements(By.CSS_SELECTOR, "pre code")]
    program, *arguments = shlex.split(commands[-1])
    assert program == "fairpool"
    done = fairpool(*arguments, cwd=table.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing is FALSE." in done.stdout


def audit(auditor: Viewer, here: str, number: int, folder: Path) -> None:
    """The auditor computes here and at home, and what is signed at home is kept here.

    Args:
        auditor: The auditor.
        here: The collaboration's first page.
        number: Of the round, which is the newest one that was released.
        folder: The auditor's own; the key in it is made with the first round.
    """
    auditor.open(here)
    auditor.press("Compute it here")
    assert "Nothing is FALSE." in auditor.text
    assert auditor.faults() == []
    selector = f"a[href$='/rounds/{number}/audit.zip']"
    with _same_browser(auditor) as client:
        packed = _save(client, auditor.find(selector).get_attribute("href") or "", folder)
    with zipfile.ZipFile(packed) as archive:
        for one in archive.infolist():
            path = Path(archive.extract(one, folder / packed.stem))
            path.chmod(one.external_attr >> 16)
    for place in ("1", "2"):
        command = auditor.find(f"#audit-{number}-{place}").get_property("textContent")
        if place == "1" and (folder / "auditor.key").exists():
            continue
        done = fairpool(*shlex.split(str(command))[1:], cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    text = (folder / "audit.json").read_text()
    (folder / "audit.json").unlink()
    auditor.browser.execute_script(
        f"const field = document.querySelector('#signed-{number}');"
        "field.closest('details').open = true; field.value = arguments[0]",
        text,
    )
    auditor.press(f"Keep it with round {number}")
    auditor.wait_for("signed by you")


def _same_browser(viewer: Viewer) -> httpx.Client:
    """A client that is signed in as the browser is."""
    cookie = viewer.browser.get_cookie(cookie_name(Settings.of(environment={})))
    assert cookie is not None
    return httpx.Client(
        base_url=viewer.address, timeout=60, cookies={cookie["name"]: cookie["value"]}
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
