"""`contribute --epsilon`: noise on everything that leaves, what it costs, and what was spent."""

import json
from dataclasses import replace

import numpy as np
import pytest

import fairpool as fp
from fairpool.consortium.home.hiding import DEFAULT_DELTA, Wish, bounded, hiding_of, wish_of
from fairpool.consortium.home.journal import SECRET_FILE
from fairpool.consortium.home.spending import BUDGET_FILE, Spending, spending
from fairpool.differential_privacy.gaussian import epsilon_of, mu_of
from fairpool.errors import ContributionError, PrivacyError
from fairpool.exchange.arrival import Sender, arrive
from fairpool.exchange.home import HOME_VARIABLE
from fairpool.exchange.noisy_sums import row_bounds_of
from fairpool.keyed_noise.secret import Secret
from fairpool.models.weight_model import RowSums
from fairpool.signatures import SigningKey
from tests.support.exchange import KEYS, OPERATOR, a_contribution, a_plan, signed_plan, some_rows
from tests.support.home import a_home, contributed, prepared, rows_of, write_table
from tests.support.noisy import noisy_file
from tests.support.projects import fairpool

PLAN = signed_plan(a_plan(label_bound=5.0))
CLASSES = signed_plan(a_plan(classes=True))
OTHER = signed_plan(a_plan(name="Other", label_bound=5.0), SigningKey(bytes([9] * 32)))
NORTH = Sender(id="North", name="North", key=KEYS["North"].public)


@pytest.fixture
def place(tmp_path):
    a_home(tmp_path / "home")
    write_table(tmp_path / "mine.csv", rows_of(400))
    write_table(tmp_path / "more.csv", rows_of(700))
    write_table(tmp_path / "classes.csv", rows_of(400, classes=True))
    return tmp_path


def wish(epsilon=3.0, **settings):
    return Wish(epsilon=epsilon, **settings)


def made(place, plan=PLAN, table="mine.csv", *, out=None, **settings):
    home = place / "home"
    if out is None:
        return prepared(plan, place / table, home, **settings)
    return contributed(plan, place / table, home, place / out, **settings)


@pytest.mark.parametrize(
    ("plan", "table"), [(PLAN, "mine.csv"), (CLASSES, "classes.csv")], ids=["numbers", "classes"]
)
def test_everything_that_depends_on_rows_has_noise(place, plan, table):
    # Always the same noise: that on the number of rows is sometimes less than a row.
    Secret(bytes(range(32))).write(place / "home" / SECRET_FILE)
    exact = made(place, plan, table).file
    noisy = made(place, plan, table, wish=wish()).file
    less = made(place, plan, table, wish=wish(30.0)).file
    for name, array in exact.arrays.items():
        assert (noisy.arrays[name] != array).all()
        assert (noisy.arrays[name] != less.arrays[name]).all()
    assert len({noisy.manifest.rows, less.manifest.rows, exact.manifest.rows}) > 1
    assert noisy.manifest.counts is None
    assert noisy.manifest.left_out == 0
    assert noisy.manifest.privacy.epsilon == 3.0
    assert noisy.manifest.privacy.delta == DEFAULT_DELTA
    # What it says besides has nothing to do with rows.
    for name, said in vars(noisy.manifest).items():
        if name not in ("rows", "counts", "nonce", "made", "privacy"):
            assert said == getattr(exact.manifest, name), name
    one = arrive(noisy.to_bytes(), "north", plan=plan, sender=NORTH)
    assert len(one.data.sums) == 1


def test_looking_again_shows_the_same_noise(place):
    first = made(place, wish=wish()).file
    again = made(place, wish=wish()).file
    assert again.manifest.rows == first.manifest.rows
    for name, array in first.arrays.items():
        assert np.array_equal(again.arrays[name], array)
    # Also when they are contributed: what was looked at is what leaves.
    written = made(place, out="1.contribution", wish=wish()).file
    assert np.array_equal(written.arrays["gram"], first.arrays["gram"])


def drawn(exact, noisy):
    """Noise, in its own deviation."""
    return (noisy.arrays["gram"] - exact.arrays["gram"]) / noisy.manifest.privacy.noise


def test_no_two_different_sums_share_their_noise(place):
    rows = rows_of(400)
    a, b, c, y = rows[7]
    tables = {
        "mine.csv": rows,
        "moved.csv": [*rows[:7], (a, b, c, y + 1e-6), *rows[8:]],
        "fewer.csv": rows[1:],
    }
    found = []
    for name, some in tables.items():
        write_table(place / name, some)
        exact = made(place, table=name).file
        found.append(drawn(exact, made(place, table=name, wish=wish()).file))
    exact = made(place).file
    found += [drawn(exact, made(place, wish=one).file) for one in (wish(3.0001), wish(delta=2e-6))]
    found.append(drawn(made(place, OTHER).file, made(place, OTHER, wish=wish()).file))
    for number, one in enumerate(found):
        for other in found[:number]:
            assert np.abs(one - other).max() > 0.1


def test_another_home_draws_other_noise(place):
    first = made(place, wish=wish()).file
    a_home(place / "elsewhere")
    other = prepared(PLAN, place / "mine.csv", place / "elsewhere", wish=wish()).file
    assert not np.array_equal(first.arrays["gram"], other.arrays["gram"])


def test_few_rows_may_leave_with_noise(place):
    write_table(place / "few.csv", rows_of(5))
    with pytest.raises(ContributionError, match="a contribution needs"):
        made(place, table="few.csv")
    assert made(place, table="few.csv", wish=wish()).file.manifest.privacy


def test_rows_beyond_the_bounds_are_cut_to_them():
    plan = replace(a_plan(), label_bound=0.5, feature_bound=0.2)
    X, y = some_rows(plan, rows=200)
    model = plan.model
    A = model.whitened_features(X)
    lengths = np.linalg.norm(A, axis=1)
    A = A * np.minimum(1, np.sqrt(0.2) / lengths)[:, None]
    r = np.clip(y, -0.5, 0.5)
    sums = bounded(plan).moments(X, y)
    np.testing.assert_allclose(sums.gram, A.T @ A)
    np.testing.assert_allclose(sums.moment, A.T @ r)
    assert sums.squares == pytest.approx(r @ r)
    assert lengths.max() > np.sqrt(0.2) > lengths.min()


@pytest.mark.parametrize("classes", [False, True])
def test_within_their_bounds_rows_are_summed_up_as_ever(classes):
    plan = a_plan(classes=classes, label_bound=None if classes else 100.0)
    X, y = some_rows(plan)
    for one, other in zip(bounded(plan).moments(X, y), plan.model.moments(X, y), strict=True):
        assert np.array_equal(one, other)


def test_no_row_moves_what_is_summed_up_by_more_than_is_accounted_for():
    plan = replace(a_plan(), label_bound=0.5, feature_bound=0.2)
    bounds = row_bounds_of(plan)
    shares = bounds.shares
    X, y = some_rows(plan, rows=200)
    longest = 0.0
    for row in range(200):
        sums = bounded(plan).moments(X[[row]], 10 * y[[row]])
        squares = np.square(sums.gram).sum() + np.square(shares.moment * sums.moment).sum()
        squares += (shares.squares * sums.squares) ** 2 + shares.rows**2
        longest = max(longest, np.sqrt(squares))
    assert 0.999 * bounds.sensitivity < longest <= bounds.sensitivity


def test_what_it_costs_is_said_beforehand(place):
    hiding = made(place, wish=wish()).hiding
    large = made(place, wish=wish(30.0)).hiding
    assert 0 <= hiding.expected < large.expected < large.exact == hiding.exact
    words = " ".join(hiding.in_words())
    assert f"worth about {hiding.expected:.3g} instead of {hiding.exact:.3g} nats" in words
    assert "a plan with fewer weights" in words
    smaller, larger = hiding.beside.items()
    assert (smaller[0], larger[0]) == (1.0, 9.0)
    assert smaller[1] <= hiding.expected < larger[1]
    assert f"{larger[1]:.3g} with epsilon 9" in words
    assert list(large.beside) == [10.0]  # 90 would hide nothing
    assert "a plan with fewer weights" not in " ".join(large.in_words())


def test_the_forecast_is_the_mean_of_what_draws_are_worth():
    plan = signed_plan(a_plan(label_bound=5.0))
    X, y = some_rows(plan.plan, rows=3000)
    sums = bounded(plan.plan).moments(X, y)
    hiding = hiding_of(
        RowSums(*sums), plan, wish=wish(8.0), spent=Spending(by_operator={}, without_noise=0)
    )
    exact = a_contribution(plan, rows=3000, arrays=dict(zip(sums._fields, sums, strict=True)))
    worth = []
    for seed in range(20):
        file = noisy_file(plan, exact, 8.0, name="North", seed=seed, delta=DEFAULT_DELTA)
        data = arrive(file.to_bytes(), "north", plan=plan, sender=NORTH).data
        worth.append(fp.InformationGain(plan.plan.model, [data]).total)
    error = np.std(worth) * np.sqrt(1 / 20 + 1 / 8)
    assert abs(hiding.expected - np.mean(worth)) < 4 * error
    assert np.mean(worth) < hiding.exact


def test_what_was_spent_adds_up_by_operator_and_in_all(place):
    mu = mu_of(3.0, DEFAULT_DELTA)
    made(place, out="1.contribution", wish=wish())
    second = made(place, table="more.csv", out="2.contribution", wish=wish())
    assert second.file.manifest.earlier
    spent = spending(place / "home")
    here = OPERATOR.public.fingerprint
    assert spent.by_operator[here] == pytest.approx(np.sqrt(2) * mu)
    assert spent.epsilon(1e-6) == pytest.approx(epsilon_of(np.sqrt(2) * mu, 1e-6))
    third = made(place, OTHER, out="3.contribution", wish=wish(1.0))
    figures = third.hiding.figures()
    assert figures["epsilon_for_operator"] == pytest.approx(1.0)
    assert figures["epsilon_in_all"] == pytest.approx(
        epsilon_of(np.sqrt(2 * mu**2 + mu_of(1.0, DEFAULT_DELTA) ** 2), DEFAULT_DELTA)
    )
    assert spending(place / "home").by_operator[here] == pytest.approx(np.sqrt(2) * mu)


def test_the_same_contribution_again_costs_nothing(place):
    first = made(place, out="1.contribution", wish=wish(budget=3.5))
    again = made(place, out="2.contribution", wish=wish())
    assert again.again
    assert again.content == first.content
    assert spending(place / "home").epsilon(DEFAULT_DELTA) == pytest.approx(3.0)


def test_a_budget_is_kept_and_held(place):
    made(place, out="1.contribution", wish=wish(budget=4.0))
    assert json.loads((place / "home" / BUDGET_FILE).read_text()) == {"budget": 4.0}
    assert (place / "home" / BUDGET_FILE).stat().st_mode & 0o777 == 0o600
    with pytest.raises(PrivacyError, match=r"epsilon would be 4\..*your budget is 4; so far"):
        made(place, table="more.csv", wish=wish())
    assert not made(place, table="more.csv", wish=wish(1.0)).again
    assert not made(place, table="more.csv", wish=wish(budget=5.0)).again


def test_contributions_without_noise_are_told_of(place):
    made(place, out="1.contribution")
    hiding = made(place, table="more.csv", wish=wish()).hiding
    assert "1 earlier contribution(s) have no noise" in " ".join(hiding.in_words())


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ((None, 1e-6, None), "give --epsilon as well"),
        ((None, None, 3.0), "give --epsilon as well"),
        ((0.0, None, None), "epsilon 0 is not between"),
        ((3.0, 0.1, None), "delta 0.1 is not between"),
        ((3.0, None, 0.0), "--budget 0 is not above 0"),
        ((3.0, None, float("nan")), "--budget nan is not above 0"),
    ],
)
def test_a_wish_that_is_none_is_refused(settings, why):
    with pytest.raises(PrivacyError, match=why):
        wish_of(*settings)


def test_rows_are_not_hidden_and_shown(place):
    with pytest.raises(PrivacyError, match="--epsilon hides every row, and --rows-may-be-seen"):
        made(place, wish=wish(), rows_may_be_seen=True)


def test_a_plan_without_bounds_is_refused_before_anything_is_read(place):
    plan = signed_plan(a_plan(feature_bound=None))
    with pytest.raises(PrivacyError, match="does not say how long a row's features can be"):
        prepared(plan, place / "no-such.csv", place / "home", wish=wish())


def test_a_budget_file_that_is_damaged_is_said(place):
    (place / "home" / BUDGET_FILE).write_text("{")
    with pytest.raises(PrivacyError, match="your privacy budget cannot be read"):
        made(place, wish=wish())


def test_the_command_says_what_it_costs(place, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(place / "home"))
    (place / "plan.json").write_bytes(PLAN.document.content)
    words = ["contribute", "plan.json", "--data", "mine.csv", "--out", "north.contribution"]
    words += ["--yes", "--trust", OPERATOR.public.fingerprint, "--epsilon", "3", "--budget", "5"]
    done = fairpool(*words, cwd=place)
    assert done.returncode == 0, done.stderr
    assert "Noise hides each row: with epsilon 3, delta 1e-06" in done.stdout
    assert "nats" in done.stdout
    assert "(their number has noise, too: " in done.stdout
    done = fairpool(
        *words[:3],
        "more.csv",
        "--out",
        "2.contribution",
        "--yes",
        "--json",
        "--epsilon",
        "1",
        cwd=place,
    )
    assert json.loads(done.stdout)["hiding"]["epsilon_in_all"] > 3
    write_table(place / "most.csv", rows_of(900))
    done = fairpool(
        *words[:3], "most.csv", "--out", "3.contribution", "--yes", "--epsilon", "5", cwd=place
    )
    assert done.returncode == 2
    assert "your budget is 5" in done.stderr
    assert not (place / "3.contribution").exists()


def test_noise_is_not_forgotten(place):
    rows = rows_of(700)
    write_table(place / "mine.csv", rows[:400])
    write_table(place / "more.csv", rows)
    made(place, out="1.contribution", wish=wish())
    with pytest.raises(PrivacyError, match=r"noise hides these rows.*--without-noise"):
        made(place, table="more.csv", replace=True)
    with pytest.raises(PrivacyError, match=r"noise hides these rows"):
        made(place, OTHER, table="more.csv")
    assert made(place, table="more.csv").file.manifest.rows == 300  # rows that none hides
    meant = made(place, table="more.csv", replace=True, without_noise=True)
    assert meant.file.manifest.privacy is None
    with pytest.raises(PrivacyError, match="asks for noise, and --without-noise for none"):
        made(place, table="more.csv", wish=wish(), without_noise=True)


def test_nothing_without_noise_is_within_a_budget(place):
    made(place, out="1.contribution", wish=wish(budget=4.0))
    with pytest.raises(PrivacyError, match=r"you have set a budget.*--without-noise"):
        made(place, table="more.csv")


def test_hardly_any_noise_does_not_hide_a_row_among_few(place):
    write_table(place / "one.csv", rows_of(1))
    with pytest.raises(ContributionError, match=r"1 row\(s\), and a contribution needs"):
        made(place, table="one.csv", wish=wish(50.0))
    assert made(place, table="one.csv", wish=wish(10.0)).file.manifest.is_hidden
    many = made(place, wish=wish(50.0)).file
    assert not many.manifest.is_hidden
    arrive(many.to_bytes(), "north", plan=PLAN, sender=NORTH)
    few = noisy_file(PLAN, a_contribution(PLAN, rows=1), 50.0, name="North", seed=0)
    with pytest.raises(ContributionError, match=r"row.*and needs"):
        arrive(few.to_bytes(), "north", plan=PLAN, sender=NORTH)
