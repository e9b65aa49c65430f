"""Whether the recipient's own data were valued and used as was said."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fairpool.audit import compare_with_alone
from fairpool.consortium.verification.finding import (
    Finding,
    false,
    is_close,
    same_number,
    unknown,
    verified,
)
from fairpool.consortium.verification.given import Given, Own
from fairpool.consortium.verification.mean_test import FALSE_ALARMS, MeanTest, mean_test
from fairpool.errors import KernelError
from fairpool.exchange.statement import Statement
from fairpool.linear_algebra.cholesky import lower_factor
from fairpool.linear_algebra.solving import solve_factorised
from fairpool.linear_algebra.spectrum import spectrum
from fairpool.models import Classifier, ClassPosterior, WeightPosterior
from fairpool.parties import NoisySummary, Party, PartySummary, Pool, Told
from fairpool.parties.rough_counts import roughly
from fairpool.realisation.update import ROUNDING
from fairpool.tables.arrays import FloatArray
from fairpool.values import InformationGain

OTHER_DATA = (
    "the operator's numbers are of other data than these; give exactly what you sent (the statement"
    " has its SHA-256)"
)


def check_what_was_used(given: Given) -> Iterator[Finding]:
    """Whether the statement names what the recipient sent."""
    about = "what was used of yours"
    own, statement = given.own, given.statement
    if own is None or statement is None:
        return
    for digest, rows in own.contributions.items():
        is_rough = digest in own.noisy
        what = f"the contribution {digest[:16]} of {roughly(is_rough)}{rows} rows"
        yield _whether_named(about, what, digest, given)
    if own.files and not own.contributions:
        if sorted(own.files) == sorted(statement.inputs):
            yield verified(about, "the operator's table has the same SHA-256 as yours")
        else:
            yield unknown(about, OTHER_DATA)


def _whether_named(about: str, what: str, digest: str, given: Given) -> Finding:
    """Whether the statement names a contribution, or says that it waits, and it may."""
    own, statement = given.own, given.statement
    assert own is not None
    assert statement is not None
    assert given.plan is not None  # without which no contribution is read
    rows = own.contributions[digest]
    enough = given.plan.plan.fewest_rows
    if digest in statement.contributions:
        return verified(about, f"the statement names {what}")
    later = given.later_statement
    if later is not None and digest in later.contributions:
        return verified(about, f"the letter of round {later.round} names {what}")
    named = set(statement.contributions)
    if later is None and named and own.earlier[digest] >= named:
        # Nobody but the recipient knows when it was sent.
        return unknown(
            about,
            f"{what} was made after those that round {statement.round} is said to be of; give the"
            " letter of the latest round, and where that does not name it and you had its receipt"
            " by then, show both to an auditor",
        )
    if rows > statement.waiting:
        return false(
            about, f"{what} took no part, and {statement.waiting} of your rows are said to wait"
        )
    if rows < enough:
        return unknown(
            about,
            f"{what} took no part: {statement.waiting} of your rows wait for a later round, as so"
            " few may",
        )
    if statement.round == 1:
        return false(
            about,
            f"{what} is said to wait for a later round, and {enough} rows never wait in a first"
            " one",
        )
    return unknown(
        about,
        f"{what} is said to wait. So many rows wait only where they were released before, together"
        " with others that were taken back since: if yours were not, ask for an audit",
    )


def check_value(given: Given) -> Iterator[Finding]:
    """Compute v_i from the recipient's own data."""
    about = "value of your data"
    own, statement = given.own, given.statement
    if own is None:
        yield unknown(about, given.why_no_own)
        return
    if statement is None:
        return
    found = InformationGain(given.reward.posterior.model, [own.data]).value([0])
    if own.is_what_was_used(statement) or is_close(found, statement.value):
        yield same_number(about, "the value of your data", said=statement.value, found=found)
    elif _are_some_waiting(own, statement) and statement.value <= found:
        yield unknown(
            about,
            f"{statement.waiting} of your rows wait; {statement.value:.6g} was said of the others,"
            f" and all of them are worth {found:.6g}",
        )
    elif _are_some_waiting(own, statement):
        yield same_number(about, "the value of all your data", said=statement.value, found=found)
    else:
        yield unknown(
            about, f"yours is {found:.9g}, and {statement.value:.9g} was said; {OTHER_DATA}"
        )


def _are_some_waiting(own: Own, statement: Statement) -> bool:
    return statement.waiting > 0 and len(own.data) == statement.rows + statement.waiting


class _Class(NamedTuple):
    """A latent function of the model, and what the recipient's own data tell of it."""

    posterior: WeightPosterior
    own: Told


def check_contained(given: Given) -> Iterator[Finding]:
    """Whether the model contains what the recipient's own data tell, as far as that shows."""
    about = "your data in the model"
    own, statement = given.own, given.statement
    if own is None:
        yield unknown(about, given.why_no_own)
        return
    classes = _classes(given, own)
    if not classes:
        yield unknown(about, "the model holds rows instead of sums over them")
        return
    if statement is None or not own.is_what_was_used(statement):
        yield unknown(about, OTHER_DATA)
        return
    if all(one.posterior.others is None for one in classes):
        yield _contained_in_full(about, classes)
        return
    yield _contained_in_hidden(about, classes)
    if given.reward.tau == 0:
        yield _nothing_else(about, classes)
        return
    yield from _mean(given, own)


def _classes(given: Given, own: Own) -> list[_Class]:
    posterior = given.reward.posterior
    pool = Pool.of([own.data], posterior.model)
    if isinstance(posterior, WeightPosterior):
        return [_Class(posterior, pool.statistics[0].told)]
    found = []
    if isinstance(posterior, ClassPosterior):
        for of_class, seen in zip(posterior.of_classes, pool.of_classes, strict=True):
            if isinstance(of_class, WeightPosterior):
                found.append(_Class(of_class, seen.statistics[0].told))
    return found


def _precision(posterior: WeightPosterior) -> FloatArray:
    """What all data together have added to the prior's precision."""
    B = posterior.factor @ posterior.factor.T
    return np.asarray(B - np.eye(len(B)))


def _contained_in_full(about: str, classes: Sequence[_Class]) -> Finding:
    """What is left when the own rows are taken out must be a sum over rows, too."""
    for one in classes:
        left = _precision(one.posterior) - one.own.precision
        allowed = ROUNDING * (np.diag(one.own.precision) + np.diag(_precision(one.posterior)) + 1)
        try:
            lower_factor(left + np.diag(allowed))
        except KernelError:
            least = float(spectrum(left)[0].min())
            return false(
                about,
                "the model's precision is less than your own data's: what is left without them has"
                f" the eigenvalue {least:.6g}, and sums over the others' rows have none below 0",
            )
    return verified(
        about,
        "what is left of the model's precision without your own data's can be a sum over the"
        " others' rows, as it must be; whether it is the right one, an auditor can tell",
    )


def _contained_in_hidden(about: str, classes: Sequence[_Class]) -> Finding:
    """A hidden covariance is made of the own rows, whatever the model was trained with."""
    for one in classes:
        assert one.posterior.others is not None
        said = _precision(one.posterior) - one.posterior.others.precision
        difference = np.abs(said - one.own.precision).max()
        if difference > 1e-6 * (1 + np.abs(one.own.precision).max()):
            return false(
                about,
                "the covariance is made of other rows than yours: their precisions differ by"
                f" {difference:.6g}, and yours has entries up to"
                f" {np.abs(one.own.precision).max():.6g}",
            )
    return unknown(
        about,
        "the covariance is made of your own rows and made-up ones, which holds by construction and"
        " proves nothing: only an auditor can tell what the model was trained with",
    )


def _nothing_else(about: str, classes: Sequence[_Class]) -> Finding:
    """Where nothing of the others is in a model, all of it can be computed."""
    for one in classes:
        factor = lower_factor(np.eye(len(one.own.moment)) + one.own.precision)
        alone = solve_factorised(factor, one.own.moment)
        difference = float(np.abs(alone - one.posterior.weights).max())
        if difference > 1e-6 * (1 + float(np.abs(alone).max())):
            return false(
                about,
                "the model is said to have nothing but your own data in it, and its weights differ"
                f" from theirs by {difference:.6g}",
            )
    return verified(about, "the model is that of your own data, as was said")


def _mean(given: Given, own: Own) -> Iterator[Finding]:
    """A calibrated test of whether the own labels are in the mean."""
    about = "your labels in the model"
    posterior = given.reward.posterior
    if isinstance(own.data, NoisySummary):
        yield unknown(about, "of sums with noise there is no test: only an auditor can tell")
        return
    if not isinstance(posterior, WeightPosterior) or not isinstance(own.data, PartySummary):
        yield unknown(about, "of classes there is no test: only an auditor can tell")
        return
    if len(own.data) <= posterior.weight_count:
        yield unknown(about, "there are too few rows for a test: only an auditor can tell")
        return
    yield unknown(about, _mean_in_words(mean_test(posterior, own.data)))


def _mean_in_words(test: MeanTest) -> str:
    figures = f"{test.statistic:.4g}, where a model with them has {test.threshold:.4g} at most"
    rate = f"in all but one of {1 / FALSE_ALARMS:,.0f} cases"
    if test.is_suspicious:
        return (
            f"SUSPICIOUS: the mean is farther from your labels than a model with them would be"
            f" ({figures} {rate}); your data may have been left out, or your labels do not agree"
            " with the others'; only an auditor can tell"
        )
    return (
        f"the mean is no farther from your labels than a model with them would be ({figures}"
        f" {rate}); that does not prove that they are in it: only an auditor can tell"
    )


def check_scores(given: Given) -> Iterator[Finding]:
    """How the reward predicts the own rows, beside the model of these rows alone."""
    about = "better than alone"
    own = given.own
    if own is None or own.some is None or own.rows is None or given.reward.encoding is None:
        return
    model = given.reward.posterior.model
    nobody = Party(given.reward.party, np.empty((0, own.some.X.shape[1])), np.empty(0))
    if isinstance(model, Classifier):
        nobody = own.some.some_rows(np.zeros(len(own.some), dtype=bool))
    compared = compare_with_alone(
        InformationGain(model, [own.rows]),
        [given.reward],
        own.some.X,
        own.some.y,
        rows=[nobody],
        target=given.reward.encoding.target,
    )[0].test
    assert compared is not None
    in_both = "these rows are in both"
    if given.reward.own_noise:
        in_both = "they are in the latter, and in the reward with noise alone (fairpool update)"
    elif given.statement is None or not own.is_what_was_used(given.statement):
        in_both = "they are in the latter, and whether they are in the reward, too, cannot be told"
    yield unknown(
        about,
        f"on {compared.rows} of your own rows the reward's log density is"
        f" {compared.log_density.difference:+.3g} ± {compared.log_density.standard_error:.1g} nats"
        f" per row beside the model of these rows alone; but {in_both}, so that neither is judged"
        " fairly: keep some rows to yourself, and predict them with `fairpool predict`",
    )
