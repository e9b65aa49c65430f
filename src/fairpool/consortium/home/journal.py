"""What a person has contributed, at home: each contribution, and which rows it has.

Rows are known by keyed hashes, and a little is kept of what they say, so that they are recognised
when they come again. Every step of making a contribution is on the disk before the next one begins:
the intent with all that is needed to finish, then the contribution itself, then the record that it
was made. What a killed run has left is finished by the next one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import safetensors
from safetensors import SafetensorError

from fairpool.compute.files import (
    make_private_folder,
    plain_content,
    sync_folder,
    write_atomically,
)
from fairpool.compute.private_files import write_new
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.errors import ContributionError, FairpoolError, SecretError
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger.lock import exclusive
from fairpool.signatures import PublicKey

SECRET_FILE = "rows.key"
"""What the hashes of rows are keyed with."""

FOLDER = "contributions"
LOCK = "contributions.lock"
INTENT, MADE = ".intent", ".made"
"""How an entry's name ends before its contribution is written, and after."""


@dataclass(frozen=True, kw_only=True)
class Between:
    """Whose contribution it is, and to whom; a person may contribute for several parties.

    Attributes:
        party: The permanent identity of the party.
        operator: Who receives it.
    """

    party: str
    operator: PublicKey

    @classmethod
    def of(cls, file: ContributionFile) -> "Between":
        """That of a contribution."""
        return cls(party=file.manifest.party, operator=file.manifest.operator)


@dataclass(frozen=True, kw_only=True, eq=False)
class Journal:
    """What was contributed, as it was when this was read.

    Attributes:
        home: The person's folder.
        secret: What rows are hashed with, and noise is made of; a new one is written with the first
            contribution, or when noise is first asked for.
        entries: All contributions of one party to one operator, in order.
        others: All other contributions of this home: to other operators, or for other parties.
        names: What all entries are called, to see whether one came meanwhile.
    """

    home: Path
    secret: Secret
    entries: tuple[JournalEntry, ...]
    others: tuple[JournalEntry, ...]
    names: tuple[str, ...]

    @classmethod
    def open(cls, home: Path, between: Between) -> "Journal":
        """Read it, after finishing what a killed run has left.

        Args:
            home: The person's folder.
            between: Whose contributions are continued.
        """
        _finish(home)
        names = _names(home)
        entries: list[JournalEntry] = []
        others: list[JournalEntry] = []
        for name in names:
            entry = JournalEntry.read(home / FOLDER / name)
            (entries if Between.of(entry.file) == between else others).append(entry)
        return cls(
            home=home,
            secret=_secret(home, has_entries=bool(names)),
            entries=tuple(entries),
            others=tuple(others),
            names=tuple(names),
        )

    @property
    def replaced(self) -> frozenset[str]:
        """The digests of contributions that others stand in place of."""
        digests: set[str] = set()
        for entry in self.entries:
            digests.update(entry.file.manifest.replaces)
        return frozenset(digests)

    def record(self, entry: JournalEntry) -> None:
        """Write a contribution to its place, and that it was made; all or nothing survives a crash.

        Args:
            entry: It gets the next number.
        """
        with _at_work(self.home):
            if tuple(_names(self.home)) != self.names:
                raise ContributionError(
                    "another contribution was made meanwhile, and the same rows may be in both;"
                    " nothing was written; run this again"
                )
            self._write_secret()
            make_private_folder(self.home / FOLDER)
            entry = replace(entry, number=_next_number(self.names))
            refuse_other_content(entry.place, entry.content)
            intent = self.home / FOLDER / (entry.name + INTENT)
            write_atomically(intent, entry.to_pieces())
            sync_folder(intent.parent)
            try:
                write_contribution(entry.place, entry.content)
            except FairpoolError:
                if not _has(entry.place, entry.content):
                    intent.unlink()  # nothing has left
                raise
            os.replace(intent, intent.with_suffix(MADE))
            sync_folder(intent.parent)

    def keep_secret(self) -> None:
        """Write the secret, if it is a new one, before anything that is made of it is shown."""
        with _at_work(self.home):
            self._write_secret()

    def _write_secret(self) -> None:
        path = self.home / SECRET_FILE
        if not path.exists():
            self.secret.write(path)
        elif Secret.read(path) != self.secret:
            raise ContributionError(
                "the secret of this home was made meanwhile, by another run; nothing was written;"
                " run this again"
            )


def contributions_of(home: Path) -> Iterator[ContributionFile]:
    """All contributions that were made, to anybody; whose rows they are is not read."""
    for name in _names(home):
        path = home / FOLDER / name
        try:
            with safetensors.safe_open(path, framework="numpy") as stored:
                content = stored.get_tensor("contribution").tobytes()
        except (OSError, SafetensorError) as error:
            raise ContributionError(
                f"{path}: this entry of your journal cannot be used ({error}); restore it from your"
                " copy"
            ) from None
        yield ContributionFile.of_bytes(content, os.fspath(path))


def write_contribution(place: Path, content: bytes) -> None:
    """Write a contribution; another file that is there is never written over."""
    refuse_other_content(place, content)
    if place.exists():
        return
    try:
        write_new(place, content)
    except OSError as error:
        raise ContributionError(
            f"{place}: cannot be written ({error.strerror or error}); give another place"
        ) from None


def refuse_other_content(place: Path, content: bytes) -> None:
    """Refuse a place that is none, or where there is anything but this very contribution."""
    if not place.absolute().parent.is_dir():
        raise ContributionError(f"{place}: there is no such folder; make it, or give another place")
    if os.path.lexists(place) and not _has(place, content):
        raise ContributionError(f"{place}: there is something else already; give another place")


def _has(place: Path, content: bytes) -> bool:
    try:
        return plain_content(place, len(content)) == content
    except OSError:
        return False


def _finish(home: Path) -> None:
    """Do what a killed run still wanted to do: it had been told to."""
    if not list((home / FOLDER).glob(f"*{INTENT}")):
        return
    with _at_work(home):
        for intent in sorted((home / FOLDER).glob(f"*{INTENT}")):
            entry = JournalEntry.read(intent)
            try:
                write_contribution(entry.place, entry.content)
            except ContributionError as error:
                raise ContributionError(
                    "a contribution that was interrupted is to be finished first, and cannot be:"
                    f" {error}; make room for it there, or move it away once it is written"
                ) from None
            os.replace(intent, intent.with_suffix(MADE))
            sync_folder(intent.parent)


def _secret(home: Path, *, has_entries: bool) -> Secret:
    path = home / SECRET_FILE
    if path.exists():
        return Secret.read(path)
    if has_entries:
        raise SecretError(
            f"{path}: there is no such file, and without it fairpool cannot tell which rows were"
            " contributed before; restore it from your copy"
        )
    return Secret.fresh()


def _names(home: Path) -> list[str]:
    return sorted(path.name for path in (home / FOLDER).glob(f"*{MADE}"))


def _next_number(names: tuple[str, ...]) -> int:
    return 1 + (int(names[-1].split("-")[0]) if names else 0)


@contextmanager
def _at_work(home: Path) -> Iterator[None]:
    make_private_folder(home)
    with exclusive(home / LOCK):
        for unfinished in (home / FOLDER).glob(".*"):
            unfinished.unlink()  # a killed run was about to write it
        yield
