"""What an operator does next, decided from where the round stands."""

from dataclasses import dataclass

from fairpool.server.store.tables import Job, JobKind, JobState, Round, RoundState
from fairpool.server.web.pages.views import Action, NextStep
from fairpool.server.web.templating import as_sentence


@dataclass(frozen=True, kw_only=True)
class OperatorsView:
    """What decides about the next step.

    Attributes:
        address: Of the collaboration's pages.
        round: The newest one; None: no terms were proposed.
        job: The newest computation of the round; None: there was none.
        draft_problems: What keeps the draft from being proposed.
        waiting_for: Why the round cannot be closed yet, in words.
        nobody: Parties that have no people.
    """

    address: str
    round: Round | None
    job: Job | None
    draft_problems: tuple[str, ...]
    waiting_for: tuple[str, ...]
    nobody: tuple[str, ...]

    @property
    def moving(self) -> str:
        """Where the newest round is moved on."""
        number = 1 if self.round is None else self.round.number
        return f"{self.address}/rounds/{number}"


def next_step(view: OperatorsView) -> NextStep:
    """The one thing to do now, or what is being waited for."""
    if view.round is None:
        return _before_the_first(view)
    state = RoundState(view.round.state)
    if state is RoundState.OPEN:
        return _while_open(view, view.round)
    if state is RoundState.CLOSED:
        return _closed(view, view.round)
    if state is RoundState.PREVIEWED:
        return _previewed(view, view.round)
    return _at_work(view, view.round)


def _before_the_first(view: OperatorsView) -> NextStep:
    if view.draft_problems:
        count = len(view.draft_problems)
        things = "One thing keeps" if count == 1 else f"{count} things keep"
        return NextStep(
            eyebrow="Your next step",
            title="Complete the draft of the terms",
            texts=(f"{things} it from being proposed. They are listed beside it.",),
            actions=(
                Action(text="Open the draft", address=f"{view.address}/draft", is_form=False),
                _invite(view),
            ),
        )
    return NextStep(
        eyebrow="Your next step",
        title="Read the terms once more, and propose them",
        texts=(
            "Each party then reads them in plain words, and accepts by itself or does not.",
            *_nobody(view),
        ),
        actions=(
            Action(text="Look at the terms", address=f"{view.address}/terms", is_form=False),
            _invite(view),
        ),
    )


def _while_open(view: OperatorsView, round_: Round) -> NextStep:
    if view.waiting_for:
        return NextStep(
            eyebrow="Waiting for others",
            title=f"Round {round_.number} is open",
            texts=(*map(as_sentence, view.waiting_for[:3]), *_nobody(view)),
            actions=(_invite(view),),
        )
    return NextStep(
        eyebrow="Your next step",
        title=f"Everybody is ready: close round {round_.number}",
        texts=("From then on nobody changes anything in it. You can open it again.",),
        actions=(Action(text=f"Close round {round_.number}", address=f"{view.moving}/close"),),
    )


def _closed(view: OperatorsView, round_: Round) -> NextStep:
    open_again = Action(text="Open it again", address=f"{view.moving}/reopen", tone="second")
    ended = view.job
    if ended is not None and ended.state == JobState.FAILED.value:
        return NextStep(
            eyebrow="Something is in the way",
            title=f"Round {round_.number} could not be computed",
            texts=(as_sentence(ended.problem or "nobody knows why"), "What was computed is kept."),
            actions=(_resume(view, ended, "Try again"), open_again),
            tone="alarm",
        )
    if ended is not None and ended.state == JobState.CANCELLED.value:
        return NextStep(
            eyebrow="You stopped it",
            title=f"Go on computing round {round_.number}",
            texts=("What was computed is kept, so that it need not be computed again.",),
            actions=(_resume(view, ended, "Go on"), open_again),
        )
    return NextStep(
        eyebrow="Your next step",
        title=f"Compute round {round_.number}, to look at it",
        texts=(
            "You see what each party would receive, and what the checks find. Nothing is handed"
            " out by that.",
        ),
        actions=(
            Action(text="Compute a preview", address=f"{view.moving}/compute"),
            open_again,
        ),
    )


def _previewed(view: OperatorsView, round_: Round) -> NextStep:
    look = Action(text="Look at it", address=f"{view.moving}/preview", is_form=False)
    ended = view.job
    if ended is not None and ended.kind == JobKind.RELEASE.value:
        if ended.state == JobState.FAILED.value:
            return NextStep(
                eyebrow="Something is in the way",
                title=f"Round {round_.number} could not be released",
                texts=(as_sentence(ended.problem or "nobody knows why"), "Nothing was handed out."),
                actions=(look, _resume(view, ended, "Try again")),
                tone="alarm",
            )
        if ended.state == JobState.CANCELLED.value:
            return NextStep(
                eyebrow="You stopped it",
                title=f"Round {round_.number} is not released",
                texts=("Nothing was handed out.",),
                actions=(look, _resume(view, ended, "Release it after all")),
            )
    return NextStep(
        eyebrow="Your next step",
        title=f"Look at round {round_.number}, and decide",
        texts=("It is computed. Read the report and what the checks found, then release it.",),
        actions=(look,),
    )


def _at_work(view: OperatorsView, round_: Round) -> NextStep:
    is_release = round_.state == RoundState.RELEASING.value
    doing = "released" if is_release else "computed"
    job = view.job
    texts = ("You may leave this page: it goes on without you.",)
    actions: tuple[Action, ...] = ()
    if job is not None and job.cancel:
        texts = ("It stops at the next good moment.",)
    elif job is not None and not job.is_final:
        actions = (
            Action(text="Stop", address=f"{view.address}/jobs/{job.id}/cancel", tone="danger"),
        )
    return NextStep(
        eyebrow="At work",
        title=f"Round {round_.number} is being {doing}",
        texts=texts,
        actions=actions,
    )


def _resume(view: OperatorsView, job: Job, text: str) -> Action:
    return Action(text=text, address=f"{view.address}/jobs/{job.id}/resume")


def _invite(view: OperatorsView) -> Action:
    return Action(
        text="Invite people", address=f"{view.address}/people", is_form=False, tone="second"
    )


def _nobody(view: OperatorsView) -> tuple[str, ...]:
    if not view.nobody:
        return ()
    return (f"Nobody is there yet for {', '.join(view.nobody)}.",)
