"""What a party does with its reward when it has more rows: bring it up to date by itself."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fairpool.compute.workers import Progress, Workers, no_progress
from fairpool.consortium.prediction import find_data, look_at_data
from fairpool.consortium.statistics import summarise_files
from fairpool.errors import DataError, RewardFileError
from fairpool.notes import Note
from fairpool.realisation import ModelReward, load_reward, update
from fairpool.realisation.update import updatable
from fairpool.tables.delivery import AS_AGREED

OWNER = "rows of your own"


@dataclass(frozen=True, kw_only=True, eq=False)
class UpdatedReward:
    """A reward with other rows of its recipient's own.

    Attributes:
        before: The reward as it was.
        reward: The reward as it is now.
        rows: How many rows the table had.
        notes: What the recipient should know.
    """

    before: ModelReward
    reward: ModelReward
    rows: int
    notes: tuple[Note, ...] = ()


def update_file(
    reward_file: Path,
    data: Path,
    *,
    add: bool = False,
    corrected: bool = False,
    as_agreed: bool = False,
    encoders: Path | None = None,
    progress: Progress = no_progress,
) -> UpdatedReward:
    """The reward of a file, with the rows of a table as its recipient's own.

    Args:
        reward_file: The model.
        data: The table, with the model's columns and the target; it may be a folder or a pattern.
        add: Whether the table has new rows alone, to be added to those before.
        corrected: Whether rows were corrected or left out.
        as_agreed: Whether the table has the collaboration's names and units instead of the party's.
        encoders: Where the encoders that the model needs are; None: beside the reward.
        progress: Called as rows are done.
    """
    before = load_reward(reward_file)
    if before.encoding is None:
        raise DataError(
            f"{reward_file}: it knows no column names; use fairpool.realisation.update in Python"
            " instead"
        )
    encoding = before.encoding.with_encoders(encoders or reward_file.parent)
    try:
        model = updatable(before).model  # refused at once, and not after the table was read
        delivery = AS_AGREED if as_agreed else before.delivery
        source = replace(find_data(data, OWNER), delivery=delivery)
        looked_at = look_at_data(source, encoding, progress, with_labels=True)
        seen = looked_at.survey
        if not seen.rows:
            raise DataError(f"{data}: it has no row; give the rows that the reward shall have")
        own = summarise_files(
            before.party,
            source,
            encoding=encoding,
            model=model,
            expected=seen.contents,
            workers=Workers(progress=progress),
        )
        after = update(before, own, add=add, corrected=corrected)
    except RewardFileError as error:
        texts = [f"{reward_file}: {problem}" for problem in error.problems]
        raise RewardFileError(*texts) from None
    notes = [*looked_at.notes, *_noise_notes(before, add=add)]
    return UpdatedReward(before=before, reward=after, rows=len(own), notes=tuple(notes))


def _noise_notes(before: ModelReward, *, add: bool) -> Iterator[Note]:
    """What becomes of sums that the recipient sent with noise."""
    if not before.own_noise:
        return
    text = (
        "the sums that you sent with noise are taken out of the reward, and these rows are in their"
        " place: give all rows that you want in it, new ones and those that you contributed"
    )
    if add:
        text = (
            "the sums that you sent with noise stay in the reward: rows that you contributed count"
            " twice where they are among these"
        )
    yield Note(code="own noise", party=before.party, text=text)


def updated_name(reward_file: Path) -> Path:
    """Where an updated reward goes if nobody says so: beside the one that it is made of."""
    return reward_file.with_name(f"{reward_file.stem}-updated{reward_file.suffix}")
