"""Rows or sums over them: the same values, rewards, verdicts and models."""

import numpy as np
import pyarrow as pa
import pytest

import fairpool as fp
from tests.support.projects import reward_file
from tests.support.sums import MODELS, NAMES, Case, classes, numbers

EXACT = 1e-9
SIZES = (240, 180, 210)
CASES = [
    pytest.param(kind, of_classes, id=f"{kind}-{'classes' if of_classes else 'numbers'}")
    for kind in MODELS
    for of_classes in (False, True)
]


def tables(*, of_classes=False):
    make = classes if of_classes else numbers
    return {
        name: make(rows, seed, 0.4 * seed)
        for seed, (name, rows) in enumerate(zip(NAMES, SIZES, strict=True))
    }


def figures(done):
    """All that a round says in numbers and that has nothing to do with the noise it draws."""
    result = done.collaboration
    return {
        "values": result.game.values(),
        "contributions": result.contributions.values,
        "rewards": result.rewards,
        "rho_r and rho_s": [result.scheme.rho_rational, result.scheme.rho_stable],
        "worth": [model.value for model in result.models],
        "evidence": [[one.phi, one.expected, one.noise_factor] for one in done.evidence.parties],
    }


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """The first round of a case, with some parties' rows and the others' sums; each once."""
    known = {}

    def of(kind, of_classes, by_sums, **more):
        key = (kind, of_classes, by_sums, *sorted(more.items()))
        if key not in known:
            case = Case(
                folder=tmp_path_factory.mktemp(kind),
                tables=tables(of_classes=of_classes),
                kind=kind,
                classes=of_classes,
                by_sums=by_sums,
                **more,
            )
            case.planned()
            known[key] = case, case.next_round()
        return known[key]

    return of


@pytest.mark.parametrize("by_sums", [NAMES, NAMES[:1]], ids=["all", "one"])
@pytest.mark.parametrize(("kind", "of_classes"), CASES)
def test_sums_give_what_rows_give(kind, of_classes, by_sums, rounds):
    _, by_rows = rounds(kind, of_classes, ())
    _, with_sums = rounds(kind, of_classes, by_sums)
    expected, found = figures(by_rows), figures(with_sums)
    for what, figure in expected.items():
        np.testing.assert_allclose(found[what], figure, rtol=EXACT, atol=EXACT, err_msg=what)
    one, other = by_rows.collaboration.incentives, with_sums.collaboration.incentives
    assert [str(verdict) for verdict in one] == [str(verdict) for verdict in other]
    verdicts = [one.verdict for one in by_rows.evidence.parties]
    assert verdicts == [one.verdict for one in with_sums.evidence.parties]


@pytest.mark.parametrize(("kind", "of_classes"), CASES)
def test_a_model_made_of_sums_is_worth_its_reward_and_predicts_tables(kind, of_classes, rounds):
    case, done = rounds(kind, of_classes, NAMES)
    game = done.collaboration.game
    between = []
    for i, name in enumerate(NAMES):
        reward = fp.load_reward(reward_file(case.folder, name))
        written = reward.posterior.worth
        np.testing.assert_allclose(written, done.collaboration.rewards[i], rtol=0, atol=EXACT)
        between.append(game.alone[i] + 0.2 < written < game.total - 0.2)
        check_predictions(reward, case.tables[name], of_classes=of_classes)
    assert any(between)  # so that noise was there to be right


def check_predictions(reward, table, *, of_classes):
    """Better than saying the same of every row."""
    mean, variance = reward.predict_table(table)
    y = reward.encoding.encode_target(table)
    assert (variance > 0).all()
    if of_classes:
        assert (mean.argmax(axis=1) == y).mean() > 0.6
    else:
        labels, _ = reward.encoding.target.decode(y, np.zeros(len(y)))
        assert np.mean((mean - labels) ** 2) < 0.8 * np.var(labels)


def numbers_of(done, table):
    """All numbers of rows, as they came, encoded, and as features; none that has few digits."""
    encoding, model = done.preparation.encoding, done.built.model
    X, y = encoding.encode(table), encoding.encode_target(table)
    is_classifier = hasattr(model, "features_of_classes")
    features = model.features_of_classes(X) if is_classifier else [model.whitened_features(X)]
    raw = [table[name].to_numpy() for name in ("x", "z", "y") if table[name].type == pa.float64()]
    every = np.concatenate([np.ravel(array) for array in (X, y, *raw, *features)])
    words = np.unique(every.view(np.uint64))
    return words[words & np.uint64(0xFFFFFF) != 0]


def has_any(content, words):
    """Whether any of these numbers stands somewhere in a file, from whichever byte on."""
    for start in range(8):
        there = np.frombuffer(content[start : len(content) - (len(content) - start) % 8], "<u8")
        if np.isin(there, words).any():
            return True
    return False


@pytest.mark.parametrize(("kind", "of_classes"), [("sparse_gp", False), ("blr", True)])
def test_no_number_of_a_row_is_in_anything_that_others_have(kind, of_classes, rounds):
    case, done = rounds(kind, of_classes, NAMES)
    # What the operator has, and every party's letter and reward.
    paths = [path for path in sorted(case.folder.rglob("*")) if path.is_file()]
    paths = [path for path in paths if path.suffix != ".html" or "parties" in path.parts]
    assert sum(path.name == "reward.safetensors" for path in paths) == 3
    assert sum(path.suffix == ".contribution" for path in paths) == 3
    words = [numbers_of(done, table) for table in case.tables.values()]
    assert all(len(of_party) > 300 for of_party in words)
    words = np.concatenate(words)
    for path in paths:
        assert not has_any(path.read_bytes(), words), path
    # Where rows were sent, some are kept, and so they could have been found.
    by_rows, _ = rounds(kind, of_classes, ())
    kept = (by_rows.folder / ".fairpool" / "kept").iterdir()
    assert any(has_any(path.read_bytes(), words) for path in kept)
