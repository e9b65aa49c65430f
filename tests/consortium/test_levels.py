"""What a party learns of another's levels, from its file and its letter."""

import html

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from fairpool.columns import CategoryColumn
from tests.support.projects import (
    LEARNED,
    fairpool,
    finished_run,
    prepared,
    project,
    round_folder,
    table,
    write,
)

DIAGNOSES = tuple(f"D{k}" for k in range(8))
WAYS = {
    "listed": ("{ kind = [" + ", ".join(f'"{level}"' for level in DIAGNOSES) + "] }", ""),
    "public": (LEARNED, 'public = { data = "public.csv" }'),
    "learned": (LEARNED, ""),
}


def with_levels(rows, seed, levels):
    kinds = np.resize(levels, rows)
    return table(rows, seed).set_column(2, "kind", pa.array(kinds.tolist()))


def hospital_project(folder, way, victims):
    """The first party has eight diagnoses, the second some of them."""
    categorical, extra = WAYS[way]
    project(folder, categorical=categorical, extra=extra, sizes=(48, 30))
    for name, rows, levels in (
        ("p0", 48, DIAGNOSES),
        ("p1", 30, victims),
        ("test", 8, DIAGNOSES),
        ("public", 64, DIAGNOSES),
    ):
        write(folder / f"{name}.csv", with_levels(rows, len(name), levels))
    return folder


def handed_out(folder):
    """Party 0's reward, and both letters as text."""
    done = fairpool("run", folder, "--rho", "0.5", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    parties = round_folder(folder) / "parties"
    letters = []
    for i in range(2):
        letter = html.unescape((parties / f"Party-{i}" / "letter.html").read_text())
        letters.append(" ".join(letter.split()))
    return fp.load_reward(parties / "Party-0" / "reward.safetensors"), letters


def levels_of(reward):
    [column] = [c for c in reward.encoding.columns if isinstance(c, CategoryColumn)]
    return column.levels


def inferred(reward):
    """Which of its own levels the holder of a file takes the other party to have."""
    return set(DIAGNOSES) & set(levels_of(reward))


def about_levels(letter):
    """The sentences of a letter that are about levels; what the operator signed is no sentence."""
    revealed = letter[letter.index("What the file reveals") : letter.index("<data")]
    return [sentence for sentence in revealed.split(". ") if '"kind"' in sentence]


@pytest.mark.parametrize("way", ["listed", "public"])
def test_files_and_letters_do_not_depend_on_anybodys_levels_unless_these_are_learned(tmp_path, way):
    seen = []
    for victims in (DIAGNOSES[:4], DIAGNOSES[3:], ("D6",)):
        reward, letters = handed_out(hospital_project(tmp_path / str(victims), way, victims))
        assert inferred(reward) == set(DIAGNOSES)
        seen.append((levels_of(reward), [about_levels(letter) for letter in letters]))
    assert seen == [seen[0]] * 3
    [said] = seen[0][1][0]
    origin = {"listed": "from the operator's list", "public": "from public data"}[way]
    assert f'The levels of "kind" come {origin}, and tell nothing of anybody\'s rows' in said


def test_learned_levels_tell_a_party_that_has_many_which_of_them_another_has(tmp_path):
    victims = ("D1", "D3", "D4", "D6", "only here")
    reward, (attackers, own) = handed_out(hospital_project(tmp_path, "learned", victims))
    assert inferred(reward) == {"D1", "D3", "D4", "D6"}
    for letter in (attackers, own):
        [said] = about_levels(letter)
        assert (
            'Both files list the levels of "kind" that both of you have ("D1", "D3", "D4", "D6"):'
            " by them the other party learns which of its levels you have and which you have not,"
            " and you learn the same of its rows" in said
        )
    assert "only here" not in attackers
    result = (round_folder(tmp_path) / "operator" / "report.html").read_text()
    assert "its levels are learned from the parties" in html.unescape(result)


def test_of_more_parties_a_letter_names_its_readers_levels_alone(tmp_path):
    folder = project(tmp_path, sizes=(30, 30, 30))
    for i, levels in enumerate((("a", "b", "c"), ("b", "c", "d"), ("c", "d", "e"))):
        write(folder / f"p{i}.csv", with_levels(30, i, levels))
    write(folder / "test.csv", with_levels(9, 9, ("c",)))
    done = fairpool("run", folder, "--rho", "0.3", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    for i, yours in enumerate(('"b", "c"', '"b", "c", "d"', '"c", "d"')):
        letter = html.unescape(
            (round_folder(folder) / f"parties/Party-{i}/letter.html").read_text()
        )
        assert (
            'All files list the levels of "kind" that at least two parties have; yours among them:'
            f" {yours}. By them a party learns which of its own levels some other party has"
        ) in letter


@pytest.mark.parametrize("way", WAYS)
def test_the_operator_is_told_of_learned_levels_before_anything_is_computed(tmp_path, way):
    found = prepared(hospital_project(tmp_path, way, DIAGNOSES))
    told = [text for text in found.warnings if "are learned from the parties' rows" in text]
    assert len(told) == (way == "learned")
    for text in told:
        assert text.startswith('categorical column "kind": its levels')
        assert text.endswith(
            "list all levels in the configuration, or add public data, and files tell nothing of"
            " that"
        )


def test_a_single_party_has_nobody_to_tell(tmp_path):
    assert prepared(project(tmp_path, sizes=(40,))).warnings == ()


@pytest.mark.parametrize("way", WAYS)
def test_a_full_precision_tells_how_many_rows_have_each_level_whatever_the_list(tmp_path, way):
    """What lists hide, sums over rows tell: the others' are the pool's less one's own."""
    victims = DIAGNOSES[:4]
    run = finished_run(hospital_project(tmp_path, way, victims))
    game = run.collaboration.game
    pooled = game.posterior({0, 1}).factor
    own = game.posterior({0}).factor
    others = (pooled @ pooled.T - own @ own.T) * run.built.model.noise_variance
    names = list(run.preparation.encoding.features)
    for level in victims:
        at = names.index(f"kind={level}")
        assert others[at, at] == pytest.approx(np.resize(victims, 30).tolist().count(level))


def test_the_example_lists_its_levels(tmp_path):
    assert fairpool("init", tmp_path / "p").returncode == 0
    assert not [text for text in prepared(tmp_path / "p").warnings if "levels" in text]
