"""Terms: signed as proposed, accepted by each party for itself, and anew once they change."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from fairpool.errors import ConfigurationError, SecretError
from fairpool.exchange.plan import SignedPlan
from fairpool.server.consortia import events, rounds, terms
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Acceptance, Party, Round, RoundState, Terms, now
from fairpool.signatures import Signed
from tests.server.agreed import TOML, agreed, draft_of
from tests.support.exchange import KEYS

NORTH_KEY = str(KEYS["North"].public)
WITH_SUMS = draft_of("north", "south", "west", keys={"north": NORTH_KEY})


def test_terms_are_signed_with_all_that_is_agreed_to(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    proposed = clinics.propose()
    assert sha256(proposed.document.encode()).hexdigest() == proposed.digest
    signed = Signed.of_content(proposed.document.encode(), terms.TERMS, "terms")
    assert signed.body["configuration"] == draft_of("north", "south")
    assert signed.body["parties"] == [
        {"id": "north", "name": "north", "key": None},
        {"id": "south", "name": "south", "key": None},
    ]
    assert signed.body["collaboration"] == clinics.id
    assert "rho is 0.6" in signed.body["words"]["what a party receives"]
    assert any("Rows are sent by north, south" in one for one in signed.body["discloses"])
    assert any("With two parties" in one for one in signed.body["discloses"])
    with database.reading() as session:
        (first,) = session.query(Round).filter_by(collaboration_id=clinics.id)
        assert (first.number, first.state) == (1, RoundState.OPEN.value)
        log = [event.action for event in events.of(session, clinics.consortium.collaboration)]
        assert log == ["draft-changed", "round-opened", "terms-proposed"]


def test_all_problems_of_a_draft_are_told_and_nothing_is_left(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path, toml='target = "y"\n[[parties]]\nname = "north"\n')
    with pytest.raises(ConfigurationError, match=r"(?s)there is one.*features: missing"):
        clinics.propose()
    with database.reading() as session:
        assert session.query(Terms).count() == session.query(Round).count() == 0


def test_nobody_but_the_operator_proposes(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    for person in (clinics.consortium.of_north, clinics.consortium.auditor):
        with pytest.raises(NotFoundError, match="no such"), database.transaction() as session:
            terms.propose(session, clinics.settings, clinics.who(session, person))


def test_the_same_draft_proposed_again_changes_nothing(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    first = clinics.propose()
    clinics.accept(clinics.consortium.of_north)
    assert clinics.propose().id == first.id
    with database.reading() as session:
        assert session.query(Terms).count() == session.query(Acceptance).count() == 1


def test_each_party_accepts_by_itself_and_what_it_accepted_is_signed(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    proposed = clinics.propose()
    clinics.accept(clinics.consortium.of_north)
    clinics.accept(clinics.consortium.of_north)
    with database.reading() as session:
        given = terms.accepted_by(session, proposed)
    assert set(given) == {clinics.consortium.north.id}
    body = Signed.of_content(
        given[clinics.consortium.north.id].document.encode(), terms.ACCEPTANCE, "acceptance"
    ).body
    assert body["terms"] == proposed.digest
    assert body["party"] == "north"
    assert body["person"] == {"name": "north", "email": "north@example.org"}
    document = Signed.of_content(proposed.document.encode(), terms.TERMS, "terms")
    assert (
        document.key
        == Signed.of_content(
            given[clinics.consortium.north.id].document.encode(), terms.ACCEPTANCE, "acceptance"
        ).key
    )


def test_nobody_accepts_for_a_party_but_its_own_people(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    other = agreed(database, tmp_path, "other-")
    proposed, theirs = clinics.propose(), other.propose()
    for person in (clinics.consortium.operator, clinics.consortium.auditor):
        with pytest.raises(NotFoundError, match="no such"):
            clinics.accept_these(person, proposed.digest)
    # Whoever belongs to one party accepts for that one, whatever they send.
    with pytest.raises(RefusedError, match="no longer in force"):
        clinics.accept_these(clinics.consortium.of_north, theirs.digest)
    with database.reading() as session:
        assert session.query(Acceptance).count() == 0


def test_changed_terms_need_new_acceptance_and_old_ones_are_accepted_by_nobody(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    old = clinics.propose()
    clinics.accept_all()
    clinics.put_draft(draft_of("north", "south", toml=TOML.replace("0.6", "0.9")))
    with database.reading() as session:
        in_force = terms.in_force(session, clinics.consortium.collaboration)
        assert in_force is not None
        assert in_force.id == old.id  # until the draft is proposed
    new = clinics.propose()
    assert (new.version, old.version) == (2, 1)
    with database.reading() as session:
        assert terms.accepted_by(session, new) == {}
        assert len(terms.accepted_by(session, old)) == 2
    with pytest.raises(RefusedError, match="no longer in force"):
        clinics.accept_these(clinics.consortium.of_north, old.digest)
    (difference,) = terms.differences(old, new)
    assert difference.what == "what a party receives"
    assert "rho is 0.6" in difference.before
    assert "rho is 0.9" in difference.after
    assert terms.differences(new, new) == ()


def test_what_differs_is_told_in_words_or_as_a_changed_text(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    old = clinics.propose()
    share = TOML.replace("rho = 0.6", "rho = 0.6\nshare_labels = true")
    clinics.put_draft(draft_of("north", "south", toml=share))
    shared = clinics.propose()
    assert [one.after for one in terms.differences(old, shared)] == [
        "All parties agree that labels of their rows may follow from a model's file."
    ]
    clinics.put_draft("# a comment\n" + draft_of("north", "south", toml=share))
    (difference,) = terms.differences(shared, clinics.propose())
    assert difference.what == "configuration"


def test_terms_are_not_changed_once_the_round_is_closed(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    clinics.propose()
    clinics.put_draft(draft_of("north", "south", toml=TOML.replace("0.6", "0.9")))
    closed = [state for state in RoundState if state not in ("open", "released")]
    assert len(closed) == 4
    for state in closed:
        with database.transaction() as session:
            session.query(Round).one().state = state.value
        with pytest.raises(RefusedError, match="round 1 is closed"):
            clinics.propose()
    with database.transaction() as session:
        session.query(Round).one().state = RoundState.RELEASED.value
        rounds.open_next(session, clinics.consortium.collaboration)
    assert clinics.propose().version == 2


def test_who_has_left_is_no_party_of_new_terms_and_accepts_none(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    proposed = clinics.propose()
    with database.transaction() as session:
        session.get_one(Party, clinics.consortium.south.id).left = now()
    with pytest.raises(RefusedError, match="takes no part"):
        clinics.accept(clinics.consortium.of_south)
    clinics.put_draft(draft_of("north", "south", toml=TOML.replace("0.6", "0.9")))
    with pytest.raises(ConfigurationError, match='"south" has left'):
        clinics.propose()
    clinics.put_draft(draft_of("north", "west"))
    assert [one.id for one in terms.partners(clinics.propose())] == ["north", "west"]
    assert [one.id for one in terms.partners(proposed)] == ["north", "south"]


def test_a_party_that_new_terms_leave_out_accepts_none(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path, toml=draft_of("north", "west"))
    clinics.propose()
    with pytest.raises(RefusedError, match="takes no part in these terms"):
        clinics.accept(clinics.consortium.of_south)


def test_before_any_terms_there_is_nothing_to_accept(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    with pytest.raises(RefusedError, match="no terms"):
        clinics.accept_these(clinics.consortium.of_north, "0" * 64)


def test_where_a_party_sends_sums_the_plan_is_part_of_the_terms(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path, toml=WITH_SUMS)
    proposed = clinics.propose()
    assert proposed.plan is not None
    plan = SignedPlan.of_content(proposed.plan.encode(), "plan.json")
    body = terms.body_of(proposed)
    assert body["plan"] == plan.digest
    assert plan.plan.discloses[1] in body["discloses"]
    assert "north sends sums" in body["words"]["parties"]
    assert "south sends rows" in body["words"]["parties"]
    assert clinics.party("north").public_key == NORTH_KEY
    folder = clinics.settings.collaborations / clinics.id
    assert (folder / "plan.json").read_text() == proposed.plan
    assert [path.name for path in folder.glob("*.toml")] == []
    clinics.put_draft(WITH_SUMS.replace("0.6", "0.9"))
    changed = clinics.propose()
    assert changed.plan is not None
    again = SignedPlan.of_content(changed.plan.encode(), "plan.json")
    assert again.plan.features_digest == plan.plan.features_digest
    assert again.digest != plan.digest
    clinics.put_draft("# nothing but a comment\n" + WITH_SUMS.replace("0.6", "0.9"))
    assert clinics.propose().plan == changed.plan


def test_problems_name_no_place_on_this_disk(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path, toml=WITH_SUMS)
    clinics.propose()
    folder = clinics.settings.collaborations / clinics.id
    (folder / ".fairpool/operator.key").chmod(0o644)
    clinics.put_draft(WITH_SUMS.replace("0.6", "0.9"))
    with pytest.raises(SecretError, match=r"^\.fairpool/operator\.key") as refused:
        clinics.propose()
    assert str(tmp_path) not in str(refused.value)
    assert not (folder / ".proposed.toml").exists()


@pytest.mark.parametrize("left", [None, b"{}", b"of a proposal that was not kept"])
def test_the_plan_in_force_is_put_back_before_another_is_made(
    database: Database, tmp_path: Path, left: bytes | None
) -> None:
    clinics = agreed(database, tmp_path, toml=WITH_SUMS)
    first = clinics.propose()
    plan = clinics.settings.collaborations / clinics.id / "plan.json"
    plan.unlink()
    if left is not None:
        plan.write_bytes(left)
    assert clinics.propose().id == first.id
    assert plan.read_text() == first.plan
    clinics.put_draft(draft_of("north", "south", "west"))
    assert clinics.propose().plan is None
    clinics.put_draft(draft_of("north", "south"))
    clinics.propose()
    assert not plan.exists()


def test_names_follow_the_terms(database: Database, tmp_path: Path) -> None:
    renamed = draft_of("north", "south").replace(
        'name = "north"', 'name = "The North"\nid = "north"'
    )
    clinics = agreed(database, tmp_path, toml=renamed)
    assert clinics.party("north").name == "north"
    clinics.propose()
    assert clinics.party("north").name == "The North"


def test_the_document_is_what_json_says(database: Database, tmp_path: Path) -> None:
    """Whoever downloads it can read it without this program."""
    clinics = agreed(database, tmp_path)
    read = json.loads(clinics.propose().document)
    assert read["kind"] == "terms"
    assert read["body"]["version"] == 1
