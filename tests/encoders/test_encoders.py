"""Encoders of texts: two formats, each against a naive one; hashes; hostile folders."""

import hashlib
import json
import os
import pickle
import sys

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model2vec import StaticModel
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models

from fairpool.encoders import EncoderPin, find_encoder, open_encoder, pin_of, read_folder
from fairpool.encoders.folder import MOST_BYTES
from fairpool.errors import EncoderError, RewardFileError
from tests.support.encoders import (
    GOOD,
    MAKERS,
    WORDS,
    onnx_bytes,
    onnx_encoder,
    static_encoder,
    tokenizer,
    weights,
    word_vectors,
)

TEXTS = [
    "Good wheat",
    "the field is awful today",
    "CAFÉ 😀",
    "cafe\u0301",
    "good good bad",
    "nothing",
]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoders")
    made = {}
    for name, make in MAKERS.items():
        made[name] = open_encoder(read_folder(make(folder / name)))
    return made


def naive(text, curve):
    """What an encoder of the tests makes of a text, word by word."""
    words = [word.lower().replace("e\u0301", "é") for word in text.split()]
    vectors = word_vectors().astype(np.float64)
    found = [curve(vectors[WORDS.index(word)]) for word in words if word in WORDS]
    if not found:
        return np.zeros(8)
    mean = sum(found) / len(found)
    return mean / np.linalg.norm(mean) * np.sqrt(8)


def test_static_embeddings_are_the_mean_of_known_words_at_one_length(encoders):
    found = encoders["static"].embed(TEXTS)
    expected = [naive(text, lambda v: v) for text in TEXTS]
    assert found == pytest.approx(np.array(expected), abs=1e-12)
    assert not found[-1].any()
    assert np.square(found[:-1]).mean(axis=1) == pytest.approx(1)


def test_what_model2vec_writes_is_read_as_model2vec_reads_it(tmp_path):
    made = StaticModel(word_vectors(), tokenizer(), normalize=True)
    made.save_pretrained(tmp_path)
    texts = [*TEXTS, 400 * "good bad soil "]
    found = open_encoder(read_folder(tmp_path)).embed(texts)
    # It computes in single precision.
    assert found / np.sqrt(8) == pytest.approx(made.encode(texts), abs=1e-6)


def test_a_network_gives_the_mean_over_its_tokens(encoders):
    known = [text for text in TEXTS if text != "nothing"]
    expected = [naive(text, np.tanh) for text in known]
    # The network computes in single precision.
    assert encoders["onnx"].embed(known) == pytest.approx(np.array(expected), abs=1e-5)


def test_weights_and_mappings_of_words_count(tmp_path):
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(5, 8))
    mapping = rng.integers(0, 5, len(WORDS))
    weight = rng.uniform(0.1, 2, len(WORDS))
    folder = static_encoder(tmp_path, embeddings=vectors, mapping=mapping, weights=weight)
    found = open_encoder(read_folder(folder)).embed(["good bad"])[0]
    good, bad = WORDS.index("good"), WORDS.index("bad")
    mean = (weight[good] * vectors[mapping[good]] + weight[bad] * vectors[mapping[bad]]) / 2
    assert found == pytest.approx(mean / np.linalg.norm(mean) * np.sqrt(8))


def test_the_pooled_output_of_a_network_is_preferred(tmp_path):
    nodes = [
        helper.make_node("Gather", ["W", "input_ids"], ["tokens"]),
        helper.make_node("ReduceMax", ["tokens"], ["sentence_embedding"], axes=[1], keepdims=0),
    ]
    content = onnx_bytes(nodes, ["tokens", "sentence_embedding"], tensors=[weights()])
    found = open_encoder(read_folder(onnx_encoder(tmp_path, content))).embed(["good bad"])[0]
    rows = word_vectors()[[WORDS.index("good"), WORDS.index("bad")]]
    largest = rows.max(axis=0)
    assert found == pytest.approx(largest / np.linalg.norm(largest) * np.sqrt(8), rel=1e-5)


@pytest.mark.parametrize("name", MAKERS)
@given(texts=st.lists(st.text(max_size=60) | st.sampled_from(TEXTS), min_size=1, max_size=6))
def test_what_a_text_becomes_depends_on_that_text_alone(encoders, name, texts):
    encoder = encoders[name]
    together = encoder.embed(texts)
    alone = np.concatenate([encoder.embed([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()
    assert np.isfinite(together).all()


@pytest.mark.parametrize("name", MAKERS)
def test_a_worker_gets_a_path_and_no_weights(encoders, name):
    sent = pickle.dumps(encoders[name])
    assert len(sent) < 1000
    assert pickle.loads(sent).embed(TEXTS).tobytes() == encoders[name].embed(TEXTS).tobytes()


def test_of_a_long_text_only_the_beginning_counts(tmp_path):
    folder = static_encoder(tmp_path, settings={"max_length": 3})
    encoder = open_encoder(read_folder(folder))
    first, longer = encoder.embed(["good good good", "good good good bad bad"])
    assert first.tobytes() == longer.tobytes()


def test_made_up_words_are_those_of_the_vocabulary(encoders):
    share = (np.arange(len(WORDS)) + 0.5) / len(WORDS)
    assert encoders["static"].words(share) == WORDS


# Hashes


def test_the_hash_can_be_had_without_fairpool(tmp_path):
    folder = static_encoder(tmp_path)
    (folder / "README.md").write_text("does not count")
    lines = ""
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        lines += f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
    assert read_folder(folder).sha256 == hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_every_file_that_is_read_counts(tmp_path, name):
    folder = static_encoder(tmp_path)
    before = read_folder(folder).sha256
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert read_folder(folder).sha256 != before


def test_an_encoder_that_changed_since_it_was_opened_is_refused(tmp_path):
    opened = open_encoder(read_folder(static_encoder(tmp_path)))
    static_encoder(tmp_path, seed=1)
    with pytest.raises(EncoderError, match=r"its sha256 is \w+, and \w+ is needed; do not change"):
        opened.embed(["good"])


def test_an_encoder_is_found_by_its_hash_whatever_it_is_called(tmp_path):
    static_encoder(tmp_path / "a", seed=1)
    (tmp_path / "b").mkdir()
    wanted = static_encoder(tmp_path / "encoders/renamed", seed=2)
    pin = open_encoder(read_folder(wanted)).pin
    for place in (tmp_path, tmp_path / "encoders", wanted):
        assert find_encoder(pin, place, reads="text").folder == wanted
    other = read_folder(tmp_path / "a").sha256
    with pytest.raises(EncoderError, match=f"{pin.sha256} is needed.*a has {other}.*--encoders"):
        find_encoder(pin, tmp_path / "a", reads="text")
    with pytest.raises(EncoderError, match="there is no encoder; give --encoders"):
        find_encoder(pin, tmp_path / "nowhere", reads="text")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sha256": "0" * 63}, "is no sha256 of an encoder"),
        ({"sha256": "../" * 21 + "a"}, "is no sha256 of an encoder"),
        ({"sha256": 1}, "1 is not a name"),
        ({"dimensions": 0}, r"dimensions 0 is outside 1 \.\. 1024"),
        ({"dimensions": 10**9}, r"outside 1 \.\. 1024"),
        ({"dimensions": 2.5}, "is not a whole number"),
        ({"name": None}, "None is not a name"),
        ({"code": "x"}, "is no encoder"),
    ],
)
def test_a_file_must_say_which_encoder_it_needs(changes, said):
    pin = EncoderPin(name="mini", sha256="0" * 64, dimensions=3)
    assert pin_of(pin.entries()) == pin
    with pytest.raises(RewardFileError, match=said):
        pin_of(pin.entries() | changes)


# Hostile folders


def opened(folder):
    return open_encoder(read_folder(folder))


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ({"embeddings": None, "other": np.zeros((3, 3))}, 'no tensor "embeddings"; is it of'),
        ({"embeddings": np.zeros(30)}, r"of shape \(30,\); it must be a row for each word"),
        ({"embeddings": np.zeros((3, 8))}, f"3 vectors for a vocabulary that needs {len(WORDS)}"),
        ({"embeddings": np.zeros((30, 0))}, "of 1 to 1024 numbers"),
        ({"embeddings": np.zeros((30, 1025))}, "of 1 to 1024 numbers"),
        ({"embeddings": np.full((30, 4), np.nan)}, '"embeddings" has values that are not finite'),
        ({"embeddings": np.zeros((30, 4), bool)}, "is of type BOOL; it must be F64 or F32"),
        ({"mapping": np.full(30, -1)}, '"mapping" has negative numbers'),
        ({"mapping": np.full(30, 10**9)}, "for a vocabulary that needs 1000000001"),
        ({"mapping": np.zeros(3, int)}, r'"mapping" of shape \(3,\) for a vocabulary'),
        ({"mapping": np.zeros(30)}, '"mapping" is of type F64; it must be I64 or I32'),
        ({"weights": np.zeros((30, 2))}, r'"weights" of shape \(30, 2\) for a vocabulary'),
    ],
)
def test_static_embeddings_that_make_no_sense_are_refused(tmp_path, tensors, said):
    with pytest.raises(EncoderError, match=said):
        opened(static_encoder(tmp_path, **tensors))


def test_a_header_that_promises_more_than_there_is_is_refused(tmp_path):
    folder = static_encoder(tmp_path)
    entry = {"dtype": "F32", "shape": [1 << 40, 1 << 20], "data_offsets": [0, 1 << 62]}
    header = json.dumps({"embeddings": entry}).encode()
    content = len(header).to_bytes(8, "little") + header
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(EncoderError, match="not a safetensors file"):
        opened(folder)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("tokenizer.json", b"{}", "tokenizer.json: not a tokenizer"),
        ("tokenizer.json", b"\xff\x00", "tokenizer.json: not a tokenizer"),
        ("tokenizer.json", b"[" * 100_000, "tokenizer.json: not a tokenizer"),
        ("config.json", b"[" * 100_000, "config.json: not JSON"),
        ("config.json", b"[]", "is not a JSON object"),
        ("model.safetensors", b"", "not a safetensors file"),
        ("model.safetensors", pickle.dumps({"embeddings": 1}), "not a safetensors file"),
    ],
)
def test_files_that_are_something_else_are_refused(tmp_path, name, content, said):
    folder = static_encoder(tmp_path)
    (folder / name).write_bytes(content)
    with pytest.raises(EncoderError, match=said):
        opened(folder)


def test_a_tokenizer_without_words_is_refused(tmp_path):
    folder = static_encoder(tmp_path)
    Tokenizer(models.WordLevel({}, unk_token="[UNK]")).save(str(folder / "tokenizer.json"))
    with pytest.raises(EncoderError, match="0 words, and 1 to 4194304 are allowed"):
        opened(folder)


def test_a_tokenizer_that_fails_on_some_texts_is_refused_there(tmp_path):
    folder = static_encoder(tmp_path)
    by_word = {word: k for k, word in enumerate(["good", "bad"])}
    Tokenizer(models.WordLevel(by_word, unk_token="[UNK]")).save(str(folder / "tokenizer.json"))
    encoder = opened(folder)
    assert encoder.embed(["good"]).any()
    with pytest.raises(
        EncoderError, match=r"tokenizer\.json: it fails on a text \(WordLevel error"
    ):
        encoder.embed(["soil"])


def test_folders_that_are_no_encoders_are_refused(tmp_path):
    with pytest.raises(EncoderError, match="there is no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(EncoderError, match=r"it needs model\.safetensors or model\.onnx, and"):
        read_folder(tmp_path)
    (static_encoder(tmp_path) / "tokenizer.json").unlink()
    with pytest.raises(EncoderError, match=r"tokenizer\.json: there is no such file"):
        read_folder(tmp_path)
    onnx_encoder(tmp_path)
    with pytest.raises(EncoderError, match="it holds two encoders; leave out"):
        read_folder(tmp_path)


def test_files_that_have_no_end_are_refused(tmp_path, monkeypatch):
    folder = static_encoder(tmp_path)
    monkeypatch.setitem(MOST_BYTES, "config.json", 10)
    with pytest.raises(EncoderError, match=r"config\.json: more than 10 bytes; take a smaller"):
        read_folder(folder)
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    with pytest.raises(EncoderError, match=r"config\.json: not a plain file"):
        read_folder(folder)
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()
    with pytest.raises(EncoderError, match=r"config\.json: (not a plain file|cannot be read)"):
        read_folder(folder)


def gather(output="out"):
    return helper.make_node("Gather", ["W", "input_ids"], [output])


def external():
    """Weights that lie in another file, which no hash would pin."""
    tensor = weights()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key = "location"
    entry.value = "secret.bin"
    return tensor


def in_other_bytes(content):
    """The same message, where the length of "location" takes two bytes instead of one."""
    entry = b"\x0a\x08location\x12\x0asecret.bin"
    place = content.index(entry)
    assert content[place - 2 : place] == bytes([0x6A, len(entry)])
    padded = bytes([0x6A, len(entry) + 1, 0x0A, 0x88, 0x00]) + entry[2:]
    model = onnx.load_from_string(content)
    whole = model.graph.initializer[0].SerializeToString()
    assert entry in whole
    longer = whole.replace(bytes([0x6A, len(entry)]) + entry, padded)
    assert TensorProto.FromString(longer) == model.graph.initializer[0]
    # Its length and the graph's are small enough for one and two bytes.
    graph = model.graph.SerializeToString()
    longer_graph = graph.replace(
        bytes([0x2A, len(whole)]) + whole, bytes([0x2A, len(longer)]) + longer
    )
    assert len(longer_graph) == len(graph) + 1
    first = bytes([0x3A, 0x80 | len(graph) & 0x7F, len(graph) >> 7])
    second = bytes([0x3A, 0x80 | len(longer_graph) & 0x7F, len(longer_graph) >> 7])
    changed = content.replace(first + graph, second + longer_graph)
    assert onnx.load_from_string(changed) == model
    return changed


NETWORKS = {
    "no network": (lambda: b"\x00garbage", "not a network that can be used"),
    "empty": (lambda: b"", "not a network that can be used"),
    "other inputs": (
        lambda: onnx_bytes(
            [gather()], ["out"], tensors=[weights()], inputs=("input_ids", "pixels")
        ),
        "it asks for input_ids, pixels; an encoder of texts asks for input_ids",
    ),
    "no text for a name": (
        lambda: onnx_bytes([gather("nämé")], ["nämé"], tensors=[weights()]).replace(
            b"\xc3", b"\xff"
        ),
        "not a network that can be used|has a name that is no text",
    ),
    "whole numbers": (
        lambda: onnx_bytes([helper.make_node("Shape", ["input_ids"], ["out"])], ["out"]),
        "not a network that can be used|it gives int64 of shape",
    ),
    "too wide": (
        lambda: onnx_bytes(
            [gather()], ["out"], tensors=[weights(vectors=np.zeros((30, 1025), np.float32))]
        ),
        "it makes 1025 numbers of a text; 1 to 1024 are allowed",
    ),
    "not finite": (
        lambda: onnx_bytes(
            [gather()], ["out"], tensors=[weights(vectors=np.full((30, 4), np.inf, np.float32))]
        ),
        "it gives values that are not finite",
    ),
    "one vector for all": (
        lambda: onnx_bytes(
            [helper.make_node("Identity", ["W"], ["out"])], ["out"], tensors=[weights()]
        ),
        r"it gives float32 of shape \(23, 8\) for one text",
    ),
    "endless": (
        lambda: onnx_bytes(
            [helper.make_node("ConstantOfShape", ["shape"], ["out"])],
            ["out"],
            tensors=[onnx.numpy_helper.from_array(np.array([1, 1 << 60]), "shape")],
        ),
        "the network fails on a text|not a network that can be used",
    ),
    "foreign operator": (
        lambda: onnx_bytes(
            [helper.make_node("Run", ["input_ids"], ["out"], domain="evil")], ["out"]
        ),
        "not a network that can be used",
    ),
    "weights elsewhere": (
        lambda: onnx_bytes([gather()], ["out"], tensors=[external()]),
        "some of its weights lie in another file, which no hash would pin; export it",
    ),
    "weights elsewhere, in other bytes": (
        lambda: in_other_bytes(onnx_bytes([gather()], ["out"], tensors=[external()])),
        "some of its weights lie in another file, which no hash would pin; export it",
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_that_make_no_sense_are_refused(tmp_path, monkeypatch, capfd, name):
    make, said = NETWORKS[name]
    folder = onnx_encoder(tmp_path, make())
    (folder / "secret.bin").write_bytes(word_vectors().tobytes())
    monkeypatch.chdir(folder)
    with pytest.raises(EncoderError, match=said):
        opened(folder)
    assert capfd.readouterr() == ("", "")  # what goes wrong is said once


def test_a_network_that_fails_on_some_texts_is_refused_there(tmp_path):
    content = onnx_bytes(
        [gather()], ["out"], tensors=[weights(vectors=np.ones((2, 4), np.float32))]
    )
    encoder = opened(onnx_encoder(tmp_path, content))
    assert WORDS.index(GOOD[0]) == 1
    assert encoder.embed([GOOD[0]]).shape == (1, 4)
    with pytest.raises(EncoderError, match=r"model\.onnx: the network fails on a text"):
        encoder.embed(["soil"])


@pytest.mark.parametrize(("name", "package"), [("static", "tokenizers"), ("onnx", "onnxruntime")])
def test_without_the_extra_the_remedy_is_said(tmp_path, monkeypatch, name, package):
    monkeypatch.setitem(sys.modules, package, None)
    remedy = rf"needs {package}; install it: pip install 'fairpool\[encoders\]'"
    with pytest.raises(EncoderError, match=remedy):
        opened(MAKERS[name](tmp_path))


def test_the_vocabulary_of_the_tests_is_whole():
    assert tokenizer().get_vocab_size() == len(WORDS) == len(word_vectors())
