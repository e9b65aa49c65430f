"""The report: one self-contained HTML page that works offline, on a phone and on paper."""

import html
import json
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import jinja2
import numpy as np

from fairpool.outcome import Outcome
from fairpool.report import charts
from fairpool.report.scores import Scores
from fairpool.report.sentences import explain
from fairpool.report.vega import vega_script
from fairpool.report.words import ANSWERS, MEANINGS, as_percent, glossary_of
from fairpool.rewards import check_incentives


@dataclass(frozen=True)
class Context:
    """What a report may say beyond the collaboration itself.

    Attributes:
        title: The collaboration's name.
        origin: Where scaling and hyperparameters come from.
        settings: The model's hyperparameters, by name.
        residuals: Per party, how far its labels are from the others' prediction [n].
        scores: On test data.
        warnings: Everything the operator should know.
        folders: Per party, where its model and letter are.
    """

    title: str = "Collaboration"
    origin: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    residuals: Any = None
    scores: Scores | None = None
    warnings: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def render_report(result: Outcome, context: Context) -> str:
    """The report as HTML; the same result gives the same bytes."""
    coalitions = charts.coalitions_chart(result)
    along_rho = charts.rho_chart(result)
    words = result.models[0].mechanism.words
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            result=result,
            context=context,
            game=result.game,
            explanations=explain(result),
            drawn=len(charts.drawn_parties(result)),
            meanings=MEANINGS,
            answers=ANSWERS,
            glossary=glossary_of(words),
            mechanism=words,
            rewards_svg=charts.as_svg(charts.rewards_chart(result)),
            coalitions_svg=charts.as_svg(coalitions) if coalitions is not None else None,
            rho_svg=charts.as_svg(along_rho),
            scores_svg=charts.as_svg(charts.scores_chart(result, context.scores))
            if context.scores
            else None,
            vega=vega_script(),
            live=_for_script({"spec": _responsive(along_rho), **_along_rho(result)}),
        )
    )


@cache
def templates() -> jinja2.Environment:
    """The pages' templates; everything that is put into them is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairpool.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["nats"] = lambda x: f"{x:.2f}"
    environment.filters["share"] = as_percent
    environment.filters["prose"] = _prose
    environment.filters["number"] = lambda x: "∞" if np.isinf(x) else f"{x:.4g}"
    return environment


def _prose(text: str) -> str:
    """A text between tags: escaped, but for quotes, which are harmless there."""
    return html.escape(text, quote=False)


def _for_script(data: Any) -> str:
    """JSON that can stand in a script element, whatever names the parties have."""
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c").replace("&", "\\u0026")


def _responsive(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = charts.styled(chart).to_dict(format="vega-lite")
    return spec | {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}


def _along_rho(result: Outcome) -> dict[str, Any]:
    """Rewards at every position of the slider, and the verdicts of each stretch between the
    switching points.

    The page looks these up and computes nothing, so that it cannot disagree with the library.
    """
    scheme, game = result.scheme, result.game
    grid = [k / (charts.GRID - 1) for k in range(charts.GRID)]
    switches = sorted(
        {0.0, 1.0, *(s for s in (scheme.rho_rational, scheme.rho_stable) if 0 < s < 1)}
    )
    points = sorted({*switches, *((a + b) / 2 for a, b in pairwise(switches))})
    verdicts = {}
    for rho in points:
        found = check_incentives(game, result.contributions, scheme.rewards(rho))
        verdicts[rho] = {v.condition: [ANSWERS[v.holds], v.why] for v in found}

    def stretch(rho: float) -> int:
        """The point whose verdicts hold at rho: itself, or the middle of the stretch that it lies in."""
        if rho in switches:
            return points.index(rho)
        below = max(s for s in switches if s < rho)
        above = min(s for s in switches if s > rho)
        return points.index((below + above) / 2)

    return {
        "rho": result.rho,
        "names": list(game.names),
        "total": game.total,
        "rewards": [scheme.rewards(rho).tolist() for rho in grid],
        "stretch": [stretch(rho) for rho in grid],
        "verdicts": [verdicts[rho] for rho in points],
    }
