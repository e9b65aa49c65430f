"""What a contribution under a plan shows, and to whom, as sentences that every party agrees to."""

import math

from fairpool.exchange.contribution_file import shapes_of
from fairpool.exchange.plan import Plan
from fairpool.models import Classifier


def disclosures(plan: Plan) -> tuple[str, ...]:
    """What becomes known of a party's rows if it contributes."""
    return (
        "Nothing in this plan was learned from any party's rows; features and scaling come from"
        f" {plan.origin}.",
        *certain_disclosures(plan),
    )


def words_of_the_operator(plan: Plan) -> tuple[str, ...]:
    """What a plan says besides, and nobody but the operator can know: it may be anything."""
    certain = certain_disclosures(plan)
    return tuple(sentence for sentence in plan.discloses if sentence not in certain)


def certain_disclosures(plan: Plan) -> tuple[str, ...]:
    """The sentences that follow from the plan's model and terms, whatever the operator writes."""
    sentences = [_to_the_operator(plan)]
    if plan.terms.share_inputs:
        sentences.append(
            "All parties agreed that the others may see their inputs: contributions of fewer rows"
            " are accepted."
        )
    else:
        sentences.append(
            f"From sums over few rows these rows could be computed. So a contribution needs"
            f" {plan.fewest_rows} rows, unless its party agrees that the operator may see them."
        )
    if plan.learned_from_sums:
        sentences.append(_learned(plan))
    sentences.append(_to_the_others(plan))
    if plan.terms.share_labels:
        sentences.append("All parties agreed that reward files may tell their labels.")
    return tuple(sentences)


def _to_the_operator(plan: Plan) -> str:
    """How many numbers of each kind a contribution has."""
    d = plan.weights
    products = d * (d + 1) // 2
    if not isinstance(plan.model, Classifier):
        return (
            "A contribution shows the operator how many rows went in, and"
            f" {products + d + 1} sums over them: {products} of products of two features each (the"
            f" Gram matrix), {d} of features times labels, and one of squared labels."
        )
    groups = math.prod(shapes_of(plan)["moment"][:-1])
    whose = (
        "the rows of each class" if plan.model.shared else "the rows of each class, and all others"
    )
    return (
        f"A contribution shows the operator how many rows of each of {plan.model.classes} classes"
        f" went in, and sums over {whose}: {groups} times {products} of products of two features"
        f" each (Gram matrices), and {groups} times {d} of features."
    )


def _learned(plan: Plan) -> str:
    what = "The noise variance and the scale of the prior are"
    if isinstance(plan.model, Classifier):
        what = "The scale of the prior is"
    return (
        f"{what} learned from everybody's sums together, and rounded to three digits; every reward"
        " file has the result."
    )


def _to_the_others(plan: Plan) -> str:
    if plan.terms.covariance == "full":
        return (
            "Every reward file shows its recipient the sum of the other parties' Gram matrices,"
            " exactly, and weights that depend on their labels, with noise on these."
        )
    return (
        f"Every reward file has {plan.weights * plan.model.label_sets} weights that depend on the"
        " other parties' sums, with noise on their labels; its variances are made of the"
        " recipient's own rows and made-up ones."
    )
