"""What the operator makes sure of before a contribution is used: whose it is, and of what.

What sums cannot show is believed: that there are such rows, and what their labels are. The evidence
game looks at labels (`fairpool.values.evidence_gain`), from sums as well.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fairpool.errors import ContributionError, DataError, printable, shown
from fairpool.exchange.contribution_file import (
    ContributionFile,
    Manifest,
    class_counts,
    shapes_of,
)
from fairpool.exchange.noisy_sums import FAR, noisy_summary_of, refuse_other_noise, row_bounds_of
from fairpool.exchange.plan import FEWEST_OF_A_CLASS, Plan, SignedPlan
from fairpool.models import Classifier, WeightModel
from fairpool.models.weight_model import RowSums
from fairpool.parties import ClassSummary, NoisySummary, PartySummary
from fairpool.parties.plausibility import REMEDY
from fairpool.signatures import PublicKey
from fairpool.tables.arrays import TINY

AGAIN = "have the party contribute again"

WITHIN = 1 + 1e-9
"""Sums are rounded."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Arrived:
    """A contribution that can be used.

    Attributes:
        file: What it says.
        path: Where it lies, for errors.
        sha256: Of the file.
        data: Its sums, for the plan's model.
    """

    file: ContributionFile
    path: str
    sha256: str
    data: PartySummary | ClassSummary | NoisySummary = field(repr=False)

    @property
    def manifest(self) -> Manifest:
        """What the party says about it."""
        return self.file.manifest

    def __len__(self) -> int:
        return self.manifest.rows


@dataclass(frozen=True, kw_only=True)
class Sender:
    """Whose contribution is expected, as the operator has registered it.

    Attributes:
        id: The party's permanent identity.
        name: What it is called.
        key: Whose signature its contributions need.
    """

    id: str
    name: str
    key: PublicKey


def arrive(content: bytes, path: str, *, plan: SignedPlan, sender: Sender) -> Arrived:
    """Check a contribution, and refuse it with the reason.

    Args:
        content: Of the file.
        path: What errors call it.
        plan: What was agreed.
        sender: From whom it should be.
    """
    file = ContributionFile.of_bytes(content, path)
    where = f'party "{printable(sender.name)}": {printable(path)}'
    _refuse_other_signer(file, where, plan, sender)
    _refuse_other_shapes(file, where, plan.plan)
    _refuse_counts(file, where, plan.plan)
    refuse_other_noise(file, where, plan.plan)
    _refuse_few_rows(file, where, plan.plan)
    try:
        data = _summary(file, sender.name, plan.plan)
        _refuse_other_model(data, plan.plan.model)
    except DataError as error:
        # The operator has no rows that could be summed up again.
        said = [problem.replace(REMEDY, AGAIN) for problem in error.problems]
        raise ContributionError(*(f"{where}: {problem}" for problem in said)) from None
    _refuse_features_beyond(file, where, plan.plan)
    _refuse_labels_beyond(file, where, plan.plan)
    return Arrived(file=file, path=path, sha256=hashlib.sha256(content).hexdigest(), data=data)


def refuse_together(arrived: Sequence[Arrived], sender: Sender) -> None:
    """Refuse contributions of one party that may have the same rows in them."""
    where = f'party "{printable(sender.name)}"'
    counts = Counter(one.file.digest for one in arrived)
    nonces = Counter(one.manifest.nonce for one in arrived)
    for one in arrived:
        if counts[one.file.digest] > 1 or nonces[one.manifest.nonce] > 1:
            raise ContributionError(
                f"{where}: {one.path} is listed twice, or is a copy of another contribution; its"
                " rows would count twice; leave one of them out"
            )
    for place, one in enumerate(arrived):
        for other in arrived[:place]:
            if one.file.has_sums_of(other.file):
                raise ContributionError(
                    f"{where}: {one.path} and {other.path} have the same sums to the last bit, and"
                    " so the same rows, which would count twice; leave one of them out"
                )
    for one in arrived:
        for other in arrived:
            if other.file.digest in one.manifest.replaces:
                raise ContributionError(
                    f"{where}: {one.path} stands in place of {other.path}, and both are listed;"
                    f" leave {other.path} out"
                )
    for place, one in enumerate(arrived):
        for other in arrived[:place]:
            know_each_other = (
                one.file.digest in other.manifest.earlier
                or other.file.digest in one.manifest.earlier
            )
            if not know_each_other:
                raise ContributionError(
                    f"{where}: {one.path} and {other.path} were made without knowing of each other,"
                    " so that the same rows may be in both; have the party make one of them again"
                    " on the machine where it made the other"
                )


def _refuse_other_signer(
    file: ContributionFile, where: str, plan: SignedPlan, sender: Sender
) -> None:
    manifest = file.manifest
    if file.document.key != sender.key:
        raise ContributionError(
            f"{where}: it is signed with the key {file.document.key.fingerprint}, and the"
            f" registered key of this party is {sender.key.fingerprint}; ask the party, over the"
            " telephone, which key is its own"
        )
    if manifest.party != sender.id:
        raise ContributionError(
            f"{where}: it says that it is of {shown(manifest.party)}, and this party is known as"
            f" {shown(sender.id)}; list it with the party that made it"
        )
    if manifest.operator != plan.operator:
        raise ContributionError(
            f"{where}: it was made for another collaboration (operator"
            f" {manifest.operator.fingerprint}); have the party use this plan.json"
        )
    if manifest.features != plan.plan.features_digest:
        raise ContributionError(
            f"{where}: it was made under another plan, whose columns, scaling or features are not"
            " those of this plan.json; send this one to the party, and have it contribute again"
        )
    planned = plan.plan.party(sender.id)
    if planned is None or planned.key != sender.key:
        raise ContributionError(
            f"{where}: plan.json does not have this party with this key; write a new plan"
            " (fairpool plan), and send it to all parties"
        )


def _refuse_other_shapes(file: ContributionFile, where: str, plan: Plan) -> None:
    expected = shapes_of(plan)
    found = {name: array.shape for name, array in file.arrays.items()}
    if found != expected:
        raise ContributionError(
            f"{where}: it has the arrays {shown(found)}, and the plan's model needs"
            f" {shown(expected)}; {AGAIN}"
        )


def _refuse_counts(file: ContributionFile, where: str, plan: Plan) -> None:
    """Refuse counts that are not those of the sums."""
    manifest = file.manifest
    if not manifest.rows:
        raise ContributionError(f"{where}: it has no row; leave it out")
    try:
        counts = class_counts(plan, file.arrays) if manifest.privacy is None else None
    except ContributionError as error:
        raise ContributionError(f"{where}: {error}; {AGAIN}") from None
    if counts != manifest.counts:
        raise ContributionError(
            f"{where}: it says that there are {shown(manifest.counts)} rows of each class, and its"
            f" sums are over {shown(counts)}; {AGAIN}"
        )
    if counts is not None and sum(counts) != manifest.rows:
        raise ContributionError(
            f"{where}: it says that it has {manifest.rows} rows, and its classes have"
            f" {sum(counts)}; {AGAIN}"
        )


def _refuse_few_rows(file: ContributionFile, where: str, plan: Plan) -> None:
    """Refuse sums from which rows can be computed, unless their party says that they may be."""
    manifest = file.manifest
    if manifest.rows_may_be_seen or manifest.is_hidden or plan.terms.share_inputs:
        return
    more = 0.0  # as many rows as there may be beyond those that are said, with noise
    if manifest.privacy is not None:
        more = FAR * row_bounds_of(plan).deviations(manifest.privacy.noise).rows
    if manifest.rows + more < plan.fewest_rows:
        raise ContributionError(
            f"{where}: it has {manifest.rows} rows, and needs {plan.fewest_rows}: from fewer, rows"
            " could be computed; have the party add rows, or agree that you may see them"
            " (fairpool contribute --rows-may-be-seen)"
        )
    few = [count for count in manifest.counts or () if 0 < count < FEWEST_OF_A_CLASS]
    if few:
        raise ContributionError(
            f"{where}: it has {min(few)} row(s) of a class, and needs {FEWEST_OF_A_CLASS}, or none:"
            " sums over fewer tell too much of each; have the party leave them out"
        )


def _summary(
    file: ContributionFile, name: str, plan: Plan
) -> PartySummary | ClassSummary | NoisySummary:
    """The sums as a party of a game, refused where no rows have them."""
    if file.manifest.privacy is not None:
        return noisy_summary_of(file, name, plan)
    sums = RowSums(**{entry: np.asarray(array) for entry, array in file.arrays.items()})
    return plan.model.summary_of(name, sums, rows=file.manifest.rows, inputs=plan.inputs)


def _refuse_other_model(
    data: PartySummary | ClassSummary | NoisySummary, model: WeightModel | Classifier
) -> None:
    """Refuse sums of which no rows of this model have so much."""
    if isinstance(model, Classifier):
        assert not isinstance(data, PartySummary)
        for c, of_class in enumerate(model.of_classes):
            assert isinstance(of_class, WeightModel)  # a plan has no other
            data.refuse_other_model_of(c, of_class)
    else:
        data.refuse_other_model(model)


def _refuse_features_beyond(file: ContributionFile, where: str, plan: Plan) -> None:
    """Refuse features that are longer than any row within declared ranges and levels has.

    Otherwise a few rows could be claimed to be worth more than everybody's.
    """
    if plan.feature_bound is None or file.manifest.privacy is not None:
        return
    squares = np.trace(np.asarray(file.arrays["gram"]), axis1=-2, axis2=-1)
    rows = np.asarray(float(file.manifest.rows))
    if isinstance(plan.model, Classifier):
        counts = np.asarray(file.arrays["squares"])
        rows = counts if plan.model.shared else np.column_stack([counts, counts.sum() - counts])
    beyond = squares > rows * plan.feature_bound * WITHIN + TINY
    if beyond.any():
        place = np.unravel_index(np.argmax(beyond), beyond.shape)
        raise ContributionError(
            f"{where}: the squares of its features sum to {squares[place]:.6g}, and those of"
            f" {rows[place]:.0f} rows within the plan's ranges and levels to"
            f" {rows[place] * plan.feature_bound:.6g} at most; have the party look at its table,"
            " and contribute again"
        )


def _refuse_labels_beyond(file: ContributionFile, where: str, plan: Plan) -> None:
    """Refuse labels that are larger than the target can be."""
    if plan.label_bound is None or isinstance(plan.model, Classifier):
        return
    if file.manifest.privacy is not None:  # see `refuse_other_noise`
        return
    most = file.manifest.rows * plan.label_bound**2
    squares = float(file.arrays["squares"])
    if squares > most * WITHIN:
        raise ContributionError(
            f"{where}: the squares of its labels sum to {squares:.6g}, and those of"
            f" {file.manifest.rows} labels within the target's range to {most:.6g} at most; have"
            " the party look at its labels"
        )
