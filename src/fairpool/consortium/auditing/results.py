"""Values, rewards and noise that a ledger tells of, beside those computed anew."""

from collections.abc import Iterator

from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.auditing.recompute import Recomputed
from fairpool.consortium.verification.finding import (
    Finding,
    false,
    is_close,
    noise_in_words,
    same_number,
    same_text,
    unknown,
    verified,
)


def check_values(opened: OpenedRound, anew: Recomputed) -> Iterator[Finding]:
    """Values and rewards, beside the ledger's."""
    past, result = opened.past, anew.collaboration
    yield same_number("value of all data", "it", said=past.total, found=float(result.game.total))
    yield same_number("rho", "it", said=past.rho_used, found=float(result.rho))
    yield from _rho_of_plan(opened)
    for i, one in enumerate(past.parties):
        yield same_number(
            "values", f"{one.name}: v", said=one.value, found=float(result.game.alone[i])
        )
        yield same_number(
            "rewards", f"{one.name}: r", said=one.reward, found=float(result.rewards[i])
        )
        yield same_number(
            "what is held", f"{one.name}: it", said=one.holds, found=anew.results[i].holds
        )
    if past.kept is not None:
        yield unknown(
            "rewards",
            "some were reduced, since labels harm the others: by how much is believed here",
        )


def _rho_of_plan(opened: OpenedRound) -> Iterator[Finding]:
    if opened.plan is None:
        return
    agreed = opened.plan.plan.terms
    yield same_text(
        "terms of the plan",
        "the rho that was asked for",
        said=str(agreed.rho),
        found=str(opened.past.rho),
    )
    yield same_text(
        "terms of the plan",
        "the way in which contributions are measured",
        said=agreed.contributions,
        found=opened.past.contributions,
    )


def check_etas(opened: OpenedRound, anew: Recomputed) -> Iterator[Finding]:
    """The noise on everybody's rows in every model, beside the ledger's."""
    target = opened.agreement.encoding.target
    scale = target.noise_scale
    for one, result in zip(opened.past.parties, anew.results, strict=True):
        about = "noise on labels"
        yield same_text(
            about,
            f"{one.name}: whether a model was sent",
            said=_yes(one.file is not None),
            found=_yes(result.sent),
        )
        found = {part: eta * scale**2 for part, eta in result.etas.items() if eta < float("inf")}
        if set(found) != set(one.etas):
            yield false(
                about,
                f"{one.name}: its model has noise on {len(found)} parts, and {len(one.etas)} were"
                " recorded",
            )
            continue
        differ = [part for part, eta in one.etas.items() if not is_close(eta, found[part])]
        if differ:
            now = noise_in_words(found[differ[0]], target, digits=9)
            recorded = noise_in_words(one.etas[differ[0]], target, digits=9)
            yield false(
                about, f"{one.name}: on {differ[0]} it is {now}, and {recorded} was recorded"
            )
        elif not found:
            yield verified(about, f"{one.name}: nothing of the others' was sent to it, as recorded")
        else:
            least, most = min(found.values()), max(found.values())
            words = noise_in_words(most, target)
            if not is_close(least, most):  # rows of earlier rounds keep what they have
                words += f" at most, and {noise_in_words(least, target)} at least"
            yield verified(about, f"{one.name}: it is {words}, as was recorded")


def _yes(value: bool) -> str:
    return "yes" if value else "no"
