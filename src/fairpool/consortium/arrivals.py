"""Contributions of parties who send sums: found, checked, and put beside the others' tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairpool.consortium.configuration import Configuration, PartySection
from fairpool.consortium.contents import Content
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import Source
from fairpool.errors import ContributionError, PlanError, few
from fairpool.exchange.arrival import Arrived, Sender, arrive, refuse_together
from fairpool.exchange.contribution_file import SUFFIX, most_bytes
from fairpool.exchange.plan import SignedPlan
from fairpool.notes import Note
from fairpool.targets import ClassTarget

DIGITS = 16
"""Of a contribution's digest, for people."""


def sender_of(section: PartySection) -> Sender:
    """From whom a party's contributions must be."""
    if section.public_key is None:
        raise ContributionError(
            f'party "{section.name}": its data is a contribution, and nobody knows its key; ask the'
            ' party for the line that `fairpool keys show` prints, and add it: key = "ed25519:..."'
        )
    return Sender(id=section.permanent_id, name=section.name, key=section.public_key)


def survey_sums(owner: str, section: PartySection, folder: Path, plan: SignedPlan | None) -> Survey:
    """What a party sent instead of rows, with everything checked that can be.

    Args:
        owner: Whose data it is, as errors call it.
        section: What the configuration says of the party.
        folder: What paths are relative to.
        plan: What all parties agreed to; None: there is no plan.
    """
    source = Source.find(owner, section.patterns, folder, suffixes=(SUFFIX,))
    if plan is None:
        raise PlanError(
            f"{owner}: sends sums, and there is no plan.json that says how rows become sums; write"
            " one (fairpool plan), send it to the party, and have it contribute"
        )
    sender = sender_of(section)
    arrived = tuple(_arrived(file, plan, sender) for file in source.files)
    refuse_together(arrived, sender)
    contents = {}
    for file, one in zip(source.files, arrived, strict=True):
        contents[file] = Content(sha256=one.sha256, rows=len(one))
    return Survey(
        source=source,
        contents=contents,
        rows=sum(len(one) for one in arrived),
        levels=_levels(plan, arrived),
        arrived=arrived,
    )


def _arrived(file: Path, plan: SignedPlan, sender: Sender) -> Arrived:
    most = most_bytes(plan.plan)
    try:
        with file.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise ContributionError(
            f"{file}: cannot be read ({error.strerror}); ask for it again"
        ) from None
    if len(content) > most:
        raise ContributionError(
            f'party "{sender.name}": {file} is larger than {most} bytes, which is more than any'
            " contribution under this plan has; ask for it again"
        )
    return arrive(content, str(file), plan=plan, sender=sender)


def _levels(plan: SignedPlan, arrived: tuple[Arrived, ...]) -> dict[str, Counter[str]]:
    """How often each class occurs, as far as parties tell."""
    target = plan.plan.encoding.target
    if not isinstance(target, ClassTarget):
        return {}
    counts = Counter[str]()
    for one in arrived:
        for level, count in zip(target.levels, one.manifest.counts or (), strict=False):
            counts[level] += count
    return {target.name: counts}


def lacking_notes(configuration: Configuration, surveys: Sequence[Survey]) -> Iterator[Note]:
    """Contributions that others were made in addition to, and that nobody listed.

    Args:
        configuration: Who the parties are.
        surveys: What was seen of each one's data, in the same order.
    """
    for section, survey in zip(configuration.parties, surveys, strict=True):
        listed = {one.file.digest for one in survey.arrived}
        lacking = {
            earlier
            for one in survey.arrived
            for earlier in one.manifest.earlier
            if earlier not in listed
        }
        if lacking:
            named = few(sorted(digest[:DIGITS] for digest in lacking))
            text = (
                f'what "{section.name}" sent adds to {len(lacking)} earlier contribution(s) that'
                f" data does not list ({named}), so that their rows do not count; if they are to,"
                " list all of them"
            )
            yield Note(code="contributions lacking", party=section.name, text=text)
