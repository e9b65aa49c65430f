"""What is done to an image before a network sees it, as a preprocessor_config.json says.

These files come with vision models on public hubs. What they say and is not known here is refused,
since an image that was treated in another way would become other numbers.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.encoders.folder import PREPROCESSOR, EncoderFiles
from fairpool.errors import EncoderError, shown

STEPS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize")
HARMLESS = ("do_convert_rgb",)
"""Every image is red, green and blue already."""

UNKNOWN_SIZES = ("crop_pct",)
"""Of keys that do not begin with `do_`, those that would change images in a way not known here."""

LONGEST_SIDE = 2048
BILINEAR = 2
HIGHEST_RESAMPLE = 5
CHANNELS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Preprocessing:
    """From an image to a network's input: resized, cut, scaled, normalised.

    Attributes:
        height: To which it is resized; None: with its shape kept, by its shorter side.
        width: Likewise. Where the shape is kept, this is the shorter side.
        crop: Height and width of the middle that is kept; None: all is.
        resample: How it is resized, by Pillow's numbers.
        factor: By which values from 0 to 255 are multiplied.
        mean: What is subtracted then [3].
        std: What that is divided by [3].
    """

    height: int | None
    width: int
    crop: tuple[int, int] | None
    resample: int
    factor: float
    mean: NDArray[np.float64]
    std: NDArray[np.float64]

    @classmethod
    def of(cls, files: EncoderFiles) -> "Preprocessing":
        """What an encoder's file says, all of it checked."""
        return _Settings(files.settings(PREPROCESSOR), str(files.folder / PREPROCESSOR)).read()

    def tensor(self, picture: Any) -> NDArray[np.float32]:
        """An image of Pillow's, in red, green and blue, as a network's input [1, 3, h, w]."""
        from PIL import Image

        picture = picture.resize(self._size(picture), Image.Resampling(self.resample))
        if self.crop is not None:
            height, width = self.crop
            left = (picture.width - width) // 2
            top = (picture.height - height) // 2
            picture = picture.crop((left, top, left + width, top + height))
        # What overflows is seen in what the network makes of it.
        with np.errstate(over="ignore", invalid="ignore"):
            values = (np.asarray(picture) * self.factor - self.mean) / self.std
            return np.ascontiguousarray(values.transpose(2, 0, 1)[None], dtype=np.float32)

    def _size(self, picture: Any) -> tuple[int, int]:
        """Width and height to which an image is resized."""
        if self.height is not None:
            return self.width, self.height
        shorter = min(picture.size)
        longer = int(self.width * max(picture.size) / shorter)
        if picture.width <= picture.height:
            return self.width, longer
        return longer, self.width


@dataclass(frozen=True)
class _Settings:
    """The entries of a file, and what the file is called in errors."""

    entries: dict[str, Any]
    where: str

    def read(self) -> Preprocessing:
        """What they say."""
        self._refuse_unknown()
        is_cut = self._does("do_center_crop", by_default="crop_size" in self.entries)
        height, width = self._size(is_cut=is_cut)
        crop = None
        if is_cut:
            crop = self._crop(shortest=min(height or width, width))
        mean = np.zeros(CHANNELS)
        std = np.ones(CHANNELS)
        if self._does("do_normalize", by_default="image_mean" in self.entries):
            mean = self._numbers("image_mean")
            std = self._numbers("image_std")
            if not (std > 0).all():
                raise self._refusal("image_std", "numbers above 0")
        return Preprocessing(
            height=height,
            width=width,
            crop=crop,
            resample=self._resample(),
            factor=self._factor(),
            mean=mean,
            std=std,
        )

    def _refusal(self, key: str, expected: str) -> EncoderError:
        given = shown(self.entries.get(key))
        return EncoderError(f"{self.where}: {key} is {given}; it must be {expected}")

    def _refuse_unknown(self) -> None:
        for key, value in self.entries.items():
            does = key.startswith("do_") and key not in (*STEPS, *HARMLESS)
            if value and (does or key in UNKNOWN_SIZES):
                raise EncoderError(
                    f"{self.where}: {shown(key)} is not known here, and would change images; take"
                    " an encoder that does without it"
                )
        if not self._does("do_resize", by_default=True):
            raise EncoderError(
                f"{self.where}: do_resize is false, so that images of any size would go in; take an"
                " encoder that resizes"
            )

    def _does(self, key: str, *, by_default: bool) -> bool:
        value = self.entries.get(key)
        if value is None:
            return by_default
        if not isinstance(value, bool):
            raise self._refusal(key, "true or false")
        return value

    def _size(self, *, is_cut: bool) -> tuple[int | None, int]:
        """Height and width, or None and the shorter side."""
        size = self.entries.get("size")
        if isinstance(size, dict) and set(size) == {"shortest_edge"}:
            return None, self._side("size", size["shortest_edge"])
        if isinstance(size, dict) or not is_cut:
            return self._sides("size")
        # As older files have it: a single number is the shorter side where something is cut off.
        return None, self._side("size", size)

    def _crop(self, *, shortest: int) -> tuple[int, int]:
        crop = self._sides("crop_size")
        if max(crop) > shortest:
            raise self._refusal("crop_size", f"at most {shortest}, as size is")
        return crop

    def _sides(self, key: str) -> tuple[int, int]:
        """Height and width, which are the same where a single number is given."""
        value = self.entries.get(key)
        if isinstance(value, dict):
            if set(value) != {"height", "width"}:
                raise self._refusal(key, "a height and a width, or, of size, a shortest_edge")
            return self._side(key, value["height"]), self._side(key, value["width"])
        side = self._side(key, value)
        return side, side

    def _side(self, key: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LONGEST_SIDE:
            raise self._refusal(key, f"whole numbers from 1 to {LONGEST_SIDE}")
        return value

    def _resample(self) -> int:
        value = self.entries.get("resample")
        if value is None:
            return BILINEAR
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not 0 <= value <= HIGHEST_RESAMPLE:
            raise self._refusal("resample", f"a whole number from 0 to {HIGHEST_RESAMPLE}")
        return int(value)

    def _factor(self) -> float:
        if not self._does("do_rescale", by_default=True):
            return 1.0
        value = self.entries.get("rescale_factor", 1 / 255)
        if not _is_finite(value) or value <= 0:
            raise self._refusal("rescale_factor", "a number above 0")
        return float(value)

    def _numbers(self, key: str) -> NDArray[np.float64]:
        values = self.entries.get(key)
        is_list = isinstance(values, list) and len(values) == CHANNELS
        if not is_list or not all(map(_is_finite, values or ())):
            raise self._refusal(key, f"{CHANNELS} numbers, of red, green and blue")
        return np.array(values, dtype=np.float64)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
