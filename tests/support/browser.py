"""A real browser: Debian's chromium, driven by selenium."""

import json
import os
import shutil
from contextlib import contextmanager

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


OWN = ("file:", "data:", "blob:", "chrome:", "chrome-untrusted:")
"""Addresses that ask no server: files, data, and the pages of the browser itself."""


@contextmanager
def chromium(profile, *, contexts=False):
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not binary or not driver:
        if os.environ.get("CI"):
            pytest.fail("chromium and chromedriver must be installed where CI runs")
        pytest.skip(
            "chromium and chromedriver are not installed (Debian: apt-get install chromium"
            " chromium-driver)"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.enable_bidi = contexts  # by which one browser is that of several people
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield browser
    finally:
        browser.quit()


def console(browser):
    """Everything the page wrote to the console that is worse than information."""
    return [
        entry["message"]
        for entry in browser.get_log("browser")
        if entry["level"] in ("SEVERE", "WARNING")
    ]


def requests(browser):
    """Every address the page asked for, beyond itself and data in it."""
    asked = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(message["params"]["request"]["url"])
    return [url for url in asked if not url.startswith(OWN)]


def open_page(browser, path, width=1100, height=900):
    # A phone's width is narrower than the smallest window: it is set on the device instead.
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.resolve().as_uri())
