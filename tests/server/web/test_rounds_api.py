import json

import pytest

from fairpool.server.consortia import rounds
from fairpool.server.people import sessions, tokens
from fairpool.server.store.tables import Job, JobState, Membership, Party
from fairpool.server.web.api import jobs
from fairpool.server.work import queue
from tests.server.agreed import Agreed, csv_of, draft_of, rows
from tests.server.consortium import add_consortium, add_person
from tests.server.work.computed import LEASE, Computed, close_first
from tests.support.projects import fairpool


@pytest.fixture
def database(sqlite):
    """What is below the API is tested with both kinds of databases."""
    return sqlite


@pytest.fixture
def made(service):
    """A collaboration whose first round is closed."""
    made = Computed(
        agreed=Agreed(
            settings=service.settings,
            database=service.database,
            consortium=add_consortium(service.database),
        )
    )
    made.agreed.put_draft(draft_of("north", "south"))
    close_first(made)
    return made


@pytest.fixture
def api(service, made):
    """The address of the collaboration, and a program of each of its people."""

    def by(person):
        client = service.program(person)
        client.base_url = f"{service.settings.address}/api/v1/collaborations/{made.agreed.id}/"
        return client

    return by


@pytest.fixture
def operator(api, made):
    return api(made.agreed.consortium.operator)


def ok(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer


def preview_and_release(operator, made, number=1):
    """A round that goes its way by the API alone."""
    job = ok(operator.post(f"rounds/{number}/preview"), 202).json()
    made.work_off()
    ok(operator.post(f"rounds/{number}/release", json={"preview": job["id"]}), 202)
    made.work_off()
    return job


def test_a_round_goes_its_way_by_the_api(operator, made, api):
    job = ok(operator.post("rounds/1/preview"), 202).json()
    assert (job["kind"], job["state"], job["is_cancelled"]) == ("preview", "queued", False)
    assert ok(operator.get("rounds/1")).json()["state"] == "computing"
    made.work_off()
    job = ok(operator.get(f"jobs/{job['id']}")).json()
    assert (job["state"], job["problem"]) == ("done", None)
    shown = ok(operator.get("rounds/1")).json()
    assert (shown["state"], shown["preview"], shown["head"]) == ("previewed", job["id"], None)
    found = ok(operator.get(f"jobs/{job['id']}/result")).json()
    assert [party["name"] for party in found["parties"]] == ["north", "south"]
    assert {note["gravity"] for note in found["notes"]} <= {"settle", "look", "know"}
    answer = operator.post("rounds/1/release", json={"preview": "x" * 22})
    assert "a newer preview than the one that you have looked at" in answer.json()["problems"][0]
    released = ok(operator.post("rounds/1/release", json={"preview": job["id"]}), 202).json()
    made.work_off()
    assert ok(operator.get(f"jobs/{released['id']}")).json()["state"] == "done"
    first, second = ok(operator.get("rounds")).json()
    assert (first["number"], first["state"], second["state"]) == (1, "released", "open")
    assert len(first["head"]) == 64
    assert first["head"] in ok(operator.get("ledger")).text
    north = api(made.agreed.consortium.of_north)
    assert [one["preview"] for one in ok(north.get("rounds")).json()] == [None, None]
    result = ok(operator.get("rounds/1/result"))
    assert result.headers["content-disposition"].startswith("attachment;")
    assert result.json()["total"] == pytest.approx(found["total"], rel=1e-12)


def test_a_round_is_opened_and_closed_again(operator, made):
    assert ok(operator.post("rounds/1/reopen")).json()["state"] == "open"
    shown = ok(operator.post("rounds/1/close")).json()
    assert shown["state"] == "closed"
    assert shown["closed"] is not None


def test_who_keeps_a_round_from_being_closed_is_told(operator, made):
    ok(operator.post("rounds/1/reopen"))
    made.agreed.put_draft(draft_of("north", "south").replace("0.6", "0.7"))
    made.agreed.propose()
    answer = operator.post("rounds/1/close")
    assert answer.status_code == 409
    expected = '"north" is still to do this: read and accept the terms'
    assert expected in answer.json()["problems"]


def test_who_looks_at_an_old_page_moves_nothing(operator, made):
    preview_and_release(operator, made)
    for what in ("close", "reopen", "preview"):
        answer = operator.post(f"rounds/1/{what}")
        assert answer.status_code == 409
        assert "round 1 was released, and 2 is the round at hand" in answer.json()["problems"][0]
    assert operator.post("rounds/3/close").status_code == 404
    for number in ("x", "-1", "1.0", "٣", "9" * 30):
        assert operator.get(f"rounds/{number}").status_code == 404


def test_a_computation_is_cancelled_and_gone_on_with(operator, made):
    job = ok(operator.post("rounds/1/preview"), 202).json()
    assert operator.post("rounds/1/preview").status_code == 409
    assert ok(operator.post(f"jobs/{job['id']}/cancel")).json()["state"] == "cancelled"
    assert operator.post(f"jobs/{job['id']}/cancel").status_code == 409
    again = ok(operator.post(f"jobs/{job['id']}/resume"), 202).json()
    assert again["id"] != job["id"]
    made.work_off()
    assert ok(operator.get("rounds/1")).json()["state"] == "previewed"


def events_of(answer):
    """What a stream said: the data of its events."""
    blocks = answer.text.split("\n\n")
    data = [block.partition("\ndata: ")[2] for block in blocks if block.startswith("event: job\n")]
    return [json.loads(one) for one in data]


def test_progress_is_streamed_until_the_job_has_ended(operator, made, service, monkeypatch):
    job = ok(operator.post("rounds/1/preview"), 202).json()
    taken = queue.take(service.database, "w", LEASE)
    looks = []

    def works_meanwhile(*arguments):
        # Between two looks of the stream the worker gets on.
        seen = look(*arguments)
        looks.append(seen)
        if len(looks) == 1:
            queue.tell(service.database, taken, "valuing coalitions", 1, 4)
        elif len(looks) == 3:
            with service.database.transaction() as session:
                queue.fail(session, taken, "no room on the disk")
                rounds.stopped(session, taken, "failed")
        return seen

    look = jobs._look
    monkeypatch.setattr(jobs, "_look", works_meanwhile)
    answer = ok(operator.get(f"jobs/{job['id']}/events"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    said = [(one["state"], one["stage"], one["done"], one["total"]) for one in events_of(answer)]
    assert said == [
        ("running", "", 0, None),
        ("running", "valuing coalitions", 1, 4),
        ("failed", "valuing coalitions", 1, 4),
    ]
    assert events_of(answer)[-1]["problem"] == "no room on the disk"


def test_a_stream_ends_for_who_is_no_longer_a_member(operator, made, service, monkeypatch):
    job = ok(operator.post("rounds/1/preview"), 202).json()
    from fairpool.server.store.tables import Membership

    look = jobs._look
    looks = []

    def is_removed_meanwhile(*arguments):
        seen = look(*arguments)
        looks.append(seen)
        with service.database.transaction() as session:
            mine = session.query(Membership).filter_by(person_id=made.agreed.consortium.operator.id)
            mine.delete()
        return seen

    monkeypatch.setattr(jobs, "_look", is_removed_meanwhile)
    assert len(events_of(operator.get(f"jobs/{job['id']}/events"))) == 1
    assert [one is None for one in looks] == [False, True]


def test_a_look_at_a_file_is_seen_by_its_party_alone(api, made, service):
    made.act(rounds.reopen)
    consortium = made.agreed.consortium
    made.agreed.send(consortium.of_north, csv_of(rows(50, 9)))
    with service.database.reading() as session:
        job = session.query(Job).filter_by(state=JobState.QUEUED).one().id
    assert ok(api(consortium.of_north).get(f"jobs/{job}")).json()["kind"] == "check"
    for other in (consortium.of_south, consortium.operator, consortium.auditor):
        assert api(other).get(f"jobs/{job}").status_code == 404
    assert api(consortium.operator).post(f"jobs/{job}/cancel").status_code == 404


SANDBOX = "sandbox allow-scripts; default-src 'none'"


def test_each_party_gets_its_own_papers_and_can_verify_them(operator, made, api, tmp_path):
    preview_and_release(operator, made)
    consortium = made.agreed.consortium
    for person, name, table in (
        (consortium.of_north, "north", rows(40, 1)),
        (consortium.of_south, "south", rows(60, 2)),
    ):
        party = api(person)
        letter = ok(party.get("rounds/1/letter"))
        assert letter.headers["content-security-policy"].startswith(SANDBOX)
        assert name in letter.text
        saved = ok(party.get("rounds/1/letter.html"))
        assert 'filename="round-1-letter.html"' in saved.headers["content-disposition"]
        assert saved.content == letter.content
        reward = ok(party.get("rounds/1/reward")).content
        assert name in ok(party.get("rounds/1/model-card")).text
        said = json.loads(ok(party.get("rounds/1/statement")).content)
        assert said["body"]["party"] == name
        for file, content in (
            (f"{name}.safetensors", reward),
            (f"{name}.html", saved.content),
            (f"{name}.csv", csv_of(table)),
        ):
            (tmp_path / file).write_bytes(content)
        done = fairpool(
            "verify",
            tmp_path / f"{name}.safetensors",
            "--data",
            tmp_path / f"{name}.csv",
            "--letter",
            tmp_path / f"{name}.html",
        )
        assert done.returncode == 0, done.stdout
        assert "Nothing is FALSE" in " ".join(done.stdout.split())
    for person in (consortium.operator, consortium.auditor):
        assert api(person).get("rounds/1/letter").status_code == 404


def test_reports_are_shown_as_a_site_of_their_own(operator, made):
    job = ok(operator.post("rounds/1/preview"), 202).json()
    assert operator.get(f"jobs/{job['id']}/report").status_code == 404
    made.work_off()
    ok(operator.post("rounds/1/release", json={"preview": job["id"]}), 202)
    shown = ok(operator.get(f"jobs/{job['id']}/report"))
    assert shown.headers["content-security-policy"].startswith(SANDBOX)
    made.work_off()
    assert operator.get(f"jobs/{job['id']}/report").status_code == 404  # it was released
    released = ok(operator.get("rounds/1/report"))
    assert released.headers["content-security-policy"].startswith(SANDBOX)
    assert "Clinics" in released.text


def test_before_a_release_there_is_nothing_to_fetch(operator, made, api):
    north = api(made.agreed.consortium.of_north)
    for what in ("letter", "letter.html", "reward", "model-card", "statement"):
        assert north.get(f"rounds/1/{what}").status_code == 404
    for what in ("rounds/1/report", "rounds/1/result", "ledger"):
        assert operator.get(what).status_code == 404


def test_a_party_that_joined_later_has_no_papers_of_earlier_rounds(service, operator, made, api):
    preview_and_release(operator, made)
    late = add_person(service.database, "late")
    with service.database.transaction() as session:
        mine = {"collaboration_id": made.agreed.id}
        party = Party(**mine, permanent="late", name="late", place=2)
        session.add(party)
        session.flush()
        session.add(Membership(**mine, person_id=late.id, role="party", party_id=party.id))
    assert api(late).get("rounds/1/letter").status_code == 404


@pytest.mark.parametrize("way", ["cookie", "token"])
def test_a_stream_ends_for_who_is_signed_out(api, made, service, monkeypatch, way):
    """A stolen cookie told of jobs for ten minutes after its owner had signed out everywhere."""
    person = made.agreed.consortium.operator
    job = ok(api(person).post("rounds/1/preview"), 202).json()
    client = service.browser(person) if way == "cookie" else service.program(person)
    look = jobs._look
    looks = []

    def is_signed_out_meanwhile(*arguments):
        looks.append(look(*arguments))
        with service.database.transaction() as session:
            if way == "cookie":
                sessions.close_all(session, person)
            else:
                tokens.revoke_all(session, person)
        return looks[-1]

    monkeypatch.setattr(jobs, "_look", is_signed_out_meanwhile)
    answer = client.get(f"/api/v1/collaborations/{made.agreed.id}/jobs/{job['id']}/events")
    assert len(events_of(answer)) == 1
    assert [one is None for one in looks] == [False, True]
