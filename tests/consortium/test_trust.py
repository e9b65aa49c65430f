"""Made-up data in a whole run: found out, and what the operator chose is done about it."""

import json
import shutil

import numpy as np
import pytest

from fairpool.audit.evidence_notes import HARMS
from fairpool.consortium.learning import FEWEST_LEARNED_FROM, learn
from tests.support.cheating import NAME, nine_far_rows, project, read
from tests.support.collaborations import SHAPES
from tests.support.collaborations import honest as honest_rows
from tests.support.projects import (
    fairpool,
    finished_run,
    is_untouched,
    prepared,
    rendered,
    round_folder,
)
from tests.support.red_team import loud_noise, many_loose_copies

LABELS = [
    "600 invented rows",
    "random labels",
    "permuted labels",
    "labels reversed (300 - y)",
    "730 rows, inputs twice as wide, garbage labels",
]


@pytest.fixture(scope="module")
def reversed_labels(tmp_path_factory):
    """The example, with a hospital whose labels are reversed."""
    return project(tmp_path_factory.mktemp("trust") / "p", "labels reversed (300 - y)")


def notes_of(run, code):
    return [note for note in run.notes if note.code == code]


@pytest.mark.parametrize("cheat", LABELS)
def test_a_cheat_is_named_and_nobody_else(tmp_path, cheat):
    run = finished_run(project(tmp_path / "p", cheat))
    (note,) = notes_of(run, HARMS)
    assert note.party == NAME
    assert "may be wrong, measured differently, or truly different" in note.text
    assert [found.verdict for found in run.evidence.parties] == ["helps", "harms", "helps"]


SETTLE = "Settle this before anything is handed out"
RELEASED = "This was released although it is not settled"


def test_the_screen_says_what_the_report_says_and_how_grave_it_is(reversed_labels, tmp_path):
    folder = tmp_path / "p"
    shutil.copytree(reversed_labels, folder)
    preview = fairpool("run", folder, "--out", tmp_path / "preview")
    assert preview.returncode == 0, preview.stderr
    released = fairpool("run", folder)
    assert released.returncode == 0, released.stderr
    pages = [
        (tmp_path / "preview" / "operator" / "report.html").read_text(),
        (round_folder(folder) / "operator" / "report.html").read_text(),
    ]
    for printed, page, (title, other) in (
        (preview.stdout, pages[0], (SETTLE, RELEASED)),
        (released.stdout, pages[1], (RELEASED, SETTLE)),
    ):
        words = " ".join(printed.split())
        assert f"{title} (" in words
        assert f"<h3>{title} (" in page
        assert other not in words + page
        grave, _, rest = words.partition(f"{title} (")[2].partition("Worth a look (")
        assert f'the labels of "{NAME}" do not agree' in grave
        assert "do not agree" not in rest
    assert "it stands in the ledger" in " ".join(released.stdout.split())
    assert "it stands in the ledger" not in preview.stdout


def test_rows_that_are_repeated_are_named_as_that_and_count_no_more(tmp_path):
    run = finished_run(project(tmp_path / "p", "every row ten times, jitter of 1e-6 sd"))
    assert NAME in {note.party for note in notes_of(run, "repeated rows")}
    assert not run.evidence.harmful


def test_a_copy_is_named_as_that(tmp_path):
    run = finished_run(project(tmp_path / "p", "a copy of A with one column + 0.1"))
    (note,) = notes_of(run, "shared rows")
    assert NAME in note.text
    assert "Hospital A" in note.text


def test_the_honest_example_is_not_flagged(tmp_path):
    run = finished_run(project(tmp_path / "p", "honest"))
    assert [found.verdict for found in run.evidence.parties] == ["helps"] * 3
    assert not notes_of(run, HARMS)


@pytest.mark.parametrize("seed", range(10))
def test_ten_honest_consortia_are_not_flagged(tmp_path, seed):
    """Of Friedman's function, in fair, sorted and unequal shares."""
    shapes = [SHAPES[name] for name in SHAPES if name.startswith("Friedman")]
    rows = honest_rows(np.random.default_rng(100 + seed), **shapes[seed % len(shapes)])
    blocks = []
    for i, (X, y) in enumerate(rows):
        header = ",".join([*(f"x{k}" for k in range(X.shape[1])), "y"])
        np.savetxt(
            tmp_path / f"p{i}.csv", np.column_stack([X, y]), "%.6f", ",", header=header, comments=""
        )
        blocks.append(f'[[parties]]\nname = "P{i}"\ndata = "p{i}.csv"\n')
    (tmp_path / "collaboration.toml").write_text(
        'target = "y"\n[model]\ninducing_points = 30\n[rewards]\nshare_inputs = true\n'
        + "".join(blocks)
    )
    run = finished_run(tmp_path)
    assert not run.evidence.harmful
    assert not run.evidence.disputed


def test_nine_rows_far_away_are_refused_or_earn_little(tmp_path):
    """Of a linear model the further out a row, the more it tells: 84% for nine rows once."""
    folder = project(tmp_path / "p", nine_far_rows)
    toml = folder / "collaboration.toml"
    text = toml.read_text().replace('kind = "sparse_gp"', 'kind = "blr"', 1)
    text = text.replace('kernel = "rbf"', "").replace("inducing_points = 40", "")
    toml.write_text(text)
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "bmi" in done.stderr
    assert "hospital_b.csv" in done.stderr.replace("\n", "")
    # Declared ranges cap what they can earn.
    toml.write_text(text + '\n[columns.bmi]\nrange = [15, 45]\noutside = "clip"\n')
    clipped = finished_run(folder).collaboration
    honest = finished_run(project(tmp_path / "q", "honest")).collaboration
    shares = [result.contributions.values[1] for result in (clipped, honest)]
    totals = [result.contributions.values.sum() for result in (clipped, honest)]
    assert shares[0] / totals[0] < shares[1] / totals[1] + 0.12


def test_loud_noise_is_noise_though_it_contradicts_nobody(tmp_path):
    """It raised the noise that was learned so much that nothing was far from anything."""
    run = finished_run(project(tmp_path / "p", loud_noise))
    assert run.evidence.harmful == (1,)
    assert NAME in {note.party for note in notes_of(run, HARMS)}


def test_many_loose_copies_do_not_make_an_honest_party_a_liar(tmp_path):
    """Repeated noise of one party's labels became the truth, and the third party was excluded."""
    run = finished_run(project(tmp_path / "p", many_loose_copies))
    assert 2 not in run.evidence.harmful


def test_where_labels_cannot_be_compared_what_was_agreed_cannot_be_kept(tmp_path):
    folder = project(tmp_path / "p", "honest", 'on_harm = "stop"')
    toml = folder / "collaboration.toml"
    text = toml.read_text().replace('kernel = "rbf"', 'kernel = "rbf(0.01)"\nlearn = false', 1)
    toml.write_text(text.replace("# noise_variance", "noise_variance", 1))
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert "cannot be compared" in " ".join(done.stderr.split())
    assert is_untouched(folder)


def test_an_accused_party_is_told_and_nobody_else_is(reversed_labels):
    files = rendered(finished_run(reversed_labels))
    accused = files["parties/Hospital-B/letter.html"].decode()
    assert "Your labels do not agree with what the other parties' data predict" in accused
    assert "tell the operator" in accused
    for other in ("Hospital-A", "Hospital-C"):
        letter = files[f"parties/{other}/letter.html"].decode()
        assert "Your labels agree with what the other parties' data predict" in letter
        assert NAME not in letter
    report = files["operator/report.html"].decode()
    assert "✗ disagrees" in report
    result = json.loads(files["operator/result.json"])
    assert result["parties"][1]["evidence"]["verdict"] == "harms"
    assert result["parties"][1]["evidence"]["z"] < -5
    assert np.shape(result["evidence"]["pairs"]) == (3, 3)
    assert any(NAME in text for text in result["warnings"])


def test_a_discount_leaves_a_liar_with_what_it_has_alone(tmp_path):
    cheat = "labels reversed (300 - y)"
    as_ever = finished_run(project(tmp_path / "a", cheat))
    less = finished_run(project(tmp_path / "b", cheat, 'on_harm = "discount"'))
    before = as_ever.collaboration
    after = less.collaboration
    np.testing.assert_allclose(after.rewards[[0, 2]], before.rewards[[0, 2]])
    # Its evidence is negative: nothing is kept of what its contribution would have added.
    assert after.kept.tolist() == [1, 0, 1]
    assert after.rewards[1] == pytest.approx(after.game.alone[1])
    assert before.rewards[1] > before.game.alone[1]
    assert after.models[1].value == pytest.approx(after.rewards[1])
    letter = rendered(less)["parties/Hospital-B/letter.html"].decode()
    assert "you receive about 0%" in letter
    # What another rho would give is discounted, too.
    np.testing.assert_allclose(after.rewards_at(after.rho), after.rewards)
    np.testing.assert_allclose(after.reward_intervals[:, 0], after.rewards)
    assert "keeps 0%" in after.explain()[1]


def test_the_verdicts_are_about_discounted_rewards_as_they_are(tmp_path):
    """Who sends most garbage contributes most; discounted, nobody receives the best model."""
    cheat = "730 rows, inputs twice as wide, garbage labels"
    run = finished_run(project(tmp_path / "p", cheat, 'on_harm = "discount"'))
    result = run.collaboration
    assert result.contributions.values.argmax() == 1
    letter = rendered(run)["parties/Hospital-B/letter.html"].decode()
    assert "You receive the best model" not in letter
    holds = {verdict.condition: verdict.holds for verdict in result.incentives}
    assert [holds[condition] for condition in ("F1", "F2", "F3", "R4")] == [True] * 4
    assert [holds[condition] for condition in ("R3", "stable")] == [False] * 2


def test_a_liar_can_be_left_out_and_everything_is_as_without_it(tmp_path):
    folder = project(
        tmp_path / "p", "730 rows, inputs twice as wide, garbage labels", 'on_harm = "exclude"'
    )
    run = finished_run(folder)
    assert run.collaboration.game.names == ("Hospital A", "Hospital C")
    assert [one.evidence.party for one in run.left_out] == [NAME]
    toml = folder / "collaboration.toml"
    text = toml.read_text()
    start = text.index('[[parties]]\nname = "Hospital B"')
    end = text.index("[[parties]]", start + 1)
    toml.write_text(text[:start] + text[end:])
    without = finished_run(folder)
    np.testing.assert_allclose(
        run.collaboration.game.values(), without.collaboration.game.values(), rtol=1e-12
    )
    files = rendered(run)
    assert "parties/Hospital-B/reward.safetensors" not in files
    letter = files["parties/Hospital-B/letter.html"].decode()
    assert "Your data were left out of this run" in letter
    assert "do not agree with what the other parties' data predict" in letter.replace("&#39;", "'")
    assert "730 rows" in letter
    assert "hospital_b.csv" in files["operator/inputs.sha256"].decode()
    result = json.loads(files["operator/result.json"])
    assert result["left_out"][0]["name"] == NAME
    assert "left out" in files["operator/report.html"].decode()


def test_without_a_party_columns_that_it_alone_lacked_are_used(tmp_path):
    folder = project(tmp_path / "p", "random labels", 'on_harm = "exclude"')
    table = read(folder / "hospital_b.csv").drop(columns=["s6"])
    table.to_csv(folder / "hospital_b.csv", index=False)
    run = finished_run(folder)
    assert run.collaboration.game.names == ("Hospital A", "Hospital C")
    assert "s6" in [column.name for column in run.preparation.encoding.columns]


def test_a_run_can_stop_before_anything_is_released(tmp_path):
    folder = project(tmp_path / "p", "random labels", 'on_harm = "stop"')
    done = fairpool("run", folder)
    assert done.returncode == 2
    assert 'the labels of "Hospital B" do not agree' in done.stderr.replace("\n", " ")
    assert "on_harm" in done.stderr
    assert is_untouched(folder)


def test_the_chance_of_a_false_alarm_may_be_small(tmp_path):
    run = finished_run(project(tmp_path / "p", "labels reversed (300 - y)", "false_alarms = 0.001"))
    assert run.evidence.level == 0.001
    assert run.evidence.harmful == (1,)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('on_harm = "punish"', "on_harm"),
        ("false_alarms = 0.9", "false_alarms"),
        ('false_alarms = "rare"', "false_alarms"),
    ],
)
def test_wrong_settings_are_refused(tmp_path, line, text):
    done = fairpool("check", project(tmp_path / "p", "honest", line))
    assert done.returncode == 2
    assert text in done.stderr


def test_nobody_decides_alone_what_is_noise(tmp_path):
    folder = project(tmp_path / "p", "730 rows, inputs twice as wide, garbage labels")
    learning = learn(prepared(folder))
    most = max(FEWEST_LEARNED_FROM, 170)
    assert f"learned from {most} of each at most" in learning.built.origin
    honest = learn(prepared(project(tmp_path / "q", "honest")))
    noise = learning.built.model.noise_variance
    assert noise < 2 * honest.built.model.noise_variance
