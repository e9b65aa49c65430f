"""[valuation] contributions: each concept from collaboration.toml to the letter."""

import html
import json

import numpy as np
import pytest

import fairpool as fp
from fairpool.compute.workers import Workers
from fairpool.consortium.request import RunRequest
from fairpool.consortium.run import run
from fairpool.contributions import CONCEPTS, Concept
from fairpool.contributions.contributions import exactly
from tests.support.examples import make_parties
from tests.support.projects import fairpool, project, round_folder

LETTERS = {
    "shapley": (
        "what your data add on average, over all orders in which the parties could join (the"
        " Shapley value), "
    ),
    "banzhaf": (
        "what your data add on average, over all groups that the other parties could form (the"
        " Banzhaf index), "
    ),
    "standalone": "what your data are worth by themselves, whatever the other parties have, ",
    "leave_one_out": "what would be lost if your data were left out and all others' stayed, ",
}
TELLS = {
    "standalone": "tell the largest of these values.",
    "leave_one_out": "tell the value of all other parties' data together.",
}


def valuation(**settings):
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    return "\n".join(["[valuation]", *lines])


def page(path):
    return " ".join(html.unescape(path.read_text()).split())


@pytest.mark.parametrize("name", LETTERS)
def test_from_the_file_to_the_letter(tmp_path, name):
    folder = project(tmp_path, extra=valuation(contributions=name))
    done = fairpool("run", folder, "--quiet", "--rho", "rational")
    assert (done.returncode, done.stderr) == (0, "")

    result = json.loads((round_folder(folder) / "operator" / "result.json").read_text())
    request = RunRequest(configuration=folder, rho="rational")
    game = run(request).collaboration.game
    phi = getattr(fp, name)(game)
    assert result["method"] == phi.method
    assert [p["contribution"] for p in result["parties"]] == pytest.approx(phi.values)
    scheme = fp.RewardScheme(game, phi)
    assert [p["reward"] for p in result["parties"]] == pytest.approx(scheme.rewards("rational"))
    verdicts = {v["condition"]: v["holds"] for v in result["incentives"]}
    assert verdicts["R4"] is True
    assert verdicts["F4"] is (True if name in ("shapley", "banzhaf") else None)

    letter = page(round_folder(folder) / "parties" / "Party-1" / "letter.html")
    report = page(round_folder(folder) / "operator" / "report.html")
    assert LETTERS[name] in letter
    assert CONCEPTS[name].words.glossary in report
    assert f"computed from these values: {CONCEPTS[name].words.from_values}." in report
    assert ("Contributions sum to the value of all data." in report) == (name == "shapley")
    for other, words in TELLS.items():
        assert (words in letter) == (other == name)


def many(tmp_path, **settings):
    """A project of 18 parties, more than can be enumerated."""
    return project(tmp_path, extra=valuation(**settings), sizes=(16, 15, 17) * 6)


@pytest.mark.parametrize("name", CONCEPTS)
def test_more_parties_than_can_be_enumerated(tmp_path, name):
    folder = many(tmp_path, contributions=name)
    done = fairpool("run", folder, "--quiet", "--rho", "rational")
    assert done.returncode == 0, done.stderr
    result = json.loads((round_folder(folder) / "operator" / "result.json").read_text())
    naive = name in TELLS
    assert (result["evaluations"] == 0) == naive
    assert all((party["standard_error"] == 0) == naive for party in result["parties"])
    verdicts = {v["condition"]: v["holds"] for v in result["incentives"]}
    assert verdicts["F4"] is verdicts["R5"] is None
    if name == "standalone":
        alone = [party["value"] for party in result["parties"]]
        assert [party["contribution"] for party in result["parties"]] == alone
    letter = page(round_folder(folder) / "parties" / "Party-1" / "letter.html")
    assert LETTERS[name] in letter


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            {"contributions": "shapely"},
            "valuation, contributions: 'shapely' is not a way to measure contributions; did you"
            ' mean "shapley"? There are shapley, banzhaf, standalone, leave_one_out',
        ),
        ({"contributions": 3}, "valuation, contributions: 3 is not allowed; input should be a"),
        (
            {"contributions": "banzhaf", "precision": 0.01},
            'valuation: precision = 0.01 has no meaning for contributions = "banzhaf" (only for'
            " shapley); leave it out",
        ),
        (
            {"contributions": "standalone", "evaluations": 500},
            'valuation: evaluations = 500 has no meaning for contributions = "standalone" (only for'
            " shapley, banzhaf); leave it out",
        ),
        (
            {"contributions": "shapley", "evaluations": 100},
            "valuation, evaluations: 100 are too few for 18 parties; give at least 296",
        ),
        (
            {"contributions": "banzhaf", "evaluations": 100},
            "valuation, evaluations: 100 are too few for 18 parties; give at least 218",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_their_remedy(tmp_path, settings, text):
    done = fairpool("check", many(tmp_path, **settings))
    assert done.returncode == 2
    assert text in " ".join(done.stderr.split())


def test_in_python_settings_that_do_not_fit_are_refused_alike():
    parties = [fp.Party("a", [[0.0], [1.0]], [0.0, 1.0]), fp.Party("b", [[2.0]], [1.0])]
    model = fp.BayesianLinearRegression(0.1)
    with pytest.raises(
        ValueError, match=r'^precision = 0\.1 has no meaning for .* "leave_one_out"'
    ):
        fp.collaborate(parties, model, contributions="leave_one_out", precision=0.1)
    with pytest.raises(ValueError, match="'x' is not a way to measure contributions; there are"):
        fp.collaborate(parties, model, contributions="x")


@pytest.mark.parametrize("name", CONCEPTS)
def test_the_workers_compute_all_values_whether_or_not_the_concept_needs_them(name):
    """Verdicts do, up to 16 parties; they would compute them in this thread, and tell nobody."""
    told = []
    workers = Workers(progress=lambda what, *_: told.append(what))
    model = fp.BayesianLinearRegression(0.1)
    fp.collaborate(make_parties([4] * 9, 0), model, contributions=name, executor=workers)
    assert "valuing coalitions" in told


def nested_parties():
    """One party's rows are nearly among the other's: little is lost without them."""
    X = np.linspace(0, 1, 12)[:, None]
    return [fp.Party("large", X, X[:, 0]), fp.Party("inside", X[3:9] + 1e-3, X[3:9, 0])]


def test_the_remedy_for_a_reward_below_what_a_party_has_is_a_rho_of_its_own_scheme():
    model = fp.BayesianLinearRegression(0.01)
    largest = {}
    for name in ("shapley", "leave_one_out"):
        with pytest.raises(ValueError, match=r'party "inside": .*; use rho <= ') as refused:
            fp.collaborate(nested_parties(), model, rho="fair", contributions=name)
        largest[name] = float(str(refused.value).split("rho <= ")[1].split()[0])
    assert largest["leave_one_out"] < largest["shapley"]
    for name, rho in largest.items():
        result = fp.collaborate(nested_parties(), model, rho=rho, contributions=name)
        assert result.incentives["R4"].holds
        assert rho == pytest.approx(result.scheme.rho_rational, abs=2e-5)


def test_where_valuable_data_count_for_nothing_no_rho_is_promised_to_help():
    def all_to_the_first(game, **_):
        return exactly([game.total, 0.0], "all to the first", own)

    own = Concept(name="first", measure=all_to_the_first, words=CONCEPTS["shapley"].words)
    model = fp.BayesianLinearRegression(0.01)
    with pytest.raises(
        ValueError,
        match=r'party "inside": target 0 is below its own value .* contributes nothing by'
        r' contributions = "first", and receives nothing unless rho = 0; use rho = "welfare"',
    ):
        fp.collaborate(nested_parties(), model, rho=0.1, contributions=own)
    result = fp.collaborate(nested_parties(), model, rho="welfare", contributions=own)
    assert result.incentives["R4"].holds
