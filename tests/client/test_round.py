"""A whole round by program, at a real service: operator, two parties, an auditor."""

import json
import zipfile
from pathlib import Path

import pytest

from fairpool.client.refused import RefusedByServiceError
from fairpool.consortium.rounds.releasing import one_at_a_time
from fairpool.errors import ServiceError
from tests.client.conftest import Pool
from tests.server.agreed import csv_of, draft_of, rows
from tests.support.projects import fairpool


def test_a_round_from_its_draft_to_the_auditors_signature(pool: Pool, tmp_path: Path) -> None:
    people = pool.consortium()
    operator, north, south, auditor = people.operator, people.north, people.south, people.auditor
    assert pool.client("north").account().email == "north@example.org"
    assert operator.draft().problems == ()
    terms = operator.propose()
    assert operator.propose() == terms
    assert north.terms() == (terms,)
    assert north.changes(terms) == ()
    assert north.save_terms(terms, tmp_path / "terms.json").stat().st_mode & 0o777 == 0o600
    before = north.standing()
    assert (before.has_accepted, before.takes_part, before.terms) == (False, True, terms.digest)
    assert before.next is not None
    assert before.next.party == "north"
    for number, party in enumerate((north, south), 1):
        acceptance = party.accept(terms)
        assert party.acceptances() == (acceptance,)
        party.save_acceptance(acceptance, tmp_path / f"acceptance-{number}.json")
        table = tmp_path / f"table-{number}.csv"
        table.write_bytes(csv_of(rows(40 + 20 * number, number)))
        sent = party.send(table)
        looked = party.looked_at(sent, seconds=300)
        assert (looked.state, looked.rows, looked.found.problems) == (
            "checked",
            40 + 20 * number,
            (),
        )
        assert looked.found.columns == ("x", "kind", "y")
        assert party.submit(sent).state == "submitted"
        assert party.standing().having[0].id == sent.id
    assert [one.by for one in north.visible()][:2] == ["the other parties", "the operator"]
    assert len(operator.acceptances()) == 2
    now = operator.checklist()
    assert (now.ready_to_close, now.round, now.why_not) == (True, 1, ())
    assert operator.close(1).state == "closed"
    assert operator.reopen(1).state == "open"
    (round_,) = operator.rounds()
    operator.close(round_)
    told = []
    preview = operator.wait(
        operator.preview(round_), seconds=600, progress=lambda *what: told.append(what)
    )
    assert told
    assert preview.state == "done"
    found = operator.result(preview)
    assert found["parties"][0]["name"] == "north"
    assert b"<html" in operator.save_preview(preview, tmp_path / "preview.html").read_bytes()
    assert operator.rounds()[0].preview == preview.id
    operator.wait(operator.release(round_, preview), seconds=600)
    released, following = north.rounds()
    assert (released.state, following.state) == ("released", "open")

    letter = north.save_letter(released, tmp_path / "letter.html")
    reward = north.save_reward(1, tmp_path / "reward.safetensors")
    north.save_model_card(1, tmp_path / "card.md")
    north.save_statement(1, tmp_path / "statement.json")
    done = fairpool("verify", reward, "--letter", letter, "--data", tmp_path / "table-1.csv")
    assert done.returncode == 0, (done.stdout, done.stderr)
    with pytest.raises(RefusedByServiceError, match="no such page") as refused:
        south.look(north.standing().having[0])
    assert refused.value.status == 404

    operator.save_report(1, tmp_path / "report.html")
    assert json.loads(operator.save_result(1, tmp_path / "result.json").read_text())["total"] > 0
    operator.save_ledger(tmp_path / "ledger.jsonl")
    ledger = auditor.save_ledger(tmp_path / "auditors-ledger.jsonl").read_bytes()
    assert (tmp_path / "ledger.jsonl").read_bytes() == ledger
    audit = auditor.audit(1)
    assert {line.answer for line in audit.findings} <= {"verified", "cannot be verified"}
    with zipfile.ZipFile(auditor.save_copy(1, tmp_path / "copy.zip")) as copy:
        copy.extractall(tmp_path / "copy")
    for path in (tmp_path / "copy").rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert fairpool("keys", "new", "--out", tmp_path / "auditor.key").returncode == 0
    out = ["--out", tmp_path / "audit.json", "--sign", tmp_path / "auditor.key"]
    home = next((tmp_path / "copy").rglob("ledger.jsonl")).parent
    done = fairpool("audit", home, 1, *out)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert auditor.sign(1, tmp_path / "audit.json").round == 1
    signed = auditor.save_signed_audit(1, tmp_path / "signed.json").read_bytes()
    assert operator.save_signed_audit(1, tmp_path / "signed-2.json").read_bytes() == signed
    assert signed == (tmp_path / "audit.json").read_bytes()
    events = operator.save_events(tmp_path / "events.jsonl").read_text().splitlines()
    assert auditor.save_events(tmp_path / "events-2.jsonl").read_text().count("\n") == len(events)
    assert {"released", "audit-signed"} <= {json.loads(event)["action"] for event in events}


def test_what_is_wrong_with_a_table_is_told_and_it_is_sent_anew(pool: Pool, tmp_path: Path) -> None:
    people = pool.consortium()
    north = people.north
    north.accept(people.operator.propose())
    bad = north.send_content(b"x,kind\n1,blue\n", name="bad.csv")
    looked = north.looked_at(bad, seconds=300)
    assert looked.state == "refused"
    assert any('"y"' in problem for problem in looked.found.problems)
    with pytest.raises(RefusedByServiceError, match="correct what is listed") as refused:
        north.submit(bad)
    assert refused.value.status == 409
    assert north.withdraw(bad).state == "withdrawn"
    assert north.withdraw(bad).state == "withdrawn"
    assert north.look(bad).found is None
    first = north.send_content(csv_of(rows()), name="good.csv")
    assert north.send_content(csv_of(rows()), name="good.csv").id == first.id


def test_people_come_and_go(pool: Pool) -> None:
    people = pool.consortium()
    operator = people.operator
    with pytest.raises(RefusedByServiceError, match=r"north has people.*ask one of its people"):
        operator.invite("party", party="north", email="else@example.org")
    made = people.north.invite(email="else@example.org")
    assert people.north.invitations() == operator.invitations() == (made.invitation,)
    assert people.south.invitations() == ()
    people.north.revoke(made.invitation)
    assert people.north.invitations() == ()
    with pytest.raises(RefusedByServiceError, match="used or taken back") as refused:
        pool.client("south").accept_invitation(made.link)
    assert refused.value.status == 410
    with pytest.raises(ServiceError, match="there is no party 'west'; give one of: north, south"):
        operator.invite("party", party="west")
    assert {member.role for member in operator.members()} == {"operator", "party", "auditor"}
    (southerner,) = (one for one in operator.members() if one.party == "south")
    operator.remove(southerner)
    with pytest.raises(RefusedByServiceError, match="no such page"):
        people.south.standing()
    people.north.leave()
    link = operator.invite("party", party="north", email="north@example.org").link
    pool.client("north").accept_invitation(link)
    (replaced,) = people.auditor.collaboration().replaced
    assert replaced.party == "north"
    assert "were replaced" in replaced.text
    people.north.leave()
    assert {member.role for member in operator.members()} == {"operator", "auditor"}


def test_a_draft_is_changed_and_its_problems_told(pool: Pool) -> None:
    operator = pool.consortium().operator
    changed = operator.change_draft(draft_of("north", "south").replace("0.6", '"most"'))
    assert "rho" in changed.problems[0]
    with pytest.raises(RefusedByServiceError, match="rho") as refused:
        operator.propose()
    assert refused.value.problems == changed.problems
    assert refused.value.status == 422


@pytest.mark.soak  # tests/server/web/test_rounds_api.py has it without a client
def test_a_computation_is_stopped_and_gone_on_with(pool: Pool) -> None:
    people = pool.consortium()
    operator = people.operator
    terms = operator.propose()
    for number, party in enumerate((people.north, people.south), 1):
        party.accept(terms)
        sent = party.send_content(csv_of(rows(40, number)), name="t.csv")
        party.looked_at(sent, seconds=300)
        party.submit(sent)
    operator.close(1)
    # As long as another run is at work in the folder, a worker waits for it.
    folder = pool.folder / "collaborations" / operator.part.collaboration_id
    with one_at_a_time(folder):
        job = operator.preview(1)
        with pytest.raises(ServiceError, match=r"has not ended yet.*look again later"):
            operator.wait(job, seconds=0)
        operator.cancel(job)
        with pytest.raises(ServiceError, match="was cancelled"):
            operator.wait(job, seconds=300)
    again = operator.wait(operator.resume(job), seconds=600)
    assert again.state == "done"


def test_a_collaboration_is_found_by_its_name_its_identity_or_its_page(pool: Pool) -> None:
    part = pool.consortium().north.part
    client = pool.client("north")
    assert client.as_party(part.name).part == part
    assert client.as_party(part.collaboration_id).part == part
    page = type(client)(
        f"{pool.address}/collaborations/{part.collaboration_id}/data", "fp_" + "x" * 43
    )
    assert page.connection.address.collaboration == part.collaboration_id
    pool.consortium()
    with pytest.raises(ServiceError, match="which collaboration is meant"):
        client.as_party()
    with pytest.raises(ServiceError, match="no part as auditor in 'nowhere'; it has: "):
        client.as_auditor("nowhere")
    assert repr(client) == f"Client('{pool.address}')"
    assert pool.tokens["north"] not in repr(client.as_party(part.name)) + repr(client.connection)
