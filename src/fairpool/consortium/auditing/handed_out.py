"""What parties were handed and told, beside the ledger and what was computed anew."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from fairpool.consortium.auditing.models import check_model
from fairpool.consortium.auditing.opened import OpenedRound
from fairpool.consortium.auditing.recompute import Recomputed
from fairpool.consortium.folders import REWARD_FILE, folder_names
from fairpool.consortium.verification.finding import (
    Finding,
    false,
    same_noise,
    same_number,
    same_text,
    unknown,
)
from fairpool.errors import FairpoolError
from fairpool.exchange.statement import (
    SignedStatement,
    Statement,
    as_in_letters,
    rho_as_in_letters,
)
from fairpool.realisation.carried import content_digest, statement_in
from fairpool.realisation.reward_file import decode_reward
from fairpool.report.sealed_letter import unsealed
from fairpool.rounds.history import Participation


def check_handed_out(opened: OpenedRound, anew: Recomputed | None) -> Iterator[Finding]:
    """Every party's file, letter and statement, beside the ledger and what was computed anew."""
    folders = folder_names([one.name for one in opened.past.parties])
    for i, one in enumerate(opened.past.parties):
        place = opened.folder / opened.past.folder / "parties" / folders[i]
        statement = None
        for found in _letter(opened, one, place):
            yield found
        for found, signed in _file(opened, one, place):
            statement = signed or statement
            yield found
        said = statement or _statement_of_letter(place)
        if said is None:
            yield unknown("statement", f"{one.name}: there is none that can be read")
            continue
        if opened.plan is not None:
            yield same_text(
                "statement",
                f"{one.name}: the key that signed it",
                said=opened.plan.operator.fingerprint,
                found=said.operator.fingerprint,
            )
        yield from _statement(opened, one, said.statement, anew, i)
        if one.file is not None and anew is not None:
            yield from check_model(opened, anew, i, place, said.statement)


def _letter(opened: OpenedRound, one: Participation, place: Path) -> Iterator[Finding]:
    about = "letter"
    try:
        letter = unsealed((place / "letter.html").read_bytes(), str(place / "letter.html"))
        if letter.statement is None:
            yield unknown(about, f"{one.name}: it carries no statement")
            return
        signed = SignedStatement.of_content(letter.statement, str(place / "letter.html"))
    except OSError as error:
        yield unknown(about, f"{one.name}: it cannot be read ({error})")
        return
    except FairpoolError as error:
        yield false(about, f"{one.name}: {'; '.join(error.problems)}")
        return
    yield _recorded(opened, one, about, signed)
    yield same_text(
        about,
        f"{one.name}: the SHA-256 of its words",
        said=signed.statement.letter,
        found=letter.digest,
    )
    yield same_text(
        about,
        f"{one.name}: the file that it names",
        said=one.file or "none",
        found=letter.file or "none",
    )


def _recorded(
    opened: OpenedRound, one: Participation, about: str, signed: SignedStatement
) -> Finding:
    told = opened.body.get("statements", {}).get(one.id, "none")
    return same_text(
        about, f"{one.name}: the statement that it carries", said=told, found=signed.digest
    )


def _file(
    opened: OpenedRound, one: Participation, place: Path
) -> Iterator[tuple[Finding, SignedStatement | None]]:
    about = "reward file"
    path = place / REWARD_FILE
    if one.file is None:
        return
    try:
        content = path.read_bytes()
    except OSError as error:
        yield unknown(about, f"{one.name}: it cannot be read ({error.strerror})"), None
        return
    sha256 = hashlib.sha256(content).hexdigest()
    yield same_text(about, f"{one.name}: its SHA-256", said=one.file, found=sha256), None
    try:
        reward = decode_reward(content, str(path))
        carried = statement_in(content, str(path))
        if carried is None:
            yield unknown(about, f"{one.name}: it carries no statement"), None
            return
        signed = SignedStatement.of_content(carried, str(path))
    except FairpoolError as error:
        yield false(about, f"{one.name}: {'; '.join(error.problems)}"), None
        return
    yield _recorded(opened, one, about, signed), signed
    sent = signed.statement.model
    found = content_digest(content)
    said = "none" if sent is None else sent.content
    yield same_text(about, f"{one.name}: the model in it", said=said, found=found), None
    if reward.ledger is None or reward.ledger.head != opened.past.head:
        yield false(about, f"{one.name}: it is not of this round"), None


def _statement_of_letter(place: Path) -> SignedStatement | None:
    try:
        letter = unsealed((place / "letter.html").read_bytes(), "letter")
        if letter.statement is None:
            return None
        return SignedStatement.of_content(letter.statement, "letter")
    except (OSError, FairpoolError):
        return None


def _statement(
    opened: OpenedRound,
    one: Participation,
    said: Statement,
    anew: Recomputed | None,
    i: int,
) -> Iterator[Finding]:
    """What was said to a party, beside the ledger, and its contribution beside what is so."""
    about = "statement"
    plan = None if opened.plan is None else opened.plan.digest
    pairs = {
        "party": (said.party, one.id),
        "round": (said.round, opened.past.number),
        "ledger": (said.ledger, opened.past.head),
        "rows": (said.rows, one.rows),
        "rows that wait": (said.waiting, one.waiting),
        "inputs": (list(said.inputs), list(one.inputs)),
        "contributions": (sorted(said.contributions), _contributions_of(opened, one)),
        "concept": (said.concept, opened.past.contributions),
        "plan": (said.plan, plan),
    }
    for name, (told, recorded) in pairs.items():
        if told != recorded:
            yield false(about, f"{one.name}: {name} {told} was said, and it is {recorded}")
    rho, reward = opened.past.rho_used, one.reward
    if said.model is None:
        rho, reward = rho_as_in_letters(rho), as_in_letters(reward)
    numbers = {
        "value of all data": (said.total, as_in_letters(opened.past.total)),
        "value of its data": (said.value, one.value),
        "rho": (said.rho, rho),
        "reward": (said.reward, reward),
        "what it holds": (said.holds, as_in_letters(one.holds)),
    }
    if anew is not None:
        phi = float(anew.collaboration.contributions.values[i])
        numbers["contribution"] = (said.contribution, as_in_letters(phi))
    for name, (told, found) in numbers.items():
        yield same_number(about, f"{one.name}: {name}", said=told, found=found)
    if said.model is not None and said.model.eta is not None and one.eta is not None:
        yield same_noise(
            about,
            f"{one.name}: noise on others' labels",
            said=said.model.eta,
            found=one.eta,
            target=opened.agreement.encoding.target,
        )


def _contributions_of(opened: OpenedRound, one: Participation) -> list[str]:
    digests = [
        opened.after.parts[part].contribution
        for batch in one.batches
        for part in opened.after.batches[batch].parts
    ]
    return sorted(digest for digest in digests if digest)
