"""collaboration.toml: what the operator decides, checked as a whole before anything is computed."""

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    create_model,
)

from fairpool.consortium.column_plan import ColumnPlan, plan_problems
from fairpool.consortium.column_sections import ColumnSection
from fairpool.consortium.limits import Limits, beyond
from fairpool.consortium.reading_sections import (
    Places,
    ReadingSection,
    SourceSection,
    delivery_of,
    delivery_problems,
)
from fairpool.consortium.section import Section, Text, one_of
from fairpool.contributions import concept_of
from fairpool.contributions.registry import settings_without_meaning
from fairpool.errors import cut, is_printable, shown
from fairpool.exchange.contribution_file import SUFFIX
from fairpool.keys import Key
from fairpool.model_kinds import KINDS, ModelKind
from fairpool.realisation import MECHANISMS
from fairpool.realisation.disclosure import files_together
from fairpool.rewards.scheme import WORDS
from fairpool.signatures import PublicKey
from fairpool.tables.delivery import Delivery
from fairpool.targets import TARGETS, ClassTarget, Labels, TargetKind
from fairpool.targets.classes import PER_CLASS
from fairpool.values import EXACT_LIMIT

FILE_NAME = "collaboration.toml"
LONGEST_NAME = 100
LEAST_NOISE, MOST_NOISE = 1e-12, 1e12
"""Of the noise variance, in units of the standardised target: beyond, it is a slip of the pen."""
Name = Annotated[str, AfterValidator(lambda name: _plain(name))]


def _rho(value: object) -> float | str:
    if isinstance(value, str) and value in WORDS:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    near = difflib.get_close_matches(str(value), WORDS, n=1)
    hint = (
        f'did you mean "{near[0]}"?'
        if near
        else f"give a number in 0 .. 1, or one of {', '.join(WORDS)}"
    )
    raise ValueError(f"{shown(value)} is not allowed; {hint}")


def _known_key(text: str) -> str:
    return str(PublicKey.of_text(text))


def _known_concept(name: str) -> str:
    concept_of(name)
    return name


def _plain(name: str) -> str:
    """A name that can be shown anywhere: not blank, of one line, not endless."""
    if not name.strip():
        raise ValueError("a name must not be blank")
    if not is_printable(name):
        raise ValueError(f"{shown(name)} has a control character; use letters, digits and signs")
    if len(name) > LONGEST_NAME:
        raise ValueError(
            f"a name of {len(name)} characters is too long; use at most {LONGEST_NAME}"
        )
    return name


def _noise(s2: float) -> float:
    if not LEAST_NOISE <= s2 <= MOST_NOISE:
        raise ValueError(
            f"{s2:g} is outside {LEAST_NOISE:g} .. {MOST_NOISE:g}; give a variance, in units of the"
            " standardised target"
        )
    return s2


def _listed_twice(listed: Sequence[str], what: str) -> list[str]:
    twice = [name for name, count in Counter(listed).items() if count > 1]
    return [f'{what} "{cut(name)}" is listed twice; leave one of them out' for name in twice]


SectionType = TypeVar("SectionType", bound=Section)


def _kind(name: str) -> str:
    return one_of(name, list(KINDS))


def _keys_without_meaning(
    where: str, section: Any, kinds: Mapping[str, ModelKind] | Mapping[str, TargetKind]
) -> list[str]:
    """The keys in a section that only other kinds have than the one that it asks for."""
    problems = []
    for key in type(section).model_fields:
        owners = [name for name, kind in kinds.items() if key in kind.keys]
        if key in section.model_fields_set and owners and section.kind not in owners:
            only = f"(only for {', '.join(owners)})"
            problems.append(
                f'{where}: {key} has no meaning for kind = "{section.kind}" {only}; leave it out'
            )
    return problems


class ModelSection(Section):
    """[model]: which Bayesian model values the data and is handed out.

    These are the keys of every kind. What a kind has besides them stands in its own settings
    (`fairpool.model_kinds`); a file may have any of these, see `file_format`.
    """

    kind: Annotated[str, AfterValidator(lambda name: _kind(name))] = "sparse_gp"
    learn: bool = True
    noise_variance: Annotated[float, Field(gt=0), AfterValidator(lambda s2: _noise(s2))] | None = (
        None
    )

    def problems(self, *, noise_is_known: bool = False) -> list[str]:
        """What does not fit together.

        Args:
            noise_is_known: Whether noise follows from the labels, as that of classes does.
        """
        problems = _keys_without_meaning("model", self, KINDS)
        if noise_is_known and self.noise_variance is not None:
            problems.append(
                'model: noise_variance has no meaning for a target of kind = "classes", whose'
                " noise follows from its concentration; leave it out"
            )
        if not self.learn and self.noise_variance is None and not noise_is_known:
            problems.append(
                "model: learn = false needs noise_variance (in units of the standardised target)"
            )
        return problems


def _target_kind(name: str) -> str:
    return one_of(name, list(TARGETS))


class TargetSection(Section):
    """[target]: which column is predicted, and what its labels are.

    These are the keys of every kind; see `ModelSection`.
    """

    column: Text
    kind: Annotated[str, AfterValidator(lambda name: _target_kind(name))] = "number"


def _in_full(target: object) -> object:
    """A target's section; a column alone stands for one that says nothing else."""
    return target if isinstance(target, dict) else {"column": target}


class DataSection(SourceSection):
    """[public] and [test]: where the data are, and how they are read."""

    data: Places


def _mechanism(name: str) -> str:
    return one_of(name, list(MECHANISMS))


class RewardsSection(Section):
    """[rewards]: how fairness is traded for the other incentives, and what may be shown."""

    rho: Annotated[float | str, PlainValidator(lambda value: _rho(value))] = "stable"
    share_inputs: bool = False
    share_labels: bool = False
    covariance: Literal["hidden", "full"] = "hidden"
    colluding: Annotated[int, Field(ge=1)] | None = None
    mechanism: Annotated[str, AfterValidator(lambda name: _mechanism(name))] = "label_noise"
    on_harm: Literal["warn", "discount", "exclude", "stop"] = "warn"
    false_alarms: Annotated[float, Field(ge=0.001, le=0.2)] = 0.01

    def files_together(self, parties: int) -> int:
        """How many files may be held together of so many parties, if all receive something."""
        return files_together(parties - 1, self.colluding)


class ValuationSection(Section):
    """[valuation]: how contributions are measured, and how precisely, where they are estimated."""

    contributions: Annotated[str, AfterValidator(lambda name: _known_concept(name))] = "shapley"
    evaluations: Annotated[int, Field(ge=1)] | None = None
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None

    def problems(self, n: int) -> list[str]:
        """What does not fit together, of n parties."""
        concept = concept_of(self.contributions)
        unheeded = settings_without_meaning(
            concept, evaluations=self.evaluations, precision=self.precision
        )
        if unheeded:
            return [f"valuation: {sentence}" for sentence in unheeded]
        if self.evaluations is None or concept.fewest_evaluations is None or n <= EXACT_LIMIT:
            return []
        fewest = concept.fewest_evaluations(n)
        if self.evaluations >= fewest:
            return []
        return [
            f"valuation, evaluations: {self.evaluations} are too few for {n} parties; give at least"
            f" {fewest}"
        ]


class RetentionSection(Section):
    """[retention]: how long sums over rows are kept that take no part any longer."""

    rounds: Annotated[int, Field(ge=1)] | None = None


class PartySection(SourceSection):
    """[[parties]]: one party's name and data, how these are read, and what is agreed with it.

    Its rows are known by its `id` in every round, so that it can be renamed. It may not want to
    hold more than a share of what everybody's data are worth: `most`. In the round of the number
    `second_look`, its rows of earlier rounds may come again, written otherwise.

    A party that signs what it sends has a `key`, the public half; its data may then be a
    contribution instead of rows, and be lacking until that arrives.
    """

    name: Name
    id: Name | None = None
    key: Annotated[str, AfterValidator(lambda text: _known_key(text))] | None = None
    most: Annotated[float, Field(gt=0, le=1)] | None = None
    second_look: Annotated[int, Field(ge=2)] | None = None

    @property
    def permanent_id(self) -> str:
        """What it is known by in all rounds, whatever it is called."""
        return self.name if self.id is None else self.id

    @property
    def public_key(self) -> PublicKey | None:
        """Whose signature its contributions need; None: it sends rows."""
        return None if self.key is None else PublicKey.of_text(self.key)

    @property
    def sends_sums(self) -> bool:
        """Whether its data are contributions instead of tables, by the names of the files."""
        return any(pattern.endswith(SUFFIX) for pattern in self.patterns)

    @property
    def share_wanted(self) -> float:
        """The share of v_N that it wants to hold at most."""
        return 1.0 if self.most is None else self.most


class Configuration(Section):
    """The whole file."""

    name: Name = "Collaboration"
    contact: Name | None = None
    target: Annotated[TargetSection, BeforeValidator(_in_full)]
    features: Annotated[list[Text], Field(min_length=1)] | None = None
    categorical: list[Text] | dict[Text, Annotated[list[Text], Field(min_length=1)]] = Field(
        default_factory=list
    )
    missing: Literal["error", "drop", "impute"] = "error"
    reading: ReadingSection = ReadingSection()
    columns: dict[Text, ColumnSection] = Field(default_factory=dict)
    model: ModelSection = ModelSection()
    public: DataSection | None = None
    test: DataSection | None = None
    rewards: RewardsSection = RewardsSection()
    valuation: ValuationSection = ValuationSection()
    limits: Limits = Limits()
    retention: RetentionSection = RetentionSection()
    parties: Annotated[list[PartySection], Field(min_length=1)]

    @property
    def plan(self) -> ColumnPlan:
        """What is wanted of every column."""
        return ColumnPlan.of(
            target=self.target,
            features=self.features,
            categorical=self.categorical,
            missing=self.missing,
            sections=self.columns,
        )

    @property
    def labels(self) -> Labels:
        """The column to predict, as its kind reads it."""
        return self.plan.target

    def delivery_of(self, source: SourceSection) -> Delivery | None:
        """How a source's tables come; None where that makes no sense, as `problems` says."""
        if delivery_problems("", source, self.reading, declared=self.columns):
            return None
        return delivery_of(source, self.reading, self.columns)

    @property
    def sources(self) -> dict[str, SourceSection]:
        """The parties, and public and test data, by where they stand in the file."""
        sources: dict[str, SourceSection] = {}
        for number, party in enumerate(self.parties, 1):
            sources[f"parties {number}"] = party
        if self.public is not None:
            sources["public"] = self.public
        if self.test is not None:
            sources["test"] = self.test
        return sources

    def _reading_problems(self) -> list[str]:
        """What does not fit together in how files are read; of all sources what is common once."""
        common = SourceSection(data="all")
        problems = delivery_problems("all", common, self.reading, declared=self.columns)
        problems = [problem.removeprefix("all, ") for problem in problems]
        if problems:
            return problems
        for where, source in self.sources.items():
            problems += delivery_problems(where, source, self.reading, declared=self.columns)
        return problems

    def problems(self) -> list[str]:
        """What is allowed by itself but does not fit together; data can be looked at anyway."""
        problems = _keys_without_meaning("target", self.target, TARGETS)
        noise_is_known = not TARGETS[self.target.kind].noise_is_learned
        problems += self.model.problems(noise_is_known=noise_is_known)
        problems += self._kernels_without_meaning()
        problems += _listed_twice(self.features or [], "features: the column")
        problems += _listed_twice(list(self.categorical), "categorical: the column")
        if isinstance(self.categorical, dict):
            for name, levels in self.categorical.items():
                problems += _listed_twice(levels, f"categorical: {name}: the level")
        target = self.target.column
        if self.features is not None and target in self.features:
            problems.append(
                f'the target "{target}" is also listed under features; leave it out there'
            )
        if target in self.categorical:
            problems.append(
                f'the target "{target}" is listed under categorical; it must be'
                f" {self.labels.in_words}"
            )
        problems += plan_problems(
            target=self.target,
            features=self.features,
            categorical=self.categorical,
            missing=self.missing if "missing" in self.model_fields_set else None,
            sections=self.columns,
        )
        problems += self._long_names()
        problems += self._reading_problems()
        problems += self._party_problems()
        return problems + self._names_that_clash() + self.valuation.problems(len(self.parties))

    def _party_problems(self) -> list[str]:
        """Parties that send nothing, or whose signatures would be another's."""
        problems = []
        owners: dict[str, str] = {}
        for number, party in enumerate(self.parties, 1):
            if party.key is None:
                if party.data is None:
                    problems.append(
                        f"parties {number}, data: missing; give it a value, or, where the party is"
                        " to send sums instead of rows, its key"
                    )
                continue
            other = owners.setdefault(party.key, party.name)
            if other != party.name:
                problems.append(
                    f'parties {number}, key: "{cut(party.name)}" and "{cut(other)}" have the same'
                    " key; each needs one of its own: fairpool keys new"
                )
        return problems

    def _kernels_without_meaning(self) -> list[str]:
        """A kernel for each class, where nothing is learned in which they could differ."""
        if self.target.kind != ClassTarget.kind or self.model.learn:
            return []
        kernels: str = self.target.kernels  # type: ignore[attr-defined]  # this kind's key
        if kernels != PER_CLASS:
            return []
        return [
            f'target: kernels = "{PER_CLASS}" has no meaning with learn = false in [model]: kernels'
            " that are given are the same for every class; leave one of them out"
        ]

    def _long_names(self) -> list[str]:
        """Names and levels that no table may have, and that would end up in every reward file."""
        named = [("target", self.target.column)]
        named += [("features", name) for name in self.features or []]
        named += [("categorical", name) for name in self.categorical]
        if isinstance(self.categorical, dict):
            for name, levels in self.categorical.items():
                named += [(f"categorical: {cut(name)}", level) for level in levels]
        for name, section in self.columns.items():
            named.append(("columns", name))
            named += [(f"columns, {cut(name)}", level) for level in section.levels or []]
        longest = self.limits.name_length
        problems = []
        for where, name in named:
            if len(name) > longest:
                what = beyond(f"{len(name)} characters", longest, "name_length")
                problems.append(f"{where}: {shown(name)}: {what}")
        return problems

    def _names_that_clash(self) -> list[str]:
        seen: dict[str, str] = {}
        problems = []
        for party in self.parties:
            key = " ".join(party.name.casefold().split())
            if key in seen:
                same = (
                    ""
                    if seen[key] == party.name
                    else f' and "{party.name}", but for case or blanks'
                )
                problems.append(f'two parties are named "{seen[key]}"{same}; names must differ')
            seen.setdefault(key, party.name)
        for identity, count in Counter(party.permanent_id for party in self.parties).items():
            if count > 1 and not problems:
                problems.append(
                    f'{count} parties are known as "{cut(identity)}" over the rounds; give each an'
                    " id of its own"
                )
        return problems


@lru_cache
def file_format(
    kinds: tuple[ModelKind, ...], targets: tuple[TargetKind, ...]
) -> type[Configuration]:
    """The whole file, where [model] and [target] may have the keys of all these kinds.

    All of them, whichever kind is chosen: a key of another kind is a slip to be told together with
    all others, not a key that nobody knows.
    """
    model = with_keys(ModelSection, kinds)
    target = with_keys(TargetSection, targets)
    fields: dict[str, Any] = {
        "target": (Annotated[target, BeforeValidator(_in_full)], ...),
        "model": (model, model()),
    }
    return create_model("Configuration", __base__=Configuration, **fields)


def known_format() -> type[Configuration]:
    """The whole file, with the kinds that there are."""
    return file_format(tuple(KINDS.values()), tuple(TARGETS.values()))


def with_keys(
    section: type[SectionType], kinds: Sequence[ModelKind] | Sequence[TargetKind]
) -> type[SectionType]:
    """A section that may have the keys of all these kinds besides its own."""
    fields: dict[str, Any] = {}
    declared: dict[str, Key] = {}
    for kind in kinds:
        for name, key in kind.keys.items():
            # One key cannot have two defaults: the file does not say whose it is.
            if name in section.model_fields or declared.setdefault(name, key) is not key:
                raise TypeError(
                    f'the kind "{kind.name}" declares the key "{name}", which is declared'
                    " elsewhere; share that very Key, or choose another name"
                )
            fields[name] = (Annotated[key.type, AfterValidator(key.check)], key.default)
    return create_model(section.__name__, __base__=section, **fields)
