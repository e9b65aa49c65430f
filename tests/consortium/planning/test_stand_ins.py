"""What stands for parties' rows in a what-if, and how near that comes to the round itself."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from fairpool.consortium.class_example import class_example_files
from fairpool.consortium.example import write_example
from fairpool.consortium.planning import write_plan
from fairpool.consortium.planning.stand_ins import Scales
from fairpool.consortium.planning.what_if import what_if
from fairpool.consortium.planning.what_if_refusals import refusals
from fairpool.consortium.planning.what_if_words import assumptions, noise_in_words
from fairpool.consortium.request import RunRequest
from fairpool.consortium.run import run
from fairpool.errors import ConfigurationError, PlanError
from tests.support.planned import COLUMNS, MADE, SPREAD, edit, planned_project
from tests.support.projects import fairpool

PARTIES = ("Ash", "Elm", "Oak")
"""Who have no keys, and send rows."""

SIZES = (60, 60, 300)
UNDECLARED = '[columns.sex]\nkind = "category"\n[columns.seen]\nkind = "date"\n'
CLUSTERS = 'kind = "sparse_gp"\ninducing_points = 8\n'
PUBLIC = '[public]\ndata = "extra.csv"\n'
TEST = '[test]\ndata = "extra.csv"\n'


def rows_alike(count, rng):
    """Rows of one kind, whoever has them; within what `COLUMNS` declares."""
    weight = rng.normal(60, 15, count).clip(0, 120)
    sex = rng.choice(["f", "m"], count)
    days = rng.integers(0, 3653, count)  # from 2015-01-01 to 2024-12-31
    y = 60 + weight + 15 * np.sin(days / 500) + 8 * (sex == "m") + rng.normal(0, 10, count)
    seen = (np.datetime64("2015-01-01") + days).astype(str)
    return pa.table({"weight": weight, "sex": sex, "seen": seen, "y": y.clip(0, 300)})


def project(folder, *, seed=0, extra=300, **settings):
    """A project with everybody's tables, and some rows like theirs for all to see."""
    planned_project(folder, parties=PARTIES, **settings)
    rng = np.random.default_rng(seed)
    for name, size in zip(PARTIES, SIZES, strict=True):
        pa.csv.write_csv(rows_alike(size, rng), folder / f"{name}.csv")
    pa.csv.write_csv(rows_alike(extra, rng), folder / "extra.csv")
    return folder


def asked(folder, sizes=SIZES):
    return what_if(folder, ",".join(map(str, sizes)))


def outlooks_of(found):
    """By the model that is taken, and by all others that the round may learn."""
    return [one.simulated for one in found.otherwise] or [found.simulated]


def is_between(done, outlooks):
    """Whether what a round gave is between the means of some outlooks, or as near as draws are."""
    total = done.game.total
    pairs = [
        (np.array([total]), [outlook.totals[:, None] for outlook in outlooks]),
        (done.game.alone / total, [outlook.alone for outlook in outlooks]),
        (done.contributions.values / total, [outlook.contributions for outlook in outlooks]),
        ([done.scheme.rho("stable")], [outlook.rhos["stable"][:, None] for outlook in outlooks]),
    ]
    for rho in ("stable", "0", "1"):
        rewards = done.scheme.rewards(rho if rho == "stable" else float(rho))
        pairs.append((rewards / total, [outlook.rewards[rho] for outlook in outlooks]))
    for real, drawn in pairs:
        means = np.array([of_one.mean(axis=0) for of_one in drawn])
        slack = 4 * np.max([of_one.std(axis=0, ddof=1) for of_one in drawn], axis=0) + 1e-9
        if (real < means.min(axis=0) - slack).any() or (real > means.max(axis=0) + slack).any():
            return False
    return True


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "model",
    [CLUSTERS, 'kind = "fourier"\nfeatures = 8\n', 'kind = "blr"\n'],
    ids=["sparse_gp", "fourier", "blr"],
)
def test_with_public_data_the_round_has_the_same_model_and_what_was_said(tmp_path, model, seed):
    project(tmp_path, seed=seed, columns=UNDECLARED, more=PUBLIC, model=model)
    found = asked(tmp_path)
    done = run(RunRequest(configuration=tmp_path)).collaboration
    assert found.stand_in.scales is Scales.PUBLIC
    assert found.plan.model.noise_variance == done.game.model.noise_variance
    assert found.otherwise == ()
    assert is_between(done, outlooks_of(found))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("more", ["", TEST], ids=["made up", "test"])
@pytest.mark.parametrize("model", [SPREAD, 'kind = "blr"\n'], ids=["sparse_gp", "blr"])
def test_what_a_plans_round_learns_lies_within_what_was_said(tmp_path, model, more, seed):
    project(tmp_path, seed=seed, more=more, model=model)
    found = asked(tmp_path)
    write_plan(tmp_path, made=MADE)
    done = run(RunRequest(configuration=tmp_path)).collaboration
    assert is_between(done, outlooks_of(found))
    times = found.plan.model.noise_variance / done.game.model.noise_variance
    if more:
        assert found.stand_in.scales is Scales.TEST
        assert 0.5 < times < 2
    else:
        assert found.stand_in.scales is Scales.START
        assert times > 5  # where learning starts is nobody's noise, and is said to be that
        assert "are where learning starts" in " ".join(assumptions(found))


@pytest.mark.parametrize(
    ("model", "covered"),
    [
        pytest.param(CLUSTERS, 5, marks=pytest.mark.soak),
        pytest.param('kind = "fourier"\nfeatures = 8\n', 5, marks=pytest.mark.soak),
        ('kind = "blr"\n', 6),
    ],
    ids=["sparse_gp", "fourier", "blr"],
)
def test_without_a_plan_test_rows_tell_what_most_rounds_of_rows_give(tmp_path, model, covered):
    between = 0
    for seed in range(6):
        folder = project(
            tmp_path / str(seed), seed=seed, columns=UNDECLARED, more=TEST, model=model
        )
        found = asked(folder)
        done = run(RunRequest(configuration=folder)).collaboration
        assert found.stand_in.lacking
        assert found.discloses == ()
        assert "nobody can send sums, only rows" in refusals(found)[0].text
        between += is_between(done, outlooks_of(found))
    assert between >= covered


def test_hyperparameters_that_are_given_are_those_of_the_round(tmp_path):
    given = SPREAD + "learn = false\nnoise_variance = 0.02\n"
    found = asked(project(tmp_path, more=TEST, model=given))
    done = run(RunRequest(configuration=tmp_path)).collaboration
    assert (found.stand_in.scales, found.otherwise) == (Scales.GIVEN, ())
    assert found.plan.model.noise_variance == done.game.model.noise_variance == 0.02
    assert is_between(done, outlooks_of(found))


def test_the_examples_that_come_with_fairpool_can_be_asked(tmp_path):
    assert fairpool("init", tmp_path / "a").returncode == 0
    write_example(tmp_path / "b", class_example_files())
    for name in "ab":
        before = {path: path.read_bytes() for path in (tmp_path / name).iterdir()}
        done = fairpool("plan", tmp_path / name, "--what-if", "--sizes", "170,73,111")
        assert done.returncode == 0, done.stderr
        assert "test rows; the first round learns its own" in done.stdout
        assert {path: path.read_bytes() for path in (tmp_path / name).iterdir()} == before


def test_there_are_as_many_weights_as_a_round_of_so_many_rows_has(tmp_path):
    model = 'kind = "sparse_gp"\ninducing_points = 30\n'
    project(tmp_path, columns=UNDECLARED, more=TEST, model=model, extra=60)
    weights = asked(tmp_path).plan.weights
    assert weights > 60 // 5  # no more clusters of five are there of sixty rows
    done = run(RunRequest(configuration=tmp_path)).collaboration
    assert weights == pytest.approx(len(done.game.model.inducing_points), rel=0.25)


def test_copies_of_rows_do_not_look_as_if_there_were_no_noise(tmp_path):
    model = 'kind = "sparse_gp"\ninducing_points = 30\n'
    project(tmp_path, columns=UNDECLARED, more=TEST, model=model, extra=40)
    few, many = (asked(tmp_path, sizes).plan.model for sizes in ((20, 10, 10), (900, 900, 900)))
    assert many.noise_variance == pytest.approx(few.noise_variance, rel=0.3)


def test_what_is_lacking_is_named_with_the_shortest_remedy(tmp_path):
    project(tmp_path, columns=UNDECLARED, model=CLUSTERS)
    with pytest.raises(PlanError, match="range is missing") as caught:
        asked(tmp_path)
    problems = caught.value.problems
    assert problems[-1].startswith("--what-if: or, which is shorter, give some rows")
    edit(tmp_path, "[rewards]", '[test]\ndata = "extra.csv"\n[rewards]')
    assert asked(tmp_path).simulated.count


def test_test_rows_that_are_not_there_yet_are_needed_only_where_all_else_is_lacking(tmp_path):
    project(tmp_path / "a", more=TEST)
    (tmp_path / "a" / "extra.csv").unlink()
    found = asked(tmp_path / "a")
    assert found.stand_in.scales is Scales.START
    assert "made up, evenly over the declared ranges" in found.stand_in.source.words
    project(tmp_path / "b", columns=UNDECLARED, more=TEST, model=CLUSTERS)
    (tmp_path / "b" / "extra.csv").unlink()
    with pytest.raises(ValueError, match="test data") as caught:
        asked(tmp_path / "b")
    assert "extra.csv" in str(caught.value)


def test_test_rows_that_do_not_fit_are_refused_by_their_own_name(tmp_path):
    project(tmp_path, more=TEST)
    rows = (tmp_path / "extra.csv").read_text().splitlines()
    (tmp_path / "extra.csv").write_text("\n".join([*rows, '1200,"f",2020-01-01,80']))
    with pytest.raises(PlanError, match="test data") as caught:
        asked(tmp_path)
    assert "1200" in str(caught.value)
    assert "public" not in str(caught.value)


def test_a_network_of_everybodys_labels_is_refused_as_in_a_run(tmp_path):
    project(tmp_path, more=TEST, model='kind = "network"\nhidden_layers = [4]\n')
    with pytest.raises((PlanError, ConfigurationError), match="set share_labels = true"):
        asked(tmp_path)
    edit(tmp_path, "[rewards]\n", "[rewards]\nshare_labels = true\n")
    assert asked(tmp_path).plan.weights == 5


def test_where_there_is_no_noise_to_tell_the_reason_is_said(tmp_path):
    found = asked(project(tmp_path, rewards="rho = 1.0"))
    count = found.simulated.count
    words = noise_in_words(found, 0)
    assert words.startswith(f"no figure: in all {count} draws some party would be due less")
    assert words.endswith("would refuse rho = 1")
    below = found.simulated.below_own["1"].copy()
    noise = np.full_like(found.simulated.noise, 0.25)
    below[:2], noise[2:] = False, np.nan
    some = replace(found.simulated, below_own={"1": below}, noise=noise)
    assert "(of 2 of 10 draws; in the others" in noise_in_words(_with(found, some), 0)
    other = replace(found.simulated, below_own={"1": below & False}, noise=noise + np.nan)
    assert "another way than by noise" in noise_in_words(_with(found, other), 0)


def _with(found, simulated):
    """The same with another outcome of the configured model."""
    outlooks = [
        replace(outlook, simulated=simulated if outlook.is_configured else None)
        for outlook in found.outlooks
    ]
    return replace(found, outlooks=tuple(outlooks))


def test_of_classes_the_prior_alone_is_learned(tmp_path):
    columns = COLUMNS.replace("[columns.y]\nrange = [0, 300]\n", "")
    target = '{ column = "y", kind = "classes", levels = ["red", "green"] }'
    found = asked(planned_project(tmp_path, target=target, columns=columns))
    assert "The scale of the prior is where learning starts" in " ".join(assumptions(found))
    small, _, large = (one.simulated.totals.mean() for one in found.otherwise)
    assert small > 1.2 * large
