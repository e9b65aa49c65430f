"""Plans: made of what is declared or public, refused with all that is lacking at once."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from fairpool.columns import CategoryColumn, DateColumn, NumberColumn
from fairpool.consortium.planning import plan_of
from fairpool.consortium.planning.bounds import feature_bound
from fairpool.consortium.rounds.agreement import SECTIONS
from fairpool.encoders import read_folder
from fairpool.errors import PlanError
from fairpool.exchange.plan import SignedPlan
from fairpool.models import BayesianLinearRegression, Classifier, NetworkFeatures
from tests.support.encoders import MAKERS
from tests.support.exchange import KEYS, NAMES, OPERATOR
from tests.support.planned import COLUMNS, MADE, SPREAD, edit, planned_project

CLASSES = '{ column = "y", kind = "classes", levels = ["red", "green", "blue"] }'
WITHOUT_Y = COLUMNS.split("[columns.weight]", 1)[1].join(["[columns.weight]", ""])
KINDS = {
    "sparse_gp": SPREAD,
    "fourier": 'kind = "fourier"\nfeatures = 8\n',
    "blr": 'kind = "blr"\n',
    "linear kernel": SPREAD + 'kernel = "rbf + linear"\n',
}


def rows(plan, count, seed=0):
    """Rows anywhere within what the plan's columns may be, at the ends above all."""
    rng = np.random.default_rng(seed)
    share = rng.beta(0.2, 0.2, size=(count, 4))
    share[:2] = [[0.0] * 4, [1.0] * 4]
    table = {}
    for column, of_column in zip(plan.encoding.columns, share.T, strict=False):
        table[column.name] = column.made_up(of_column)
    labels = pa.array(300 * share[:, 3])
    y = plan.encoding.target.encode(pa.chunked_array([labels]))
    return plan.encoding.encode(pa.table(table)), y


def public_table(count=200):
    rng = np.random.default_rng(5)
    weight = rng.uniform(0, 100, count)
    return pa.table(
        {
            "weight": weight,
            "sex": rng.choice(["f", "m"], count),
            "seen": rng.choice(["2016-05-01", "2020-01-17", "2023-11-30"], count),
            "y": 2 * weight + rng.normal(0, 5, count),
        }
    )


def with_public(folder, **settings):
    columns = '[columns.seen]\nkind = "date"\n[columns.sex]\nkind = "category"\n'
    planned_project(folder, more='[public]\ndata = "public.csv"\n', columns=columns, **settings)
    pa.csv.write_csv(public_table(), folder / "public.csv")
    return folder


def test_a_plan_has_what_the_configuration_declares(tmp_path):
    planned_project(tmp_path, rewards='rho = 0.3\ncolluding = 2\non_harm = "stop"')
    plan = plan_of(tmp_path, made=MADE)
    assert plan.name == "Trial"
    assert plan.made == MADE
    weight, sex, seen = plan.encoding.columns
    assert isinstance(weight, NumberColumn)
    assert (weight.mean, weight.scale) == (60.0, 120 / 12**0.5)
    assert isinstance(sex, CategoryColumn)
    assert (sex.levels, sex.others) == (("f", "m"), False)
    assert isinstance(seen, DateColumn)
    assert plan.encoding.target.mean == 150.0
    assert [party.name for party in plan.parties] == list(NAMES)
    assert [party.key for party in plan.parties] == [KEYS[name].public for name in NAMES]
    assert (plan.terms.rho, plan.terms.colluding, plan.terms.on_harm) == (0.3, 2, "stop")
    assert plan.units == {"weight": "kg"}
    assert plan.drops == ("seen",)
    assert set(plan.sections) == SECTIONS
    assert plan.origin == "declared ranges and levels"
    assert plan.learned_from_sums
    read = SignedPlan.of_content(plan.signed(OPERATOR).content, "plan.json").plan
    assert read.signed(OPERATOR).content == plan.signed(OPERATOR).content


def test_hyperparameters_that_are_given_are_not_learned_from_sums(tmp_path):
    model = SPREAD + 'learn = false\nnoise_variance = 0.2\nkernel = "2.0 * rbf(3.0)"\n'
    plan = plan_of(planned_project(tmp_path, model=model), made=MADE)
    assert not plan.learned_from_sums
    assert plan.model.noise_variance == 0.2
    assert np.allclose(plan.model.kernel.k2.length_scale, 3.0)


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_has_features_or_a_label_beyond_the_bounds(tmp_path, kind):
    plan = plan_of(planned_project(tmp_path, model=KINDS[kind]), made=MADE)
    X, y = rows(plan, 3000)
    lengths = np.square(plan.model.whitened_features(X)).sum(axis=1)
    assert lengths.max() <= plan.feature_bound * (1 + 1e-9)
    assert np.abs(y).max() == pytest.approx(plan.label_bound, rel=1e-12)
    if kind in ("fourier", "blr"):  # there the bound is reached
        assert lengths.max() == pytest.approx(plan.feature_bound)


def test_a_logarithm_has_its_own_bound(tmp_path):
    columns = COLUMNS.replace("range = [0, 300]", 'range = [1, 300]\ntransform = "log"')
    plan = plan_of(planned_project(tmp_path, columns=columns), made=MADE)
    half = 0.5 * np.log(300)
    assert plan.encoding.target.mean == pytest.approx(half)
    assert plan.label_bound == pytest.approx(3**0.5)


def test_classes_have_levels_and_no_bound_on_labels(tmp_path):
    planned_project(tmp_path, target=CLASSES, columns=WITHOUT_Y)
    plan = plan_of(tmp_path, made=MADE)
    assert isinstance(plan.model, Classifier)
    assert plan.encoding.target.levels == ("red", "green", "blue")
    assert plan.label_bound is None
    assert plan.feature_bound == pytest.approx(1.0)  # the amplitude of the kernel
    assert plan.learned_from_sums
    assert "3 times 36 of products" in " ".join(plan.discloses)


def test_with_public_data_nothing_need_be_declared(tmp_path):
    with_public(tmp_path, model='kind = "sparse_gp"\ninducing_points = 6\n', features=None)
    plan = plan_of(tmp_path, made=MADE)
    assert [column.name for column in plan.encoding.columns] == ["weight", "sex", "seen"]
    assert plan.origin == "public data (200 rows)"
    assert not plan.learned_from_sums
    assert plan.label_bound is None
    assert plan.sections["public files"]
    X = plan.encoding.encode(plan.encoding.with_days(public_table()))
    y = plan.encoding.encode_target(public_table())
    start = plan.model.with_noise(10 * plan.model.noise_variance)
    learned = plan.model.log_marginal_likelihood(X, y)
    assert learned > start.log_marginal_likelihood(X, y)


@pytest.mark.parametrize("model", ['kind = "network"\nhidden_layers = [4]\n', 'kind = "blr"\n'])
def test_features_that_nothing_bounds_are_refused(tmp_path, model):
    """A party could claim that its rows are worth any amount."""
    with pytest.raises(PlanError, match='give "weight", "sex", "seen" a range or levels'):
        plan_of(with_public(tmp_path, model=model), made=MADE)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
def test_declared_ranges_bound_a_networks_features(tmp_path, activation):
    planned_project(tmp_path)
    plan = plan_of(tmp_path, made=MADE)
    encoding = plan.encoding
    rng = np.random.default_rng(3)
    p = len(encoding.features)
    network = NetworkFeatures(
        weights=(rng.normal(size=(p, 6)), rng.normal(size=(6, 4))),
        intercepts=(rng.normal(size=6), rng.normal(size=4)),
        activation=activation,
        last_weights=None,
    )
    model = BayesianLinearRegression(0.3, np.array([1.0, 2.0, 0.5, 1.0, 3.0]), features=network)
    bound = feature_bound(model, encoding)
    X, _ = rows(plan, 2000)
    lengths = np.square(model.whitened_features(X)).sum(axis=1)
    assert lengths.max() <= bound
    assert bound < 30 * lengths.max()


def test_features_stay_those_of_the_plan_before_while_nothing_that_decides_on_them_changes(
    tmp_path,
):
    folder = with_public(tmp_path, model='kind = "sparse_gp"\ninducing_points = 6\n')
    before = SignedPlan.of_content(plan_of(folder, made=MADE).signed(OPERATOR).content, "plan.json")
    edit(folder, "[rewards]", "[rewards]\nrho = 0.4")
    after = plan_of(folder, made="2021-01-01T00:00:00Z", before=before)
    assert after.terms.rho == 0.4
    assert after.model is before.plan.model
    assert after.features_digest == before.plan.features_digest
    pa.csv.write_csv(public_table(150), folder / "public.csv")
    changed = plan_of(folder, made=MADE, before=before)
    assert changed.features_digest != before.plan.features_digest


def test_all_that_is_lacking_is_said_at_once_with_the_key_to_add(tmp_path):
    columns = (
        '[columns.sex]\nkind = "category"\n[columns.seen]\nkind = "date"\nmissing = "impute"\n'
    )
    planned_project(tmp_path, columns=columns, model='kind = "network"\n', parties=NAMES[:2])
    with pytest.raises(PlanError, match="a plan needs 3 at least") as caught:
        plan_of(tmp_path, made=MADE)
    problems = caught.value.problems
    expected = [
        r"[[parties]]: there are 2, and a plan needs 3 at least",
        r'[model] kind = "network": its features would be made of the parties',
        r"[columns.weight]: range is missing; say what values may be, such as range = [0, 120]",
        r"[columns.sex]: levels are missing",
        r"[columns.seen]: range is missing; say what values may be, such as range = [2015-01-01",
        r'[columns.seen]: missing = "impute" needs [public] data',
        r'[columns.y]: range is missing; say what the target "y" may be',
    ]
    assert len(problems) == len(expected)
    for problem, start in zip(problems, expected, strict=True):
        assert problem.startswith(start), problem


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model": 'kind = "gp"\n'}, "it has no weights, so that its values need every row"),
        ({"model": 'kind = "sparse_gp"\n'}, "its inducing points .* would be made of the parties"),
        ({"name": None}, "name: missing; parties know the collaboration by it"),
        ({"features": None}, "features: missing; list the input columns"),
        ({"features": '["note"]', "columns": COLUMNS + '[columns.note]\nkind = "text"\n'},
         "never an input without an encoder"),
        ({"target": '{ column = "y", kind = "classes" }', "columns": WITHOUT_Y},
         r"\[target\] levels: missing"),
        ({"target": CLASSES, "columns": WITHOUT_Y, "rewards": 'covariance = "full"'},
         'covariance = "full" with classes'),
        ({"model": 'kind = "blr"\nkernel = "rbf"\n'}, "kernel has no meaning"),
        ({"model": 'kind = "fourier"\nkernel = "linear"\n'}, "model, kernel"),
        ({"more": '[public]\ndata = "gone.csv"\n'}, "gone.csv is no file"),
    ],
)  # fmt: skip
def test_what_no_plan_can_be_made_of_is_refused_with_the_reason(tmp_path, settings, reason):
    planned_project(tmp_path, **settings)
    with pytest.raises(PlanError, match=reason):
        plan_of(tmp_path, made=MADE)


def test_wrong_public_data_are_refused_as_in_a_run(tmp_path):
    folder = with_public(tmp_path)
    (folder / "public.csv").write_text("weight,sex,seen,y\n1,f,2016-05-01,oops\n")
    with pytest.raises(PlanError, match="oops"):
        plan_of(folder, made=MADE)


@pytest.mark.parametrize("suffix", ["csv", "contribution"])
def test_no_party_row_is_read_nor_any_byte_of_it_written(tmp_path, suffix):
    folder = planned_project(tmp_path / "full", data="{party}." + suffix)
    canary = "77.4142135623"
    for party in NAMES:
        content = f"weight,sex,seen,y\n{canary},f,2016-05-01,{canary}\n"
        (folder / f"{party}.{suffix}").write_text(content)
        (folder / f"{party}.{suffix}").chmod(0)
    empty = planned_project(tmp_path / "empty", data="{party}." + suffix)
    with_tables = plan_of(folder, made=MADE).signed(OPERATOR).content
    assert with_tables == plan_of(empty, made=MADE).signed(OPERATOR).content
    assert canary.encode() not in with_tables


def test_texts_come_in_by_an_encoder_that_is_known_by_its_hash(tmp_path):
    made = MAKERS["static"](tmp_path / "encoders" / "mini")
    pin = read_folder(made).sha256
    note = f'[columns.note]\nencoder = "encoders/mini"\nencoder_sha256 = "{pin}"\n'
    settings = {"columns": COLUMNS + note, "features": '["weight", "note"]', "model": KINDS["blr"]}
    plan = plan_of(planned_project(tmp_path, **settings), made=MADE)
    _, text = plan.encoding.columns
    assert text.pin.sha256 == pin
    longest = 3.0 + text.pin.dimensions  # |weight|^2 at an end, and the embedding's one length
    assert plan.feature_bound == pytest.approx(1 + longest)
    assert pin.encode() in plan.signed(OPERATOR).content
    unpinned = planned_project(
        tmp_path, **settings | {"columns": settings["columns"].replace(pin, 64 * "0")}
    )
    with pytest.raises(PlanError, match="encoder_sha256 says 000"):
        plan_of(unpinned, made=MADE)
