"""`fairpool plan --what-if`: what parties of given sizes would receive, by the very rows drawn."""

import json
from itertools import permutations

import numpy as np
import pyarrow.csv
import pytest

from fairpool.compute.workers import Workers
from fairpool.consortium.configuration_file import read_configuration
from fairpool.consortium.planning import plan_of
from fairpool.consortium.planning.made_up_rows import BLOCK, DealtRows
from fairpool.consortium.planning.simulating import (
    FEWEST_SIMULATIONS,
    SIMULATIONS,
    simulations_within,
)
from fairpool.consortium.planning.sizes import MOST_ROWS, sizes_of
from fairpool.consortium.planning.stand_ins import StandIn
from fairpool.consortium.planning.what_if import what_if
from fairpool.consortium.planning.what_if_refusals import refusals
from fairpool.consortium.planning.what_if_words import as_plain
from fairpool.consortium.request import RunRequest
from fairpool.consortium.run import run
from fairpool.encoders import read_folder
from fairpool.errors import ConfigurationError, PlanError
from tests.consortium.planning.test_plan import CLASSES, WITHOUT_Y, with_public
from tests.support.encoders import MAKERS
from tests.support.exchange import NAMES
from tests.support.planned import COLUMNS, MADE, SPREAD, edit, planned_project
from tests.support.projects import fairpool

SIZES = (60, 15, 300)


def asked(folder, sizes=SIZES):
    return what_if(folder, ",".join(map(str, sizes)))


def source_of(folder, needed):
    configuration = read_configuration(folder).configuration
    return StandIn.find(configuration, folder, needed=needed, workers=Workers()).source


def refused(found):
    return [refusal.text for refusal in refusals(found)]


def drawn_tables(source, sizes, number):
    """Everybody's rows in one of the draws [(X, y)]."""
    tables = []
    for blocks in source.drawn(sizes, np.random.default_rng([0, number])):
        X, y = zip(*blocks, strict=True)
        tables.append((np.concatenate(X), np.concatenate(y)))
    return tables


def naive_value(model, tables):
    """1/2 log |I + A^T A / s2|, all rows at once."""
    if not tables:
        return 0.0
    A = model.whitened_features(np.concatenate([X for X, _ in tables]))
    return 0.5 * np.linalg.slogdet(np.eye(A.shape[1]) + A.T @ A / model.noise_variance)[1]


def naive_shapley(model, tables):
    orders = list(permutations(range(len(tables))))
    phi = np.zeros(len(tables))
    for order in orders:
        for place, i in enumerate(order):
            before = [tables[j] for j in order[:place]]
            phi[i] += naive_value(model, [*before, tables[i]]) - naive_value(model, before)
    return phi / len(orders)


@pytest.mark.parametrize("public", [False, True])
def test_the_figures_are_those_of_the_rows_that_were_drawn(tmp_path, public):
    if public:
        with_public(tmp_path, model='kind = "sparse_gp"\ninducing_points = 6\n')
    else:
        planned_project(tmp_path)
    found = asked(tmp_path)
    source = source_of(tmp_path, sum(SIZES))
    model = found.plan.model
    simulated = found.simulated
    assert simulated.count == SIMULATIONS
    for number in (0, SIMULATIONS - 1):
        tables = drawn_tables(source, SIZES, number)
        assert [len(X) for X, _ in tables] == [*SIZES]
        total = naive_value(model, tables)
        phi = naive_shapley(model, tables)
        alone = np.array([naive_value(model, [table]) for table in tables])
        assert simulated.totals[number] == pytest.approx(total)
        assert simulated.alone[number] * total == pytest.approx(alone)
        assert simulated.contributions[number] * total == pytest.approx(phi)
        assert simulated.rewards["1"][number] == pytest.approx(phi / phi.max())
        assert simulated.rewards["0"][number] == pytest.approx(1.0)
        rho = simulated.rhos["stable"][number]
        assert simulated.rewards["stable"][number] == pytest.approx((phi / phi.max()) ** rho)
        assert simulated.below_own["1"][number] == (phi / phi.max() * total < alone).any()
        for i, eta in enumerate(simulated.noise[number]):
            others = [table for j, table in enumerate(tables) if j != i]
            own, rest = (
                model.whitened_features(tables[i][0]),
                model.whitened_features(np.concatenate([X for X, _ in others])),
            )
            s2 = model.noise_variance
            P = np.eye(own.shape[1]) + own.T @ own / s2 + rest.T @ rest / (s2 + eta)
            worth = 0.5 * np.linalg.slogdet(P)[1]
            assert worth == pytest.approx(simulated.rewards["stable"][number, i] * total)


def test_the_model_is_the_plans(tmp_path):
    planned_project(tmp_path, rewards="rho = 0.3")
    found = asked(tmp_path)
    plan = plan_of(tmp_path, made=MADE)
    assert found.plan.features_digest == plan.features_digest
    assert found.configured.sums_needed == plan.fewest_rows
    assert set(found.discloses) <= set(plan.discloses)
    assert list(found.question.rhos) == ["0.3", "0", "stable", "1"]
    assert [outlook.weights for outlook in found.outlooks] == [4, 8, 16]


def test_nothing_is_written_and_no_partys_table_is_looked_for(tmp_path):
    planned_project(tmp_path)
    before = (tmp_path / "collaboration.toml").read_bytes()
    done = fairpool("plan", tmp_path, "--what-if", "--sizes", "200,80,1200")
    assert done.returncode == 0, done.stderr
    assert "Nothing was written" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["collaboration.toml"]
    assert (tmp_path / "collaboration.toml").read_bytes() == before


def test_made_up_rows_are_spread_over_what_was_declared(tmp_path):
    source = source_of(planned_project(tmp_path), 1)
    ((X, y),) = drawn_tables(source, [BLOCK + 5000], 0)
    weight = X[:, 0] * 120 / 12**0.5 + 60
    assert len(X) == BLOCK + 5000
    assert (weight.min(), weight.max()) == pytest.approx((0, 120), abs=0.1)
    assert np.histogram(weight, 4, (0, 120))[0] == pytest.approx([len(X) / 4] * 4, rel=0.05)
    assert not y.any()


def test_no_public_row_goes_to_two_parties_while_there_are_enough():
    X = np.arange(100.0)[:, None]
    enough = DealtRows(X=X, y=X[:, 0], needed=100)
    tables = drawn_tables(enough, [70, 30], 3)
    assert sorted(np.concatenate([X[:, 0] for X, _ in tables])) == [*range(100)]
    assert all((X[:, 0] == y).all() for X, y in tables)
    few = DealtRows(X=X, y=X[:, 0], needed=150)
    tables = drawn_tables(few, [100, 50], 3)
    assert len({*np.concatenate([X[:, 0] for X, _ in tables])}) < 100
    assert "fewer than the 150" in few.words


def test_of_texts_a_fixed_number_is_made_up(tmp_path):
    made = MAKERS["static"](tmp_path / "encoders" / "mini")
    pin = read_folder(made).sha256
    note = f'[columns.note]\nencoder = "encoders/mini"\nencoder_sha256 = "{pin}"\n'
    planned_project(
        tmp_path, columns=COLUMNS + note, features='["weight", "note"]', model='kind = "blr"\n'
    )
    found = asked(tmp_path, (600, 600, 600))
    assert "drawn from 1024 made-up ones, fewer than the 1800" in found.stand_in.source.words
    made_up = {row.tobytes() for row in np.ascontiguousarray(found.plan.encoding.made_up())}
    for X, _ in drawn_tables(source_of(tmp_path, 1800), [600] * 3, 0):
        assert {row.tobytes() for row in np.ascontiguousarray(X)} <= made_up


def test_a_run_refuses_whom_it_says_that_rules_refuse(tmp_path):
    planned_project(tmp_path, model=SPREAD.replace("= 8", "= 16"))
    plan = plan_of(tmp_path, made=MADE)
    needed = asked(tmp_path).configured.rows_needed
    sizes = (needed - 1, needed, plan.fewest_rows)
    found = asked(tmp_path, sizes)
    assert found.configured.refused(found.question.sizes) == (NAMES[0],)
    texts = refused(found)
    assert f"{NAMES[0]}: {needed - 1} rows, and any party needs {needed}" in texts[0]
    assert f"{NAMES[1]}: {needed} rows are too few to send sums" in texts[1]
    assert not any(text.startswith(NAMES[2]) for text in texts)
    for name, size in zip(NAMES, sizes, strict=True):
        pyarrow.csv.write_csv(a_table(plan, size), tmp_path / f"{name}.csv")
    with pytest.raises(ConfigurationError, match=rf"needs {needed}:") as caught:
        run(RunRequest(configuration=tmp_path))
    assert len(caught.value.problems) == 1
    assert f'"{NAMES[0]}" has {needed - 1} distinct' in caught.value.problems[0]


def a_table(plan, size):
    rng = np.random.default_rng(size)
    columns = {c.name: c.made_up(rng.random(size)) for c in plan.encoding.columns}
    days = rng.integers(0, 3653, size)  # from 2015-01-01 to 2024-12-31
    columns["seen"] = (np.datetime64("2015-01-01") + days).astype(str)
    return pyarrow.table({**columns, "y": rng.uniform(0, 300, size)})


def test_a_run_on_such_rows_gives_what_was_said(tmp_path):
    model = SPREAD + 'learn = false\nnoise_variance = 0.2\nkernel = "rbf(2.0)"\n'
    planned_project(tmp_path, model=model)
    found = asked(tmp_path, (60, 40, 300))
    plan = plan_of(tmp_path, made=MADE)
    for name, size in zip(NAMES, (60, 40, 300), strict=True):
        pyarrow.csv.write_csv(a_table(plan, size), tmp_path / f"{name}.csv")
    done = run(RunRequest(configuration=tmp_path)).collaboration
    simulated = found.simulated
    for drawn, real in (
        (simulated.totals, done.game.total),
        (simulated.alone, done.game.alone / done.game.total),
        (simulated.contributions, done.contributions.values / done.game.total),
        (simulated.rewards["stable"], done.rewards / done.game.total),
    ):
        deviations = drawn.std(axis=0, ddof=1)
        assert (deviations <= 0.03 * drawn.mean(axis=0)).all()  # so that the bound says something
        assert (np.abs(real - drawn.mean(axis=0)) <= 4 * deviations + 1e-12).all()


def test_two_parties_can_send_rows_alone(tmp_path):
    found = asked(planned_project(tmp_path), (200, 100))
    assert [size.name for size in found.question.sizes] == ["party 1", "party 2"]
    assert "nobody can send sums: that takes 3 parties" in refused(found)[0]
    assert not any(party["may_send_sums"] for party in as_plain(found)["parties"])


def test_features_that_nothing_bounds_are_no_features_of_sums(tmp_path):
    found = asked(with_public(tmp_path, model='kind = "blr"\n'))
    assert "nobody can send sums: nothing bounds" in refused(found)[0]
    assert [outlook.weights for outlook in found.outlooks] == [found.plan.weights]


def test_parties_with_few_rows_of_a_class_are_named(tmp_path):
    planned_project(tmp_path, target=CLASSES, columns=WITHOUT_Y)
    found = asked(tmp_path, (24, 900, 900))
    (text,) = [text for text in refused(found) if "of a class" in text]
    assert text.startswith(f"{NAMES[0]}: in ")
    assert found.simulated.rare[:, 1:].sum() == 0
    assert found.simulated.alone.max() < 1


def test_a_party_that_wants_less_is_given_less(tmp_path):
    planned_project(tmp_path)
    edit(tmp_path, f'name = "{NAMES[2]}"', f'name = "{NAMES[2]}"\nmost = 0.97')
    found = asked(tmp_path)
    alone = found.simulated.alone[:, 2]
    assert found.simulated.rewards["0"][:, 2] == pytest.approx(np.maximum(alone, 0.97))
    assert found.simulated.rewards["0"][:, 0] == pytest.approx(1.0)


def test_the_same_question_has_the_same_answer_for_programs(tmp_path):
    planned_project(tmp_path)
    sizes = f"{NAMES[0]}=100, {NAMES[1]}=50,New one=40"
    first = fairpool("plan", tmp_path, "--what-if", "--sizes", sizes, "--json")
    again = fairpool("plan", tmp_path, "--what-if", "--sizes", sizes, "--json")
    assert first.stdout == again.stdout
    told = json.loads(first.stdout)
    assert [party["name"] for party in told["parties"]] == [*NAMES[:2], "New one"]
    shares = [party["contributes"]["mean"] for party in told["parties"]]
    assert sum(shares) == pytest.approx(1)
    assert told["rho"]["configured"] == "stable"
    assert [one["configured"] for one in told["by_weights"]] == [False, True, False]
    receives = [party["receives"]["stable"] for party in told["parties"]]
    assert told["by_weights"][1]["receives"] == receives
    assert [one["noise_over_prior_times"] for one in told["otherwise"]] == [0.1, 1, 10]
    assert told["otherwise"][1]["receives"] == receives
    assert told["refused_rhos"] == ["1"]
    assert not any(party["refused"] for party in told["parties"])


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ("200,North=80", "some numbers have a name and some have none"),
        ("200,,80", "'' is no number of rows"),
        ("200,-80", "'-80' is no number of rows"),
        ("North=0", "'0' is no number of rows"),
        ("North=5,North=6", "'North' is named twice"),
        ("=5,South=6", "'' is no name of a party"),
        (",".join(["1"] * 101), "101 parties are more than the 100"),
        (f"{MOST_ROWS},1", "rows together are more than the 1000000"),
        ("9" * 5000, "is no number of rows"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(sizes, problem):
    with pytest.raises(PlanError, match=problem.replace("'", "[\"']")):
        sizes_of(sizes, NAMES)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--what-if"], "--what-if: give --sizes"),
        (["--sizes", "5,6"], "--sizes has a meaning only with --what-if"),
        (["--what-if", "--sizes", "5,6", "--replace"], "--replace has no meaning"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path, arguments, problem):
    done = fairpool("plan", planned_project(tmp_path), *arguments)
    assert done.returncode == 2
    assert problem in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["collaboration.toml"]


def test_what_is_lacking_for_a_plan_is_lacking_for_this(tmp_path):
    with pytest.raises(PlanError, match="range is missing"):
        asked(planned_project(tmp_path / "a", columns='[columns.sex]\nlevels = ["f", "m"]\n'))
    with pytest.raises(PlanError, match="its values need every row"):
        asked(planned_project(tmp_path / "b", model='kind = "gp"\n'))


def test_a_screen_names_the_first_of_many_parties(tmp_path):
    planned_project(tmp_path, more='[valuation]\ncontributions = "standalone"\n')
    sizes = ",".join(["9"] * 30)
    done = fairpool("plan", tmp_path, "--what-if", "--sizes", sizes)
    assert done.returncode == 0, done.stderr
    assert "- party 24: 9 rows, and any party needs" in done.stdout
    assert "- party 25: 9 rows, and any party needs" not in done.stdout
    assert "- and 6 more; --json has all" in done.stdout


def test_what_would_take_too_long_is_refused_before_it_is_begun(tmp_path):
    planned_project(tmp_path, model=SPREAD.replace("= 8", "= 600"))
    with pytest.raises(PlanError, match="16 parties, 1600 rows and 600 weights are too much"):
        asked(tmp_path, (100,) * 16)


def test_where_draws_take_long_there_are_fewer(tmp_path):
    plan = plan_of(planned_project(tmp_path, model=SPREAD.replace("= 8", "= 200")), made=MADE)
    model, inputs = plan.model, plan.inputs
    counts = []
    for parties, rows in ((3, 100), (13, 100), (16, 100)):
        sizes = sizes_of(",".join([str(rows)] * parties), [])
        counts.append(simulations_within(model, sizes, inputs=inputs))
    assert counts[0] == SIMULATIONS
    assert SIMULATIONS > counts[1] > counts[2] >= FEWEST_SIMULATIONS
