"""What is seen of a collaboration, whether it can be run or not."""

from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.workers import Workers, is_dask
from fairpool.consortium.column_table import ColumnSummary, columns_by_party
from fairpool.consortium.configuration import Configuration
from fairpool.consortium.configuration_file import ConfigurationFile, read_configuration
from fairpool.consortium.findings import Findings, look_at_everything
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import RoundContext
from fairpool.consortium.tables import party_owner


@dataclass(frozen=True, kw_only=True, eq=False)
class Examination:
    """What was seen of a collaboration, whether it can be run or not.

    Attributes:
        request: What was asked for.
        folder: Where the configuration file is.
        file: What it says.
        findings: What was found by looking at all files.
        table: Every column that is used, at everybody whose data could be looked at.
        context: What was released in earlier rounds.
    """

    request: RunRequest
    folder: Path
    file: ConfigurationFile
    findings: Findings
    table: tuple[ColumnSummary, ...]
    context: RoundContext | None = None


def examine(
    request: RunRequest, workers: Workers | None = None, context: RoundContext | None = None
) -> Examination:
    """Read the configuration and look at all data once, whatever is wrong with them.

    Args:
        request: What is asked for.
        workers: Who looks at the tables, and who is told about it.
        context: What was released in earlier rounds, and agreed in the first.
    """
    workers = workers or Workers()
    file = read_configuration(request.configuration)
    folder = folder_of(request.configuration, workers)
    if context is not None and context.agreement is not None:
        context.agreement.refuse_other(file.configuration)
        if context.plan is not None and _somebody_sends_sums(file.configuration):
            context.agreement.refuse_other_plan(context.plan)
    return examined(request, file, workers, folder=folder, context=context)


def _somebody_sends_sums(configuration: Configuration) -> bool:
    return any(party.sends_sums for party in configuration.parties)


def examined(
    request: RunRequest,
    file: ConfigurationFile,
    workers: Workers,
    *,
    folder: Path,
    context: RoundContext | None,
) -> Examination:
    """What is seen of the files that a configuration names."""
    agreed = None
    if context is not None and context.agreement is not None:
        agreed = context.agreement.features
    findings = look_at_everything(
        file.configuration, folder, workers, agreed=agreed, context=context
    )
    names = {party_owner(party.name): party.name for party in file.configuration.parties}
    by_name = {names.get(owner, owner): seen for owner, seen in findings.of_rows.items()}
    return Examination(
        request=request,
        folder=folder,
        file=file,
        findings=findings,
        table=columns_by_party(findings.columns, by_name, findings.plan),
        context=context,
    )


def folder_of(configuration: Path, workers: Workers) -> Path:
    """The folder that paths are relative to."""
    folder = configuration if configuration.is_dir() else configuration.parent
    if is_dask(workers.executor):
        return folder.resolve()  # workers are in other folders, if not on other machines
    return folder
