"""The report: one self-contained HTML page that works offline, on a phone and on paper."""

import html
import json
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import jinja2
import numpy as np

from fairpool.audit import AgainstAlone, Evidence, PartyEvidence, Uncheckable
from fairpool.errors import printable
from fairpool.notes import Note
from fairpool.outcome import Outcome
from fairpool.report import charts
from fairpool.report.class_scores import reliability_chart
from fairpool.report.coalitions_chart import coalitions_chart
from fairpool.report.evidence import EvidenceWords
from fairpool.report.evidence_charts import pairs_chart, shares_chart
from fairpool.report.gravity import by_gravity
from fairpool.report.levels import level_in_table, unit_of
from fairpool.report.noisy_sums import (
    all_rows_in_words,
    meanings_for,
    rows_in_words,
    some_have_noise,
)
from fairpool.report.order import by_reward
from fairpool.report.prediction import PredictionWords
from fairpool.report.reasons import reasons_of
from fairpool.report.scores import Scores
from fairpool.report.scores_chart import scores_chart
from fairpool.report.sentences import explain
from fairpool.report.since_section import SinceSection
from fairpool.report.treatment import Treatment
from fairpool.report.vega import vega_script
from fairpool.report.words import ANSWERS, as_percent, glossary_of
from fairpool.rewards import check_incentives
from fairpool.rounds import Changes
from fairpool.tables.arrays import FloatArray
from fairpool.targets import LABELS, Measure, Target
from fairpool.verdicts import Verdict


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a report may say beyond the collaboration itself.

    Attributes:
        title: The collaboration's name.
        origin: Where hyperparameters and scaling come from, as a sentence.
        settings: The model's hyperparameters, by name.
        residuals: Per party, how far its labels are from the others' prediction [n].
        scores: On test data.
        target: What is predicted.
        notes: Everything the operator should know.
        folders: Per party, where its model and letter are.
        treatments: What was done to every table, public and test data's included.
        evidence: What the labels say of each party.
        left_out: Whose data were left out since their labels harm the others, and what was found.
        shares: Contributions [n] by each way to measure them.
        against_alone: Per party, how its reward predicts beside its own data's model.
        uncheckable: Per party, what of its data has to be taken on trust.
        since: What changed since the last round; None where there was none.
        released: Whether what this is of was released; otherwise it is a preview, or no round.
    """

    title: str = "Collaboration"
    origin: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    residuals: Any = None
    scores: Scores | None = None
    target: Target = LABELS
    notes: tuple[Note, ...] = ()
    folders: tuple[str, ...] = ()
    treatments: tuple[Treatment, ...] = ()
    evidence: Evidence | None = None
    left_out: tuple[PartyEvidence, ...] = ()
    shares: dict[str, FloatArray] = field(default_factory=dict)
    against_alone: tuple[AgainstAlone, ...] = ()
    uncheckable: tuple[Uncheckable | None, ...] = ()
    since: Changes | None = None
    released: bool = False


def render_report(result: Outcome, context: Context) -> str:
    """The report as HTML; the same result gives the same bytes."""
    # The charts are drawn in a fixed order, since the renderer numbers clip paths across charts.
    rewards_svg = charts.as_svg(charts.rewards_chart(result))
    coalitions_svg = None
    coalitions = coalitions_chart(result)
    if coalitions is not None:
        coalitions_svg = charts.as_svg(coalitions)
    along_rho = charts.rho_chart(result)
    rho_svg = charts.as_svg(along_rho)
    scores_svg = None
    reliability_svg = None
    measures: tuple[Measure, ...] = ()
    if context.scores is not None:
        scores_svg = charts.as_svg(scores_chart(result, context.scores))
        measures = context.scores.target.measures
        if context.scores.classes is not None:
            reliability_svg = charts.as_svg(reliability_chart(context.scores.classes))
    listed = [result.game.names[i] for i in by_reward(result)]
    pairs_svg = None
    shares_svg = None
    if context.evidence is not None:
        pairs_svg = _svg_or_none(pairs_chart(context.evidence, result.game.names, listed))
    if context.shares:
        shares_svg = _svg_or_none(shares_chart(context.shares, result.game.names, listed))
    since = None
    if context.since is not None:
        since = SinceSection.of(context.since)
    mechanism = result.models[0].mechanism.words
    template = templates().get_template("report.html.j2")
    return template.render(
        result=result,
        context=context,
        game=result.game,
        order=by_reward(result),
        rows=[rows_in_words(result.game, i) for i in range(result.game.n)],
        all_rows=all_rows_in_words(result.game),
        warnings=by_gravity(context.notes, released=context.released),
        explanations=explain(result),
        reasons=reasons_of(result, context.evidence),
        keepers=sum(not received.sent for received in result.received),
        levels=[level_in_table(result, i) for i in range(result.game.n)],
        level_unit=unit_of(result),
        drawn=len(charts.drawn_parties(result)),
        meanings=meanings_for(is_noisy=some_have_noise(result.game)),
        is_noisy=some_have_noise(result.game),
        answers=ANSWERS,
        glossary=glossary_of(result.contributions.concept, mechanism, context.target, measures),
        mechanism=mechanism,
        rewards_svg=rewards_svg,
        coalitions_svg=coalitions_svg,
        rho_svg=rho_svg,
        scores_svg=scores_svg,
        measures=measures,
        reliability_svg=reliability_svg,
        evidence_words=EvidenceWords(),
        pairs_svg=pairs_svg,
        shares_svg=shares_svg,
        prediction=PredictionWords(names=context.target.comparison),
        since=since,
        held_differently=_held_differently(result),
        vega=vega_script(),
        live=_for_script({"spec": _responsive(along_rho), **_along_rho(result)}),
    )


def _held_differently(result: Outcome) -> list[Verdict]:
    """The verdicts on what parties hold that differ from those on their shares."""
    held = result.held_incentives or ()
    return [one for one in held if one.holds != result.incentives[one.condition].holds]


def _svg_or_none(chart: Any) -> str | None:
    return None if chart is None else charts.as_svg(chart)


@cache
def templates() -> jinja2.Environment:
    """The pages' templates; everything that is put into them is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairpool.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
    )
    environment.filters["nats"] = _nats
    environment.filters["share"] = as_percent
    environment.filters["prose"] = _prose
    environment.filters["number"] = _number
    environment.filters["digits"] = _digits
    return environment


def _shown(value: Any) -> Any:
    """What is put into a page: its own parts as they are, texts as `printable` shows them."""
    is_markup = hasattr(value, "__html__")
    if is_markup or not isinstance(value, str):
        return value
    # A line break is a blank in a page, and the templates make some.
    return "\n".join(printable(line) for line in value.split("\n"))


def _prose(text: str) -> str:
    """A text between tags: escaped, but for quotes, which are harmless there."""
    return html.escape(printable(text), quote=False)


def _nats(value: float) -> str:
    return f"{value:.2f}"


def _digits(value: float, how: str) -> str:
    return f"{value:{how}}"


def _number(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.4g}"


def _for_script(data: Any) -> str:
    """JSON that can stand in a script element, whatever names the parties have."""
    # A party may be called </script>.
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")


def _responsive(chart: Any) -> dict[str, Any]:
    spec = charts.specification(chart)
    return spec | {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}


def _along_rho(result: Outcome) -> dict[str, Any]:
    """Rewards at every position of the slider, and the verdicts of each stretch between switches.

    The page looks these up and computes nothing, so that it cannot disagree with the library.
    """
    scheme = result.scheme
    game = result.game
    grid = [k / (charts.GRID - 1) for k in range(charts.GRID)]
    # Verdicts change at rho_r and rho_s alone: those of one point hold in all of its stretch.
    switches = {0.0, 1.0}
    for switch in (scheme.rho_rational, scheme.rho_stable):
        if 0 < switch < 1:
            switches.add(switch)
    middles = {(a + b) / 2 for a, b in pairwise(sorted(switches))}
    points = sorted(switches | middles)
    verdicts = []
    for rho in points:
        incentives = check_incentives(game, result.contributions, result.rewards_at(rho))
        verdicts.append({v.condition: [ANSWERS[v.holds], v.why] for v in incentives})
    order = by_reward(result)  # as in the table that the page fills in
    stretches = [points.index(_stretch(rho, switches)) for rho in grid]
    return {
        "rho": result.rho,
        "names": [game.names[i] for i in order],
        "total": game.total,
        "rewards": [result.rewards_at(rho)[order].tolist() for rho in grid],
        "stretch": stretches,
        "verdicts": verdicts,
    }


def _stretch(rho: float, switches: set[float]) -> float:
    """The point whose verdicts hold at rho: itself, or the middle of the stretch it lies in."""
    if rho in switches:
        return rho
    below = max(switch for switch in switches if switch < rho)
    above = min(switch for switch in switches if switch > rho)
    return (below + above) / 2
