"""A token: what a program has instead of a password, and shows to nobody but its service."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.private_files import private_content
from fairpool.errors import SecretError

VARIABLE = "FAIRPOOL_TOKEN"
"""The environment variable that a token may be in."""

_TEXT = re.compile(r"fp_[A-Za-z0-9_-]{20,200}")


@dataclass(frozen=True, repr=False, eq=False)
class Token:
    """A token.

    Attributes:
        text: All of it; neither `repr` nor an error shows it.
    """

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not _TEXT.fullmatch(self.text):
            raise SecretError(
                'this is no token of a service, which is "fp_" and letters and digits in one line;'
                " make one on your account page there, and copy all of it"
            )

    def __repr__(self) -> str:
        return "Token(...)"

    @classmethod
    def given(cls, file: Path | None, environment: Mapping[str, str] | None = None) -> "Token":
        """The token in a file that only its owner can read, or in the environment.

        Args:
            file: Its path; None: the variable FAIRPOOL_TOKEN has the token.
            environment: Default: the process's.
        """
        if file is not None:
            content = private_content(file, "the token")
            return cls(content.decode("ascii", "replace").strip())
        found = (os.environ if environment is None else environment).get(VARIABLE)
        if not found:
            raise SecretError(
                "a token says who you are: make one on your account page of the service, and put it"
                f" into a file of mode 600 (--token-file), or into the variable {VARIABLE}; never"
                " on the command line, which everybody on this machine can read"
            )
        return cls(found.strip())

    def hidden_in(self, text: str) -> str:
        """A text that somebody else wrote, without the token."""
        return text.replace(self.text, "fp_...")
