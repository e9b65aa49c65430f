"""Images out of bytes that somebody sent: decoded to red, green and blue, or refused in words.

PNG and JPEG, of which a decoder is well tried; nothing else is opened. What is done to other kinds
of images than plain colour is in `docs/operator-guide.md`, and the same for everybody.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpool.encoders.tokens import missing_extra
from fairpool.errors import DataError, cut

FORMATS = ("PNG", "JPEG")

MOST_BYTES = 1 << 28
MOST_PIXELS = 1 << 27
"""Of any image, whatever [limits] allow; Pillow itself refuses a third more."""

MOST_UNEQUAL = 20
"""How many times longer than the other a side may be: brought to one short side, the long one would
else fill memory."""

ORIENTATION = 0x0112
"""The entry of EXIF that says how a camera was held."""

MADE_UP = 64
MADE_UP_SIDE = 8
"""So many different images are made up, of so many squares to a side."""


class UnfitImageError(DataError):
    """Bytes that are no image which can be used.

    Attributes:
        content: The bytes.
    """

    def __init__(self, what: str, content: bytes) -> None:
        super().__init__(what)
        self.content = content


@dataclass(frozen=True, kw_only=True)
class ImageLimits:
    """What an image may be at most.

    Attributes:
        size: Bytes.
        pixels: Once it is decoded.
    """

    size: int = MOST_BYTES
    pixels: int = MOST_PIXELS


ANY_IMAGE = ImageLimits()


def picture_of(content: bytes, limits: ImageLimits = ANY_IMAGE) -> Any:
    """The image with some bytes, as Pillow's, in red, green and blue and the right way up.

    Args:
        content: The bytes.
        limits: What it may be at most.

    Raises:
        UnfitImageError: It cannot be used.
    """
    refuse_long(content, limits)
    with _refusing(content, limits):
        from PIL import Image

        with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
            _refuse_shape(opened, content, limits)
            opened.load()  # and with it what stands behind the pixels
            turn = opened.getexif().get(ORIENTATION)
            picture = _coloured(opened)
        turns = {
            2: Image.Transpose.FLIP_LEFT_RIGHT,
            3: Image.Transpose.ROTATE_180,
            4: Image.Transpose.FLIP_TOP_BOTTOM,
            5: Image.Transpose.TRANSPOSE,
            6: Image.Transpose.ROTATE_270,
            7: Image.Transpose.TRANSVERSE,
            8: Image.Transpose.ROTATE_90,
        }
        if turn in turns:
            picture = picture.transpose(turns[turn])
        return picture


def refuse_long(content: bytes, limits: ImageLimits) -> None:
    """Refuse an image of too many bytes."""
    if len(content) > limits.size:
        raise UnfitImageError(
            f"more than {limits.size} bytes; make it smaller, or raise image_bytes in [limits]",
            content,
        )


def _too_large(content: bytes, limits: ImageLimits) -> UnfitImageError:
    return UnfitImageError(
        f"more than {limits.pixels} pixels; make it smaller, or raise image_pixels in [limits]",
        content,
    )


@contextmanager
def _refusing(content: bytes, limits: ImageLimits) -> Iterator[None]:
    """What goes wrong in Pillow, in words; its errors have no common class."""
    try:
        with warnings.catch_warnings():
            # Of details that do not matter here, such as a damaged EXIF entry.
            warnings.simplefilter("ignore")
            yield
    except (UnfitImageError, ImportError):
        raise
    except MemoryError:
        raise UnfitImageError("too large for memory; make it smaller", content) from None
    except Exception as error:
        if type(error).__name__ == "DecompressionBombError":
            raise _too_large(content, limits) from None
        what = cut(" ".join(str(error).split()) or type(error).__name__)
        kinds = " or ".join(FORMATS)
        if "cannot identify" in what:
            what = "something else, or damaged at its beginning"
        raise UnfitImageError(
            f"not a {kinds} image that can be read ({what}); save it again as such", content
        ) from None


def _refuse_shape(opened: Any, content: bytes, limits: ImageLimits) -> None:
    """Refuse an image by what it says of itself, before it is decoded."""
    width, height = opened.size
    if width * height > limits.pixels:
        raise _too_large(content, limits)
    if max(width, height) > MOST_UNEQUAL * min(width, height):
        raise UnfitImageError(
            f"{width} x {height} pixels, and no side may be more than {MOST_UNEQUAL} times as long"
            " as the other; cut it",
            content,
        )
    # A photograph may come with a second picture, such as its depth, which no viewer shows.
    if opened.format == "PNG" and getattr(opened, "n_frames", 1) > 1:
        raise UnfitImageError("an animation; save one of its pictures", content)


def _coloured(opened: Any) -> Any:
    """An image in red, green and blue: what is transparent lies on white, 16 bits become 8."""
    from PIL import Image

    if opened.mode.startswith("I"):
        # Pillow would cut off what is brighter than 255.
        return Image.fromarray((np.asarray(opened) >> 8).astype(np.uint8)).convert("RGB")
    if opened.has_transparency_data:
        layer = opened.convert("RGBA")
        ground = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(ground, layer).convert("RGB")
    return opened.convert("RGB")


def image_problem(content: bytes, limits: ImageLimits) -> str | None:
    """Why an image cannot be used; None: it can."""
    try:
        picture_of(content, limits)
    except UnfitImageError as error:
        return str(error)
    except ImportError:
        return None  # which is the encoder's problem, and told as such
    return None


def made_up_picture(number: int) -> bytes:
    """One of `MADE_UP` images that anybody could make: squares of random colours."""
    from PIL import Image

    rng = np.random.default_rng(number)
    squares = rng.integers(0, 256, (MADE_UP_SIDE, MADE_UP_SIDE, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(squares).save(stream, "PNG")
    return stream.getvalue()


def refuse_without_pillow(where: str) -> None:
    """Refuse where the package is lacking that decodes images."""
    try:
        import PIL  # noqa: F401 -- it is looked for, and used elsewhere
    except ImportError:
        raise missing_extra(f"the encoder {where}", "pillow") from None
