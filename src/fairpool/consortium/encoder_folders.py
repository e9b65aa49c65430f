"""The encoders that a configuration names: found, tried, and held against their hashes."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from fairpool.consortium.column_plan import ColumnPlan, PlannedColumn
from fairpool.encoders import OpenEncoder, open_encoder, read_folder
from fairpool.errors import EncoderError, cut


@dataclass(frozen=True, kw_only=True)
class OpenedEncoders:
    """What became of the encoders.

    Attributes:
        plan: What is wanted of columns, knowing the encoders that can be used.
        problems: Of the others, in words.
    """

    plan: ColumnPlan
    problems: tuple[str, ...]


def open_encoders(plan: ColumnPlan, folder: Path) -> OpenedEncoders:
    """Open the encoder of each input that is free text or an image.

    An encoder that is not pinned is refused, too, with the line that pins it: otherwise parties
    could not know whether theirs is the one that was meant.

    Args:
        plan: What is wanted of columns.
        folder: Where the configuration file is; its paths are relative to it.
    """
    opened: dict[str, OpenEncoder] = {}
    problems: list[str] = []
    for column in _encoded(plan.said.values()):
        try:
            opened[column.name] = _opened(column, folder)
        except EncoderError as error:
            where = f"[columns.{cut(column.name)}]"
            problems += [f"{where}: {problem}" for problem in error.problems]
    said = dict(plan.said)
    for name, encoder in opened.items():
        said[name] = replace(said[name], encoder=encoder)
    return OpenedEncoders(plan=replace(plan, said=said), problems=tuple(problems))


def _encoded(columns: Iterable[PlannedColumn]) -> list[PlannedColumn]:
    return [column for column in columns if column.is_input and column.encoder_folder is not None]


def _opened(column: PlannedColumn, folder: Path) -> OpenEncoder:
    """The encoder of a column, if it is the one that is meant."""
    assert column.encoder_folder is not None  # as `_encoded` chose it
    files = read_folder(folder / column.encoder_folder)
    if files.reads != column.kind:
        raise EncoderError(
            f'{files.folder}: an encoder of {files.reads}s; say kind = "{files.reads}", or name one'
            f" of {column.kind}s"
        )
    needed = column.encoder_sha256
    if needed is not None and files.sha256 != needed:
        raise EncoderError(
            f"{files.folder}: its sha256 is {files.sha256}, but encoder_sha256 says {needed}; put"
            " the encoder there that all parties agreed on, or, if they agreed on this one, correct"
            " the line"
        )
    opened = open_encoder(files)
    if needed is None:
        raise EncoderError(
            f"encoder_sha256 is missing; if {files.folder} is the encoder that all parties agreed"
            f' on, add the line encoder_sha256 = "{files.sha256}"'
        )
    return opened
