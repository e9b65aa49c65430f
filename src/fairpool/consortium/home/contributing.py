"""What a party does at home: its table becomes sums, and these a signed file; nothing else leaves.

Everything is checked, and shown, before anything is written.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairpool.compute.files import make_private_folder
from fairpool.compute.workers import Progress, Workers, no_progress
from fairpool.consortium.home.choosing import choose_rows
from fairpool.consortium.home.corrections import notes_on_corrections
from fairpool.consortium.home.hiding import Hiding, bounded, refuse_contradiction
from fairpool.consortium.home.journal import Between, Journal, write_contribution
from fairpool.consortium.home.journal_entry import JournalEntry
from fairpool.consortium.home.making import Choices, Making
from fairpool.consortium.home.minimum import refuse_few_parties
from fairpool.consortium.home.operators import Standing, remember, standing
from fairpool.consortium.home.own_columns import OwnColumn, own_columns
from fairpool.consortium.home.own_table import read_own_table
from fairpool.consortium.home.spending import write_budget
from fairpool.consortium.tables import Source
from fairpool.errors import ContributionError, shown
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.plan import PlannedParty, SignedPlan
from fairpool.exchange.plan_differences import differences_in_words
from fairpool.ledger.record import now
from fairpool.signatures import SigningKey

NONCE_BYTES = 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """A contribution.

    Attributes:
        file: What it says.
        content: The file, byte by byte.
    """

    file: ContributionFile
    content: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """A contribution that can be made; nothing is written yet.

    Attributes:
        plan: Under which it is.
        standing: What the person has to do with its operator.
        file: What leaves.
        left_out: How many complete rows of the table are in earlier contributions instead.
        vanished: How many rows of earlier contributions the table has no longer.
        again: Whether it is an earlier contribution, since there is no new row.
        columns: What stands in the columns of the table, for its owner.
        notes: What became of values that are missing or out of range, in words.
        hiding: What noise does to it; None: there is none, or it is an earlier contribution.
    """

    plan: SignedPlan
    standing: Standing
    file: ContributionFile
    left_out: int
    vanished: int
    again: bool
    columns: tuple[OwnColumn, ...]
    notes: tuple[str, ...]
    hiding: Hiding | None
    _budget: float | None = field(repr=False)
    _journal: Journal = field(repr=False)
    _entry: JournalEntry = field(repr=False)

    @property
    def content(self) -> bytes:
        """The file."""
        return self._entry.content

    @property
    def made(self) -> Made:
        """What it is, whether it is new or not."""
        return Made(file=self.file, content=self.content)

    @property
    def counting(self) -> tuple[Made, ...]:
        """All that counts for the operator once this is made, the oldest first, this among it."""
        replaced = self._journal.replaced | set(self.file.manifest.replaces)
        made = [
            Made(file=entry.file, content=entry.content)
            for entry in self._journal.entries
            if entry.file.digest not in replaced
        ]
        if not self.again:
            made.append(self.made)
        return tuple(made)

    def write(self, out: Path) -> None:
        """Write it, and remember at home that it was made.

        Args:
            out: The file. What is there already stays as it is, and is an error, unless it is this
                very contribution.
        """
        make_private_folder(self._journal.home)
        remember(self._journal.home, self.plan)
        if self._budget is not None:
            write_budget(self._journal.home, self._budget)
        if self.again:
            write_contribution(out, self.content)
        else:
            self._journal.record(replace(self._entry, place=out.absolute()))


def contribute_table(
    plan: SignedPlan,
    source: Source,
    *,
    key: SigningKey,
    home: Path,
    choices: Choices | None = None,
    encoders: Path | None = None,
    made: str | None = None,
    nonce: str | None = None,
    progress: Progress = no_progress,
) -> Prepared:
    """Make a contribution of a party's table, with everything checked that can be.

    Args:
        plan: What was agreed.
        source: The table.
        key: The party's own.
        home: The person's folder.
        choices: What the person asks for.
        encoders: Where the encoders that the plan names are; None: nowhere.
        made: When, as ISO 8601 in UTC; None: now.
        nonce: 32 digits; None: random ones.
        progress: Called as rows are done.
    """
    choices = choices or Choices()
    refuse_contradiction(
        choices.wish,
        rows_may_be_seen=choices.rows_may_be_seen,
        without_noise=choices.without_noise,
    )
    party = _party_of(plan, key)
    refuse_few_parties(plan.plan)
    known = standing(home, plan)
    journal = Journal.open(home, Between(party=party.id, operator=plan.operator))
    _refuse_other_id(plan, party, key, journal)
    _refuse_other_plan(plan, known, journal.entries, choices)
    if not choices.replace:
        _refuse_other_key(journal, key)
    within = None if choices.wish is None else bounded(plan.plan)
    workers = Workers(progress=progress)
    table = read_own_table(
        plan.plan,
        source,
        secret=journal.secret,
        encoders=encoders,
        workers=workers,
    )
    making = Making(
        plan=plan,
        party=party,
        key=key,
        choices=choices,
        within=within,
        journal=journal,
        table=table,
        chosen=choose_rows(table, journal, anew=choices.replace),
        encoders=encoders,
    )
    corrections = notes_on_corrections(table, making.chosen, journal, progress)
    hiding = None
    notes: tuple[str, ...] = ()
    entry = making.same_as_before()
    again = entry is not None
    if entry is None:
        manifest = making.manifest(made or now(), nonce or secrets.token_hex(NONCE_BYTES))
        summed = making.summed_up(manifest, workers)
        entry, notes = making.checked_entry(summed, workers)
        hiding = summed.hiding
    return Prepared(
        plan=plan,
        standing=known,
        file=entry.file,
        left_out=making.chosen.left_out,
        vanished=making.chosen.vanished,
        again=again,
        columns=own_columns(table),
        notes=(*table.notes, *making.chosen.notes, *corrections, *notes),
        hiding=hiding,
        _budget=None if choices.wish is None else choices.wish.budget,
        _journal=journal,
        _entry=entry,
    )


def _party_of(plan: SignedPlan, key: SigningKey) -> PlannedParty:
    party = plan.plan.party_of(key.public)
    if party is None:
        raise ContributionError(
            f"the plan has no party with your key ({key.public.fingerprint}); send the operator the"
            " line that `fairpool keys show` prints, and wait for a plan that has it"
        )
    return party


def _refuse_other_id(
    plan: SignedPlan, party: PlannedParty, key: SigningKey, journal: Journal
) -> None:
    """Refuse a plan that knows the person by another identity than it was known by."""
    for entry in journal.others:
        manifest = entry.file.manifest
        if manifest.operator == plan.operator and entry.file.document.key == key.public:
            raise ContributionError(
                f"the plan knows your key as that of the party {shown(party.id)}, and the plan of"
                f" your contribution of {manifest.made} as that of {shown(manifest.party)}: under"
                " another identity, the rows that you contributed before would count once more;"
                " ask the operator for a plan that has the one of before"
            )


def _refuse_other_key(journal: Journal, key: SigningKey) -> None:
    """Refuse to go on from contributions that nobody accepts any longer, since the key is another.

    The operator holds every file against the key that is registered now.
    """
    for entry in journal.entries:
        signer = entry.file.document.key
        if signer == key.public or entry.file.digest in journal.replaced:
            continue
        raise ContributionError(
            f"the contribution of {entry.file.manifest.made} ({entry.place}) is signed with the key"
            f" {signer.fingerprint}, and yours is now {key.public.fingerprint}: the operator, who"
            " has the new one, cannot use it, and its rows would not count. If you still have the"
            " old key, have it registered again and give it as --key; otherwise contribute all rows"
            " anew, in place of what the old key signed: --replace"
        )


def _refuse_other_plan(
    plan: SignedPlan, known: Standing, earlier: Sequence[JournalEntry], choices: Choices
) -> None:
    """Refuse another way to make sums of the same rows, unless the person agrees to that."""
    features = {entry.file.manifest.features for entry in earlier[-1:]}
    if known.agreed is not None:
        features.add(known.agreed.plan.features_digest)
    if choices.replace or features <= {plan.plan.features_digest}:
        return
    what = "other columns, scaling or features"
    if known.agreed is not None:
        what = differences_in_words(known.agreed.plan, plan.plan) or what
    raise ContributionError(
        f"this plan makes other sums of your rows than the one that you agreed to ({what})."
        " The operator would have two different sets of sums over the same"
        " rows, which together tell more of each row than either, and their labels get a second,"
        " independent noise; ask the operator why, and if you agree, contribute all rows anew:"
        " --replace"
    )
