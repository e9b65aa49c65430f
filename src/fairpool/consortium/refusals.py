"""What keeps data that can be read from being used: a model that is unfit, or tells too much."""

from fairpool.consortium.configuration import Configuration
from fairpool.consortium.surveys import Survey
from fairpool.consortium.tables import PUBLIC, party_owner
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError, shown
from fairpool.model_kinds import KINDS
from fairpool.realisation.disclosure import FEWEST_ROWS, Exposure, RareClass
from fairpool.targets import ClassTarget, label_sets


def privacy_problems(configuration: Configuration) -> list[str]:
    """What reward files would tell of the others that nobody agreed to, by the configuration."""
    name, rewards = configuration.model.kind, configuration.rewards
    disclosure = KINDS[name].disclosure
    without = [f'"{other}"' for other, kind in KINDS.items() if not kind.disclosure.holds_rows]
    problems = []
    if disclosure.holds_rows and not rewards.share_inputs:
        problems.append(
            f'model kind "{name}": every reward file would contain all parties\' inputs; if all'
            " parties agreed to that, set share_inputs = true in [rewards]; otherwise use kind"
            f" {', '.join(without[:-1])} or {without[-1]}, whose files contain nobody's rows"
        )
    if disclosure.from_labels and configuration.public is None and not rewards.share_labels:
        problems.append(
            f'model kind "{name}" without [public] data: it would be trained on all parties\' exact'
            " labels, and every reward file would tell about them whatever the reward is; give"
            " [public] data, or, if all parties agreed to that, set share_labels = true in"
            " [rewards]"
        )
    if configuration.target.kind == ClassTarget.kind:
        problems += _problems_of_told_classes(configuration)
    return problems


def _problems_of_told_classes(configuration: Configuration) -> list[str]:
    """Of classes: what would tell everybody's labels, whatever noise is on them."""
    rewards = configuration.rewards
    blind: bool = configuration.target.label_blind  # type: ignore[attr-defined]  # this kind's key
    holds_rows = KINDS[configuration.model.kind].disclosure.holds_rows
    if rewards.share_labels or blind or not (holds_rows or rewards.covariance == "full"):
        return []
    what = f'model kind "{configuration.model.kind}"' if holds_rows else 'covariance = "full"'
    return [
        f"{what} with classes: rows are weighted by their class, so that every reward file would"
        " tell everybody's classes, whatever noise is on them; use a model with weights and"
        ' covariance = "hidden", or label_blind = true in [target], or, if all parties agreed to'
        " that, set share_labels = true in [rewards]"
    ]


def refuse_unfit_model(configuration: Configuration, encoding: TableEncoding) -> None:
    """Refuse a model whose settings cannot be done with these columns."""
    section = configuration.model
    public = configuration.public is not None
    problems = KINDS[section.kind].problems(section, encoding, public=public)
    if problems:
        raise ConfigurationError(*problems)


def refuse_small_parties(
    configuration: Configuration, encoding: TableEncoding, surveys: dict[str, Survey]
) -> None:
    """Refuse parties whose rows could be computed from the others' reward files.

    Who receives nothing of the others' data is not known yet: all parties count as recipients.
    """
    if configuration.rewards.share_inputs or len(configuration.parties) == 1:
        return
    rows = {party.name: surveys[party_owner(party.name)].rows for party in configuration.parties}
    hidden = {name for name in rows if surveys[party_owner(name)].is_hidden}
    public = surveys.get(PUBLIC)
    learned_from = sum(rows.values()) if public is None else public.rows
    kind = KINDS[configuration.model.kind]
    inputs = len(encoding.features)
    classes = label_sets(encoding.target)
    exposure = Exposure(
        rows={name: count for name, count in rows.items() if count and name not in hidden},
        releases=dict.fromkeys(rows, configuration.rewards.files_together(len(rows))),
        weights=classes * kind.weights(configuration.model, inputs=inputs, rows=learned_from),
        classes=classes,
        rare=_rare_classes(configuration, encoding, surveys),
        inputs=len(encoding.columns),  # a category is one thing to guess, not one per level
        hidden=configuration.rewards.covariance == "hidden",
    )
    problems = exposure.problems()
    if problems:
        raise ConfigurationError(*problems)


def _rare_classes(
    configuration: Configuration, encoding: TableEncoding, surveys: dict[str, Survey]
) -> dict[str, RareClass]:
    """Of each party, the class it has fewest rows of, where these are some, but too few."""
    target = encoding.target
    rare: dict[str, RareClass] = {}
    if not isinstance(target, ClassTarget):
        return rare
    for party in configuration.parties:
        counts = target.counts(surveys[party_owner(party.name)].levels.get(target.name, {}))
        some = {level: count for level, count in counts.items() if 0 < count < FEWEST_ROWS}
        if some:
            level = min(some, key=lambda level: some[level])
            rare[party.name] = RareClass(shown(level), some[level])
    return rare
