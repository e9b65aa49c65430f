"""Whether ledger, agreement and contributions of a round are what they should be."""

from collections.abc import Iterator

from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.auditing.parts import Parts
from fairpool.consortium.rounds.scales import with_rounded_scales
from fairpool.consortium.verification.finding import (
    Finding,
    false,
    same_number,
    unknown,
    verified,
)
from fairpool.consortium.verification.same_model import is_same_model
from fairpool.exchange.arrival import Arrived
from fairpool.exchange.receipt import Receipt
from fairpool.models import (
    Classifier,
    WeightModel,
)
from fairpool.parties import NoisySummary
from fairpool.realisation.encoding_codec import encode_encoding


def check_ledger(opened: OpenedRound) -> Iterator[Finding]:
    """Whether the ledger is as it was written."""
    about = "ledger"
    for line, problem in opened.ledger.problems:
        yield false(about, f"line {line}: {problem}")
    if opened.secret is None:
        yield unknown(about, "who wrote it: the operator's secret is not shown")
    elif opened.ledger.ok:
        yield verified(about, f"{len(opened.ledger.records)} records, chained and sealed")


def check_agreement(opened: OpenedRound, parts: Parts) -> Iterator[Finding]:
    """Whether scaling, features and scales are those that were agreed, or follow from the sums."""
    about = "scaling and features"
    if not opened.agreement_is_recorded:
        yield false(about, "what is there is not what the ledger has the hash of")
    if opened.plan is None:
        yield unknown(about, "there is no plan: they may have been learned from anybody's rows")
        return
    plan = opened.plan.plan
    encoding = opened.agreement.encoding
    if encode_encoding(encoding) != encode_encoding(plan.encoding):
        yield false(about, "the round read tables in another way than the plan says")
    else:
        yield verified(about, "tables are read as the plan says")
    about = "noise and prior of the model"
    expected: WeightModel | Classifier | None = plan.model
    if plan.learned_from_sums:
        expected = _learned(opened, parts)
    if expected is None:
        yield unknown(about, "learned from sums that are not all here, or in an earlier round")
        return
    found = parts.model
    are_same = is_same_model(expected, found, len(encoding.features))
    if are_same:
        yield verified(about, "they are the plan's, or follow from everybody's sums")
    else:
        yield false(
            about,
            "labels are taken to have noise of"
            f" {encoding.target.noise_in_words(found.noise_variance, 6)}, and the plan or"
            " everybody's sums give"
            f" {encoding.target.noise_in_words(expected.noise_variance, 6)}; or the features"
            " differ",
        )


def _learned(opened: OpenedRound, parts: Parts) -> WeightModel | Classifier | None:
    """The plan's model with the scales that everybody's sums give; None: that cannot be told."""
    assert opened.plan is not None
    model = opened.plan.plan.model
    before = {past.agreement for past in opened.before.rounds}
    if opened.past.agreement in before:
        return None
    if not all(parts.is_known(one) for one in opened.past.parties) or parts.of_rows:
        return None
    data = [parts.data(one).under(model) for one in opened.past.parties]  # type: ignore[attr-defined]
    telling = [one for one in data if not isinstance(one, NoisySummary)]
    if not telling:
        return model
    learned = model.learn_from_sums(telling)
    return with_rounded_scales(model, learned.model, parts.inputs)


def check_parts(opened: OpenedRound, parts: Parts) -> Iterator[Finding]:
    """Whether what took part is what parties signed."""
    about = "contributions that took part"
    for participation in opened.past.parties:
        name = participation.name
        for part in parts.of_party(participation):
            record = opened.after.parts[part]
            if not record.contribution:
                continue
            one = opened.arrived.get(record.contribution)
            if one is None:
                yield unknown(about, f"{name}: {record.contribution[:16]} is not here")
            elif one.manifest.party != participation.id:
                yield false(about, f"{name}: {record.contribution[:16]} is another party's")
            else:
                yield same_number(
                    about,
                    f"{name}: the number of rows that {record.contribution[:16]} speaks of",
                    said=record.rows,
                    found=len(one),
                )
                yield from _agreed(opened, one)
    for part in parts.misnamed:
        yield false(about, f"the part {part} has another name than its contribution gives")
    for problem in opened.damaged:
        yield unknown(about, problem)
    yield from _rows(opened, parts)


def _agreed(opened: OpenedRound, one: Arrived) -> Iterator[Finding]:
    """Whether a party has signed its contribution for this plan, or for one with other terms."""
    if opened.plan is not None and one.manifest.plan != opened.plan.digest:
        yield unknown(
            "plan",
            f"{one.manifest.party}: {one.file.digest[:16]} was made under another plan, whose rows"
            " become the same sums; ask the party whether it agrees to the terms of this one",
        )


def _rows(opened: OpenedRound, parts: Parts) -> Iterator[Finding]:
    for participation in opened.past.parties:
        if any(part in parts.of_rows for part in parts.of_party(participation)):
            planned = None if opened.plan is None else opened.plan.plan.party(participation.id)
            if planned is not None and planned.key is not None:
                yield false(
                    "rows",
                    f"{participation.name} signs what it sends, as the plan says, and rows that"
                    " nobody signed took part in its name",
                )
                continue
            why = "nobody but the operator has seen them"
            if parts.is_known(participation):
                why = "the sums over them that the operator kept are used, and believed"
            yield unknown("rows", f"{participation.name} sent rows: {why}")


def check_receipts(opened: OpenedRound) -> Iterator[Finding]:
    """Whether what the operator has acknowledged took part."""
    about = "receipts"
    active = {
        opened.after.parts[part].contribution
        for participation in opened.past.parties
        for batch in participation.batches
        for part in opened.after.batches[batch].parts
    }
    for receipt in opened.receipts:
        what = f"{receipt.party}: {receipt.contribution[:16]}, received {receipt.received}"
        replaced = {digest for one in opened.arrived.values() for digest in one.manifest.replaces}
        if opened.plan is not None and receipt.operator != opened.plan.operator:
            yield unknown(about, f"{what}: somebody else than the operator signed it")
        elif receipt.contribution in active:
            yield verified(about, f"{what}: it took part")
        elif receipt.contribution in replaced:
            yield unknown(about, f"{what}: another contribution stands in its place")
        else:
            yield _waits(opened, about, what, receipt)


def _waits(opened: OpenedRound, about: str, what: str, receipt: Receipt) -> Finding:
    """Whether a contribution that took no part may wait."""
    rows = receipt.rows
    waiting = sum(one.waiting for one in opened.past.parties if one.id == receipt.party)
    if rows > waiting:
        return false(about, f"{what}: its {rows} rows took no part, and {waiting} are said to wait")
    # What was released before may wait since what was released with it was taken back.
    released = {part.contribution for part in opened.after.parts.values()}
    enough = None if opened.plan is None else opened.plan.plan.fewest_rows
    if enough is not None and rows >= enough and receipt.contribution not in released:
        return false(
            about,
            f"{what}: its {rows} rows are said to wait, and {enough} that were in no round before"
            " never do",
        )
    return unknown(about, f"{what}: its {rows} rows wait")
