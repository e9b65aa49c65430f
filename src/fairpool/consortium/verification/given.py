"""What a recipient gives to be checked, read as far as it can be."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path

from fairpool.compute.workers import Progress, Workers, no_progress
from fairpool.consortium.home.operators import known_operators
from fairpool.consortium.prediction import find_data, look_at_data
from fairpool.consortium.sample import take_sample
from fairpool.consortium.statistics import summarise_files
from fairpool.errors import ContributionError, DataError, RewardFileError, SignatureError
from fairpool.exchange.arrival import Arrived, Sender, arrive
from fairpool.exchange.contribution_file import ContributionFile, most_bytes
from fairpool.exchange.plan import SignedPlan
from fairpool.exchange.statement import SignedStatement, Statement
from fairpool.models import Classifier, WeightModel
from fairpool.parties import Party, PartyData
from fairpool.realisation import ModelReward
from fairpool.realisation.carried import statement_in as statement_in_file
from fairpool.realisation.reward_file import decode_reward, read_reward
from fairpool.report.sealed_letter import SealedLetter, unsealed
from fairpool.signatures import PublicKey
from fairpool.signatures.signed import MOST_BYTES
from fairpool.tables.delivery import AS_AGREED

OWNER = "rows of your own"

SCORED_ROWS = 5000
"""So many of the recipient's rows are predicted, at most: a fair sample of them."""

LARGEST_LETTER = 4 << 20


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be checked, as files.

    Attributes:
        reward: The reward file.
        data: The recipient's own rows.
        contributions: What it has sent instead of rows.
        letter: The letter that came with the reward.
        plan: What was agreed.
        operator: The operator's key, as the recipient knows it.
        as_agreed: Whether the table has the collaboration's names and units instead of its own.
        encoders: Where the encoders that the model needs are; None: beside the reward.
        home: The recipient's own folder, where the keys are that it has compared; None: none.
    """

    reward: Path
    data: Path | None = None
    contributions: tuple[Path, ...] = ()
    letter: Path | None = None
    plan: Path | None = None
    operator: PublicKey | None = None
    as_agreed: bool = False
    encoders: Path | None = None
    home: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A statement where it was found.

    Attributes:
        place: The file.
        signed: The statement; None: there is none that can be used.
        problem: What is wrong with it; empty: nothing, or there is none.
    """

    place: str
    signed: SignedStatement | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Own:
    """The recipient's own data, as the model learns from them.

    Attributes:
        data: The rows, or sums over them.
        files: The SHA-256 of its tables.
        contributions: By digest, how many rows each contribution is over.
        noisy: The digests of contributions whose number of rows has noise.
        plans: The digests of the plans under which these were made.
        earlier: Of each, the digests of those that were made before it.
        some: Rows to predict; None: there are only sums.
        rows: What all rows of the table tell, also where sums were sent instead; None: there are
            only sums.
    """

    data: PartyData = field(repr=False)
    files: tuple[str, ...] = ()
    contributions: dict[str, int] = field(default_factory=dict)
    noisy: frozenset[str] = frozenset()
    plans: frozenset[str] = frozenset()
    earlier: dict[str, frozenset[str]] = field(default_factory=dict)
    some: Party | None = field(default=None, repr=False)
    rows: PartyData | None = field(default=None, repr=False)

    def is_what_was_used(self, statement: Statement) -> bool:
        """Whether a statement is about exactly these data."""
        if len(self.data) != statement.rows:
            return False
        if self.contributions:
            return set(self.contributions) == set(statement.contributions)
        return sorted(self.files) == sorted(statement.inputs)


@dataclass(frozen=True, kw_only=True, eq=False)
class Given:
    """What is to be checked, as it was read.

    Attributes:
        name: Of the reward file.
        content: Of it.
        reward: The model in it.
        paper: The statement in it.
        letter: The letter; None: none was given, or it cannot be taken apart.
        letter_paper: The statement in the letter; None: no letter was given.
        plan: What was agreed; None: it was not given.
        operator: The operator's key, as the recipient knows it; None: it does not.
        known: The operators whose keys the recipient has compared before, by name.
        own: The recipient's own data; None: they were not given, or cannot be used.
        why_no_own: Why.
    """

    name: str
    content: bytes = field(repr=False)
    reward: ModelReward
    paper: Paper
    letter: SealedLetter | None = field(default=None, repr=False)
    letter_paper: Paper | None = None
    plan: SignedPlan | None = None
    operator: PublicKey | None = None
    known: dict[PublicKey, str] = field(default_factory=dict)
    own: Own | None = None
    why_no_own: str = ""

    @property
    def statement(self) -> Statement | None:
        """What the operator says in the reward file."""
        return None if self.paper.signed is None else self.paper.signed.statement

    @property
    def later_statement(self) -> Statement | None:
        """What the same operator says to the same party in the letter of a later round; or None."""
        signed = None if self.letter_paper is None else self.letter_paper.signed
        if signed is None or self.paper.signed is None:
            return None
        file, letter = self.paper.signed.statement, signed.statement
        is_later = letter.party == file.party and letter.round > file.round
        return letter if is_later and signed.operator == self.paper.signed.operator else None


def read_given(asked: Asked, progress: Progress = no_progress) -> Given:
    """Read everything; what is no reward, letter, plan, contribution or table is an error."""
    content = read_reward(asked.reward)
    name = str(asked.reward)
    # What it is worth is one of the checks.
    reward = decode_reward(content, name, refuse_other_worth=False)
    if reward.updated is not None:
        raise DataError(
            f"{name}: you have brought it up to date yourself (fairpool update), so that nobody has"
            " signed it; give the file that the operator gave you"
        )
    plan = None
    if asked.plan is not None:
        plan = SignedPlan.of_content(_read(asked.plan, MOST_BYTES), str(asked.plan))
    letter = None
    letter_paper = None
    if asked.letter is not None:
        letter, letter_paper = _read_letter(asked.letter)
    given = Given(
        name=name,
        content=content,
        reward=reward,
        paper=_paper(name, lambda name: statement_in_file(content, name)),
        letter=letter,
        letter_paper=letter_paper,
        plan=plan,
        operator=asked.operator,
        known={} if asked.home is None else known_operators(asked.home),
        why_no_own="give your own rows (--data) or what you sent instead (--contribution)",
    )
    return _with_own(given, asked, progress)


def _read_letter(path: Path) -> tuple[SealedLetter | None, Paper]:
    """A letter, and the statement in it."""
    place = str(path)
    try:
        letter = unsealed(_read(path, LARGEST_LETTER), place)
    except SignatureError as error:
        return None, Paper(place=place, problem="; ".join(error.problems))
    return letter, _paper(place, lambda _: letter.statement)


def _read(path: Path, most: int) -> bytes:
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise DataError(f"{path}: it is larger than {most:,} bytes; give the right file")
    return content


def _paper(place: str, find: Callable[[str], bytes | None]) -> Paper:
    """The statement in a file; one that was edited is no error here, but a finding."""
    try:
        content = find(place)
        if content is None:
            return Paper(place=place)
        return Paper(place=place, signed=SignedStatement.of_content(content, place))
    except (SignatureError, RewardFileError) as error:
        return Paper(place=place, problem="; ".join(error.problems))


def _with_own(given: Given, asked: Asked, progress: Progress) -> Given:
    """The same, with the recipient's own data as far as they can be used."""
    own = None
    if asked.data is not None:
        own = _own_rows(given.reward, asked, progress)
    if not asked.contributions:
        return replace(given, own=own)
    if given.plan is None:
        why = "sums can be used only with the plan that they were made under; give --plan plan.json"
        return replace(given, own=own, why_no_own=why)
    sums = _own_sums(given.reward, asked.contributions, given.plan)
    return replace(given, own=sums if own is None else replace(sums, some=own.some, rows=own.rows))


def _own_rows(reward: ModelReward, asked: Asked, progress: Progress) -> Own:
    """The recipient's table, read as `fairpool update` reads it."""
    assert asked.data is not None
    if reward.encoding is None:
        raise DataError(f"{asked.reward}: it knows no column names, so that no table can be used")
    encoding = reward.encoding.with_encoders(asked.encoders or asked.reward.parent)
    delivery = AS_AGREED if asked.as_agreed else reward.delivery
    source = replace(find_data(asked.data, OWNER), delivery=delivery)
    seen = look_at_data(source, encoding, progress, with_labels=True).survey
    if not seen.rows:
        raise DataError(f"{asked.data}: it has no row; give the rows that the reward was made from")
    model = reward.posterior.model
    has_weights = isinstance(model, WeightModel) or (
        isinstance(model, Classifier) and model.has_weights
    )
    most = SCORED_ROWS if has_weights else None
    sample = take_sample(seen, encoding, most=most, seen=0.0, progress=progress)
    some = Party(reward.party, sample.X, sample.y)
    data: PartyData = some
    if has_weights:
        assert isinstance(model, WeightModel | Classifier)
        data = summarise_files(
            reward.party,
            source,
            encoding=encoding,
            model=model,
            expected=seen.contents,
            workers=Workers(progress=progress),
        )
    files = tuple(content.sha256 for content in seen.contents.values())
    return Own(data=data, files=files, some=some, rows=data)


def _own_sums(reward: ModelReward, paths: Sequence[Path], plan: SignedPlan) -> Own:
    """What the recipient has sent, for the model in its reward."""
    model = reward.posterior.model
    assert isinstance(model, WeightModel | Classifier)
    arrived = [_arrived(path, reward.party, plan) for path in paths]
    data = reduce(add, [one.data.under(model) for one in arrived])
    noisy = [one.file.digest for one in arrived if one.manifest.privacy is not None]
    return Own(
        data=data,
        contributions={one.file.digest: len(one) for one in arrived},
        noisy=frozenset(noisy),
        plans=frozenset(one.manifest.plan for one in arrived),
        earlier={one.file.digest: frozenset(one.manifest.earlier) for one in arrived},
    )


def _arrived(path: Path, name: str, plan: SignedPlan) -> Arrived:
    """A contribution, with everything checked that the operator had to check."""
    with path.open("rb") as file:
        content = file.read(most_bytes(plan.plan) + 1)
    read = ContributionFile.of_bytes(content, str(path))
    planned = plan.plan.party(read.manifest.party)
    if planned is None or planned.key is None:
        raise ContributionError(f"{path}: the plan has no party {read.manifest.party!r} with a key")
    sender = Sender(id=planned.id, name=name, key=planned.key)
    return arrive(content, str(path), plan=plan, sender=sender)
