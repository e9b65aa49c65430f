"""Somebody at a browser, who uses pages by what they say, with a mouse or with a keyboard alone."""

import importlib.resources
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from tests.support.browser import chromium, console, requests

PATIENCE = 180
"""Seconds that something may take which a worker does, on a machine with much else to do."""

MOST_TABS = 80
"""As often somebody presses Tab before giving up."""

AXE = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text()

GRAVE = ("serious", "critical")

RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"], iframes: false}).then(
  (found) => done(found.violations.map((one) => ({
    id: one.id, impact: one.impact, nodes: one.nodes.map((node) => node.html)}))));
"""

FOCUSED = """
const one = document.activeElement;
const style = getComputedStyle(one);
return {
  text: (one.innerText || one.value || one.getAttribute("aria-label") || "").trim(),
  id: one.id,
  shows: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
    || ["radio", "checkbox", "file"].includes(one.type),
};
"""

OPEN_TAB_IS_SEEN = """
const tab = document.querySelector(".tabs [aria-current]");
const place = tab?.getBoundingClientRect();
return !tab || (place.left >= 0 && place.right <= window.innerWidth);
"""

LEADS_ON = """
const one = arguments[0];
if (one.tagName === "SUMMARY") return false;
if (one.tagName === "A")
  return !one.hasAttribute("download") && !one.target && !one.getAttribute("href").startsWith("#");
return one.type === "submit" && one.form !== null && one.form.checkValidity();
"""
"""Whether there is another page once something was pressed."""


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """Somebody at a browser.

    Attributes:
        chrome: The browser, which may be several people's.
        window: Theirs, with their own cookies.
        address: Of the service.
        has_mouse: Otherwise there is a keyboard alone.
    """

    chrome: Chrome
    window: str
    address: str
    has_mouse: bool = True

    @property
    def browser(self) -> Chrome:
        """The browser, with their window before it."""
        if self.chrome.current_window_handle != self.window:
            self.chrome.switch_to.window(self.window)
        return self.chrome

    def open(self, path: str) -> None:
        """Look at a page; whatever is said of the one before is forgotten."""
        self.forget()
        self.browser.get(self.address + path)

    def forget(self) -> None:
        """What was said of pages so far is not asked for any longer."""
        self.browser.get_log("browser")
        self.browser.get_log("performance")

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

    @contextmanager
    def in_frame(self, words: str) -> Iterator[None]:
        """Look into the report or the letter in the page, once these words are there.

        Args:
            words: Of it; it is loaded once it is to be seen.
        """
        frame = self.find("iframe")
        self.browser.execute_script("arguments[0].scrollIntoView()", frame)
        self.browser.switch_to.frame(frame)
        try:
            self.wait_for(words)
            yield
        finally:
            self.browser.switch_to.default_content()

    def press(self, words: str) -> None:
        """Press the button, or follow the link, that begins with these words."""
        if not self.has_mouse:
            self.tab_to(words)
            focused = self.browser.switch_to.active_element
            self._and_wait(focused, lambda: self.press_key(Keys.ENTER))
            return
        while True:
            try:
                element = self._that_says(words)
                self._and_wait(element, element.click)
                return
            except StaleElementReferenceException:
                continue  # the page changed by itself before anything was pressed

    def _that_says(self, words: str) -> WebElement:
        """The button or link that begins with these words."""
        for element in self.browser.find_elements(
            By.CSS_SELECTOR, "main button, main a, main summary, nav a"
        ):
            if element.is_displayed() and element.text.startswith(words):
                return element
        raise AssertionError(f"nothing here says {words!r}: {self.text}")

    def fill(self, name: str, text: str) -> None:
        """Write into a field, in place of what stands there."""
        if self.has_mouse:
            field = self.find(f"#{name}")
            field.clear()
            field.send_keys(text)
        else:
            self.tab_to(name)  # which selects what stands there
            self.press_key(text)

    def tick(self, name: str) -> None:
        """Tick a box."""
        if self.has_mouse:
            self.find(f"#{name}").click()
        else:
            self.tab_to(name)
            self.press_key(Keys.SPACE)

    def choose(self, name: str, text: str) -> None:
        """Choose one of several."""
        Select(self.find(f"#{name}")).select_by_visible_text(text)

    def press_key(self, key: str) -> None:
        """Press a key, or several."""
        ActionChains(self.browser).send_keys(key).perform()

    def tab_to(self, words: str) -> None:
        """Press Tab until what has the focus is called so; it is always to be seen what has it."""
        passed = []
        for _ in range(MOST_TABS):
            self.press_key(Keys.TAB)
            focused = self.browser.execute_script(FOCUSED)
            passed.append(focused["text"])
            assert focused["shows"], focused
            if focused["text"].startswith(words) or focused["id"] == words:
                return
        raise AssertionError(f"{words!r} is not reached: {passed}")

    def _and_wait(self, element: WebElement, press: Callable[[], None]) -> None:
        """Press something, and be on the page that it leads to, if it leads to one."""
        leads_on = self.browser.execute_script(LEADS_ON, element)
        before = self._page()
        press()
        if leads_on:
            wait_until(lambda: self._page() not in (before, None), f"another page than {before}")

    def _page(self) -> float | None:
        """Which page there is, as nothing else is called; None: it is being loaded."""
        found: float | None = self.browser.execute_script(
            "return document.readyState === 'complete' ? performance.timeOrigin : null"
        )
        return found

    def wait_for(self, words: str) -> None:
        """Wait until words can be read on the page, which changes by itself."""
        try:
            wait_until(lambda: words in self._text_or_nothing(), repr(words))
        except AssertionError as error:
            error.add_note(f"there is only this: {self.text}")
            raise

    def _text_or_nothing(self) -> str:
        """The text, if the page is not just being loaded."""
        text: str = self.browser.execute_script("return document.body?.innerText ?? ''")
        return text

    def faults(self) -> list[str]:
        """What is wrong with the page, and with those since the last one that was opened."""
        faults = console(self.browser)
        faults += [url for url in requests(self.browser) if not url.startswith(self.address)]
        width, room = self.browser.execute_script(
            "return [document.documentElement.scrollWidth, window.innerWidth]"
        )
        if width > room:
            faults.append(f"it is {width} wide where there is room for {room}")
        if not self.browser.execute_script(OPEN_TAB_IS_SEEN):
            faults.append("the tab that is open is out of view")
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
        one = Viewer(chrome=browser, window=browser.current_window_handle, address=address)
        one.set_size(1280)
        yield one


@contextmanager
def several(profile: Path, address: str, **has_mouse: bool) -> Iterator[dict[str, Viewer]]:
    """Several people, by their names, of whom none has another's cookies.

    Args:
        profile: An empty folder.
        address: Of the service.
        has_mouse: Of each, by the name.
    """
    with chromium(profile, contexts=True) as browser:
        people = {}
        for name, has in has_mouse.items():
            own = browser.browser.create_user_context()
            window = browser.browsing_context.create(type="window", user_context=own)
            one = Viewer(chrome=browser, window=window, address=address, has_mouse=has)
            one.set_size(1280)
            people[name] = one
        yield people


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


def pages_from(viewer: Viewer, path: str) -> dict[str, list[str]]:
    """All pages that one comes to from a page by links, and what is wrong with each."""
    to_see, seen = [path], {}
    while to_see:
        path = to_see.pop()
        if path in seen:
            continue
        viewer.open(path)
        seen[path] = viewer.faults()
        to_see += links_of(viewer)
    return seen
