"""A service that is killed while parties send and withdraw: whatever was answered is true."""

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from fairpool.server.check import check_service
from fairpool.server.leftovers import remove
from fairpool.server.people import tokens
from fairpool.server.store.tables import Submission, SubmissionState
from fairpool.server.work.vault import Vault
from tests.server.agreed import Agreed, agreed
from tests.server.served import Served, served
from tests.server.work.worlds import sqlite_in

SIZE = 300_000


@dataclass
class Party:
    """A program that sends one file after the other, and withdraws each once there is a newer one.

    Attributes:
        token: Of the party.
        here: The address of the collaboration.
        sent: What was answered to be there, by its identity.
        withdrawn: What was answered to be gone.
        is_asked: What was asked to be withdrawn, with no answer yet.
    """

    token: str
    here: str
    sent: dict[str, bytes] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    is_asked: set[str] = field(default_factory=set)

    def work(self, service: Served) -> None:
        """Until the service is gone."""
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=service.address, timeout=60, headers=headers) as client:
            try:
                while True:
                    self._send(client)
            except httpx.TransportError:
                return

    def _send(self, client: httpx.Client) -> None:
        content = os.urandom(SIZE)
        answer = client.post(f"{self.here}/submissions?name=a.csv", content=content)
        assert answer.status_code == 201, answer.text
        before = [one for one in self.sent if one not in self.is_asked | self.withdrawn]
        self.sent[answer.json()["id"]] = content
        for one in before:
            self.is_asked.add(one)
            answer = client.post(f"{self.here}/submissions/{one}/withdraw")
            assert answer.status_code == 200, answer.text
            self.withdrawn.add(one)


def killed_while_busy(folder: Path, times: int) -> None:
    clinics = agreed(sqlite_in(folder / "server"), folder)
    clinics.propose()
    with clinics.database.transaction() as session:
        _, token = tokens.make(session, clinics.consortium.of_north, name="program", days=1)
    party = Party(token=token, here=f"/api/v1/collaborations/{clinics.id}")
    for number in range(times):
        with served(folder / "server", FAIRPOOL_UPLOADS_PER_HOUR="100000") as service:
            at_work = threading.Thread(target=party.work, args=(service,))
            enough = len(party.withdrawn) + 3
            at_work.start()
            while len(party.withdrawn) < enough and at_work.is_alive():
                time.sleep(0.01)
            time.sleep(number * 0.007)  # another moment each time: no moment is waited for
            service.process.kill()
            at_work.join()
        assert len(party.withdrawn) >= enough
        everything_answered_is_true(clinics, party)
        nothing_else_stays(clinics)
    clinics.database.close()


def everything_answered_is_true(clinics: Agreed, party: Party) -> None:
    vault = Vault(clinics.settings)
    with clinics.database.reading() as session:
        for identity, content in party.sent.items():
            now = session.get_one(Submission, identity)
            if identity in party.withdrawn:
                assert (now.state, now.blob_id) == (SubmissionState.WITHDRAWN, None)
            elif now.blob_id is None:
                assert identity in party.is_asked
            else:
                assert b"".join(vault.open(now.blob_id)) == content


def nothing_else_stays(clinics: Agreed) -> None:
    """All that `fairpool server check` finds is what it may remove."""
    found = check_service(clinics.settings, clinics.database)
    for one in found:
        assert one.path is not None, one.text
        os.utime(one.path, (time.time() - 7200,) * 2)
    remove(found)
    assert check_service(clinics.settings, clinics.database) == []


def test_a_service_that_is_killed_keeps_what_it_said(tmp_path: Path) -> None:
    killed_while_busy(tmp_path, times=1)


@pytest.mark.soak
def test_a_service_that_is_killed_twenty_times_keeps_what_it_said(tmp_path: Path) -> None:
    killed_while_busy(tmp_path, times=20)
