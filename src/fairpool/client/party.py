"""What the people of a party do: accept, send, submit, fetch."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from fairpool.client.connection import Request
from fairpool.client.inviting import Inviting
from fairpool.client.records import read
from fairpool.client.records.agreeing import Acceptance, Terms
from fairpool.client.records.computing import Round
from fairpool.client.records.people import MadeInvitation
from fairpool.client.records.sending import CHECKING, Looked, Seen, Standing, Submission
from fairpool.client.within import Looking, number_of
from fairpool.errors import ServiceError, shown

PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True, repr=False)
class AsParty(Inviting):
    """A collaboration, for the people of one of its parties."""

    def standing(self) -> Standing:
        """Where one's own party stands, and what is asked of it."""
        return self._get(Standing, "/standing")

    def visible(self) -> tuple[Seen, ...]:
        """What others can see of one's own party."""
        return self._get(tuple[Seen, ...], "/visible")

    def invite(self, *, email: str | None = None) -> MadeInvitation:
        """Invite one more person for one's own party by a link: the operator cannot.

        Args:
            email: Who alone can accept it; None: whoever has the link.
        """
        return self._invite("party", None, email)

    def accept(self, terms: Terms) -> Acceptance:
        """Accept terms for one's own party: exactly those that were read."""
        sent = {"digest": terms.digest}
        return read(Acceptance, self._ask("POST", "/acceptances", sent, is_repeatable=True))

    def send(self, path: str | os.PathLike[str], *, name: str | None = None) -> Submission:
        """Send a table or a contribution, which the service then looks at.

        The same file sent again is the submission that is there, so that a lost connection is no
        harm: it is sent once more.

        Args:
            path: The file; however large, it is sent piece by piece.
            name: What to call it there; None: as it is called here.
        """
        place = Path(path)
        try:
            stream = place.open("rb")
        except OSError as error:
            raise ServiceError(
                f"{place}: cannot be read ({error.strerror or error}); give a file that can be"
            ) from None
        with stream:
            return self._send(stream, name or place.name)

    def send_content(self, content: bytes, *, name: str) -> Submission:
        """The same with what is in memory.

        Args:
            content: Of the file.
            name: What to call it there; by its end it is known what it is.
        """
        return self._send(BytesIO(content), name)

    def look(self, submission: Submission) -> Looked:
        """A file of one's own party, with what was found in it so far."""
        return self._get(Looked, f"/submissions/{submission.id}")

    def looked_at(self, submission: Submission, *, seconds: float | None = None) -> Looked:
        """Wait until a file was looked at; whether it can take part stands in `found`.

        Args:
            submission: Which.
            seconds: How long at most; None: as long as it takes.
        """
        return self._until(submission, lambda looked: looked.state != CHECKING, seconds)

    def submit(self, submission: Submission, *, adds: bool = False) -> Submission:
        """Have a file take part in the round.

        Args:
            submission: Which.
            adds: Whether a table has further rows, beside the one that was submitted before it;
                otherwise it stands in that one's place.
        """
        path = f"/submissions/{submission.id}/submit"
        return read(Submission, self._ask("POST", path, {"adds": adds}, is_repeatable=True))

    def withdraw(self, submission: Submission) -> Submission:
        """Take a file back, and have it erased; until the round is closed."""
        path = f"/submissions/{submission.id}/withdraw"
        return read(Submission, self._ask("POST", path, is_repeatable=True))

    def receipt(self, submission: Submission) -> bytes:
        """The operator's signed word that a contribution came, once it is submitted."""
        return self._content(f"/submissions/{submission.id}/receipt")

    def save_letter(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """The letter of a released round."""
        return self._save(f"/rounds/{number_of(round_)}/letter.html", path)

    def save_reward(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """The model of a released round; there is none where one's party holds its share."""
        return self._save(f"/rounds/{number_of(round_)}/reward", path)

    def save_model_card(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """The card of that model."""
        return self._save(f"/rounds/{number_of(round_)}/model-card", path)

    def save_statement(self, round_: Round | int, path: str | os.PathLike[str]) -> Path:
        """What the operator signed for one's own party."""
        return self._save(f"/rounds/{number_of(round_)}/statement", path)

    def _send(self, stream: BinaryIO, name: str) -> Submission:
        answer = self.connection.ask(
            Request(
                method="POST",
                path=self._path("/submissions"),
                query={"name": name},
                file=stream,
            )
        )
        sent = read(Submission, answer)
        stream.seek(0)
        digest = hashlib.sha256()
        while piece := stream.read(PIECE):
            digest.update(piece)
        if sent.sha256 is not None and sent.sha256 != digest.hexdigest():
            raise ServiceError(
                f"{shown(name)}: the service has something else than what is here: the file was"
                " changed while it was sent; withdraw it there, and send it again"
            )
        return sent

    def _until(
        self,
        submission: Submission,
        is_so: Callable[[Looked], bool],
        seconds: float | None,
    ) -> Looked:
        looking = Looking.for_seconds(seconds)
        looked = self.look(submission)
        while not is_so(looked):
            looking.pause(f"{shown(submission.name)} was not looked at yet")
            looked = self.look(submission)
        return looked
