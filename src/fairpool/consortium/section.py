"""What every table of collaboration.toml is: unknown keys are errors, and near misses are told."""

import difflib
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fairpool.errors import shown

Text = Annotated[str, Field(min_length=1)]


class Section(BaseModel):
    """A table of the file: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def one_of(name: str, known: Sequence[str]) -> str:
    """A name that is known; any other is refused with the one that was probably meant."""
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    hint = f'did you mean "{near[0]}"? There are' if near else "give one of"
    raise ValueError(f"{shown(name)} is not allowed; {hint} {', '.join(known)}")
