"""What terms mean, in the words that a party reads before it accepts; they are signed with them."""

from collections.abc import Iterator

from fairpool.consortium.configuration import Configuration, PartySection
from fairpool.consortium.data_agreement import ON_HARM, RHO
from fairpool.consortium.planning.requirements import ANY_COLUMNS
from fairpool.contributions import concept_of
from fairpool.errors import few
from fairpool.exchange.disclosed import disclosures
from fairpool.exchange.plan import SignedPlan
from fairpool.model_kinds import KINDS

MOST_NAMED = 40
"""So many columns are named."""

MISSING = {
    "error": "a table with missing values is sent back",
    "drop": "rows with missing values are left out, and counted",
    "impute": "missing values are filled in with the median or the most frequent level",
}


def in_words(configuration: Configuration, plan: SignedPlan | None) -> dict[str, str]:
    """What is agreed to, entry by entry.

    Args:
        configuration: What the terms say.
        plan: How rows become sums, where a party sends sums; None: nobody does.
    """
    rewards = configuration.rewards
    concept = concept_of(configuration.valuation.contributions)
    entries = {
        "what is predicted": _target(configuration),
        "from": _features(configuration),
        "model": KINDS[configuration.model.kind].title,
        "what a contribution is": concept.words.glossary,
        "what a party receives": _rewards(configuration),
        "labels that do not agree": (
            f"{ON_HARM[rewards.on_harm]} (false alarms: about"
            f" {100 * rewards.false_alarms:g}% of honest rounds)"
        ),
        "missing values": MISSING[configuration.missing],
        "parties": "; ".join(_party(party) for party in configuration.parties),
    }
    if configuration.retention.rounds is not None:
        entries["sums of rows that left"] = (
            f"erased after {configuration.retention.rounds} round(s)"
        )
    if configuration.contact is not None:
        entries["whom to ask"] = configuration.contact
    if plan is not None:
        entries["plan's hash"] = plan.digest
    return entries


def _target(configuration: Configuration) -> str:
    target = configuration.target
    column = configuration.columns.get(target.column)
    unit = "" if column is None or column.unit is None else f", in {column.unit}"
    return f"{target.column} ({configuration.labels.in_words}{unit})"


def _features(configuration: Configuration) -> str:
    if configuration.features is None:
        return "all columns that the tables of all parties share"
    return few(configuration.features, MOST_NAMED)


def _rewards(configuration: Configuration) -> str:
    rho = configuration.rewards.rho
    words = RHO[rho] if isinstance(rho, str) else f"{rho:g}"
    return (
        "a model worth (its contribution / the largest contribution)^rho times the value of all"
        f" data; rho is {words}"
    )


def _party(party: PartySection) -> str:
    key = party.public_key
    sends = "sends rows" if key is None else f"sends sums, signed with {key.fingerprint}"
    most = "" if party.most is None else f", and wants at most {100 * party.most:g}% of the value"
    return f"{party.name} {sends}{most}"


def discloses(configuration: Configuration, plan: SignedPlan | None) -> tuple[str, ...]:
    """What becomes known of a party's data, and to whom, as sentences.

    Args:
        configuration: What the terms say.
        plan: How rows become sums, where a party sends sums; None: nobody does.
    """
    sentences = [*_of_rows(configuration)]
    if plan is not None:
        sentences += disclosures(plan.plan)
    sentences += _of_files(configuration)
    if plan is None:
        sentences += _of_learning(configuration)
    sentences += _of_letters(configuration)
    return tuple(sentences)


def _of_rows(configuration: Configuration) -> Iterator[str]:
    senders = [party.name for party in configuration.parties if party.key is None]
    if senders:
        yield (
            f"Rows are sent by {', '.join(senders)}. Whoever runs this service can read them; they"
            " are stored encrypted, are opened only to be checked and computed with, and are shown"
            " to no other party."
        )


def _of_files(configuration: Configuration) -> Iterator[str]:
    """What a reward file tells its recipient of the others."""
    rewards = configuration.rewards
    if KINDS[configuration.model.kind].disclosure.holds_rows:
        yield "Every model's file contains the inputs of all parties' rows: all parties agree."
    elif rewards.share_inputs:
        yield "All parties agree that rows of small parties may be computed from a model's file."
    else:
        yield (
            "No model's file contains a row of another party, and none is written from which rows"
            " of a party could be computed."
        )
    if rewards.share_labels:
        yield "All parties agree that labels of their rows may follow from a model's file."
    if rewards.covariance == "hidden":
        yield (
            "Predicted variances are made of the recipient's own rows and made-up ones, and tell"
            " little of where others have data."
        )
    else:
        yield "A model's file tells sums over the other parties' rows exactly."
    if rewards.colluding is None:
        yield "It is assumed that all recipients may put their files together."
    else:
        yield (
            f"It is assumed that at most {rewards.colluding} recipient(s) may put their files"
            " together."
        )


def _of_learning(configuration: Configuration) -> Iterator[str]:
    """What is learned from everybody's rows, and stands in every file."""
    section = configuration.model
    disclosure = KINDS[section.kind].disclosed(section, ANY_COLUMNS)
    learned = list(disclosure.learned)
    if section.learn:
        learned.insert(1, "hyperparameters")
    yield (
        f"Learned from all parties' rows, rounded, and in every model's file: {', '.join(learned)}."
        " Of columns with a declared range, the scaling is not."
    )
    if disclosure.from_labels is not None:
        yield disclosure.from_labels


def _of_letters(configuration: Configuration) -> Iterator[str]:
    yield (
        "A letter tells a party what its own data are worth, what it contributed and receives, and"
        " the value of all data; of no other party anything. The operator sees these figures of"
        " all parties, and so does an auditor."
    )
    if len(configuration.parties) == 2:
        yield "With two parties, one's own figures tell the value of the other's data."
