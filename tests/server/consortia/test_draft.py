"""Drafts: what keeps one from being proposed, and that none leads to a file of the service's."""

import re
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from fairpool.consortium.configuration import known_format
from fairpool.errors import ConfigurationError, FairpoolError
from fairpool.server.consortia import creating, draft, events
from fairpool.server.consortia.dropped import text_of_upload, without_data
from fairpool.server.refused import NotAllowedError, NotFoundError
from fairpool.server.settings import Settings
from fairpool.server.store.database import Database
from fairpool.server.store.tables import Collaboration, Membership, Party, Role
from tests.server.agreed import TOML, agreed, draft_of
from tests.server.consortium import add_person

MODEL = """\
target = "y"
features = ["x"]

[model]
kind = "{}"
{} = {}
"""


def test_a_draft_that_fits_has_no_problem() -> None:
    assert draft.problems(draft_of("north", "south")) == []


def test_all_that_is_wrong_is_told_at_once() -> None:
    text = draft_of("north", "north", toml=TOML.replace("rho = 0.6", 'rho = "fairr"'))
    (only,) = draft.problems(text)
    assert only.startswith("rewards, rho: 'fairr' is not allowed")
    text = draft_of("north", "north", toml='target = "y"\n[test]\ndata = "t.csv"\n')
    told = draft.problems(text)
    assert [one.partition(":")[0] for one in told] == [
        "[test]",
        'two parties are named "north"; names must differ',
        "features",
    ]


def test_parties_who_send_sums_need_what_a_plan_needs() -> None:
    key = "ed25519:" + "ab" * 32
    text = draft_of("north", "south", keys={"north": key})
    assert draft.problems(text) == [
        "[[parties]]: there are 2, and a plan needs 3 at least: of two, each would know the other's"
        " sums by subtracting its own; add parties"
    ]
    text = draft_of(
        "north", "south", "west", keys={"north": key}, toml=TOML.replace("range = [-10, 10]", "")
    )
    (only,) = draft.problems(text)
    assert only.startswith("[columns.x]: range is missing")


READS = {
    "public data": ('[public]\ndata = "/etc/passwd"\n', r"\[public\]: its data would lie"),
    "test data": ('[test]\ndata = "../../other/data"\n', r"\[test\]: its data would lie"),
    "an encoder": ('[columns.z]\nkind = "text"\nencoder = "/srv"\n', "its encoder would lie"),
}


@pytest.mark.parametrize("what", READS)
def test_nothing_that_would_read_this_disk_can_be_proposed(what: str) -> None:
    section, said = READS[what]
    told = draft.problems(TOML + section + draft_of("north", "south", toml=""))
    assert any(re.search(said, one) for one in told)


KNOWN = """
categorical columns contact features limits missing model name parties public reading retention
rewards target test valuation
columns.encoder columns.encoder_sha256 columns.kind columns.levels columns.missing columns.outside
columns.range columns.role columns.transform columns.unit
parties.columns parties.data parties.id parties.key parties.most parties.name parties.reading
parties.second_look
reading.decimal reading.encoding reading.header reading.missing reading.separator reading.sheet
reading.thousands
"""


def test_every_key_was_thought_of_when_this_was_decided() -> None:
    """A new key that names a file must be refused in a draft: see `draft._of_this_disk`."""
    configuration = known_format()
    keys = {*configuration.model_fields}
    for name in ("parties", "columns", "reading"):
        keys |= {f"{name}.{key}" for key in _section(configuration, name).model_fields}
    assert keys == {*KNOWN.split()}


def _section(configuration: type[BaseModel], name: str) -> type[BaseModel]:
    annotation = configuration.model_fields[name].annotation
    while not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        annotation = annotation.__args__[-1]
        annotation = getattr(annotation, "__origin__", annotation)
    return annotation


def test_places_of_data_are_taken_out_and_told() -> None:
    text = """\
# ours
target = "y"  # what for
[[parties]]
name = "A"   # first
data = "a.csv"
[[ parties ]] # second
data = [
    "/etc/passwd",  # with a comment
    "b/*.csv",
]
name = "B"
reading.separator = ";"
[parties.columns.x]
named = "data"
"""
    kept = without_data(text)
    assert (
        kept.text
        == """\
# ours
target = "y"  # what for
[[parties]]
name = "A"   # first
[[ parties ]] # second
name = "B"
reading.separator = ";"
[parties.columns.x]
named = "data"
"""
    )
    (told,) = kept.told
    assert told.startswith('Where the data of "A", "B" lie was taken out')
    assert without_data(kept.text) == type(kept)(text=kept.text)


@pytest.mark.parametrize(
    "data",
    ["[" + "\n" * 150_000, "[" + "\n]" * 50_000, '"""' + "\n" * 150_000, '"""' + "\n]" * 50_000],
)
def test_data_without_an_end_are_refused_at_once(data: str) -> None:
    """The text was read anew with each of its lines."""
    whole = data + {"[": "]", '"': '"""'}[data[0]]
    began = time.monotonic()
    for text in (data, whole):
        with suppress(ConfigurationError):
            assert "data" not in without_data(f'[[parties]]\nname = "A"\ndata = {text}\n').text
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("key", "kind"), [("inducing_points", "sparse_gp"), ("features", "fourier")]
)
def test_a_model_that_is_too_large_for_a_service_is_refused(key: str, kind: str) -> None:
    """A plan of 5,000 inducing points took half a minute, in which nobody could write."""
    told = draft.problems(draft_of("north", "south", toml=MODEL.format(kind, key, 1001)))
    assert f"[model] {key}: 1001 is more than 1000, the most of a model here" in "".join(told)
    told = draft.problems(draft_of("north", "south", toml=MODEL.format(kind, key, 1000)))
    assert "the most of a model here" not in "".join(told)


def test_what_cannot_be_taken_out_is_refused() -> None:
    for text in (
        'parties = [{name = "A", data = "a.csv"}]',
        '[[parties]]\nname = """\ndata = "x"\n"""\ndata.x = 3\n',
    ):
        with pytest.raises(ConfigurationError, match="take these lines out"):
            without_data(text)
    with pytest.raises(ConfigurationError, match=r"no text in UTF-8 \(byte 1\)"):
        text_of_upload(b"\xff\xfe\x00")
    assert text_of_upload(b"\xef\xbb\xbfname = 1") == "name = 1"


@given(text=st.text(alphabet="[]{}=,.\"'#\n \\aparties0du3x", max_size=200))
def test_no_text_is_too_strange_to_be_judged(text: str) -> None:
    assert draft.problems(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000,
        "x" + ".x" * 20_000 + " = 1",
        f"x = 1{'0' * 5000}",
        "x = nan\n[[parties]]\ndata = 1",
        "parties = 3",
        "parties = [3]",
        "columns = 3",
        "[columns]\nx = 3",
        "[[parties]]\nname = 3\n",
        "[[parties]]\nid = []\nname = 'a'\n",
        'target = "y"\n' * 2,
        "\x00",
        "#" * (draft.LONGEST + 1),
    ],
)
def test_hostile_texts_are_told_what_is_wrong(text: str) -> None:
    told = draft.problems(text)
    assert told
    assert all("Error" not in one for one in told)


def test_whoever_makes_a_collaboration_operates_it(database: Database, tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    maker = add_person(database, "maker", may_create=True)
    with database.transaction() as session:
        made = creating.create(session, settings, maker, name='The "North"')
        named = creating.create(session, settings, maker, toml=draft_of("A", "B"))
    with database.reading() as session:
        found = session.get_one(Collaboration, made.collaboration.id)
        assert found.name == 'The "North"'
        assert draft.problems(found.draft) != []
        assert events.of(session, found)[0].action == "collaboration-created"
        assert session.query(Membership).filter_by(person_id=maker.id).count() == 2
        parties = session.query(Party).filter_by(collaboration_id=named.collaboration.id)
        assert [one.name for one in parties.order_by(Party.place)] == ["A", "B"]
        assert session.get_one(Collaboration, named.collaboration.id).name == "Clinics"
        role = session.query(Membership).filter_by(collaboration_id=found.id).one().role
        assert role == Role.OPERATOR.value
    folder = settings.collaborations / made.collaboration.id
    assert folder.stat().st_mode & 0o777 == 0o700


def test_who_may_not_create_and_names_that_are_none(database: Database, tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    other, maker = add_person(database, "other"), add_person(database, "maker", may_create=True)
    with database.transaction() as session:
        with pytest.raises(NotAllowedError, match="not begin any"):
            creating.create(session, settings, other, name="X")
        for name in ("", " ", "a\nb", "x" * 101):
            with pytest.raises(ConfigurationError, match="name: give one of"):
                creating.create(session, settings, maker, name=name)
        with pytest.raises(ConfigurationError, match="not valid TOML"):
            creating.create(session, settings, maker, toml="[")
    with database.reading() as session:
        assert session.query(Collaboration).count() == 0


def test_only_the_operator_changes_the_draft(database: Database, tmp_path: Path) -> None:
    clinics = agreed(database, tmp_path)
    for person in (clinics.consortium.of_north, clinics.consortium.auditor):
        with pytest.raises(NotFoundError), database.transaction() as session:  # noqa: PT011
            draft.change(session, clinics.who(session, person), "")
    with pytest.raises(ConfigurationError, match="not valid"):
        clinics.put_draft("[")
    with database.reading() as session:
        assert session.get_one(Collaboration, clinics.id).draft == draft_of("north", "south")


def test_parties_follow_the_draft_until_somebody_relies_on_them(
    database: Database, tmp_path: Path
) -> None:
    clinics = agreed(database, tmp_path)
    clinics.put_draft(draft_of("south", "west", "east"))

    def parties() -> list[str]:
        with database.reading() as session:
            mine = session.query(Party).filter_by(collaboration_id=clinics.id)
            return sorted(one.name for one in mine)

    assert parties() == ["east", "north", "south", "west"]
    clinics.put_draft(draft_of("south", "north"))
    assert parties() == ["north", "south"]
    clinics.put_draft('[[parties]]\nname = "west"\nid = 3\n[[parties]]\nname = "east"\n')
    assert parties() == ["east", "north", "south"]


def test_problems_name_no_file(tmp_path: Path) -> None:
    with pytest.raises(FairpoolError, match="target: missing") as refused:
        draft.checked('[[parties]]\nname = "A"\n')
    assert "collaboration.toml" not in str(refused.value)
