"""A whole collaboration as a file: all of it comes back, and what is wrong is refused."""

import json
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import fairpool as fp
from fairpool.archive.file import ABOUT, ENTRY
from fairpool.contributions.concept import Concept, Words
from fairpool.errors import RewardFileError
from fairpool.realisation.tensor_file import NUMBERS_AND_BYTES, metadata_of, packed, unpacked
from tests.support.examples import MODELS, P, make_parties
from tests.support.projects import fairpool

SAVEABLE = [name for name in MODELS if name != "blr-wide"]
X_STAR = np.random.default_rng(9).standard_normal((6, P))


def saved(result, folder):
    result.save(folder / "all.fairpool")
    return fp.load_collaboration(folder / "all.fairpool")


def class_parties(rng, sizes=(30, 40, 25)):
    parties = []
    for i, size in enumerate(sizes):
        X = rng.normal(size=(size, P))
        parties.append(fp.Party(f"p{i}", X, (X[:, 0] > 0.1 * i).astype(float)))
    return parties


def assert_the_same(again, result):
    assert type(again) is type(result)
    assert again.game.names == result.game.names
    assert again.game.rows == result.game.rows
    assert repr(again) == repr(result)
    assert again.to_dict() == result.to_dict()
    assert again.incentives == result.incentives
    assert again.notes == result.notes
    assert (again.rho, again.asked) == (result.rho, result.asked)
    for name in ("rewards", "kept", "most"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    for other, model in zip(again.models, result.models, strict=True):
        for found, known in zip(other.predict(X_STAR), model.predict(X_STAR), strict=True):
            np.testing.assert_allclose(found, known, rtol=1e-12)
        assert other.known_noise == model.known_noise
        assert other.covariance_price == model.covariance_price
        assert other.exposure == model.exposure


@pytest.mark.parametrize("name", SAVEABLE)
def test_all_of_it_comes_back(name, tmp_path):
    result = fp.collaborate(make_parties([25, 18, 30], 1), MODELS[name], rho=0.5, rng=0)
    again = saved(result, tmp_path)
    assert_the_same(again, result)
    np.testing.assert_array_equal(again.game.values(), result.game.values())
    # And it goes on from there: other rewards, other models.
    np.testing.assert_allclose(again.scheme.rewards(0.3), result.scheme.rewards(0.3), rtol=1e-12)
    rewards = again.scheme.rewards(0.7)
    for one, other in zip(
        fp.realise(again.game, rewards, 3), fp.realise(result.game, rewards, 3), strict=True
    ):
        np.testing.assert_allclose(one.predict(X_STAR), other.predict(X_STAR), rtol=1e-9)


def test_what_needs_rows_can_still_be_asked(tmp_path):
    result = fp.collaborate(make_parties([25, 18, 30], 1), MODELS["sparse"], rho=0.5, rng=0)
    again = saved(result, tmp_path)
    np.testing.assert_allclose(again.residuals, result.residuals, rtol=1e-9)
    for one, other in zip(again.against_alone, result.against_alone, strict=True):
        found, known = one.own_rows.log_density, other.own_rows.log_density
        assert found.difference == pytest.approx(known.difference, rel=1e-9)
    again.report(tmp_path / "report.html")
    assert "p1" in (tmp_path / "report.html").read_text()


def test_classes_come_back(tmp_path):
    model = fp.Classifier(fp.SparseGaussianProcess(MODELS["sparse"].kernel, 0.1, X_STAR), 2)
    result = fp.collaborate(class_parties(np.random.default_rng(0)), model, rho=0.5, rng=0)
    assert_the_same(saved(result, tmp_path), result)


def test_sums_come_back(tmp_path):
    model = MODELS["fourier"]
    parties = make_parties([40, 30, 50], 1)
    sums = [model.summarise(parties[0]), parties[1], model.summarise(parties[2])]
    result = fp.collaborate(sums, model, rho=0.5, rng=0)
    assert_the_same(saved(result, tmp_path), result)


def test_sums_of_classes_come_back(tmp_path):
    model = fp.Classifier(MODELS["blr"], 2)
    parties = class_parties(np.random.default_rng(0))
    result = fp.collaborate([model.summarise(p) for p in parties], model, rho=0.5, rng=0)
    assert_the_same(saved(result, tmp_path), result)


@pytest.mark.parametrize(
    "noise", [None, 0.3, np.where(np.arange(25) % 3 == 0, np.inf, 0.4)], ids=["-", "one", "rows"]
)
def test_noise_and_names_of_columns_come_back(noise, tmp_path):
    first, second = make_parties([25, 18], 1)
    names = ["a", "b & <i>", "c"]
    parties = [
        fp.Party(first.name, pd.DataFrame(first.X, columns=names), first.y, noise),
        fp.Party(second.name, pd.DataFrame(second.X, columns=names), second.y),
    ]
    again = saved(fp.collaborate(parties, MODELS["blr"], rho=0.5, rng=0), tmp_path)
    party = again.game.pool.parties[0]
    np.testing.assert_array_equal(party.X, first.X)
    np.testing.assert_array_equal(party.y, first.y)
    np.testing.assert_array_equal(party.noise_variance, noise)
    assert party.columns == tuple(names)


def test_sampled_contributions_come_back(tmp_path):
    parties = make_parties([3, 5] * 10, 1)
    result = fp.collaborate(parties, MODELS["blr"], rho="stable", evaluations=2000, rng=0)
    assert not result.game.tabulated
    again = saved(result, tmp_path)
    assert not again.game.tabulated
    np.testing.assert_array_equal(
        again.contributions.standard_errors, result.contributions.standard_errors
    )
    assert again.contributions.method == "sampled"
    np.testing.assert_allclose(again.game.alone, result.game.alone, rtol=1e-12)


def test_a_model_that_must_not_be_handed_out_still_must_not(tmp_path):
    result = fp.collaborate(make_parties([25, 4, 30], 1), MODELS["blr"], rho=0.5, rng=0)
    again = saved(result, tmp_path)
    with pytest.raises(RewardFileError, match="has noise from an rng that you gave"):
        again.models[0].save(tmp_path / "r")
    with pytest.raises(RewardFileError, match='party "p1" has 4 distinct'):
        again.models[0].save(tmp_path / "r", known_noise=True)
    assert not (tmp_path / "r").exists()


def test_the_file_is_for_this_user_alone_and_says_what_is_in_it(tmp_path):
    result = fp.collaborate(make_parties([25, 18], 1), MODELS["blr"], rho=0.5, rng=0)
    for name in ("a", "b"):
        result.save(tmp_path / name)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    said = json.loads(metadata_of((tmp_path / "a").read_bytes())[ENTRY])
    assert said["about"] == ABOUT
    assert "For the operator alone" in said["about"]


def own_concept():
    def equal(game, **settings):
        return fp.standalone(game)

    words = Words(letter="the same for all", glossary="The same.", from_values="by law")
    return Concept(name="equal", measure=equal, words=words)


def test_what_no_file_can_hold_is_refused_with_the_reason(tmp_path):
    parties = make_parties([25, 18], 1)
    by_law = fp.collaborate(parties, MODELS["blr"], contributions=own_concept(), rng=0)
    code = fp.collaborate(parties, MODELS["blr-wide"], rng=0)
    result = fp.collaborate(parties, MODELS["blr"], rng=0)
    drawn = replace(result, models=fp.realise(result.game, result.rewards, 1, draws=3))
    other = replace(result, models=fp.collaborate(parties, MODELS["gp"], rng=0).models)
    for refused, words in (
        (by_law, 'contributions by "equal", a concept of your own, cannot be saved'),
        (code, "a feature map of type PolynomialFeatures cannot be put into a file"),
        (drawn, "is for evaluation"),
        (other, "is of another model than the values"),
    ):
        with pytest.raises(RewardFileError, match=words):
            refused.save(tmp_path / "all")
    assert [*tmp_path.iterdir()] == []


class Stranger(fp.Party):
    """A way to take part that fairpool does not know."""


def test_a_way_to_take_part_that_no_file_knows_is_refused(tmp_path):
    first, second = make_parties([25, 18], 1)
    stranger = Stranger(first.name, first.X, first.y)
    result = fp.collaborate([stranger, second], MODELS["blr"], rng=0)
    with pytest.raises(RewardFileError, match='party "p0" takes part by Stranger, which cannot'):
        result.save(tmp_path / "all")


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    result = fp.collaborate(make_parties([25, 18, 30], 1), MODELS["blr"], rho=0.5, rng=0)
    file = tmp_path_factory.mktemp("archive") / "all"
    result.save(file)
    return file.read_bytes()


def load(content, folder):
    (folder / "x").write_bytes(content)
    return fp.load_collaboration(folder / "x")


def rewritten(content, change):
    """The file with a change that whoever wrote it could have made: with a hash that is right."""
    described, tensors = unpacked(content, ENTRY, "x", what="it", kinds=NUMBERS_AND_BYTES)
    del described["sha256"]
    tensors = {name: np.array(tensor) for name, tensor in tensors.items()}
    change(described, tensors)
    return packed(ENTRY, described, tensors)


def test_a_file_rewritten_without_a_change_is_the_same(content):
    assert rewritten(content, lambda d, t: None) == content


def replaced(name, value):
    return lambda d, t: t.update({name: np.asarray(value)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d, t: d.update(version=2), "it has version 2, this fairpool reads version 1"),
        (lambda d, t: d.update(extra=1), r"it lacks an entry, or has another: \['extra'\]"),
        (lambda d, t: d.pop("rho"), r"it lacks an entry, or has another: \['rho'\]"),
        (lambda d, t: d.update(rho=1.5), r"rho 1\.5 is outside 0 \.\. 1"),
        (lambda d, t: d.update(asked="free"), "rho 'free' is none of fair, rational"),
        (lambda d, t: d.update(parties=d["parties"][:2]), "who are not the parties"),
        (lambda d, t: d.update(parties=None), "not a usable collaboration"),
        (lambda d, t: d.update(models=[]), "who are not the parties"),
        (lambda d, t: d["parties"][0].update(name="p9"), "who are not the parties"),
        (lambda d, t: d["parties"][0].update(kind="x"), "no kind of party 'x' is known"),
        (lambda d, t: d["parties"][0].update(columns=["a"]), "it names 1 columns of an array"),
        (lambda d, t: d["parties"][0].update(noise_variance=-1), "is not above 0"),
        (lambda d, t: t.pop("party.1.X"), r"it lacks 'party\.1\.X'"),
        (lambda d, t: t.pop("rewards"), "it lacks rewards"),
        (lambda d, t: t.pop("model.0"), r"it lacks 'model\.0'"),
        (replaced("values", np.zeros(4)), r"it has values of shape \(4,\) for 3 parties"),
        (replaced("values", np.ones(8)), r"it has values of shape \(8,\) for 3 parties"),
        (replaced("values", np.array([0, 1, 2, 3, 4, 5, 6, 0.5])), "from 0 to 6; they lie between"),
        (replaced("values", np.array([0, 1, -1, 3, 4, 5, 6, 7.0])), "from -1 to 7; they lie betw"),
        (replaced("values", np.full(8, np.nan)), '"values" has values that are not finite'),
        (replaced("rewards", np.zeros(2)), r"rewards of shape \(2,\) is not a number for each"),
        (replaced("contributions", np.zeros(2)), r"it has \(2,\) contributions of 3 parties"),
        (replaced("more", np.zeros(2)), "it has the unknown array 'more'"),
        (replaced("model.1", np.zeros(8, np.uint8)), "model 1: not a reward file, or cut short"),
        (replaced("model.1", np.zeros(8)), "model 1 is no file"),
        (replaced("party.0.X", np.zeros((25, 2))), "has 3 columns but party|has 2"),
        (replaced("party.0.y", np.zeros(3)), "X has 25 rows but y has 3 labels"),
        (
            replaced("model.0.trained_factor.0", np.zeros((2, 2))),
            r"of shape \(2, 2\) does not fit its model",
        ),
        (lambda d, t: d["incentives"][0].update(holds="yes"), "'yes' is none of True, False, None"),
        (lambda d, t: d["contributions"].update(concept="x"), "no concept 'x' is known"),
        (lambda d, t: d["models"][0].update(known_noise=0), "known_noise 0 must be true or false"),
        (lambda d, t: d["models"][0]["exposure"].update(hidden=1), "hidden 1 must be true or"),
        (lambda d, t: d["models"][0]["exposure"].update(weights=1.5), "weights 1.5 is not a whole"),
        (
            lambda d, t: d["notes"].append({"code": 1, "party": None}),
            "1 is not a name",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused(change, words, content, tmp_path):
    with pytest.raises(RewardFileError, match=words):
        load(rewritten(content, change), tmp_path)


def test_a_file_that_was_edited_is_refused(content, tmp_path):
    rho = rb"\"rho\":0."  # a text within a text
    edited = content.replace(rho + b"5", rho + b"4")
    assert edited != content
    with pytest.raises(RewardFileError, match="it was edited, or damaged"):
        load(edited, tmp_path)
    numbers = bytearray(content)
    numbers[-5] ^= 1
    with pytest.raises(RewardFileError, match="it was edited, or damaged"):
        load(bytes(numbers), tmp_path)


@pytest.mark.parametrize("length", [0, 7, 100, 5000])
def test_a_file_that_was_cut_short_is_refused(length, content, tmp_path):
    with pytest.raises(RewardFileError, match="not a saved collaboration, or cut short"):
        load(content[:length], tmp_path)


def test_other_files_are_refused(tmp_path):
    parties = make_parties([30, 30], 1)
    fp.collaborate(parties, MODELS["blr"]).models[0].save(tmp_path / "r.safetensors")
    with pytest.raises(RewardFileError, match="a safetensors file, but not of a fairpool collab"):
        fp.load_collaboration(tmp_path / "r.safetensors")
    with pytest.raises(RewardFileError, match="there is no such file"):
        fp.load_collaboration(tmp_path / "nothing")
    with pytest.raises(RewardFileError, match="not a saved collaboration"):
        fp.load_collaboration(tmp_path)
    fp.collaborate(parties, MODELS["blr"]).save(tmp_path / "all")
    with pytest.raises(RewardFileError, match="not of a fairpool reward"):
        fp.load_reward(tmp_path / "all")


def test_inspect_says_what_it_is(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    done = fairpool("inspect", tmp_path / "x")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "collaboration of: p0, p1, p2" in said
    assert "every party's rows or sums" in said
    assert "For the operator alone" in said
    plain = json.loads(fairpool("inspect", tmp_path / "x", "--json").stdout)
    assert plain["parties"] == ["p0", "p1", "p2"]
    assert plain["rho"] == 0.5
    (tmp_path / "x").write_bytes(content[:-1] + b"x")
    assert "was edited, or damaged" in fairpool("inspect", tmp_path / "x").stderr
