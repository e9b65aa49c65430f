import zipfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from fairpool.consortium.auditing.audit import audit
from fairpool.consortium.auditing.opened import open_round
from fairpool.errors import FairpoolError
from fairpool.exchange.attestation import attested
from fairpool.server.consortia import auditing, events
from fairpool.server.refused import NotFoundError, TooManyError
from fairpool.server.store.database import Database
from fairpool.signatures import SigningKey, sign
from tests.server.work.computed import Computed, closed
from tests.server.work.worlds import World, sqlite_in

KEY = SigningKey.fresh()


def _released(database: Database, folder: Path) -> Computed:
    """A collaboration whose first round was released."""
    made = closed(database, folder)
    made.release(made.preview())
    return made


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Computed, World]:
    folder = tmp_path_factory.mktemp("audited")
    made = _released(sqlite_in(folder / "server"), folder)
    return made, World.put_aside(folder / "server", made.database)


@pytest.fixture
def released(world: tuple[Computed, World]) -> Computed:
    """The same world for each test, on SQLite."""
    world[1].put_back()
    return world[0]


def as_auditor(made: Computed, what, *more):
    def with_settings(session, who, *given):
        return what(session, made.agreed.settings, who, *given)

    return made.act(with_settings, *more, person=made.agreed.consortium.auditor)


def signed_at_home(made: Computed, folder: Path, **changes: object) -> bytes:
    """What an auditor signs who unpacked what was downloaded."""
    packed = as_auditor(made, auditing.bundle, 1)
    with zipfile.ZipFile(packed) as archive:
        for one in archive.infolist():
            Path(archive.extract(one, folder)).chmod(one.external_attr >> 16)
    packed.unlink()
    opened = open_round(folder, 1)
    found = audit(opened)
    said = {"number": 1, "release": opened.release, "ok": found.ok, **changes}
    findings = [line.to_dict() for line in found.lines]
    return attested(KEY, findings=findings, **said).content


def test_a_round_is_computed_anew_here_and_at_home_and_what_was_signed_is_kept(
    database: Database, tmp_path: Path
):
    released = _released(database, tmp_path)
    found = as_auditor(released, auditing.recompute, 1)
    answers = {line.answer for line in found.lines}
    assert "verified" in answers
    assert "FALSE" not in answers
    assert any(line.about == "rewards" for line in found.lines)
    content = signed_at_home(released, tmp_path / "home")
    as_auditor(released, auditing.sign, 1, content)
    as_auditor(released, auditing.sign, 1, content)
    kept = released.act(auditing.signatures)
    assert [(round_.number, one.document.encode()) for round_, one in kept] == [(1, content)]
    with released.database.reading() as session:
        collaboration = released.agreed.consortium.collaboration
        last = events.of(session, collaboration)[-1]
    assert (last.action, last.detail["ok"]) == ("audit-signed", True)
    assert list(released.agreed.settings.work.iterdir()) == []


def test_the_copy_has_no_table_and_no_private_key(released: Computed):
    packed = as_auditor(released, auditing.bundle, 1)
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        content = b"".join(archive.read(name) for name in names)
    assert "ledger.jsonl" in names
    assert ".fairpool/secret.key" in names
    assert not [name for name in names if "operator.key" in name or name.startswith("data/")]
    key = (released.folder / ".fairpool" / "operator.key").read_bytes().strip()
    assert key not in content


def test_what_was_changed_on_the_disk_is_found(released: Computed):
    ledger = released.folder / "ledger.jsonl"
    content = ledger.read_text()
    assert '"rho":0.6' in content
    ledger.write_text(content.replace('"rho":0.6', '"rho":0.7', 1))
    found = as_auditor(released, auditing.recompute, 1)
    assert "ledger" in {line.about for line in found.lines if line.answer == "FALSE"}


def test_what_is_gone_is_told_without_where_it_was(released: Computed):
    next(released.folder.glob("rounds/0001/operator/collaboration.toml")).write_text("other = 1")
    with pytest.raises(FairpoolError, match=r"rounds/0001/operator/collaboration\.toml") as refused:
        as_auditor(released, auditing.recompute, 1)
    assert str(released.agreed.settings.folder) not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"number": 2}, "another release than round 1"),
        ({"release": "0" * 64}, "another release than round 1"),
    ],
)
def test_what_is_about_another_release_is_refused(
    released: Computed, tmp_path: Path, changes: dict[str, object], says: str
):
    content = signed_at_home(released, tmp_path / "home", **changes)
    with pytest.raises(FairpoolError, match=says):
        as_auditor(released, auditing.sign, 1, content)


def test_what_nobody_signed_is_refused(released: Computed, tmp_path: Path):
    content = signed_at_home(released, tmp_path / "home")
    for wrong, says in (
        (content.replace(b'"ok":true', b'"ok":false'), "signature is wrong"),
        (sign(KEY, "receipt", {"round": 1}).content, "receipt"),
        (b"{}", "audit.json"),
        (b"x" * (auditing.LONGEST + 1), "too large"),
    ):
        with pytest.raises(FairpoolError, match=says):
            as_auditor(released, auditing.sign, 1, wrong)


def test_nobody_but_an_auditor_audits(released: Computed):
    people = released.agreed.consortium
    for person in (people.operator, people.of_north):
        for what, *more in (
            (auditing.recompute, 1),
            (auditing.bundle, 1),
            (auditing.sign, 1, b"{}"),
        ):
            with pytest.raises(NotFoundError, match="no such page"):
                released.act(
                    lambda session, who, what=what, more=more: what(
                        session, released.agreed.settings, who, *more
                    ),
                    person=person,
                )
    with pytest.raises(NotFoundError, match="no such page"):
        released.act(auditing.signatures, person=people.of_north)


def test_a_round_that_is_not_released_is_not_there(released: Computed):
    with pytest.raises(NotFoundError, match="no such page"):
        as_auditor(released, auditing.recompute, 2)


def test_a_collaboration_is_audited_once_at_a_time_and_few_are(released: Computed):
    """Twenty requests of one auditor kept everybody waiting."""
    here = released.agreed.id
    for at_work in ([here], ["a", "b", "c", "d"]):
        with ExitStack() as stack:
            for one in at_work:
                stack.enter_context(auditing._one_of(one))
            for what in (auditing.recompute, auditing.bundle):
                with pytest.raises(TooManyError, match="an audit is at work already"):
                    as_auditor(released, what, 1)
    as_auditor(released, auditing.bundle, 1).unlink()
