"""The lowest version of everything that fairpool is declared to work with, as pip's constraints.

`python -m tests.support.lowest` prints them; `make test-lowest` installs them.
"""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def declared():
    """Every requirement that users have, such as "numpy>=2.0"."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra, more in project["optional-dependencies"].items():
        if extra not in ("dev", "docs"):
            requirements += more
    return requirements


def lowest(requirement):
    """The exact version that a requirement begins with; constraints cannot name extras."""
    name, version = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)", requirement).groups()
    return f"{name}=={version}"


if __name__ == "__main__":
    print("\n".join(sorted(lowest(one) for one in declared())))
