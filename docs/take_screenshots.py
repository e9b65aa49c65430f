"""Take the documentation's screenshots.

The demo's report and a letter, at desktop and phone width, what changed since a round before, and
the service's pages.

Usage: `python -m docs.take_screenshots`.
"""

import tempfile
from pathlib import Path

from docs.service_screenshots import take_all
from fairpool.consortium.example import write_example
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.releasing import release
from fairpool.consortium.run import run
from tests.support.browser import chromium, open_page

IMAGES = Path(__file__).parent / "images"
SHOTS = {
    "report-desktop": ("operator/report.html", 1000),
    "report-phone": ("operator/report.html", 390),
    "letter-desktop": ("parties/Hospital-B/letter.html", 900),
    "letter-phone": ("parties/Hospital-B/letter.html", 390),
}
FIRST_ROWS = 60
"""Of Hospital C, in the first of two rounds."""


def two_rounds(folder: Path) -> Path:
    """The folder of a second round, in which Hospital C has more rows than in the first."""
    write_example(folder)
    table = folder / "hospital_c.csv"
    lines = table.read_text().splitlines(keepends=True)
    table.write_text("".join(lines[: FIRST_ROWS + 1]))
    release(run(RunRequest(configuration=folder)))
    table.write_text("".join(lines))
    return release(run(RunRequest(configuration=folder))).folder


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "demo"
        write_example(folder)
        released = release(run(RunRequest(configuration=folder))).folder
        with chromium(Path(temporary) / "profile") as browser:
            for name, (page, width) in SHOTS.items():
                open_page(browser, released / page, width)
                browser.implicitly_wait(5)
                if "report" in name:
                    browser.find_element("css selector", "#rho-chart svg.marks")
                height = browser.execute_script("return document.documentElement.scrollHeight")
                open_page(browser, released / page, width, height)
                if "report" in name:
                    browser.find_element("css selector", "#rho-chart svg.marks")
                browser.save_screenshot(str(IMAGES / f"{name}.png"))
            open_page(browser, released / "operator/report.html", 1000, 1450)
            browser.find_element("css selector", "#rho-chart svg.marks")
            browser.save_screenshot(str(IMAGES / "report-top.png"))
            second = two_rounds(Path(temporary) / "rounds")
            open_page(browser, second / "operator/report.html", 900)
            since = browser.find_element("css selector", "#since")
            browser.execute_script("arguments[0].style.padding = '0 16px 16px'", since)
            since.screenshot(str(IMAGES / "since-last-time.png"))
    take_all(IMAGES)


if __name__ == "__main__":
    main()
