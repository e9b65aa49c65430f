"""Somebody at a browser, as the demonstration's pages are used: by what they say, not by names."""

import importlib.resources
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.support.browser import chromium, console, requests

PATIENCE = 120
"""Seconds that something may take which a worker does, on a machine with much else to do."""

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()

GRAVE = ("serious", "critical")

RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"], iframes: false}).then(
  (found) => done(found.violations.map((one) => ({
    id: one.id, impact: one.impact, nodes: one.nodes.map((node) => node.html)}))));
"""


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """Somebody at a browser.

    Attributes:
        browser: Theirs.
        address: Of the service.
    """

    browser: Chrome
    address: str

    def open(self, path: str) -> None:
        """Look at a page; whatever is said of the one before is forgotten."""
        self.browser.get_log("browser")
        self.browser.get_log("performance")
        self.browser.get(self.address + path)

    def look_as(self, name: str) -> str:
        """Be somebody of the demonstration; where their collaboration is."""
        self.open("/demo")
        self.press(f"Look as {name}")
        return self.path

    @property
    def path(self) -> str:
        """Where one is."""
        path: str = self.browser.execute_script("return location.pathname")
        return path

    @property
    def text(self) -> str:
        """What can be read."""
        return self.browser.find_element(By.TAG_NAME, "body").text

    def find(self, selector: str) -> WebElement:
        """The first element of a selector."""
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def press(self, words: str) -> None:
        """Press the button, or follow the link, that begins with these words."""
        before = self.browser.find_element(By.TAG_NAME, "html")
        for element in self.browser.find_elements(By.CSS_SELECTOR, "main button, main a, nav a"):
            if element.is_displayed() and element.text.startswith(words):
                element.click()
                self._wait_for_other_page(before)
                return
        raise AssertionError(f"nothing here says {words!r}: {self.text}")

    def _wait_for_other_page(self, before: WebElement) -> None:
        """Until the next page is there, if there is to be one."""
        end = time.monotonic() + 1
        while time.monotonic() < end:
            ready = self.browser.execute_script("return document.readyState")
            if ready == "complete" and self.browser.find_element(By.TAG_NAME, "html") != before:
                return
            time.sleep(0.05)

    def wait_for(self, words: str) -> None:
        """Wait until words can be read on the page, which changes by itself."""
        wait_until(lambda: words in self._text_or_nothing(), f"{words!r}: {self.text}")

    def _text_or_nothing(self) -> str:
        """The text, if the page is not just being loaded."""
        text: str = self.browser.execute_script("return document.body?.innerText ?? ''")
        return text

    def faults(self) -> list[str]:
        """What is wrong with the page that was opened last."""
        faults = console(self.browser)
        faults += [url for url in requests(self.browser) if not url.startswith(self.address)]
        width, room = self.browser.execute_script(
            "return [document.documentElement.scrollWidth, window.innerWidth]"
        )
        if width > room:
            faults.append(f"it is {width} wide where there is room for {room}")
        self.browser.execute_script(AXE)
        found: list[dict[str, Any]] = self.browser.execute_async_script(RUN_AXE)
        faults += [f"{one['id']}: {one['nodes']}" for one in found if one["impact"] in GRAVE]
        return faults

    def set_size(self, width: int, height: int = 900) -> None:
        """Have a window, or a phone, of a size."""
        self.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def prefer(self, **features: str) -> None:
        """Prefer something, such as prefers_color_scheme="dark"."""
        wanted = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})


@contextmanager
def viewer(profile: Path, address: str) -> Iterator[Viewer]:
    """Somebody with a browser of their own."""
    with chromium(profile) as browser:
        one = Viewer(browser=browser, address=address)
        one.set_size(1280)
        yield one


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def links_of(viewer: Viewer) -> list[str]:
    """The paths of all pages that a page leads to."""
    addresses = [
        element.get_attribute("href") or ""
        for element in viewer.browser.find_elements(By.TAG_NAME, "a")
        if element.get_dom_attribute("download") is None
    ]
    paths = {
        re.sub(r"[?#].*", "", address.removeprefix(viewer.address))
        for address in addresses
        if address.startswith(f"{viewer.address}/")
    }
    return sorted(path for path in paths if not path.startswith("/api/"))
