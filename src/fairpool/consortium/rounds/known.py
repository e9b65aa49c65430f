"""Files that are as they were in the last round: what was seen of them is not computed again.

A party's files are the same where every byte of them is (SHA-256), and where they are looked at in
the same way. Then the first look at them, the sample of their rows, who their rows are and the sums
over them are taken from the record that the last release left. Whatever is not exactly the same is
computed anew, and a round with records is that without them, to the last bit.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.consortium.faults import Columns
from fairpool.consortium.limits import Limits
from fairpool.consortium.reading import Piece
from fairpool.consortium.rounds.fingerprint import NoFingerprintError, fingerprint
from fairpool.consortium.rounds.identification import Identities
from fairpool.consortium.rounds.kept import Arrays, Kept, Record
from fairpool.consortium.rounds.survey_codec import arrays_of, survey_of, words_of
from fairpool.consortium.sample import Sample
from fairpool.consortium.sketching import SourceSketch
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Source
from fairpool.encoding import TableEncoding
from fairpool.rounds.batches import as_before
from fairpool.rounds.party_batches import Assignment, PartyBatches


@dataclass(frozen=True, kw_only=True)
class Look:
    """How files are looked at.

    Attributes:
        columns: What is read of them.
        limits: What they may be at most.
    """

    columns: Columns
    limits: Limits

    def key(self, source: Source) -> str | None:
        """What tells this look from others; None: nobody knows, so that nothing is kept."""
        if self.columns.images:
            return None  # they are files of their own
        names = [file.name for file in source.files]  # which tell how files are read
        try:
            return fingerprint(names, source.delivery, self.columns, self.limits)
        except NoFingerprintError:
            return None


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How a sample of rows is taken.

    Attributes:
        encoding: How tables become numbers.
        most: How many rows are kept; None: all.
        seen: The share of rows whose keys are kept.
        sketched: The share of rows whose sketches are kept.
    """

    encoding: TableEncoding
    most: int | None
    seen: float
    sketched: float

    @property
    def key(self) -> str:
        """What tells this way to take it from others."""
        return fingerprint(self)


@dataclass(eq=False)
class Known:
    """The records of the last release, one for each party; not frozen, since files are hashed once.

    Attributes:
        kept: Where they are.
    """

    kept: Kept
    _unchanged: dict[str, Record | None] = field(default_factory=dict, repr=False)

    def recognise(self, sources: Mapping[str, Source], look: Look) -> None:
        """Find out whose files are as they were, all at the same time: they are read to the end.

        Args:
            sources: By permanent identity, each party's files.
            look: How they would be looked at.
        """
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            records = threads.map(lambda party: self._same(party, sources[party], look), sources)
            self._unchanged = dict(zip(sources, records, strict=True))

    def _same(self, party: str, source: Source, look: Look) -> Record | None:
        """A party's record, if its files are the same, and would be looked at in the same way."""
        record = self.kept.record(party)
        if record is None or record.words["look"] != look.key(source):
            return None
        if _sizes(source) != record.words["sizes"]:  # which spares hashing them
            return None
        try:
            hashes = [_sha256(file) for file in source.files]
        except OSError:  # whoever looks at them says what is wrong
            return None
        if hashes != [sha256 for sha256, _, _ in record.words["survey"]["contents"]]:
            return None
        return record

    def survey(self, party: str, source: Source) -> Survey | None:
        """What was seen of a party's files, if they are the same."""
        record = self._unchanged.get(party)
        if record is None:
            return None
        return survey_of(record.words["survey"], record.arrays, source)

    def sample(self, party: str, sampling: Sampling) -> Sample | None:
        """The sample of a party's rows, if its files are the same, and it is taken in this way."""
        record = self._unchanged.get(party)
        if record is None or record.words["sampling"] != sampling.key:
            return None
        arrays = record.arrays
        sketch = SourceSketch(
            coordinates=arrays["sketch.coordinates"], numbers=arrays["sketch.numbers"]
        )
        return Sample(
            X=arrays["sample.X"], y=arrays["sample.y"], keys=arrays["sample.keys"], sketch=sketch
        )

    def identities(self, party: str, source: Source, encoding: TableEncoding) -> Identities | None:
        """Who a party's rows are, if its files are the same, and rows are known by the same."""
        record = self._of_rows(party, encoding)
        if record is None:
            return None
        return Identities(
            columns=tuple(record.words["columns"]),
            pieces=tuple(Piece.of(source.files)),
            sizes=tuple(record.words["rows_of_pieces"]),
            ids=record.arrays["ids"],
            members=record.arrays.get("members", record.arrays["ids"]),
        )

    def assignment(
        self, party: str, history: PartyBatches, encoding: TableEncoding
    ) -> Assignment | None:
        """Which rows take part, if all did in the last round, and the files are the same."""
        record = self._of_rows(party, encoding)
        if record is None:
            return None
        return as_before(history, part_names=record.words["parts"], groups=record.arrays["groups"])

    def sums(
        self, party: str, parts: Sequence[str], agreement: str, encoding: TableEncoding
    ) -> list[Arrays] | None:
        """Sums over the rows of each part, if they are those of these very files.

        Args:
            party: Its permanent identity.
            parts: The names of the parts that take part.
            agreement: Of the model.
            encoding: How tables become numbers.
        """
        record = self._of_rows(party, encoding)
        if record is None or record.words["agreement"] != agreement:
            return None
        found = []
        for part in parts:
            arrays = self.kept.arrays(part, agreement)
            if arrays is None:
                return None
            if self.kept.digest_of(part, agreement, arrays) != record.words["sums"].get(part):
                return None
            found.append(arrays)
        return found

    def _of_rows(self, party: str, encoding: TableEncoding) -> Record | None:
        record = self._unchanged.get(party)
        if record is None or record.words["encoding"] != fingerprint(encoding):
            return None
        return record


def _sizes(source: Source) -> list[int]:
    """How many bytes each file has; nothing where one is gone."""
    try:
        return [file.stat().st_size for file in source.files]
    except OSError:
        return []


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """All that a round found out about one party's files.

    Attributes:
        party: Its permanent identity.
        look: How they were looked at.
        survey: What was seen.
        sampling: How the sample was taken.
        sample: The sample.
        identities: Who the rows are.
        assignment: Which take part.
        arrays: Sums over each part, or its rows.
    """

    party: str
    look: Look
    survey: Survey
    sampling: Sampling
    sample: Sample
    identities: Identities
    assignment: Assignment
    arrays: "dict[str, Arrays]" = field(repr=False)

    def record(self, kept: Kept, agreement: str) -> Record | None:
        """What is to be kept for the next round; None: what depends on that cannot be told.

        Args:
            kept: Where.
            agreement: Of the model.
        """
        look = self.look.key(self.survey.source)
        if look is None or self.sample.sketch is None:
            return None
        sums = {}
        for part, arrays in self.arrays.items():
            sums[part] = kept.digest_of(part, agreement, arrays)
        # By name, whatever the order of batches in the ledger.
        names = sorted(self.assignment.part_names)
        places = np.array([names.index(name) for name in self.assignment.part_names] + [-1])
        words: dict[str, Any] = {
            "look": look,
            "sizes": _sizes(self.survey.source),
            "survey": words_of(self.survey),
            "sampling": self.sampling.key,
            "encoding": fingerprint(self.sampling.encoding),
            "columns": list(self.identities.columns),
            "rows_of_pieces": list(self.identities.sizes),
            "parts": names,
            "agreement": agreement,
            "sums": sums,
        }
        arrays_to_keep: dict[str, NDArray[Any]] = {
            **arrays_of(self.survey),
            "sample.X": self.sample.X,
            "sample.y": self.sample.y,
            "sample.keys": self.sample.keys,
            "sketch.coordinates": self.sample.sketch.coordinates,
            "sketch.numbers": self.sample.sketch.numbers,
            "ids": self.identities.ids,
            "groups": places[self.assignment.groups].astype(np.int32),
        }
        if self.identities.members is not self.identities.ids:
            arrays_to_keep["members"] = self.identities.members
        return Record(words=words, arrays=arrays_to_keep)


def keep(seen: Sequence[Seen], kept: Kept, agreement: str) -> None:
    """Keep a record of each party's files, and none of anybody else's.

    Args:
        seen: Everybody's.
        kept: Where.
        agreement: Of the model.
    """
    recorded = []
    for one in seen:
        record = one.record(kept, agreement)
        if record is None:
            continue
        recorded.append(one.party)
        before = kept.record(one.party)
        if before is None or before.words != record.words:
            kept.write_record(one.party, record)
    kept.erase_other_records(recorded)
