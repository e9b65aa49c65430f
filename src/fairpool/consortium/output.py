"""What a run gives: the operator's files and each party's, as bytes; `writing` writes them."""

import hashlib
import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairpool import __about__
from fairpool.coalitions import members
from fairpool.columns import CategoryColumn, EncodedColumn
from fairpool.columns.filling import indicator
from fairpool.consortium.configuration import FILE_NAME
from fairpool.consortium.judging import LeftOut
from fairpool.consortium.levels import level_sentences, levels_are_learned
from fairpool.consortium.model_building import BuiltModel
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.scrutiny import Run
from fairpool.consortium.spreadsheet import csv_text
from fairpool.consortium.treatment import treatment_of
from fairpool.model_kinds import KINDS, Disclosure
from fairpool.realisation import ModelReward
from fairpool.realisation.disclosure import Exposure
from fairpool.realisation.model_reward import LedgerMark
from fairpool.realisation.reward_file import reward_bytes
from fairpool.report.evidence import as_json as evidence_as_json
from fairpool.report.evidence import party_as_json
from fairpool.report.letter import Letter, RefusalLetter, render_letter, render_refusal
from fairpool.report.prediction import as_json, uncheckable_as_json
from fairpool.report.report import Context, render_report
from fairpool.report.rounds import RoundWords
from fairpool.report.scores import class_sentence
from fairpool.report.treatment import Treatment
from fairpool.rounds import PartyChange
from fairpool.tables.arrays import FloatArray
from fairpool.targets import ClassTarget

REWARD_FILE = "reward.safetensors"
NO_OPTIMUM = (
    "The search for the model's hyperparameters did not end at an optimum, so that another model"
    " may fit the data better. Everybody's values and rewards depend on them. The operator's report"
    " says what happened."
)
"""What a letter says where learning ended early, or at the end of the range searched."""

LONGEST_FOLDER_NAME = 80
MOST_FOLDER_BYTES = 230
"""Most systems allow 255 bytes, and a number or a word may be added to a name."""

RESERVED = {
    "CON",
    "PRN",
    "AUX",
    "NUL",
    *(f"{kind}{k}" for kind in ("COM", "LPT") for k in range(1, 10)),
}
"""Names that some systems do not allow."""


def render(run: Run, *, head: str | None = None) -> dict[str, bytes]:
    """Every file that a run gives, by path: the operator's folder and one folder per party.

    Args:
        run: What was computed.
        head: The hash of the run's record in the ledger, which models and letters carry. None: it
            is a preview, without models (`fairpool.consortium.rounds.releasing` releases them).
    """
    # The report first: pictures are numbered as they are drawn, and the same run must give the same
    # bytes.
    files = {f"operator/{name}": content for name, content in _operator_files(run).items()}
    for i, folder in enumerate(folder_names(run.collaboration.game.names)):
        for name, content in _party_files(run, i, head).items():
            files[f"parties/{folder}/{name}"] = content
    for one, folder in zip(run.left_out, _folders(run)[run.collaboration.game.n :], strict=True):
        files[f"parties/{folder}/letter.html"] = _refusal(run, one).encode()
    return files


def _folders(run: Run) -> list[str]:
    """Every party's folder: of those who receive a model, then of those who were left out."""
    left_out = [one.evidence.party for one in run.left_out]
    return folder_names([*run.collaboration.game.names, *left_out])


def _refusal(run: Run, one: LeftOut) -> str:
    """The letter of a party whose data were left out."""
    encoding = run.preparation.encoding
    return render_refusal(
        RefusalLetter(
            title=run.preparation.configuration.name,
            name=one.evidence.party,
            rows=one.rows,
            target=encoding.target,
            evidence=one.evidence,
            treatment=treatment_of(encoding, one.survey, one.evidence.party),
        )
    )


def _shares(run: Run) -> dict[str, FloatArray]:
    """Contributions by each way to measure them."""
    shares = {"information": run.shares.information, "evidence": run.shares.evidence}
    if run.shares.validation is not None:
        shares["validation"] = run.shares.validation
    return shares


def _operator_files(run: Run) -> dict[str, bytes]:
    """What the operator alone may see, by name."""
    folders = folder_names(run.collaboration.game.names)
    context = Context(
        title=run.preparation.configuration.name,
        origin=_origin(run.built),
        settings=run.built.settings,
        residuals=run.residuals,
        scores=run.scores,
        target=run.preparation.encoding.target,
        warnings=run.warnings,
        folders=tuple(f"parties/{folder}" for folder in folders),
        treatments=_treatments(run),
        against_alone=run.against_alone,
        uncheckable=run.uncheckable,
        evidence=run.evidence,
        left_out=tuple(one.evidence for one in run.left_out),
        shares=_shares(run),
        since=None if run.since is None else run.since.changes,
    )
    result = json.dumps(result_of(run), indent=1, ensure_ascii=False, allow_nan=False)
    texts = {
        "report.html": render_report(run.collaboration, context),
        "result.json": result + "\n",
        "values.csv": _values_csv(run),
        FILE_NAME: _configuration_as_used(run),
        "inputs.sha256": _hashes_of_inputs(run),
    }
    return {name: text.encode() for name, text in texts.items()}


def _hashes_of_inputs(run: Run) -> str:
    """The SHA-256 of every table that was looked at, in the format of sha256sum.

    Of the images that a table names there is one hash together, in a line that sha256sum skips.
    """
    # No name has a line break, which would begin a line of its own: see `Source.find`.
    lines = []
    for survey in (*run.preparation.surveys, *(one.survey for one in run.left_out)):
        for file in survey.source.files:
            path = os.path.relpath(file, run.preparation.folder)
            content = survey.contents[file]
            lines.append(f"{content.sha256}  {path}\n")
            if content.images:
                lines.append(f"# {content.images} of the images that {path} names\n")
    return "".join(lines)


def _treatments(run: Run) -> tuple[Treatment, ...]:
    """What was done to every table: the parties', in order, then public and test data's."""
    preparation = run.preparation
    parties = [party.name for party in preparation.configuration.parties]
    owners = [*parties, *(survey.source.owner for survey in preparation.surveys[len(parties) :])]
    treatments = []
    for owner, survey in zip(owners, preparation.surveys, strict=True):
        treatments.append(treatment_of(preparation.encoding, survey, owner))
    return tuple(treatments)


def _party_files(run: Run, i: int, head: str | None) -> dict[str, bytes]:
    """What is handed out to party i, by name: a letter, and a model where there is a new one."""
    configuration = run.preparation.configuration
    encoding = run.preparation.encoding
    files = {}
    words = _round_words(run, i, head)
    sha256 = ""
    if words.is_sent:
        # Also for a preview, which is to be refused as the release would be.
        reward = _reward(run, i, head)
        if head is not None:
            files[REWARD_FILE] = reward
            sha256 = hashlib.sha256(reward).hexdigest()
    letter = Letter(
        title=configuration.name,
        target=encoding.target,
        file=REWARD_FILE,
        sha256=sha256,
        round=words,
        reveals=reveals(run, i),
        notes=() if run.built.optimum_reached else (NO_OPTIMUM,),
        copies=tuple(run.copies.told(i)),
        treatment=_treatments(run)[i],
        against_alone=run.against_alone[i],
        uncheckable=run.uncheckable[i],
        evidence=run.evidence.parties[i],
        since=_change_of(run, i),
        scores=_about_test_rows(run, i),
    )
    page = render_letter(run.collaboration, i, letter)
    return {**files, "letter.html": page.encode()}


def _change_of(run: Run, i: int) -> PartyChange | None:
    """What changed for party i since the last round, where that can be told."""
    if run.since is None or run.since.changes is None:
        return None
    change = run.since.changes.of(run.contributions[i].id)
    return change if change is not None and change.before is not None else None


def refuse_release(run: Run) -> None:
    """Refuse a run whose models may not be handed out, before anything of it is written."""
    for i in range(run.collaboration.game.n):
        if _round_words(run, i, None).is_sent:
            _reward(run, i, None)


def _reward(run: Run, i: int, head: str | None) -> bytes:
    """Party i's new model as a file; refused where the file would tell what nobody agreed to."""
    rewards = run.preparation.configuration.rewards
    mark = None
    if head is not None:
        mark = LedgerMark(round=_round_words(run, i, head).number, head=head)
    return reward_bytes(
        replace(run.collaboration.models[i], ledger=mark),
        share_inputs=rewards.share_inputs,
        share_labels=rewards.share_labels,
    )


def _round_words(run: Run, i: int, head: str | None) -> RoundWords:
    """The round, as party i's letter tells it."""
    context = run.preparation.context
    return RoundWords(
        number=1 if context is None else context.number,
        head=head or "",
        received=run.collaboration.received[i] if run.collaboration.received else None,
        total=run.collaboration.game.total,
        waiting=run.contributions[i].assignment.waiting,
    )


def _about_test_rows(run: Run, i: int) -> str:
    """What party i's letter says of test rows that are classes; nothing of numbers."""
    if run.scores is None or run.scores.classes is None:
        return ""
    return class_sentence(run.scores, i)


def reveals(run: Run, i: int) -> tuple[str, ...]:
    """What party i's file tells about the others, sentence by sentence; nothing is left out."""
    result, preparation = run.collaboration, run.preparation
    section = preparation.configuration.model
    disclosure = KINDS[section.kind].disclosed(section, preparation.encoding)
    releases = preparation.configuration.rewards.files_together(result.game.n)
    sentences = [_contents(result.models[i], disclosure, releases)]
    learned = _learned(run, disclosure)
    if learned:
        sentences.append(learned)
    if disclosure.from_nobody is not None:
        sentences.append(disclosure.from_nobody)
    if preparation.public is None and disclosure.from_labels is not None:
        sentences.append(disclosure.from_labels)
    sentences += _about_levels(preparation, i)
    sentences += _about_columns(preparation)
    sentences += _about_classes(preparation, result.models[i])
    secret = result.models[i].mechanism.words.secret
    sentences.append(f"It names no other party. {secret}".rstrip())
    if result.game.n == 2:
        sentences.append(
            "With two parties, the numbers in this letter tell the value of the other's data."
        )
    tells = result.contributions.concept.words.tells
    if tells:
        sentences.append(tells)
    return tuple(sentences)


def _about_levels(preparation: Preparation, i: int) -> list[str]:
    """What party i should know of the levels of categorical columns, and of their origin."""
    learned = []
    origins: dict[str, list[str]] = {}
    for column in preparation.encoding.columns:
        if not isinstance(column, CategoryColumn):
            continue
        if levels_are_learned(
            preparation.plan,
            column.name,
            parties=preparation.parties,
            public=preparation.public,
        ):
            learned.append(column)
            continue
        origin = "from public data"
        if preparation.plan.column(column.name).levels is not None:
            origin = "from the operator's list"
        origins.setdefault(origin, []).append(f'"{column.name}"')
    own = preparation.parties[i]
    sentences = level_sentences(learned, own, parties=len(preparation.parties))
    for origin, names in origins.items():
        sentences.append(
            f"The levels of {', '.join(names)} come {origin}, and tell nothing of anybody's rows."
        )
    return sentences


def _about_classes(preparation: Preparation, reward: ModelReward) -> list[str]:
    """What a file tells of classes: noise limits what is learned, and hides no class."""
    if not isinstance(preparation.encoding.target, ClassTarget) or not reward.tau:
        return []
    sentences = [
        "Noise on labels limits what the model learns of the other parties' classes; it does not"
        " hide the class of a row that nothing else is near. Of two classes, such a row shows its"
        " own four times in five or more often, up to a noise variance of 30."
    ]
    if reward.exposure is not None and reward.exposure.tells_labels:
        sentences.append(
            "Rows are weighted by their class in it, which tells the classes of the other parties'"
            " rows, as all parties agreed."
        )
    return sentences


def _about_columns(preparation: Preparation) -> list[str]:
    """What encodings tell besides levels: declared ranges, and values that somebody lacks."""
    encoding = preparation.encoding
    ranges = [f'"{name}"' for name, rules in encoding.rules.items() if rules.bounds is not None]
    encoded = [column for column in encoding.columns if isinstance(column, EncodedColumn)]
    indicated = [
        f'"{column.name}"'
        for column in encoding.columns
        if column not in encoded and indicator(column.name) in column.features
    ]
    sentences = [
        f'It reads "{column.name}" through {column.pin}, which is public and learned nothing from'
        " anybody's rows. The file does not contain it: you need it to predict."
        for column in encoded
    ]
    if ranges:
        sentences.append(
            f"Of {', '.join(ranges)} the scaling comes from ranges that the operator declared, and"
            " tells nothing of anybody's rows."
        )
    if indicated and preparation.public is None:
        sentences.append(
            f"It tells that somebody lacks values of {', '.join(indicated)}, and what they are"
            " taken to be: the median or the most frequent level of all parties' rows, rounded."
        )
    if preparation.public is None:
        sentences += _about_lacking(encoded)
    return sentences


def _about_lacking(encoded: Sequence[EncodedColumn]) -> Iterator[str]:
    """What it tells that somebody lacks texts or images."""
    lacking: dict[str, list[str]] = {}
    for column in encoded:
        if column.indicates:
            lacking.setdefault(f"{column.kind}s", []).append(f'"{column.name}"')
    for what, names in lacking.items():
        yield f"It tells that somebody lacks {what} of {', '.join(names)}."


def _learned(run: Run, disclosure: Disclosure) -> str:
    """What was learned, and from whose rows."""
    given = "" if run.built.learned else " Its hyperparameters were given by the operator."
    is_public = run.preparation.public is not None
    learned = list(disclosure.learned)
    if is_public:
        learned = learned[:1]
    if run.built.learned:
        learned.insert(1, "hyperparameters")
    if run.preparation.encoding.scaling_is_declared:
        learned = learned[1:]
    if not learned:
        return given.lstrip()
    *first, last = learned
    what = f"{', '.join(first)} and {last}" if first else last
    is_one = learned == ["scaling"]
    if is_public:
        return f"Its {what} {'comes' if is_one else 'come'} from public data.{given}"
    verbs = ("was", "is") if is_one else ("were", "are")
    return f"Its {what} {verbs[0]} learned from all parties' rows, and {verbs[1]} rounded.{given}"


def _origin(built: BuiltModel) -> str:
    """Where hyperparameters and scaling come from, as a sentence of the report."""
    if built.learned:
        return f"They, and the scaling, come from {built.rows}."
    return f"They were given; the scaling comes from {built.rows}."


def _contents(reward: ModelReward, disclosure: Disclosure, releases: int) -> str:
    """What of the others' data a reward contains.

    Args:
        reward: A party's model.
        disclosure: What models of its kind tell.
        releases: How many files may be held together, if all parties receive something. Which of
            them do is nobody else's affair, so that letters tell the bound for this number.
    """
    words, level = reward.mechanism.words, reward.level
    if not level.tau:
        return "Apart from what is said below, it is trained on your own rows alone."
    if disclosure.holds_rows:
        return (
            "It contains the inputs of all parties' rows, as all parties agreed, and their labels"
            f" {words.labels(level)}."
        )
    if reward.holds_inputs_of_others:
        return (
            f"It contains sums over all rows{words.sums(level)}, and with them a row of another"
            " party, as all parties agreed."
        )
    sums = f"It contains no row of another party, but sums over all rows{words.sums(level)}."
    if reward.exposure is None:
        return sums
    return f"{sums} {_small_parties(reward.exposure, releases)}"


def _small_parties(exposure: Exposure, releases: int) -> str:
    """From what the rows of small parties can be computed, and whether there are some."""
    fewest = exposure.fewest_rows(releases)
    together = f" and {releases} models together" if releases > 1 else ""
    small = f"fewer than {fewest} distinct rows{together}"
    told = f"From such sums, rows of a party can be computed with {small}"
    if exposure.hidden:
        told = (
            "Its predicted variances are made of your own rows and made-up ones, and tell nothing"
            " of where the other parties' data are; its predicted means depend on them. With"
            f" {small}, rows of a party could be computed from these"
        )
    if any(rows < fewest for rows in exposure.rows.values()):
        return (
            f"{told}. Some of the other parties have few rows, so that their rows can be computed"
            " from it, as all parties agreed."
        )
    return f"{told}; everybody has at least as many rows."


def _scores(run: Run) -> dict[str, Any] | None:
    """The scores on test data, if there is any, by the keys of the target's measures."""
    if run.scores is None:
        return None
    entries = {
        "rows": run.scores.rows,
        "alone": list(run.scores.alone),
        "reward": list(run.scores.reward),
        "everyone": run.scores.everyone,
    }
    if run.scores.classes is not None:
        entries["classes"] = run.scores.classes.to_dict()
    return entries


def result_of(run: Run) -> dict[str, Any]:
    """The run as plain JSON."""
    collaboration = run.collaboration.to_dict()
    folders = folder_names(run.collaboration.game.names)
    residuals = run.residuals.tolist()
    # Public and test data are treated, too, but are no parties.
    treatments = _treatments(run)[: len(folders)]
    for party, treatment in zip(collaboration["parties"], treatments, strict=True):
        party["table"] = treatment.to_dict()
    for party, folder, residual in zip(collaboration["parties"], folders, residuals, strict=True):
        party["folder"] = f"parties/{folder}"
        party["label_residual"] = residual if np.isfinite(residual) else None
    for i, party in enumerate(collaboration["parties"]):
        party["against_alone"] = as_json(run.against_alone[i])
        party["uncheckable"] = uncheckable_as_json(run.uncheckable[i])
        party["evidence"] = party_as_json(run.evidence.parties[i])
        if run.shares.validation is not None:
            party["contribution_by_validation"] = float(run.shares.validation[i])
        if run.collaboration.kept is not None:
            party["kept"] = float(run.collaboration.kept[i])
        party["rows_waiting"] = run.contributions[i].assignment.waiting
        if run.collaboration.received:
            party["holds"] = run.collaboration.received[i].holds
            party["sent"] = run.collaboration.received[i].sent
    return {
        "fairpool": __about__.__version__,
        "name": run.preparation.configuration.name,
        "round": 1 if run.preparation.context is None else run.preparation.context.number,
        **collaboration,
        "near_copies": run.copies.near.to_dict() | {"share_compared": run.copies.share},
        "warnings": list(run.warnings),
        "evidence": evidence_as_json(run.evidence),
        "left_out": [
            {"name": one.evidence.party, "evidence": party_as_json(one.evidence)}
            for one in run.left_out
        ],
        "model": {
            "origin": run.built.origin,
            "optimum_reached": run.built.optimum_reached,
            **run.built.settings,
        },
        "test": _scores(run),
        "since": _since(run),
    }


def _since(run: Run) -> dict[str, Any] | None:
    """What changed since the last round, or why that cannot be told."""
    if run.since is None:
        return None
    if run.since.changes is None:
        return {"comparable": False, "reason": run.since.reason}
    return run.since.changes.to_dict()


def _values_csv(run: Run) -> str:
    game = run.collaboration.game
    everybody = tuple(range(game.n))
    if game.enumerable:
        coalitions = [members(mask) for mask in range(1 << game.n)]
    else:  # too many to list: each alone, and all together
        coalitions = [*((i,) for i in everybody), everybody]
    rows = []
    for C in coalitions:
        is_member = [int(i in C) for i in everybody]
        rows.append([*is_member, repr(game.value(C))])
    return csv_text([*game.names, "value"], rows)


def _configuration_as_used(run: Run) -> str:
    """The operator's file as it was read, with what the command line changed at the top."""
    text = run.preparation.text
    in_file = tomllib.loads(text).get("rewards", {}).get("rho", "stable")
    rho = run.collaboration.rho
    return f"# As used by this run: rho = {rho!r} (asked for: {in_file!r} in this file)\n{text}"


def _cut(slug: str) -> str:
    """The beginning of a name, short enough in characters and in bytes."""
    short = slug[:LONGEST_FOLDER_NAME].encode()[:MOST_FOLDER_BYTES]
    return short.decode(errors="ignore")  # a letter that was cut in two is left out


def folder_names(names: Sequence[str]) -> list[str]:
    """A folder name for every party: safe on any system, distinct, and recognisable.

    >>> folder_names(["Hospital A", "../x", "hospital a"])
    ['Hospital-A', 'x', 'hospital-a-2']
    """
    folders: list[str] = []
    taken: set[str] = set()
    for name in names:
        plain = unicodedata.normalize("NFKC", name)
        slug = _cut(re.sub(r"[^\w.-]+", "-", plain).strip("-._")) or "party"
        if slug.split(".")[0].upper() in RESERVED:
            slug = f"party-{slug}"
        unique = slug
        number = 2
        while unique.casefold() in taken:
            unique = f"{slug}-{number}"
            number += 1
        folders.append(unique)
        taken.add(unique.casefold())
    return folders
