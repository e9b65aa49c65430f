"""A plan of a configuration: no row of any party is read, nor does any of them decide anything."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fairpool.compute.workers import Workers
from fairpool.consortium.agreed_terms import parties_of, terms_of
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import read_configuration
from fairpool.consortium.planning.features import PlannedFeatures, PublicFiles, plan_features
from fairpool.consortium.planning.requirements import (
    column_problems,
    feature_problems,
    model_problems,
    name_problems,
    party_problems,
)
from fairpool.consortium.refusals import privacy_problems
from fairpool.consortium.rounds.agreement import sections_of
from fairpool.consortium.rounds.context import home_of
from fairpool.errors import FairpoolError, PlanError
from fairpool.exchange.disclosed import disclosures
from fairpool.exchange.plan import Plan, PlannedParty, SignedPlan

PUBLIC_FILES = "public files"
"""Under which name the hash of public data stands beside those of sections."""


def plan_of(
    configuration: Path,
    *,
    made: str,
    before: SignedPlan | None = None,
    workers: Workers | None = None,
) -> Plan:
    """What all parties are to agree to; refused with everything that is lacking.

    Args:
        configuration: The folder with collaboration.toml, or the file.
        made: When, as ISO 8601 in UTC.
        before: An earlier plan. Where nothing that decides on features has changed since, they are
            its own, to the last bit: learning again could end elsewhere on another machine.
        workers: Who looks at public data, and who is told about it.
    """
    file = read_configuration(configuration)
    wanted = file.configuration
    problems = [*file.problems, *_problems(wanted)]
    if file.problems:
        raise PlanError(*problems)
    try:
        public = PublicFiles.find(wanted, home_of(configuration))
    except FairpoolError as error:
        raise PlanError(*problems, *error.problems) from None
    sections = sections_of(wanted)
    if public.digest:
        sections[PUBLIC_FILES] = public.digest
    if before is not None and before.plan.sections == sections and not problems:
        features = PlannedFeatures.of_plan(before.plan)
    else:
        folder = home_of(configuration)
        features = _planned_features(wanted, folder, public, workers, problems=problems)
    _refuse_unbounded(features)
    return plan_with(wanted, features, parties=parties_of(wanted), made=made, sections=sections)


def _problems(configuration: Configuration) -> list[str]:
    """What can be said before public data are looked at, but for columns."""
    of_model = [*model_problems(configuration)]
    problems = [
        *name_problems(configuration),
        *party_problems(configuration),
        *of_model,
        *feature_problems(configuration),
    ]
    if not of_model:
        problems += privacy_problems(configuration)
    return problems


def problems_beforehand(configuration: Configuration) -> list[str]:
    """Everything for which a plan without public data would be refused, as far as it shows."""
    return [*_problems(configuration), *_problems_of_columns(configuration)]


def _problems_of_columns(configuration: Configuration) -> list[str]:
    listed = configuration.features or ()
    inputs = tuple(name for name in listed if configuration.plan.may_be_input(name))
    return [*column_problems(configuration, inputs)]


def _planned_features(
    configuration: Configuration,
    folder: Path,
    public: PublicFiles,
    workers: Workers | None,
    *,
    problems: Sequence[str],
) -> PlannedFeatures:
    """Encoding and model; with problems that are known already, only more of them are looked for.

    Args:
        configuration: What is wanted.
        folder: What paths are relative to.
        public: The public data.
        workers: Who looks at them.
        problems: What is wrong already.
    """
    if problems and public.source is None:
        raise PlanError(*problems, *_problems_of_columns(configuration))
    try:
        features = plan_features(configuration, folder, public, workers or Workers())
    except FairpoolError as error:
        raise PlanError(*problems, *error.problems) from None
    if problems:
        raise PlanError(*problems)
    return features


def _refuse_unbounded(features: PlannedFeatures) -> None:
    """Refuse a plan under which sums could be of features of any size, and so of any worth."""
    if features.feature_bound is not None:
        return
    names = ", ".join(f'"{name}"' for name in features.encoding.undeclared)
    what = f"give {names} a range or levels ([columns.NAME])" if names else "use another model"
    raise PlanError(
        "nothing bounds how large a row's features can be, so that a party could claim that its"
        f" rows are worth any amount, and nobody could tell; {what}"
    )


def plan_with(
    configuration: Configuration,
    features: PlannedFeatures,
    *,
    parties: tuple[PlannedParty, ...],
    made: str,
    sections: dict[str, str],
) -> Plan:
    """A plan, once all that it says is known.

    Args:
        configuration: What was decided.
        features: How rows become sums.
        parties: Whose plan it is.
        made: When.
        sections: The hashes of what features depend on.
    """
    names = [column.name for column in features.encoding.columns]
    names.append(features.encoding.target.name)
    planned = [configuration.plan.column(name) for name in names]
    plan = Plan(
        name=configuration.name,
        made=made,
        parties=parties,
        encoding=features.encoding,
        model=features.model,
        origin=features.origin,
        learned_from_sums=features.learned_from_sums,
        label_bound=features.label_bound,
        feature_bound=features.feature_bound,
        terms=terms_of(configuration),
        units={column.name: column.unit for column in planned if column.unit is not None},
        drops=tuple(column.name for column in planned if column.rules.missing == "drop"),
        sections=sections,
        discloses=(),
    )
    return replace(plan, discloses=disclosures(plan))
