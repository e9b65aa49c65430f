"""Take the documentation's screenshots: the demo's report and a letter, at desktop and phone width.

Usage: `python -m docs.take_screenshots`.
"""

import tempfile
from pathlib import Path

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


if __name__ == "__main__":
    main()
