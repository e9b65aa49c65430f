"""Where a party has an encoder that its reward needs: found by its hash."""

from collections.abc import Iterator
from pathlib import Path

from fairpool.encoders.folder import holds_encoder, read_folder
from fairpool.encoders.opening import OpenEncoder
from fairpool.encoders.pin import EncoderPin
from fairpool.errors import EncoderError, few

BESIDE = "encoders"
"""The folder in which encoders mostly are."""

MOST_FOLDERS = 100
"""So many are looked at: each encoder in them is read and hashed."""


def find_encoder(pin: EncoderPin, place: Path, *, reads: str) -> OpenEncoder:
    """The encoder with a hash: the folder itself, one in it, or one in its folder `encoders`.

    What it is called does not matter; one with the name that it had is tried first.

    Args:
        pin: Which one.
        place: Where to look.
        reads: What it is needed for: "text" or "image".
    """
    others = []
    for folder in _candidates(place, pin.name):
        try:
            files = read_folder(folder)
        except EncoderError:
            continue  # whatever it is, it is not the one
        if files.sha256 == pin.sha256:
            if files.reads != reads:
                raise EncoderError(
                    f"{folder}: an encoder of {files.reads}s, and one of {reads}s is needed; ask"
                    " for the reward again"
                )
            return OpenEncoder(folder=folder.absolute(), pin=pin)
        others.append(f"{folder} has {files.sha256}")
    found = "there is no encoder"
    if others:
        found = f"another encoder is there ({few(others, 3)})"
    raise EncoderError(
        f"{pin} is needed, and under {place} {found}; give --encoders (in Python: encoders=) the"
        " folder of the encoder that the collaboration agreed on"
    )


def _candidates(place: Path, name: str) -> Iterator[Path]:
    """Folders that look like encoders: those with the right name first."""
    places = [place]
    for parent in (place, place / BESIDE):
        places += _folders_in(parent)
    # Python's sort is stable: all others stay in their order.
    places.sort(key=lambda folder: folder.name != name)
    for folder in places[:MOST_FOLDERS]:
        if holds_encoder(folder):
            yield folder


def _folders_in(parent: Path) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.is_dir())
    except OSError:
        return []  # it is not there, or nobody may look at it
