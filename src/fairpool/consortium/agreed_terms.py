"""What a configuration says of what was agreed in a plan: parties and terms, and what differs."""

from collections.abc import Iterator

from fairpool.consortium.configuration import Configuration
from fairpool.errors import PlanError, few, shown
from fairpool.exchange.plan import Plan, PlannedParty, Terms


def terms_of(configuration: Configuration, rho: float | str | None = None) -> Terms:
    """What is done with contributions.

    Args:
        configuration: What says so.
        rho: Instead of the configuration's; None: that.
    """
    rewards = configuration.rewards
    return Terms(
        rho=rewards.rho if rho is None else rho,
        contributions=configuration.valuation.contributions,
        mechanism=rewards.mechanism,
        covariance=rewards.covariance,
        colluding=rewards.colluding,
        share_inputs=rewards.share_inputs,
        share_labels=rewards.share_labels,
        on_harm=rewards.on_harm,
        false_alarms=rewards.false_alarms,
    )


def parties_of(configuration: Configuration) -> tuple[PlannedParty, ...]:
    """Everybody, with their keys."""
    return tuple(
        PlannedParty(id=party.permanent_id, name=party.name, key=party.public_key)
        for party in configuration.parties
    )


def contradictions(
    plan: Plan, configuration: Configuration, rho: float | str | None = None
) -> Iterator[str]:
    """What is not as all parties agreed, in words; of features see `Agreement.refuse_other`.

    A party that has left the configuration contradicts nothing: it takes no part.

    Args:
        plan: What was agreed.
        configuration: What is said now.
        rho: Instead of the configuration's; None: that.
    """
    planned = vars(plan.terms)
    now = vars(terms_of(configuration, rho))
    for name, agreed in planned.items():
        if agreed != now[name]:
            yield f"{name} is {shown(agreed)} in the plan, and {shown(now[name])} here"
    known = {party.id for party in plan.parties}
    joined = [
        f'"{party.name}"' for party in configuration.parties if party.permanent_id not in known
    ]
    if joined:
        yield f"the plan does not have {few(joined)}"
    signing = {party.id for party in plan.parties if party.key is not None}
    unsigned = [
        f'"{party.name}"'
        for party in configuration.parties
        if party.permanent_id in signing and party.data is not None and not party.sends_sums
    ]
    if unsigned:
        # Otherwise anything could be made out to be the data of a party that signs what it sends.
        yield f"the plan has {few(unsigned)} sign contributions, and rows are listed here"


def refuse_other_terms(
    plan: Plan, configuration: Configuration, rho: float | str | None = None
) -> None:
    """Refuse to release anything on other terms than all parties agreed to.

    Args:
        plan: What was agreed.
        configuration: What is said now.
        rho: Instead of the configuration's; None: that.
    """
    found = [*contradictions(plan, configuration, rho)]
    if found:
        raise PlanError(in_words(found))


def in_words(found: list[str]) -> str:
    """What differs, and what to do, as one sentence."""
    return (
        f"plan.json, to which all parties agreed, says otherwise: {'; '.join(found)}; put that back"
        " as it was, or write a new plan and send it to all parties: fairpool plan (contributions"
        " made under the old one can be used)"
    )
