"""All checks of a round, in order."""

from fairpool.consortium.auditing.handed_out import check_handed_out
from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.auditing.parts import Parts, parts_of
from fairpool.consortium.auditing.recompute import Recomputed, held_parts, recompute
from fairpool.consortium.auditing.results import check_etas, check_values
from fairpool.consortium.auditing.sources import (
    check_agreement,
    check_ledger,
    check_parts,
    check_receipts,
)
from fairpool.consortium.verification.finding import Finding, Findings, false, joined, unknown
from fairpool.errors import FairpoolError, LedgerError
from fairpool.models import Classifier, WeightModel
from fairpool.realisation.label_noise import LabelNoise


def audit(opened: OpenedRound) -> Findings:
    """Compute a round anew, as far as what is there allows, and compare."""
    try:
        return _audit(opened)
    except FairpoolError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        # The operator may have written anything into the ledger.
        raise LedgerError(
            f"{opened.folder}: round {opened.past.number} is not recorded as fairpool records"
            f" rounds ({type(error).__name__}: {error}); ask the operator for the ledger again"
        ) from None


def _audit(opened: OpenedRound) -> Findings:
    groups = [list(check_ledger(opened))]
    why = _why_no_sums(opened)
    if why:
        groups.append([unknown("values and rewards", why)])
        groups.append(list(check_handed_out(opened, None)))
        return joined(groups)
    parts = parts_of(opened)
    groups.append(list(check_agreement(opened, parts)))
    groups.append(list(check_parts(opened, parts)))
    groups.append(list(check_receipts(opened)))
    anew, problem = _recomputed(opened, parts)
    if problem is not None:
        groups.append([problem])
    if anew is not None:
        groups.append(list(check_values(opened, anew)))
        groups.append(list(check_etas(opened, anew)))
    groups.append(list(check_handed_out(opened, anew)))
    return joined(groups)


def _why_no_sums(opened: OpenedRound) -> str:
    """Why nothing can be computed of a round without its rows; empty: something can."""
    model = opened.agreement.built.model
    has_weights = isinstance(model, WeightModel) or (
        isinstance(model, Classifier) and model.has_weights
    )
    if not has_weights:
        return "the model has no weights, so that everything depends on rows that nobody shows"
    if opened.setting("rewards", "mechanism", LabelNoise.name) != LabelNoise.name:
        return "the mechanism is not noise on labels"
    return ""


def _recomputed(opened: OpenedRound, parts: Parts) -> tuple[Recomputed | None, Finding | None]:
    about = "values and rewards"
    lacking = [one.name for one in opened.past.parties if not parts.is_known(one)]
    if lacking:
        names = ", ".join(lacking)
        return None, unknown(about, f"nobody shows rows of {names}, nor sums over them")
    if any(one.gone for one in opened.past.parties):
        return None, unknown(about, "rows that are gone still count, and nobody shows which")
    held = held_parts(opened)
    parents = set(opened.after.parents.values())
    if any(part not in parts.arrays or part in parents for part in held):
        return None, unknown(
            about, "parties hold rows of earlier rounds, of which nobody shows what is left"
        )
    try:
        return recompute(opened, parts), None
    except FairpoolError as error:
        return None, false(about, f"no round comes of these sums: {'; '.join(error.problems)}")
