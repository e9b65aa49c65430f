import tomllib

import pytest

from fairpool.errors import ConfigurationError
from fairpool.server.work.places import PartyFiles, configuration_with, places_of

TWO = """\
# as agreed
target = "y"

[[parties]]  # the first
name = "North"
[parties.reading]
separator = ";"

  [[ parties ]]
name = "South"
id = "s"
"""


def test_data_are_put_into_each_party_s_section_and_all_else_stays():
    text = configuration_with(TWO, {"North": "data/North", "s": 'a"b\\c'})
    parties = tomllib.loads(text)["parties"]
    assert [party["data"] for party in parties] == ["data/North", 'a"b\\c']
    kept = [line for line in text.splitlines() if not line.startswith("data =")]
    assert kept == TWO.splitlines()


def test_a_party_that_has_nothing_yet_gets_nothing():
    parties = tomllib.loads(configuration_with(TWO, {"s": "data/s"}))["parties"]
    assert "data" not in parties[0]
    assert parties[1]["data"] == "data/s"


def test_a_section_at_the_end_of_a_text_without_a_last_line_end():
    text = configuration_with('[[parties]]\nname = "A"\n[[parties]]', {"A": "data/A"})
    assert tomllib.loads(text)["parties"] == [{"data": "data/A", "name": "A"}, {}]


@pytest.mark.parametrize(
    "text",
    [
        'parties = [{name = "A"}, {name = "B"}]',
        'note = """\n[[parties]]\n"""\n[[parties]]\nname = "A"\n',
        '[[parties]]\nname = "A"\ndata = "/etc/passwd"\n',
        "[[parties]\n",
        'name = "C"\n[x]\n[[parties]]\n[[parties]]\nname = "A"\n[[parties]',
    ],
)
def test_a_text_in_which_parties_cannot_be_told_apart_is_refused(text):
    with pytest.raises(ConfigurationError, match=r"a section of its own|not valid TOML"):
        configuration_with(text, {"A": "data/A", "B": "data/B"})


def test_a_line_that_only_looks_like_a_section_is_left_alone_where_nobody_is_named():
    text = 'note = """\n[[parties]]\n"""\n'
    assert configuration_with(text, {}) == text


def test_places_have_plain_names_of_their_own_and_sums_are_known_by_their_suffix():
    parties = (
        PartyFiles(party="Hospital A", uploads=(("u1", ".csv"), ("u2", ".csv"))),
        PartyFiles(party="../x", uploads=(("u3", ".contribution"),)),
        PartyFiles(party="hospital a", uploads=()),
    )
    assert places_of(parties) == {
        "Hospital A": "data/Hospital-A",
        "../x": "data/x/*.contribution",
        "hospital a": "data/hospital-a-2",
    }
