"""Screenshots of the service: three hospitals in the middle of a round, as in `make serve`."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from selenium.webdriver.common.by import By

from tests.server.browser.people import Viewer, viewer
from tests.server.served import served

COLOURS = 128
"""So many are enough for a page, and make a file a third as large."""


@dataclass(frozen=True, kw_only=True)
class Camera:
    """What takes pictures of pages.

    Attributes:
        viewer: At the browser.
        images: Where pictures are put.
    """

    viewer: Viewer
    images: Path

    def take(self, name: str, *, width: int = 1120, most: int = 1300) -> None:
        """Take a picture of the page, from its top, so many pixels high at most."""
        self.viewer.set_size(width)
        script = "return document.documentElement.scrollHeight"
        height = min(most, self.viewer.browser.execute_script(script))
        self.viewer.set_size(width, height)
        self._wait_until_it_is_drawn()
        path = self.images / f"{name}.png"
        self.viewer.browser.save_screenshot(str(path))
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(COLOURS)
        small.save(path, optimize=True)
        self.viewer.set_size(1120)

    def _wait_until_it_is_drawn(self) -> None:
        """Wait for a report or a letter in the page, which is loaded once it is to be seen."""
        if self.viewer.browser.find_elements(By.TAG_NAME, "iframe"):
            with self.viewer.in_frame("Hospital"):
                pass
        self.viewer.browser.execute_async_script(
            "const done = arguments[0]; scrollTo(0, 0);"
            "setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 1000)"
        )


def take_all(images: Path) -> None:
    """Take all pictures of the service.

    Args:
        images: Where they are put.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (
            served(folder / "pool", "--demo", "--workers", "1") as service,
            viewer(folder / "profile", service.address) as one,
        ):
            camera = Camera(viewer=one, images=images)
            _in_the_middle(camera)
            _to_the_end(camera)


def _in_the_middle(camera: Camera) -> None:
    """As the demonstration begins."""
    camera.viewer.look_as("Olga")
    camera.take("service-operator", most=1060)
    camera.viewer.look_as("Ben")
    camera.take("service-table", most=1060)
    camera.viewer.look_as("Clara")
    camera.viewer.press("Read the terms")
    camera.take("service-terms-phone", width=390, most=900)


def _to_the_end(camera: Camera) -> None:
    """The round is finished: Clara accepts, and Olga has it computed and releases it."""
    viewer = camera.viewer
    viewer.tick("read")
    viewer.press("Accept for Hospital C")
    viewer.look_as("Olga")
    viewer.press("Close round 2")
    viewer.press("Compute a preview")
    viewer.wait_for("Look at round 2, and decide")
    viewer.press("Look at it")
    camera.take("service-preview", most=1150)
    viewer.press("Release round 2")
    viewer.tick("sure")
    viewer.press("Release round 2")
    viewer.wait_for("Round 3")
    here = viewer.look_as("Ben")
    viewer.open(f"{here}/results")
    camera.take("service-results", most=1150)
    viewer.prefer(prefers_color_scheme="dark")
    viewer.open(f"{here}/visible")
    camera.take("service-visible", most=900)


if __name__ == "__main__":
    take_all(Path(__file__).parent / "images")
