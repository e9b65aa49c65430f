"""Readings of whole files, batch by batch, so that a file may be larger than memory.

A run reads the head of every file, for the names of its columns, and then whole files, so often:

1. To look at them (`intake.survey`). Scaling and levels must be known before rows become numbers.
2. To take a sample of their rows (`sample.take_sample`). The model is learned from it, and must be
   known before rows can be summed up. For an exact Gaussian process the sample is all rows.
3. To recognise their rows (`rounds.identification.identify`): which took part in earlier rounds,
   and which noise is theirs. Only of the parties' files.
4. To sum up the rows of each part (`rounds.part_sums.sum_parts`). This and what follows needs only
   a model with weights, and only the parties' files.
5. To look for rows that dominate a new batch (`rounds.dominance.dominated_batches`): of parties
   that have one, again for every other way to deal out its rows (with 4.), and not where
   `share_inputs` is set. Sums over all batches must be known before.
6. To sum up the noise on labels (`rounds.part_sums.sum_noise`), where somebody receives a party's
   rows with noise. How much of it must be known before.
7. To look for labels that stand out (`outlying.look_at_rows`), by which a row could be located in
   the others' rewards, and for rows that nobody else can check; everybody's model must be known
   before.

So there are seven readings for a model with weights, and three for an exact Gaussian process, which
keeps all rows. Where `share_inputs` is set, the fifth is left out, and the seventh of parties that
are small enough to be kept. Public and test data are read twice. Of files that are as they were in
the last round, the first five are replaced by one that takes their hash (`rounds.known`).

Every reading hashes its file, and must find what the first one found (see `contents`); a CSV file
is never read for its hash alone, but to tell whether it has changed since the last round. Images
that a table names are opened, and hashed, by every reading; they are decoded by the first, and by
the first that makes numbers of them.
Where near copies are found, the files of their parties are read once more, to see what was altered.
(Beside that, the text of a problem or an outlier reads a CSV file up to the line that it names, and
where dates may be written in two orders, a reading looks ahead for one that tells.)
"""

import contextlib
import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from fairpool.columns import Rules
from fairpool.columns.rules import is_image_type
from fairpool.consortium.contents import FileState, Passage
from fairpool.consortium.date_forms import DateForms, ambiguous_text
from fairpool.consortium.decoding import decoded, is_plain_text
from fairpool.consortium.hashing_stream import HashingStream
from fairpool.consortium.image_files import IMAGE_ROWS, ImageFiles
from fairpool.consortium.parquet_heads import is_text_type, row_groups, unfit_columns
from fairpool.consortium.sheet_columns import SheetColumns
from fairpool.consortium.tables import Batch, Place, first_line, is_parquet, is_workbook
from fairpool.consortium.wanted import MisfitError, Wanted, rules_as_delivered, without_tokens
from fairpool.consortium.workbooks import sheet_of
from fairpool.encoders.pictures import ImageLimits
from fairpool.encoding import TableEncoding
from fairpool.encoding import without_tokens as without_column_tokens
from fairpool.errors import DataError
from fairpool.tables.delivery import AS_AGREED, Delivery

BATCH_ROWS = 1 << 17
BATCH_VALUES = 1 << 22
"""A batch has fewer rows than `BATCH_ROWS` where it would have more values than this."""

PIECE_ROWS = 1 << 19
"""Row groups of a Parquet file are one task until they have as many rows as this."""


CSV_BLOCK = 1 << 22
BYTES_PER_CHARACTER = 4
PARQUET_BUFFER = 1 << 15
"""Bytes that are read ahead of each column; a whole row group may be too large for memory."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Consecutive rows of a file that are one task: a CSV file, or row groups of a Parquet file.

    Attributes:
        file: Where they are from.
        groups: The row groups; None: all. A CSV file counts as one group.
        first: The number of the first row in the file, from 0.
        hashes: Whether the task hashes the whole Parquet file. Of several pieces the first one
            does, so that other workers go on meanwhile. A CSV file is always hashed.
    """

    file: Path
    groups: range | None = None
    first: int = 0
    hashes: bool = True

    @classmethod
    def of(cls, files: Sequence[Path], *, hashed: bool = True) -> "list[Piece]":
        """All rows of all files, in order; the pieces are the same whoever reads them.

        Args:
            files: CSV and Parquet files.
            hashed: Whether Parquet files are to be hashed as well.
        """
        pieces = []
        for file in files:
            if is_parquet(file):
                pieces += cls._of_groups(file, row_groups(file), hashed=hashed)
            else:
                pieces.append(cls(file=file, groups=range(1)))
        return pieces

    @classmethod
    def _of_groups(cls, file: Path, sizes: Sequence[int], *, hashed: bool) -> "list[Piece]":
        if not sizes:  # no rows, but columns to be looked at
            return [cls(file=file, groups=range(0), hashes=hashed)]
        pieces: list[Piece] = []
        start = 0
        first = 0
        rows = 0
        for end, size in enumerate(sizes, 1):
            rows += size
            if rows >= PIECE_ROWS or end == len(sizes):
                hashes = hashed and not pieces
                pieces.append(cls(file=file, groups=range(start, end), first=first, hashes=hashes))
                start = end
                first += rows
                rows = 0
        return pieces


@dataclass(kw_only=True)
class Reading:
    """One reading of a piece: its batches, to be gone through once, and then what was read.

    Batches have the collaboration's names and units, however the file comes. It is not frozen: it
    counts and hashes what goes by.

    Attributes:
        piece: What to read.
        numbers: The columns to be read as float64, missing values as nulls.
        texts: The columns to be read as strings, missing values as nulls.
        dates: The columns to be read as float64 days since 1970-01-01; they may be among the
            numbers.
        delivery: How the file comes.
        threads: Whether columns are read in parallel; not where several pieces are.
        target: Which of the columns has labels, for errors; empty: none.
        rules: Of columns with values that stand for missing ones, in the file's own unit.
        longest: Of some columns, texts of a Parquet file with more characters than this are
            refused before they fill memory: stored once, one may stand in millions of rows.
        free_texts: Those of the texts that an encoder reads.
        images: Those of the texts that name images or, in Parquet files, hold them; batches have
            their bytes.
        image_limits: What these may be at most; None: they were looked at before.
        expansion: How many times larger than its packed file a text may be; None: any.
    """

    piece: Piece
    numbers: Sequence[str]
    texts: Sequence[str]
    dates: Sequence[str] = ()
    delivery: Delivery = AS_AGREED
    threads: bool = True
    target: str = ""
    rules: Mapping[str, Rules] = field(default_factory=dict)
    longest: Mapping[str, int] = field(default_factory=dict)
    free_texts: Sequence[str] = ()
    images: Sequence[str] = ()
    image_limits: ImageLimits | None = None
    expansion: float | None = None
    _rows: int = field(default=0, init=False)
    _sha256: str | None = field(default=None, init=False)
    _states: set[FileState] = field(default_factory=set, init=False)
    _image_files: ImageFiles = field(default_factory=ImageFiles, init=False)

    @classmethod
    def labelled(
        cls, piece: Piece, encoding: TableEncoding, delivery: Delivery, *, threads: bool = True
    ) -> "Reading":
        """Of all columns that an encoding needs, labels as well.

        Args:
            piece: What to read.
            encoding: How tables become numbers.
            delivery: How the file comes.
            threads: Whether columns are read in parallel.
        """
        return cls(
            piece=piece,
            numbers=encoding.labelled_numbers,
            texts=encoding.labelled_texts,
            dates=encoding.dates,
            images=encoding.images,
            rules=encoding.rules,
            delivery=delivery,
            threads=threads,
        )

    def __iter__(self) -> Iterator[Batch]:
        if not self.images:
            yield from self.unopened()
            return
        self._image_files = ImageFiles(columns=self.images, limits=self.image_limits)
        yield from self._image_files.opened(self.unopened(), self._refuse_image)

    def _refuse_image(self, batch: Batch, row: int, column: str, problem: str) -> None:
        where = f"{batch.place(row)}, {self.delivery.described(column)}"
        raise DataError(f"{where}: {problem}")

    def unopened(self) -> Iterator[Batch]:
        """The batches with images as the file has them: named, or held in Parquet's ways."""
        wanted = Wanted(
            numbers=tuple(self.numbers),
            texts=tuple(self.texts),
            dates=tuple(self.dates),
            images=tuple(self.images),
            delivery=self.delivery,
        )
        most = max(1, min(BATCH_ROWS, BATCH_VALUES // max(len(wanted.names), 1)))
        if self.images and is_parquet(self.piece.file):
            most = IMAGE_ROWS
        rules = rules_as_delivered(self.rules, self.delivery)
        if is_workbook(self.piece.file):
            yield from self._sheet(wanted, most, rules)
            return
        for table in self._tables(wanted, most):
            for start in range(0, table.num_rows, most):
                part = without_column_tokens(table.slice(start, most), rules)
                first = self.piece.first + self._rows
                self._rows += part.num_rows
                yield Batch(
                    file=self.piece.file,
                    first=first,
                    columns=part,
                    dialect=self.delivery.dialect,
                )

    @property
    def passage(self) -> Passage:
        """What was read, once all batches are."""
        return Passage(
            file=self.piece.file,
            rows=self._rows,
            sha256=self._sha256,
            states=frozenset(self._states),
            images=self._image_files.digest,
        )

    def _tables(self, wanted: Wanted, most: int) -> Iterator[pa.Table]:
        """The rows as everything that follows sees them."""
        tables = self._csv(wanted)
        if is_parquet(self.piece.file):
            tables = self._parquet(wanted, most)
        forms = self._date_forms(wanted)
        for own in tables:
            if wanted.is_direct:
                yield own
            else:
                yield self._canonical(own, wanted, forms)

    def _canonical(self, own: pa.Table, wanted: Wanted, forms: DateForms | None) -> pa.Table:
        try:
            return wanted.canonical(own, forms)
        except MisfitError as misfit:
            where = self._described(misfit.name, misfit.row)
            raise DataError(f"{where}: {misfit.what}") from None
        except pa.ArrowException as error:
            raise DataError(f"{self.piece.file}: {first_line(error)}") from None

    def _described(self, name: str, row: int) -> str:
        """A column, and the place of a row that comes so many rows later than those before."""
        number = self.piece.first + self._rows + row
        place = Place(self.piece.file, number, dialect=self.delivery.dialect)
        return f"{place}, {self.delivery.described(name)}"

    def _csv(self, wanted: Wanted) -> Iterator[pa.Table]:
        problem = None
        stream = None
        try:
            stream = HashingStream(self.piece.file)
            yield from self._csv_tables(stream, wanted.types_in_text)
            self._sha256 = stream.drained()
        except (pa.ArrowException, OSError) as error:
            problem = first_line(error)
        finally:
            if stream is not None:
                stream.wait_for_release()
        if problem is not None:
            raise DataError(f"{self.piece.file}: {problem}")

    def _csv_tables(
        self, stream: "HashingStream", types: dict[str, pa.DataType]
    ) -> Iterator[pa.Table]:
        dialect = self.delivery.dialect
        options = pa_csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=list(dialect.missing_tokens),
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
        )
        with pa_csv.open_csv(
            self._lent(stream),
            convert_options=options,
            read_options=pa_csv.ReadOptions(
                block_size=CSV_BLOCK, use_threads=self.threads, skip_rows=dialect.header - 1
            ),
            parse_options=pa_csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
        ) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def _lent(self, stream: "HashingStream") -> Any:
        """The file's text in UTF-8, as Arrow wants it; the hash is of the file's own bytes."""
        file = self.piece.file
        dialect = self.delivery.dialect
        if is_plain_text(file, dialect):
            return stream.lent()
        return stream.lent(decoded(stream, file, dialect, expansion=self.expansion))

    def _date_forms(self, wanted: Wanted) -> DateForms | None:
        """How the file's dates are written; refused where nobody can tell.

        Of most files the first rows tell. Then no more of them are read for that.
        """
        if not wanted.dates:
            return None
        forms = DateForms(wanted.recorded_dates, self.delivery)
        still_open = {column.header: column.name for column in wanted.open_dates}
        start = 0
        with contextlib.closing(self._texts_of(list(still_open))) as tables:
            for table in tables:
                for header in table.column_names:
                    forms.take(still_open[header], table[header], start)
                start += table.num_rows
                if not forms.undecided:
                    break
        for name, first in forms.ambiguous.items():
            place = Place(self.piece.file, first.row, dialect=self.delivery.dialect)
            where = f"{place}, {self.delivery.described(name)}"
            raise DataError(f"{where}: {ambiguous_text(first.value)}")
        return forms

    def _texts_of(self, headers: list[str]) -> Generator[pa.Table]:
        """Columns of the whole file that are text, as text."""
        if not headers:
            return
        if is_parquet(self.piece.file):
            yield from self._parquet_texts(headers)
            return
        stream = HashingStream(self.piece.file)
        try:
            yield from self._csv_tables(stream, dict.fromkeys(headers, pa.string()))
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.piece.file}: {first_line(error)}") from None
        finally:
            stream.wait_for_release()

    def _parquet_texts(self, headers: list[str]) -> Iterator[pa.Table]:
        try:
            with pa.OSFile(str(self.piece.file)) as stream:
                file = pa_parquet.ParquetFile(stream)
                schema = file.schema.to_arrow_schema()
                present = {*headers}.intersection(schema.names)
                texts = [name for name in present if is_text_type(schema.field(name).type)]
                if texts:
                    for batch in file.iter_batches(BATCH_ROWS, columns=texts):
                        yield pa.Table.from_batches([batch]).cast(
                            pa.schema([(header, pa.string()) for header in batch.schema.names])
                        )
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{self.piece.file}: damaged; ask for it again ({first_line(error)})"
            ) from None

    def _sheet(self, wanted: Wanted, most: int, rules: Mapping[str, Rules]) -> Iterator[Batch]:
        sheet = sheet_of(self.piece.file, self.delivery.dialect)
        columns = SheetColumns(sheet, wanted)
        try:
            table = without_column_tokens(columns.table(columns.refuse), rules)
        except MisfitError as misfit:
            where = self._described(misfit.name, misfit.row)
            raise DataError(f"{where}: {misfit.what}") from None
        self._sha256 = sheet.sha256
        yield from columns.batches(table, self.piece.file, most)
        self._rows = table.num_rows

    def _parquet(self, wanted: Wanted, most: int) -> Iterator[pa.Table]:
        try:
            with pa.OSFile(str(self.piece.file)) as stream:
                self._states.add(FileState.of(stream, self.piece.file))
                yield from self._tables_of(stream, wanted, most)
                if self.piece.hashes:
                    stream.seek(0)
                    self._sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
                self._states.add(FileState.of(stream, self.piece.file))
        except (pa.ArrowException, OSError) as error:
            raise DataError(
                f"{self.piece.file}: damaged; ask for it again ({first_line(error)})"
            ) from None

    def _tables_of(self, stream: pa.NativeFile, wanted: Wanted, most: int) -> Iterator[pa.Table]:
        # The open file, not its path: the path may stand for another file a moment later.
        head = pa_parquet.ParquetFile(stream)
        schema = head.schema.to_arrow_schema()
        types = wanted.types_in_parquet
        unfit = unfit_columns(schema, types)
        if unfit:
            raise DataError(
                f"{self.piece.file}: {', '.join(unfit)} cannot be read as numbers or text"
            )
        # Texts come as they are stored, each once, so that they can be looked at before they are
        # repeated in every row.
        texts = []
        for header, kind in types.items():
            is_text = kind != pa.float64() and is_text_type(schema.field(header).type)
            if is_text or kind == pa.string():
                texts.append(header)
        reader = pa_parquet.ParquetFile(
            stream,
            metadata=head.metadata,
            pre_buffer=False,
            buffer_size=PARQUET_BUFFER,
            read_dictionary=texts,
        )
        names = {column.header: column.name for column in wanted.recorded}
        for batch in reader.iter_batches(
            most, self.piece.groups, list(types), use_threads=self.threads
        ):
            table = pa.Table.from_batches([batch])
            columns = {}
            for header, kind in types.items():
                if pa.types.is_dictionary(table[header].type):
                    self._refuse_texts(batch.column(header), names[header])
                    kind = pa.string()
                column = table[header]
                if kind == pa.large_binary() and not is_image_type(column.type):
                    kind = pa.string()
                if kind not in (pa.date32(), pa.large_binary()):
                    column = _cast(column, kind)
                columns[header] = without_tokens(column, self.delivery.dialect.missing)
            if columns:
                yield pa.table(columns)
            else:  # nothing but constants is wanted of the rows
                yield table

    def _refuse_texts(self, column: pa.DictionaryArray, name: str) -> None:
        """Refuse texts that are endless, or no text, naming the first row that has one."""
        texts = column.dictionary.cast(pa.binary())
        longest = self.longest.get(name)
        if longest is not None:
            # In bytes, of which a character has four at most; characters are counted later on.
            most = BYTES_PER_CHARACTER * longest
            is_long = pc.greater(pc.binary_length(texts), most)
            if pc.any(is_long).as_py():
                length = len(texts[pc.index(is_long, True).as_py()].as_py())
                where = self._first_with(column, is_long, name)
                remedy = free_text_remedy(is_target=name == self.target)
                if name in self.free_texts:
                    remedy = LONG_TEXT_REMEDY
                raise DataError(
                    f"{where}: a text of {length} bytes, and {longest} characters are allowed;"
                    f" {remedy}"
                )
        try:
            texts.cast(pa.string())  # only this looks whether it is UTF-8
        except pa.ArrowInvalid:
            is_wrong = pa.array([not _is_utf8(text) for text in texts.to_pylist()])
            where = self._first_with(column, is_wrong, name)
            raise DataError(f"{where}: not UTF-8 text; save it as UTF-8") from None

    def _first_with(self, column: pa.DictionaryArray, marked: pa.BooleanArray, name: str) -> str:
        """Where the first row with one of the marked texts is."""
        is_such = marked.take(column.indices)
        return self._described(name, int(pc.index(is_such, True).as_py()))


LONG_TEXT_REMEDY = "shorten it, or raise text_length in [limits]"
"""What to do about a text that is too long for an encoder."""


def free_text_remedy(*, is_target: bool) -> str:
    """What to do about a text that is too long."""
    instead = "predict another column" if is_target else "leave it out of features"
    return f"is it free text? {instead}, or raise name_length in [limits]"


def _is_utf8(text: bytes | None) -> bool:
    try:
        (text or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if column.type == kind:
        return column
    # Integers beyond 2**53 are rounded, as those of a CSV file are.
    return column.cast(kind, safe=not pa.types.is_integer(column.type))
