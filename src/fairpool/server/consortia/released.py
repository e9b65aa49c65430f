"""What a released round left: each party's own papers, and what operators and auditors read."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from fairpool.consortium.folders import CARD_FILE, REWARD_FILE, folder_names
from fairpool.consortium.rounds.context import LEDGER_FILE, ROUNDS_FOLDER
from fairpool.report.sealed_letter import unsealed
from fairpool.server.consortia.who import Who
from fairpool.server.refused import NotFoundError
from fairpool.server.settings import Settings
from fairpool.server.store.tables import Round, RoundState, Terms
from fairpool.server.work.project import folder_of

LETTER_FILE = "letter.html"


@dataclass(frozen=True, kw_only=True)
class Papers:
    """What a party was handed in a round.

    Attributes:
        letter: Its letter.
        reward: Its new model; None: it was sent none, as it holds its share already.
        card: The card of that model; None: there is no new one.
    """

    letter: Path
    reward: Path | None
    card: Path | None

    @property
    def statement(self) -> bytes | None:
        """What the operator signed for the party; None: nothing, as of one that was left out."""
        return unsealed(self.letter.read_bytes(), LETTER_FILE).statement


def released_round(session: Session, who: Who, number: int) -> Round:
    """A round that was released; of others nobody learns anything here.

    Args:
        session: Open.
        who: Anybody of the collaboration.
        number: Of the round.
    """
    found = session.scalars(
        select(Round).where(
            Round.collaboration_id == who.collaboration.id,
            Round.number == number,
            Round.state == RoundState.RELEASED.value,
        )
    ).one_or_none()
    if found is None:
        raise NotFoundError
    return found


def papers(session: Session, settings: Settings, who: Who, number: int) -> Papers:
    """What one's own party was handed in a round.

    Args:
        session: Open.
        settings: Where collaborations are.
        who: One of the party's own people.
        number: Of the round.
    """
    round_ = released_round(session, who, number)
    folder = _folder(settings, who, number)
    name = _name_then(session, round_, who.own_party.permanent)
    said = json.loads((folder / "operator" / "result.json").read_text(encoding="utf-8"))
    names = [one["name"] for one in (*said["parties"], *said["left_out"])]
    if name not in names:
        raise NotFoundError
    own = folder / "parties" / folder_names(names)[names.index(name)]
    reward, card = own / REWARD_FILE, own / CARD_FILE
    return Papers(
        letter=own / LETTER_FILE,
        reward=reward if reward.exists() else None,
        card=card if card.exists() else None,
    )


def report(session: Session, settings: Settings, who: Who, number: int) -> Path:
    """The operator's report of a round.

    Args:
        session: Open.
        settings: Where collaborations are.
        who: An operator.
        number: Of the round.
    """
    return _operators(session, settings, who, number) / "report.html"


def result(session: Session, settings: Settings, who: Who, number: int) -> Path:
    """All numbers of a round, as JSON.

    Args:
        session: Open.
        settings: Where collaborations are.
        who: An operator.
        number: Of the round.
    """
    return _operators(session, settings, who, number) / "result.json"


def ledger(settings: Settings, who: Who) -> Path:
    """The ledger.

    Args:
        settings: Where collaborations are.
        who: An operator or an auditor.
    """
    if who.party is not None:
        raise NotFoundError
    path = folder_of(settings, who.collaboration.id) / LEDGER_FILE
    if not path.exists():
        raise NotFoundError
    return path


def _operators(session: Session, settings: Settings, who: Who, number: int) -> Path:
    if not who.is_operator:
        raise NotFoundError
    released_round(session, who, number)
    return _folder(settings, who, number) / "operator"


def _folder(settings: Settings, who: Who, number: int) -> Path:
    return folder_of(settings, who.collaboration.id) / ROUNDS_FOLDER / f"{number:04d}"


def _name_then(session: Session, round_: Round, permanent: str) -> str | None:
    """What a party was called in the terms of a round; None: it took no part."""
    toml = session.get_one(Terms, round_.terms_id).toml
    for section in tomllib.loads(toml).get("parties", []):
        if section.get("id", section["name"]) == permanent:
            name: str = section["name"]
            return name
    return None
