"""`fairpool init --from`: a collaboration.toml that fits a folder of tables."""

import os
from dataclasses import dataclass
from pathlib import Path

from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.guessing.folder import find_sources
from fairpool.consortium.guessing.proposal import propose
from fairpool.consortium.guessing.toml_text import write_page
from fairpool.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written.

    Attributes:
        file: Where.
        parties: Their names.
        target: The column to predict.
        questions: What the operator is asked, in the order of the file.
    """

    file: Path
    parties: tuple[str, ...]
    target: str
    questions: tuple[str, ...]


def configure_folder(
    folder: Path, out: Path | None = None, *, target: str | None = None
) -> Written:
    """Guess what the tables of a folder are, and write the configuration that fits them.

    Args:
        folder: Where the tables are: one file or subfolder per party.
        out: Where the configuration goes; None: the folder itself. A file that is there is kept.
        target: The column to predict; None: it is guessed.
    """
    if out is None:
        out = folder
    file = out / FILE_NAME
    if file.exists():
        raise DataError(
            f"{file}: there is one already, and it is kept; move it, or name another folder"
        )
    proposal = propose(find_sources(folder, out), target=target)
    page = write_page(proposal, _title(folder))
    try:
        out.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write("\n".join(page.lines) + "\n")
    except OSError as error:
        raise DataError(f"{file}: cannot be written ({os.strerror(error.errno or 0)})") from None
    return Written(
        file=file,
        parties=tuple(party.name for party in proposal.parties),
        target=proposal.target.name,
        questions=tuple(page.questions),
    )


def _title(folder: Path) -> str:
    """The folder's name, as far as it can be one of a collaboration."""
    name = " ".join(folder.resolve().name.split())
    if name and name.isprintable():
        return name[:60]
    return "Collaboration"
