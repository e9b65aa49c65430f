"""Features for which nobody's rows are needed: Fourier features, and inducing points by ranges."""

import json

import numpy as np
import pytest
from safetensors import safe_open

import fairpool as fp
from fairpool.columns import CategoryColumn, NumberColumn
from fairpool.columns.rules import Bounds, Rules
from fairpool.encoding import TableEncoding
from fairpool.targets import NumberTarget
from tests.support.projects import (
    LEARNED,
    LISTED,
    fairpool,
    finished_run,
    party_table,
    prepared,
    project,
    reward_file,
    table,
    write,
    written_run,
)

RANGES = "[columns.x]\nrange = [-5, 8]\n[columns.z]\nrange = [0, 5]\n"
OF_TARGET = "[columns.y]\nrange = [0, 100]\n"
SPREAD = 'kind = "sparse_gp"\ninducing_points = 12\ninducing = "spread"'
FOURIER = 'kind = "fourier"\nfeatures = 12\nkernel = "rbf + 0.3 * matern32"'
FIXED = "\nlearn = false\nnoise_variance = 0.2"
FROM_NOBODY = {
    SPREAD: "Its inducing points are spread evenly over the declared ranges and levels:",
    FOURIER: "Apart from its hyperparameters, its features follow from the kernel alone:",
}


def letter_in(folder, party="Party-1"):
    letter = reward_file(folder, party).parent / "letter.html"
    return letter.read_text().replace("&#39;", "'")


@pytest.mark.parametrize("model", [SPREAD, FOURIER])
def test_from_the_configuration_to_letter_and_prediction(model, tmp_path):
    folder = project(tmp_path / "p", RANGES, model, categorical=LISTED)
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert all(party["value"] > 0 for party in result["parties"])
    reward = reward_file(folder, "Party-1")
    letter = letter_in(folder)
    assert f"{FROM_NOBODY[model]} nobody's rows were needed for them." in letter
    assert "Its scaling and hyperparameters were learned from all parties' rows" in letter
    assert "means of several rows" not in letter
    inspected = fairpool("inspect", reward)
    assert inspected.returncode == 0, inspected.stderr
    predicted = fairpool("predict", reward, "--data", folder / "test.csv")
    assert predicted.returncode == 0, predicted.stderr
    if model == FOURIER:
        assert "Gaussian process by Fourier features" in inspected.stdout
        assert result["model"]["Fourier features"] == "12 (waves of 6 frequencies)"
    else:
        words = "12, spread over the declared ranges and levels"
        assert result["model"]["inducing points"] == words


def test_means_of_rows_are_told_as_ever(tmp_path):
    model = 'kind = "sparse_gp"\ninducing_points = 6'
    folder = project(tmp_path / "p", RANGES, model, categorical=LISTED)
    written_run(folder)
    letter = letter_in(folder)
    assert "inducing points (means of several rows) were learned from all parties" in letter
    assert "nobody's rows were needed" not in letter


def features_in(reward):
    with safe_open(reward, "numpy") as file:
        names = set(file.keys()) & {"inducing_points", "frequencies"}
        return {name: file.get_tensor(name) for name in names}


@pytest.mark.parametrize("model", [SPREAD, FOURIER])
def test_nobodys_rows_move_the_features(model, tmp_path):
    """Other rows, the same features, to the last bit; with scaling declared, nothing is learned."""
    seen = []
    for number, shift in enumerate((0.0, 1.5)):
        folder = tmp_path / str(number)
        text = RANGES + OF_TARGET
        project(folder, text, model + FIXED, categorical=LISTED)
        if shift:
            for i, rows in enumerate((60, 35, 30)):
                write(folder / f"p{i}.csv", table(rows, 70 + i, shift))
        written_run(folder)
        letter = letter_in(folder)
        assert FROM_NOBODY[model] in letter
        assert "were learned from all parties' rows" not in letter
        seen.append(features_in(reward_file(folder, "Party-1")))
    assert len(seen[0]) == 1
    for name, tensor in seen[0].items():
        np.testing.assert_array_equal(tensor, seen[1][name])


@pytest.mark.parametrize(
    ("extra", "categorical", "named"),
    [
        ("", LISTED, "'x', 'z'"),
        ("[columns.x]\nrange = [-5, 8]\n", LISTED, "'z'"),
        (RANGES, LEARNED, "'kind'"),
    ],
)
def test_without_ranges_nothing_can_be_spread(extra, categorical, named, tmp_path):
    folder = project(tmp_path, extra, SPREAD, categorical=categorical)
    check = fairpool("check", folder)
    assert check.returncode == 2
    told = " ".join(check.stderr.split())
    assert 'inducing = "spread" needs a range, or all levels, of every input column' in told
    assert f"these have none: {named}; give range or levels" in told


def test_with_public_data_ranges_are_not_needed(tmp_path):
    extra = '[public]\ndata = "public.csv"\n'
    folder = project(tmp_path, extra, SPREAD)
    write(folder / "public.csv", party_table(7, 80))
    done = finished_run(folder)
    points = done.built.model.inducing_points
    assert len(points) <= 12
    assert "spread" not in done.built.settings["inducing points"]
    # As without it: centres of the public data's clusters.
    clusters = project(tmp_path / "c", extra, SPREAD.replace("spread", "clusters"))
    write(clusters / "public.csv", party_table(7, 80))
    np.testing.assert_array_equal(finished_run(clusters).built.model.inducing_points, points)
    # With ranges they are spread, whatever the public data are.
    spread = project(tmp_path / "s", RANGES + extra, SPREAD, categorical=LISTED)
    write(spread / "public.csv", party_table(7, 80))
    assert len(finished_run(spread).built.model.inducing_points) == 12


def test_other_places_and_kernels_are_refused(tmp_path):
    for model, text in (
        (SPREAD.replace("spread", "grid"), "model, inducing: 'grid' is not allowed; give"),
        ('kind = "blr"\ninducing = "spread"', 'inducing has no meaning for kind = "blr"'),
        ('kind = "fourier"\nfeatures = 1', "model, features: 1 is not allowed"),
        ('kind = "fourier"\nkernel = "rbf + linear"', "has no spectral density that is known"),
        ('kind = "sparse_gp"\nfeatures = 12', 'features has no meaning for kind = "sparse_gp"'),
    ):
        check = fairpool("check", project(tmp_path, model=model))
        assert check.returncode == 2
        assert text in " ".join(check.stderr.split())


def test_points_fill_the_declared_ranges(tmp_path):
    folder = project(
        tmp_path, RANGES, SPREAD.replace("12", "64"), sizes=(400, 400, 400), categorical=LISTED
    )
    encoding = prepared(folder).encoding
    model = finished_run(folder).built.model
    U = model.inducing_points
    assert U.shape == (64, 4)
    np.testing.assert_array_equal(U, np.unique(encoding.made_up(64), axis=0))
    for column in (0, 1):
        half = 3**0.5  # a declared range is scaled like even values over it
        eighths = np.histogram(U[:, column], 8, (-half, half))[0]
        np.testing.assert_array_equal(eighths, 8)
    assert set(U[:, 2]) == {0.0, 1.0}
    np.testing.assert_array_equal(U[:, 2] + U[:, 3], 1)
    assert U[:, 2].sum() == 32


def test_equal_points_are_there_once():
    """Two categories of two levels are four points at most."""
    columns = (CategoryColumn("a", ("x", "y")), CategoryColumn("b", ("x", "y")))
    encoding = TableEncoding(columns=columns, target=NumberTarget("t", mean=0.0, scale=1.0))
    assert encoding.undeclared == ()
    assert len(np.unique(encoding.made_up(50), axis=0)) == 4
    ranged = NumberColumn("n", 0.0, 1.0, rules=Rules(bounds=Bounds(0.0, 1.0)))
    learned = CategoryColumn("c", ("x", "y"), others=True)
    plain = NumberColumn("m", 0.0, 1.0)
    mixed = TableEncoding(columns=(ranged, learned, plain), target=encoding.target)
    assert mixed.undeclared == ("c", "m")


def test_a_fourier_reward_comes_back_from_its_file(tmp_path):
    done = finished_run(project(tmp_path / "p", model=FOURIER))
    reward = done.collaboration.models[1]
    reward.save(tmp_path / "r.safetensors", known_noise=True)
    again = fp.load_reward(tmp_path / "r.safetensors")
    X = np.random.default_rng(0).standard_normal((20, again.posterior.inputs))
    np.testing.assert_array_equal(again.predict(X), reward.predict(X))
    assert again.posterior.model.kernel == reward.posterior.model.kernel
    np.testing.assert_array_equal(
        again.posterior.model.frequencies, reward.posterior.model.frequencies
    )
