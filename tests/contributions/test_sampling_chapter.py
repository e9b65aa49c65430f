"""docs/sampling.md and the code must agree, and the chapter's identities must hold."""

import ast
import importlib
import inspect
import re
from dataclasses import fields, is_dataclass
from math import lcm
from pathlib import Path

import numpy as np
import pytest

import fairpool as fp
from fairpool.contributions import complements, middle_sizes, sampling
from fairpool.contributions.bands import Bands, Sample
from fairpool.contributions.complements import PairTask, SizeProbabilities
from fairpool.contributions.estimates import Marginals, widening
from fairpool.contributions.surrogate import FOLDS, Surrogate
from fairpool.contributions.terms import Terms, additive_contrast
from tests.support import oracles
from tests.support.coalitions_by_size import all_coalitions, all_of_size, contrasts_over_all

ROOT = Path(__file__).parent.parent.parent
CHAPTER = (ROOT / "docs/sampling.md").read_text()
NAMES = sorted(set(re.findall(r"`([^`]+)`", CHAPTER)))
CONSTANTS = re.findall(r"^\| `([A-Z0-9_]+)` \| (\S+) \| [^|]+ \|$", CHAPTER, re.M)

ROOM = "fairpool.contributions"
MODULES = {
    name: importlib.import_module(f"{ROOM}.{name}")
    for name in (
        "estimates",
        "bands",
        "terms",
        "surrogate",
        "middle_sizes",
        "sampling",
        "complements",
    )
}


def defined_in(module):
    """The names that a module itself gives to functions, classes and constants."""
    names = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names.extend(target.id for target in node.targets)
    return names


DEFINED = {name: defined_in(module) for name, module in MODULES.items()}


def has(thing, attribute):
    if is_dataclass(thing) and attribute in [field.name for field in fields(thing)]:
        return True
    return hasattr(thing, attribute)


def exists(name):
    """Whether what the chapter names is there; a plain name must be that of one module only."""
    if "/" in name:
        path, _, test = name.partition("::")
        return (ROOT / path).is_file() and f"def {test}(" in (ROOT / path).read_text() + "def ("
    name = name.removeprefix(f"{ROOM}.")
    if name in MODULES or name == ROOM:
        return True
    first, _, rest = name.partition(".")
    if first in MODULES:
        homes, first, rest = [first], *rest.partition(".")[::2]
    else:
        homes = [module for module in MODULES if first in DEFINED[module]]
    if len(homes) != 1 or first not in DEFINED[homes[0]]:
        return False
    return not rest or has(getattr(MODULES[homes[0]], first), rest)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_chapter_names_exists(name):
    assert exists(name)


@pytest.mark.parametrize(
    "name",
    ["no_such_function", "estimate", "sampling.no_such", "Marginals.no_such", "docs/no_such.md"],
)
def test_what_does_not_exist_or_is_ambiguous_would_be_found(name):
    assert not exists(name)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_chapter(module):
    named = {name.removeprefix(f"{module}.").partition(".")[0] for name in NAMES}
    missing = [name for name in DEFINED[module] if not name.startswith("_") and name not in named]
    assert missing == []


@pytest.mark.parametrize("module", MODULES)
def test_every_module_points_to_the_chapter(module):
    assert "docs/sampling.md" in MODULES[module].__doc__


def test_the_chapters_constants_have_their_values_and_none_is_missing():
    values = {}
    for module, names in DEFINED.items():
        values |= {name: getattr(MODULES[module], name) for name in names if name.isupper()}
    assert {name: float(value) for name, value in CONSTANTS} == values


def random_table(n, seed):
    """Values of any sign, of nobody as well: the identities need no property of a game."""
    return np.random.default_rng(seed).standard_normal(2**n)


def values_of(v, coalitions):
    return v[coalitions @ (1 << np.arange(coalitions.shape[1]))]


@pytest.mark.parametrize("n", [2, 3, 5, 6])
def test_shapley_values_are_sums_of_contrasts_by_size(n):
    v = random_table(n, n)
    game = fp.TableGame(v)
    phi = np.full(n, (v[-1] - v[0]) / n)
    for size in range(1, n):
        coalitions = all_of_size(n, size)
        values = values_of(v, coalitions)
        contrasts = contrasts_over_all(coalitions, values)
        sampled = middle_sizes._sampled_contrasts(
            values, memberships=coalitions, shares=np.full(len(values), size / n)
        )
        np.testing.assert_allclose(sampled.mean(axis=0), contrasts, rtol=1e-9)
        np.testing.assert_allclose(sampled.sum(axis=1), 0, atol=1e-9)
        if size == 1:
            np.testing.assert_allclose(additive_contrast(game.alone), contrasts, rtol=1e-9)
        if size == n - 1:
            last = Marginals.of(game).last
            np.testing.assert_allclose(additive_contrast(last), contrasts, rtol=1e-9)
        phi += contrasts / n
    np.testing.assert_allclose(phi, oracles.shapley(v), rtol=1e-9)


def every_coalition(v, bands):
    """A sample of all coalitions of the middle sizes, in which every size is as frequent."""
    n = len(v).bit_length() - 1
    by_size = [all_of_size(n, size) for size in range(2, n - 1)]
    frequency = lcm(*(len(coalitions) for coalitions in by_size))
    repeated = [np.tile(c, (frequency // len(c), 1)) for c in by_size]
    memberships = np.concatenate(repeated)
    assert len(memberships) == frequency * bands.widths.sum()
    return Sample(memberships=memberships, values=values_of(v, memberships))


@pytest.mark.parametrize("most_bands", [1, 40])
@pytest.mark.parametrize("samples", [0, 10**6])
def test_the_mean_is_the_contrast_whatever_the_surrogates_coefficients(most_bands, samples):
    n = 6
    v = random_table(n, 0)
    game = fp.TableGame(v)
    marginals = Marginals.of(game)
    bands = Bands.of(n, most_bands)
    terms = Terms.of(marginals, bands, samples)
    coefficients = np.random.default_rng(1).standard_normal(terms.count)
    surrogate = Surrogate(terms, np.tile(coefficients, (FOLDS, 1)))
    strata = middle_sizes._strata(every_coalition(v, bands), bands, surrogate)
    phi = sampling._known_contributions(game, marginals) + strata.contributions
    np.testing.assert_allclose(phi, oracles.shapley(v), rtol=1e-9)


def test_a_single_round_is_unbiased():
    """Fitted to its own samples too, the surrogate would put party 0 off by 15 such errors."""
    n, seeds = 6, 400
    party_0 = np.arange(2**n) & 1
    game = fp.TableGame(3 * party_0 + 0.3 * random_table(n, 3))
    least = sampling.fewest_evaluations(n)
    estimates = np.array(
        [fp.shapley(game, "sampled", seed, evaluations=least).values for seed in range(seeds)]
    )
    off = estimates.mean(axis=0) - fp.shapley(game, "exact").values
    assert (np.abs(off) < 4 * estimates.std(axis=0) / np.sqrt(seeds)).all()


def test_no_allocation_at_the_same_cost_has_a_smaller_variance():
    rng = np.random.default_rng(0)
    variances, costs = rng.exponential(size=(12, 5)), rng.uniform(1, 9, 12)
    smooth = middle_sizes._mean_of_neighbours(variances).mean(axis=1)

    def variance(proportion):
        samples = proportion / (costs @ proportion)
        return (smooth / samples).sum()

    priorities = middle_sizes._priorities(variances, costs)
    for _ in range(200):
        other = priorities * np.exp(rng.normal(scale=0.05, size=12))
        assert variance(priorities) < variance(other)


def test_the_banzhaf_index_is_twice_a_coefficient_of_the_half_differences():
    n = 5
    v = random_table(n, 0)
    coalitions = all_coalitions(n)
    signs = np.where(coalitions, 1.0, -1.0)
    half_differences = (values_of(v, coalitions) - values_of(v, ~coalitions)) / 2
    index = oracles.banzhaf(v)
    np.testing.assert_allclose(2 * signs.T @ v / 2**n, index, rtol=1e-9)
    np.testing.assert_allclose(2 * signs.T @ half_differences / 2**n, index, rtol=1e-9)
    terms = complements._terms(coalitions, fp.TableGame(v).alone)
    fit = complements._fit(terms, half_differences, np.ones(2**n))
    np.testing.assert_allclose(2 * fit.coefficients[:n], index, rtol=1e-9)


def test_cubic_terms_have_no_linear_part():
    n = 6
    signs = np.where(all_coalitions(n), 1.0, -1.0)
    weights = np.random.default_rng(0).standard_normal(n)
    cubic = complements._cubic(signs, weights)
    assert np.abs(cubic).max() > 0.1
    np.testing.assert_allclose(signs.T @ cubic / 2**n, 0, atol=1e-12)


def test_weights_undo_how_sizes_were_drawn():
    n, draws = 7, 20_000
    v = random_table(n, 0)
    coalitions = all_coalitions(n)
    probabilities = SizeProbabilities.of(n)
    sizes = coalitions.sum(axis=1)
    of_this_size = np.bincount(sizes)[sizes]
    chance = probabilities.among_drawn[sizes] / of_this_size
    assert chance.sum() == pytest.approx(1)
    weights = probabilities.weights(coalitions)
    assert weights.max() <= 1 / (1 - complements.EVENLY)
    assert chance @ (weights * v) == pytest.approx(v.mean())
    drawn = complements.coalitions(n, PairTask(seed=0, first=0, pairs=draws)).sum(axis=1)
    expected = draws * probabilities.among_drawn
    assert (np.abs(np.bincount(drawn) - expected) < 4 * np.sqrt(expected)).all()


def test_errors_come_from_fits_that_leave_each_sample_out():
    rng = np.random.default_rng(0)
    samples, count = 40, 5
    terms, differences = rng.standard_normal((samples, count)), rng.standard_normal(samples)
    weights = rng.uniform(0.5, 2, samples)
    rows, right = terms * np.sqrt(weights)[:, None], differences * np.sqrt(weights)
    influence = rows @ np.linalg.inv(rows.T @ rows)
    variances = np.zeros(count)
    for sample in range(samples):
        others = np.arange(samples) != sample
        coefficients = np.linalg.lstsq(rows[others], right[others], rcond=None)[0]
        variances += influence[sample] ** 2 * (right[sample] - rows[sample] @ coefficients) ** 2
    fit = complements._fit(terms, differences, weights)
    expected = np.sqrt(variances) * widening(samples - count)
    np.testing.assert_allclose(fit.coefficients, influence.T @ right, rtol=1e-9)
    np.testing.assert_allclose(fit.standard_errors, expected, rtol=1e-9)
