"""What a party's file tells about the others, sentence by sentence, for its letter."""

from collections.abc import Iterator, Sequence

from fairpool.columns import CategoryColumn, EncodedColumn
from fairpool.columns.filling import indicator
from fairpool.consortium.levels import level_sentences, levels_are_learned
from fairpool.consortium.preparation import Preparation
from fairpool.consortium.scrutiny import Run
from fairpool.model_kinds import KINDS, Disclosure
from fairpool.realisation import ModelReward
from fairpool.realisation.disclosure import Exposure
from fairpool.targets import ClassTarget


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
            "Its predicted variances are made of your own rows and made-up ones, and tell little"
            " of where the other parties' data are; its predicted means depend on them. With"
            f" {small}, rows of a party could be computed from these"
        )
    if any(rows < fewest for rows in exposure.rows.values()):
        return (
            f"{told}. Some of the other parties have few rows, so that their rows can be computed"
            " from it, as all parties agreed."
        )
    return f"{told}; everybody has at least as many rows."


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
    context = run.preparation.context
    rows = "rows"
    if context is not None and context.agreement is not None and context.agreement.features_digest:
        rows = "sums alone"
    return f"Its {what} {verbs[0]} learned from all parties' {rows}, and {verbs[1]} rounded.{given}"


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


def _about_classes(preparation: Preparation, reward: ModelReward) -> list[str]:
    """What a file tells of classes: noise limits what is learned, and hides no class."""
    if not isinstance(preparation.encoding.target, ClassTarget) or not reward.tau:
        return []
    sentences = [
        "Noise on labels limits what the model learns of the other parties' classes; it does not"
        " hide the class of a row that nothing else is near. Of two classes, such a row shows its"
        " own four times in five or more often, up to noise with a standard deviation of 5.4."
    ]
    if reward.exposure is not None and reward.exposure.tells_labels:
        sentences.append(
            "Rows are weighted by their class in it, which tells the classes of the other parties'"
            " rows, as all parties agreed."
        )
    return sentences
