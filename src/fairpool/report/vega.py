"""Vega, the script that draws a report's live chart.

It is made once for every version, and then kept in the user's cache.
"""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert
from platformdirs import user_cache_path

from fairpool.compute.files import make_private_folder, write_atomically
from fairpool.errors import FairpoolError


@cache
def vega_script() -> str:
    """Vega as one script without any outside reference, to stand in a script element.

    Making it takes two seconds, and gives the same text for the same version of vl-convert. A cache
    that cannot be read or written, or whose content is damaged, costs these two seconds and nothing
    else.
    """
    folder = user_cache_path("fairpool", appauthor=False)
    file = folder / f"vega-of-vl-convert-{version('vl-convert-python')}.js"
    bundle = _kept(file)
    if bundle is None:
        # None is the default, which the type stub forgets.
        bundle = str(vl_convert.javascript_bundle(None))  # type: ignore[arg-type]
        _keep(file, bundle)
    # Otherwise the first </script of the text would end the element that it stands in.
    return bundle.replace("</script", "<\\/script")


def _kept(file: Path) -> str | None:
    """What was kept; None where there is nothing, or something else than what was written."""
    if not file.is_absolute():
        return None
    try:
        first_line, _, content = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    if first_line != _seal(content):
        return None
    return content.decode()


def _keep(file: Path, bundle: str) -> None:
    if not file.is_absolute():
        return  # a user without a home: it would be a folder named ~ wherever the command runs
    content = bundle.encode()
    try:
        make_private_folder(file.parent)
        file.parent.chmod(0o700)  # what lies here goes into every report: nobody else may change it
        write_atomically(file, _seal(content) + b"\n" + content)
    except (OSError, FairpoolError):
        pass  # then it is made anew the next time


def _seal(content: bytes) -> bytes:
    return b"// sha256 " + hashlib.sha256(content).hexdigest().encode()
