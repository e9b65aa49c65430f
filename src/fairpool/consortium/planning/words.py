"""What the operator is told once a plan is written."""

from fairpool.consortium.planning.writing import Change
from fairpool.exchange.plan import Plan
from fairpool.models import Classifier

CHANGES = {
    Change.NEW: "Wrote {path}. Send it to all parties, also to those who send rows.",
    Change.NONE: "{path} says the same already, and was left as it is.",
    Change.TERMS: "Wrote {path}. Columns, scaling and features are as before: contributions that"
    " were made under the earlier plan can be used. Send the new one to all parties.",
    Change.FEATURES: "Wrote {path}. Columns, scaling or features are not those of the earlier plan:"
    " every party has to contribute again. Send the new one to all parties.",
}
"""What became of the file."""

LATE = (
    "Models were released that were not made by this plan. If all parties agreed to that, the next"
    " round goes by it: fairpool run --learn-anew. Without that, parties go on sending rows."
)

REKEYED = (
    "{parties}: the key is another than in the earlier plan. What was signed with the old one"
    " cannot be used any longer: have it contributed anew (fairpool contribute --replace)"
)


def plan_warnings(plan: Plan) -> tuple[str, ...]:
    """What the operator should know before sending a plan."""
    warnings = []
    if not any(party.key is not None for party in plan.parties):
        warnings.append(
            "no party has a key, so that nobody can contribute sums yet; ask for the line that"
            " `fairpool keys show` prints, add it to [[parties]], and write the plan again"
        )
    if plan.label_bound is None and not isinstance(plan.model, Classifier):
        warnings.append(
            f"what {plan.encoding.target.name} may be is not declared, so that no party can hide"
            f" single rows by noise (--epsilon); give [columns.{plan.encoding.target.name}] range"
        )
    return tuple(warnings)
