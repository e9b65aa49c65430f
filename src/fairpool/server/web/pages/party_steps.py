"""What a party does next, decided from where it and the round stand: always one thing."""

from dataclasses import dataclass

from fairpool.server.store.tables import RoundState
from fairpool.server.web.pages.party_views import SubmissionCard
from fairpool.server.web.pages.views import Action, NextStep


@dataclass(frozen=True, kw_only=True)
class PartysView:
    """What decides about the next step.

    Attributes:
        address: Of the collaboration's pages.
        party: Its name.
        round: The number of the newest round; None: no terms were proposed.
        state: Of that round.
        takes_part: Whether the terms in force have the party.
        has_agreed: Whether it accepted them.
        is_new_version: Whether it accepted others before.
        files: What it sent for the round, the newest first, without what it withdrew.
        sends_sums: Whether contributions are expected instead of rows.
        from_round: The round whose data take part, if nothing newer does.
        unread: The round that was released last, if nothing was done since.
    """

    address: str
    party: str
    round: int | None
    state: RoundState
    takes_part: bool
    has_agreed: bool
    is_new_version: bool
    files: tuple[SubmissionCard, ...]
    sends_sums: bool
    from_round: int | None
    unread: int | None


def next_step(view: PartysView) -> NextStep:
    """The one thing to do now, or why there is nothing to do."""
    if view.round is None:
        return NextStep(
            eyebrow="Nothing to do now",
            title="The operator is preparing the terms",
            texts=("Once they are proposed, you read them here and decide.",),
            tone="calm",
        )
    if not view.takes_part:
        return NextStep(
            eyebrow="Nothing to do now",
            title=f"{view.party} takes no part in the terms in force",
            texts=("If that should not be so, ask the operator.",),
            tone="calm",
        )
    if view.state is not RoundState.OPEN:
        return _closed(view)
    if not view.has_agreed:
        return _agree(view)
    return _send(view)


def _closed(view: PartysView) -> NextStep:
    return NextStep(
        eyebrow="Nothing to do now",
        title=f"Round {view.round} is closed",
        texts=("The operator computes it, looks at it and releases it. Then your letter is here.",),
        tone="calm",
    )


def _agree(view: PartysView) -> NextStep:
    if view.is_new_version:
        title = f"The terms have changed: read them, and decide for {view.party}"
        text = "What changed is shown first. Nothing of yours takes part before you accept."
    else:
        title = f"Read the terms, and decide for {view.party}"
        text = "They are in plain words. Nothing of yours takes part before you accept them."
    return NextStep(
        eyebrow="Your next step",
        title=title,
        texts=(text,),
        actions=(Action(text="Read the terms", address=f"{view.address}/terms", is_form=False),),
    )


def _send(view: PartysView) -> NextStep:
    newest = view.files[0] if view.files else None
    if newest is not None:
        if newest.state == "checked":
            return _submit(newest)
        if newest.state == "refused":
            return _correct(newest)
        if newest.state == "checking":
            return NextStep(
                eyebrow="One moment",
                title=f"{newest.file_name} is being looked at",
                texts=("That takes some seconds. This page shows what was found.",),
            )
        return NextStep(
            eyebrow="Nothing to do now",
            title="You have done everything that is asked of you",
            texts=(
                "The operator closes the round when all parties are ready. Until then you can"
                " withdraw what you sent, or send something better.",
            ),
            tone="calm",
        )
    if view.from_round is not None:
        return _have_already(view)
    what = "contribution" if view.sends_sums else "table"
    return NextStep(
        eyebrow="Your next step",
        title=f"Send the {what} of {view.party}",
        texts=("It is looked at first, and takes part only once you submit it.",),
        actions=(Action(text="Choose the file", address="#send", is_form=False),),
    )


def _submit(file: SubmissionCard) -> NextStep:
    return NextStep(
        eyebrow="Your next step",
        title=f"Submit {file.file_name}",
        texts=(
            "Nothing is wrong with it. Look at its first rows below; if they are what you meant,"
            " submit it. You can withdraw it until the operator closes the round.",
        ),
        actions=tuple(action for action in file.actions if not action.tone),
    )


def _correct(file: SubmissionCard) -> NextStep:
    count = len(file.problems)
    things = "one thing" if count == 1 else f"{count} things"
    return NextStep(
        eyebrow="Your next step",
        title=f"Correct {things} in {file.file_name}, and send it again",
        texts=("They are listed below, beside the first rows as they were read.",),
        actions=(Action(text="See what to correct", address=f"#file-{file.id}", is_form=False),),
        tone="alarm",
    )


def _have_already(view: PartysView) -> NextStep:
    sent = f"What you sent in round {view.from_round} takes part again in round {view.round}."
    newer = Action(text="Send newer data", address="#send", is_form=False, tone="second")
    if view.unread is not None:
        return NextStep(
            eyebrow=f"Round {view.unread} is released",
            title="Your letter and your model are here",
            texts=(f"{sent} If you have newer data, send them.",),
            actions=(
                Action(text="Open them", address=f"{view.address}/results", is_form=False),
                newer,
            ),
        )
    return NextStep(
        eyebrow="Nothing to do now",
        title="You have done everything that is asked of you",
        texts=(f"{sent} If you have newer data, send them before the operator closes it.",),
        actions=(newer,),
        tone="calm",
    )
