"""A contribution in the making: what is said of rows, their sums, and what is kept of them."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from fairpool.compute.workers import Workers
from fairpool.consortium.home.beside import (
    NOBODY,
    Others,
    looks_of,
    put_beside,
    rows_seen_before,
)
from fairpool.consortium.home.choosing import Chosen, latest_with_the_same
from fairpool.consortium.home.hiding import (
    Hiding,
    Wish,
    arrays_of,
    hidden_file_of,
    hiding_of,
    is_as_wished,
    refuse_spending,
    refuse_unmeant_exactness,
)
from fairpool.consortium.home.journal import Journal
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.consortium.home.minimum import (
    Selection,
    difference_problems,
    exact_ones,
    few_rows_problems,
    rows_needed,
)
from fairpool.consortium.home.near_copies import refuse_near_copies, remember_table
from fairpool.consortium.home.overlaps import share_rows
from fairpool.consortium.home.own_table import OwnTable
from fairpool.consortium.home.standing_alone import refuse_lone_rows
from fairpool.consortium.rounds.remembering import Remembered
from fairpool.errors import ContributionError
from fairpool.exchange.contribution_file import ContributionFile, Manifest, class_counts
from fairpool.exchange.plan import PlannedParty, SignedPlan
from fairpool.models import WithinBounds
from fairpool.models.weight_model import RowSums
from fairpool.rounds.row_keys import in_order, keys_of, order_of
from fairpool.signatures import SigningKey


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What a person may ask for.

    Attributes:
        rows_may_be_seen: Whether the operator may compute rows.
        replace: Whether all rows are contributed, in place of earlier contributions.
        wish: How well rows are to be hidden by noise; None: there is none.
        without_noise: Whether that is meant, though noise has hidden rows of this person before.
    """

    rows_may_be_seen: bool = False
    replace: bool = False
    wish: Wish | None = None
    without_noise: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Summed:
    """What rows became.

    Attributes:
        file: What leaves.
        sums: Without noise; they stay here.
        hiding: What noise does to them; None: there is none.
    """

    file: ContributionFile
    sums: RowSums = field(repr=False)
    hiding: Hiding | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Making:
    """A contribution in the making: all that it depends on.

    Attributes:
        plan: What was agreed.
        party: Whose rows they are.
        key: The party's own.
        choices: What the person asks for.
        within: What cuts rows to their bounds where noise is to hide them.
        journal: What was contributed before.
        table: The table.
        chosen: Which of its rows are contributed.
        encoders: Where the encoders are that plans name; None: nowhere.
    """

    plan: SignedPlan
    party: PlannedParty
    key: SigningKey
    choices: Choices
    within: WithinBounds | None
    journal: Journal
    table: OwnTable
    chosen: Chosen
    encoders: Path | None

    def same_as_before(self) -> JournalEntry | None:
        """The latest contribution, if it is what is asked for; None: another one is to be made."""
        latest = latest_with_the_same(self.table, self.chosen, self.journal.entries)
        if latest is None:
            return None
        manifest = latest.file.manifest
        is_alike = (
            latest.file.document.key == self.key.public
            and manifest.features == self.plan.plan.features_digest
            and manifest.rows_may_be_seen == self.choices.rows_may_be_seen
            and is_as_wished(manifest.privacy, self.choices.wish)
        )
        if is_alike:
            return latest
        if self.chosen.count:
            return None
        raise ContributionError(
            "every row of this table is in an earlier contribution, of another kind than is asked"
            f" for now ({latest.place}); to contribute them anew in its place: --replace"
        )

    def manifest(self, made: str, nonce: str) -> Manifest:
        """What is said of the rows, but for what only their sums tell."""
        digests = tuple(entry.file.digest for entry in self.journal.entries)
        return Manifest(
            operator=self.plan.operator,
            plan=self.plan.digest,
            features=self.plan.plan.features_digest,
            party=self.party.id,
            made=made,
            nonce=nonce,
            rows=self.chosen.count,
            left_out=self.chosen.left_out,
            earlier=() if self.choices.replace else digests,
            replaces=digests if self.choices.replace else (),
            rows_may_be_seen=self.choices.rows_may_be_seen,
        )

    def summed_up(self, manifest: Manifest, workers: Workers) -> Summed:
        """The file, and what noise does to it where some was asked for."""
        wish = self.choices.wish
        if wish is None and not self.choices.without_noise:
            refuse_unmeant_exactness(self.journal, self.table, self.chosen.rows)
        sums = self.table.sums(self.chosen.rows, workers, within=self.within)
        if wish is None:
            file = file_of(sums, manifest, self.plan, key=self.key)
            return Summed(file=file, sums=sums, hiding=None)
        spent = refuse_spending(self.journal.home, wish)
        self.journal.keep_secret()  # or the next look would be at another draw
        file = hidden_file_of(
            sums, manifest, self.plan, key=self.key, secret=self.journal.secret, wish=wish
        )
        hiding = hiding_of(sums, self.plan, wish=wish, spent=spent)
        return Summed(file=file, sums=sums, hiding=hiding)

    def checked_entry(
        self, summed: Summed, workers: Workers
    ) -> tuple[JournalEntry, tuple[str, ...]]:
        """What the journal will have, and notes; refused where a contribution would show rows."""
        is_shown = not (self.choices.rows_may_be_seen or summed.file.manifest.is_hidden)
        earlier = exact_ones(self.journal, anew=self.choices.replace)
        notes: tuple[str, ...] = ()
        if is_shown and not earlier:
            # Before rows are put in order: of millions, a second set of hashes takes much memory.
            notes = self._refuse_shown(summed, workers)
        secret = self.journal.secret
        remembered = remember_table(self.table, secret=secret, progress=workers.progress)
        entry = self._entry(remembered, summed.file)
        if not self.choices.replace:
            refuse_near_copies(self.table, remembered, self.chosen.rows, self.journal.entries)
        if is_shown and earlier:
            others = put_beside(
                self.table,
                entry.members,
                earlier,
                secret=secret,
                encoders=self.encoders,
                workers=workers,
            )
            notes = (*others.notes, *self._refuse_shown(summed, workers, entry, others))
        return entry, notes

    def _refuse_shown(
        self,
        summed: Summed,
        workers: Workers,
        entry: JournalEntry | None = None,
        others: Others = NOBODY,
    ) -> tuple[str, ...]:
        """Refuse sums that would show rows; notes on those that nearly do.

        Args:
            summed: What would leave, and what stays.
            workers: Who is told about it.
            entry: The journal's; None: there is nothing to put it beside.
            others: Earlier contributions beside it.
        """
        arrays = arrays_of(summed.sums)
        self._refuse_few(class_counts(self.plan.plan, arrays), entry, others)
        return refuse_lone_rows(
            looks_of(self.table, self.chosen.rows, others.joined),
            arrays["gram"],
            workers,
            may_be_seen=rows_seen_before(others.joined),
        )

    def _entry(self, remembered: Remembered, file: ContributionFile) -> JournalEntry:
        """What the journal will have of a contribution; it has no number and no place yet."""
        identities = self.table.identities
        chosen = self.chosen.rows
        some = slice(None) if chosen.all() else chosen  # without a copy of millions of rows
        ids = keys_of(identities.ids[some])
        names = None
        if identities.names is None:
            ids = in_order(ids)
        else:
            order = order_of(ids)
            ids = ids[order]
            names = identities.names[some][order]
            del order  # before the next ones are sorted
        members = ids
        if identities.members is not identities.ids:
            members = in_order(keys_of(identities.members[some]))
        return JournalEntry(
            number=0,
            content=file.to_bytes(),
            place=Path(),
            fewest=self.plan.plan.fewest_rows,
            known_by=identities.columns,
            ids=ids,
            members=members,
            names=names,
            remembered=remembered.of(chosen),
            file=file,
            plan=self.plan,
        )

    def _refuse_few(
        self, counts: tuple[int, ...] | None, entry: JournalEntry | None, others: Others
    ) -> None:
        """Refuse sums over so few rows, alone or beside others, that they could be computed.

        Also where the plan says that inputs are shared: the operator wrote it, and the party alone
        can say that its rows may be seen.

        Args:
            counts: Of classes, how many rows of each; None: labels are numbers.
            entry: The journal's; None: there is nothing to put it beside.
            others: Earlier contributions beside it.
        """
        overlapping = [other for other in others.unknown if other in self.journal.entries]
        if entry is not None:
            near = [one for one in others.joined if share_rows(one.members, entry.members)]
            overlapping += [one.entry for one in near]
        plan = self.plan.plan
        needed = rows_needed(plan, overlapping)
        selection = Selection(
            rows=self.chosen.count,
            inputs=self.table.distinct_inputs(self.chosen.rows, needed),
            left_out=self.chosen.left_out,
            counts=counts,
            levels=self.table.level_counts(self.chosen.rows),
        )
        problems = few_rows_problems(plan, selection, needed=needed)
        if entry is not None:
            problems += difference_problems(entry, others, needed=plan.fewest_rows)
        if problems:
            raise ContributionError(*problems)


def file_of(
    sums: RowSums, manifest: Manifest, plan: SignedPlan, *, key: SigningKey
) -> ContributionFile:
    """Sums as a signed file.

    Args:
        sums: Over the party's rows.
        manifest: What is said of them, but for the counts of classes.
        plan: Under which they were made.
        key: The party's.
    """
    arrays = arrays_of(sums)
    manifest = replace(manifest, counts=class_counts(plan.plan, arrays))
    return ContributionFile.made(key, manifest, arrays)
