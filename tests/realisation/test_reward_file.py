import json
import os
import struct
from contextlib import suppress

import numpy as np
import pytest
from safetensors.numpy import save, save_file
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
)

import fairpool as fp
from fairpool.errors import RewardFileError
from fairpool.realisation.reward_file import decode_reward, read_reward, reward_bytes
from fairpool.realisation.tensor_file import digest
from tests.support.examples import MODELS, P, make_parties

X_STAR = np.random.default_rng(9).standard_normal((6, P))
SAVEABLE = sorted(set(MODELS) - {"blr-wide"})


def rewards(name, sizes=(12, 11, 15)):
    game = fp.InformationGain(MODELS[name], make_parties(sizes, 1))
    return fp.realise(game, [game.total, game.alone[1], (game.alone[2] + game.total) / 2])


@pytest.mark.parametrize("name", SAVEABLE)
def test_a_file_gives_back_the_model(name, tmp_path):
    for k, reward in enumerate(rewards(name)):
        path = tmp_path / f"{k}.safetensors"
        reward.save(path, share_inputs=True)
        loaded = fp.load_reward(path)
        np.testing.assert_allclose(
            loaded.predict(X_STAR), reward.predict(X_STAR), rtol=1e-12, atol=1e-12
        )
        for field in ("party", "target", "value", "eta", "tau", "holds_inputs_of_others"):
            assert getattr(loaded, field) == getattr(reward, field)
        loaded.save(tmp_path / "again", share_inputs=True)
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert len(list(tmp_path.iterdir())) == 4  # no temporary file stays


@pytest.mark.parametrize("name", SAVEABLE)
def test_the_bytes_of_a_file_need_no_disk(name, tmp_path):
    reward = rewards(name)[2]
    content = reward_bytes(reward, share_inputs=True)
    reward.save(tmp_path / "r", share_inputs=True)
    assert read_reward(tmp_path / "r") == content
    decoded = decode_reward(content, "an upload")
    np.testing.assert_array_equal(
        decoded.predict(X_STAR), fp.load_reward(tmp_path / "r").predict(X_STAR)
    )
    assert reward_bytes(decoded, share_inputs=True) == content


def test_what_is_wrong_with_bytes_is_told_under_the_name_that_they_were_given():
    content = reward_bytes(rewards("blr")[0], share_inputs=False)
    for damaged, text in (
        (b"", "not a reward file, or cut short"),
        (content[:-8], "not a reward file, or cut short"),
        (content[:-1] + bytes([content[-1] ^ 1]), "it was edited, or damaged"),
        (save({"x": np.zeros(2)}), "a safetensors file, but not of a fairpool reward"),
        (save({"x": np.zeros(2, np.float32)}, {"fairpool": "{}"}), 'tensor "x" is F32, needs F64'),
        (save({"x": np.zeros(2)}, {"fairpool": "[]"}), "its description is not a JSON object"),
    ):
        with pytest.raises(RewardFileError, match=f"^an upload: .*{text}"):
            decode_reward(damaged, "an upload")


@pytest.mark.parametrize(
    "kernel",
    [
        ConstantKernel(2.0) * (RBF([1.0, 2.0, 3.0]) + Matern(0.7, nu=2.5)),
        RationalQuadratic(1.5, 0.7) ** 2 + DotProduct(0.3),
        RBF(1.0) * DotProduct(1.0) + ExpSineSquared(9.0, 3.0),
    ],
)
def test_every_kernel_expression_survives(kernel, tmp_path):
    game = fp.InformationGain(fp.GaussianProcess(kernel, 0.2), make_parties([5, 6], 0))
    reward = fp.realise(game, [game.total] * 2)[0]
    reward.save(tmp_path / "r", share_inputs=True)
    np.testing.assert_allclose(
        fp.load_reward(tmp_path / "r").predict(X_STAR), reward.predict(X_STAR), rtol=1e-12
    )


def test_others_inputs_leave_only_by_agreement(tmp_path):
    best, own, _ = rewards("gp")
    with pytest.raises(ValueError, match='the reward of "p0" contains other parties\' inputs'):
        best.save(tmp_path / "r")
    assert not list(tmp_path.iterdir())
    own.save(tmp_path / "own")  # its own rows are its own
    rewards("blr")[0].save(tmp_path / "blr")
    parties = make_parties([12, 9, 15], 1)
    for U, refused in ((parties[2].X[:4], True), (parties[2].X[:4] + 0.01, False)):
        game = fp.InformationGain(fp.SparseGaussianProcess(RBF(), 0.1, U), parties)
        sparse = fp.realise(game, [game.total] * 3, 0)
        assert [r.holds_inputs_of_others for r in sparse] == [refused, refused, False]


@pytest.mark.parametrize("year", [0.0, 2020.0])
def test_attack_a_constant_column_does_not_hide_whose_rows_are_inducing_points(year):
    """A constant has no deviation to compare rows by; it once made every distance nan."""
    parties = []
    for party in make_parties([12, 15], 1):
        X = np.column_stack([party.X, np.full(len(party), year)])
        parties.append(fp.Party(party.name, X, party.y))
    model = fp.SparseGaussianProcess(RBF(), 0.1, parties[1].X[:4])
    game = fp.InformationGain(model, parties)
    reward = fp.realise(game, [game.total] * 2)[0]
    with pytest.raises(ValueError, match="contains other parties' inputs"):
        reward_bytes(reward, share_inputs=False)


def test_a_file_holds_no_value_or_name_of_another_party(tmp_path):
    canary = np.array([[123.456789, -98.7654321, 55.5555555]])
    parties = [
        *make_parties([12, 11], 1),
        fp.Party("CANARY", canary + np.arange(12)[:, None], [777.25] * 12),
    ]
    for name in ("blr", "network", "sparse"):
        game = fp.InformationGain(MODELS[name], parties)
        fp.realise(game, game.alone + 0.5 * (game.total - game.alone))[0].save(tmp_path / "r")
        content = (tmp_path / "r").read_bytes()
        assert b"CANARY" not in content
        for number in [*canary.ravel(), 777.25]:
            assert struct.pack("<d", number) not in content


@pytest.mark.parametrize("features", [lambda X: X, MODELS["blr-wide"].features])
def test_code_cannot_be_put_into_a_file(features, tmp_path):
    game = fp.InformationGain(
        fp.BayesianLinearRegression(0.1, features=features), make_parties([5, 6], 0)
    )
    reward = fp.realise(game, [game.total] * 2)[0]
    with pytest.raises(ValueError, match=r"a feature map of type .* cannot be put into a file"):
        reward.save(tmp_path / "r")


def test_a_kernel_of_ones_own_cannot_be_put_into_a_file(tmp_path):
    for name in ("Mine", "RBF"):  # even one that borrows a known name
        game = fp.InformationGain(
            fp.GaussianProcess(type(name, (RBF,), {})(), 0.1), make_parties([5, 6], 0)
        )
        with pytest.raises(ValueError, match=f"a kernel of type {name} cannot be put into a file"):
            fp.realise(game, [game.total] * 2)[0].save(tmp_path / "r", share_inputs=True)
    game = fp.InformationGain(fp.GaussianProcess(Matern(nu=np.inf), 0.1), make_parties([5, 6], 0))
    with pytest.raises(ValueError, match="has a parameter that is not finite"):
        fp.realise(game, [game.total] * 2)[0].save(tmp_path / "r", share_inputs=True)


def test_a_file_is_not_written_over_a_folder(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give a file's name"):
        rewards("blr")[0].save(tmp_path)
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


def test_several_draws_are_not_to_be_handed_out(tmp_path):
    game = fp.InformationGain(MODELS["blr"], make_parties([5, 6], 0))
    with pytest.raises(
        ValueError, match=r"is for evaluation .several draws, or noise that is not nested"
    ):
        fp.realise(game, [game.total] * 2, 0, draws=2)[0].save(tmp_path / "r")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    reward = rewards("blr")[0]
    reward.save(tmp_path / "r")
    before = (tmp_path / "r").read_bytes()
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(ValueError, match=r"r: cannot be written \(disk full\)"):
        rewards("blr")[1].save(tmp_path / "r")
    assert (tmp_path / "r").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(ValueError, match="cannot be written"):
        reward.save(tmp_path / "no" / "such" / "folder")


def rewrite(path, change):
    """Write the file anew with its description or arrays changed."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        description = json.loads(file.metadata()["fairpool"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    description, tensors = change(description, tensors) or (description, tensors)
    if isinstance(description, dict):  # a careful forger signs anew
        with suppress(ValueError):  # JSON has no infinite numbers
            description["sha256"] = digest(description, tensors)
    save_file(tensors, path, metadata={"fairpool": json.dumps(description)})


UPDATE = {"rows": 3, "rows_are_all": True, "awarded": 1.0}
CHANGES = {
    "version": (
        lambda d, t: d.update(version=3),
        "it has version 3, this fairpool reads version 2",
    ),
    "version 1": (
        lambda d, t: d.update(version=1),
        "it has version 1, which tells its holder more about other parties than it should",
    ),
    "worth": (lambda d, t: d.update(value=1e9), "worth 1e\\+09 nats, but its model is worth"),
    "no party": (lambda d, t: d.pop("party") and None, "it lacks 'party'"),
    "another model": (
        lambda d, t: d["model"].update(kind="Evil"),
        "no model of kind 'Evil' is known",
    ),
    "noise": (lambda d, t: d["model"].update(noise_variance=-1), "noise_variance -1.0 is not"),
    "no weights": (lambda d, t: t.pop("weights") is None or None, "it lacks 'weights'"),
    "short weights": (
        lambda d, t: t.update(weights=t["weights"][1:]),
        "its arrays do not fit: weights",
    ),
    "factor": (lambda d, t: t.update(factor=-t["factor"]), "its arrays do not fit: weights"),
    "unknown": (lambda d, t: d.update(note="hello"), "it has the unknown entry 'note'"),
    "eta below 0": (lambda d, t: d.update(eta=-5), "eta -5 is outside 0 .. inf"),
    "tau above 1": (lambda d, t: d.update(tau=7), "tau 7 is outside 0 .. 1"),
    "text for truth": (
        lambda d, t: d.update(holds_inputs_of_others="false"),
        "must be true or false",
    ),
    "huge inputs": (
        lambda d, t: d["model"].update(inputs=10**13),
        "inputs 10000000000000 is outside",
    ),
    "columns": (lambda d, t: d.update(columns=["a"]), "it describes 1 columns for a model of 3"),
    "infinite": (lambda d, t: d.update(value=float("inf")), "its description is not JSON"),
    "not finite": (
        lambda d, t: t.update(weights=t["weights"] * np.nan),
        'tensor "weights" has values that are not',
    ),
    "inputs": (lambda d, t: d["model"].update(inputs=17), "weights for 18 features"),
    "single precision": (
        lambda d, t: t.update(weights=t["weights"].astype(np.float32)),
        'tensor "weights" is F32',
    ),
    "list": (lambda d, t: ([1], t), "its description is not a JSON object"),
    "eta": (lambda d, t: d.update(eta="much"), "not a usable reward file"),
    "model": (lambda d, t: d.update(model=[3]), "not a usable reward file"),
    "update": (lambda d, t: d.update(updated={"rows": 3}), "it has the unknown update"),
    "update of nothing": (lambda d, t: d.update(updated=7), "not a usable reward file"),
    "rows of an update": (
        lambda d, t: d.update(updated=UPDATE | {"rows": 2.5}),
        "rows 2.5 is not a whole number",
    ),
    "endless rows": (lambda d, t: d.update(updated=UPDATE | {"rows": 1e300}), "is outside 0"),
    "which rows": (
        lambda d, t: d.update(updated=UPDATE | {"rows_are_all": 1}),
        "rows_are_all must be true or false",
    ),
    "award": (lambda d, t: d.update(updated=UPDATE | {"awarded": -1}), "awarded -1 is outside"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_an_edited_file_is_refused(case, tmp_path):
    change, text = CHANGES[case]
    path = tmp_path / "r"
    rewards("blr")[0].save(path)
    rewrite(path, change)
    with pytest.raises(ValueError, match=text):
        fp.load_reward(path)


KERNEL_CHANGES = {
    "unknown": ({"kernel": "os.system"}, "no kernel 'os.system' is known"),
    "negative": ({"kernel": "RBF", "length_scale": -1}, "its kernel has length_scale = -1"),
    "text": ({"kernel": "RBF", "length_scale": "long"}, "not a usable reward file"),
    "lacking": ({"kernel": "Sum", "k1": {"kernel": "RBF", "length_scale": 1}}, "it lacks 'k2'"),
}


@pytest.mark.parametrize("case", KERNEL_CHANGES)
def test_an_edited_kernel_is_refused(case, tmp_path):
    kernel, text = KERNEL_CHANGES[case]
    rewards("gp")[1].save(tmp_path / "r")
    rewrite(tmp_path / "r", lambda d, t: d["model"].update(kernel=kernel))
    with pytest.raises(ValueError, match=text):
        fp.load_reward(tmp_path / "r")


def test_an_endless_kernel_is_refused(tmp_path):
    kernel = {"kernel": "RBF", "length_scale": 1}
    for _ in range(60):
        kernel = {"kernel": "Sum", "k1": kernel, "k2": {"kernel": "RBF", "length_scale": 1}}
    rewards("gp")[1].save(tmp_path / "r")
    rewrite(tmp_path / "r", lambda d, t: d["model"].update(kernel=kernel))
    with pytest.raises(ValueError, match="nested too deeply"):
        fp.load_reward(tmp_path / "r")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d, t: t.update(alpha=t["alpha"][1:]), "its arrays do not fit: X"),
        (lambda d, t: t.update(scale=-t["scale"]), "its arrays do not fit"),
    ],
)
def test_an_edited_gp_is_refused(change, text, tmp_path):
    rewards("gp")[1].save(tmp_path / "r")
    rewrite(tmp_path / "r", change)
    with pytest.raises(ValueError, match=text):
        fp.load_reward(tmp_path / "r")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda d, t: d["model"]["features"].update(activation="exec"), "activation 'exec'"),
        (
            lambda d, t: d["model"]["features"].update(layers=10**9),
            "layers 1000000000 is outside 1 .. 100",
        ),
        (
            lambda d, t: t.update({"network.intercepts.0": np.zeros(3)}),
            "its network's layer 0 does not fit",
        ),
    ],
)
def test_an_edited_network_is_refused(change, text, tmp_path):
    rewards("network")[0].save(tmp_path / "r", share_inputs=True)
    rewrite(tmp_path / "r", change)
    with pytest.raises(ValueError, match=text):
        fp.load_reward(tmp_path / "r")


def test_what_is_no_reward_file_is_refused(tmp_path):
    path = tmp_path / "r"
    with pytest.raises(ValueError, match="there is no such file"):
        fp.load_reward(path)
    rewards("blr")[0].save(path)
    content = path.read_bytes()
    for cut in (0, 4, 50, len(content) - 8):
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match="not a reward file, or cut short"):
            fp.load_reward(path)
    path.write_bytes(b"\x80\x04\x95" + content)  # a pickle's beginning
    with pytest.raises(ValueError, match="not a reward file, or cut short"):
        fp.load_reward(path)
    save_file({"x": np.zeros(2)}, path)
    with pytest.raises(ValueError, match="a safetensors file, but not of a fairpool reward"):
        fp.load_reward(path)
    save_file({"x": np.zeros(2)}, path, metadata={"fairpool": "{"})
    with pytest.raises(ValueError, match="its description is not JSON"):
        fp.load_reward(path)
    with pytest.raises(ValueError, match="not a reward file"):
        fp.load_reward(tmp_path)


@pytest.mark.parametrize("name", ["blr", "gp", "network", "sparse"])
def test_a_flipped_bit_is_noticed(name, tmp_path):
    path = tmp_path / "r"
    rewards(name)[1].save(path, share_inputs=True)
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    for position in np.random.default_rng(0).integers(start, len(content), 25):
        damaged = bytearray(content)
        damaged[position] ^= 1
        path.write_bytes(bytes(damaged))
        with pytest.raises(ValueError, match="it was edited, or damaged"):
            fp.load_reward(path)
