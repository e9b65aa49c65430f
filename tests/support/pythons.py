"""The versions of Python that pyproject.toml names, and where they are on this machine.

`python tests/support/pythons.py 3.13` prints the path of one; `make test-python` uses it. Without a
version it is the newest that is named and there.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def named():
    """Every version that pyproject.toml names, such as "3.11", the oldest first."""
    classifiers = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["classifiers"]
    matches = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c) for c in classifiers]
    return sorted((match[1] for match in matches if match), key=as_numbers)


def newer():
    """Those of them that are newer than the Python that runs this."""
    return [version for version in named() if as_numbers(version) > sys.version_info[:2]]


def as_numbers(version):
    """In order, 3.9 before 3.11."""
    return tuple(map(int, version.split(".")))


def where_is(version):
    """The path of such a Python, or None: on the PATH, or one that pyenv has installed."""
    folders = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    on_path = [folder / f"python{version}" for folder in folders]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    return next((path for path in on_path + installed if _runs(path, version)), None)


def _runs(path, version):
    """Whether it is that Python; pyenv puts names on the PATH behind which there is none."""
    if not os.access(path, os.X_OK):
        return False
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", program], capture_output=True, text=True, check=False)
    return (done.returncode, done.stdout.strip()) == (0, version)


def main(arguments):
    """Print where a Python is, or end with the reason why not."""
    versions = arguments or named()[::-1]
    found = next(filter(None, map(where_is, versions)), None)
    if found is None:
        return f"no Python {' or '.join(versions)} on the PATH, nor one that pyenv has installed"
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
