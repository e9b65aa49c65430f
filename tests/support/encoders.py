"""Small encoders that tests make themselves, in the two formats that there are."""

import json

import numpy as np
import onnx
import pyarrow as pa
import safetensors.numpy
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from fairpool.encoders import read_folder
from tests.support.projects import project, write

GOOD = ["good", "fine", "splendid", "gut", "café", "naïve", "😀"]
BAD = ["bad", "poor", "awful", "schlecht", "garçon", "übel", "😡"]
PLAIN = ["the", "wheat", "field", "is", "was", "today", "rather", "soil"]
WORDS = ["[UNK]", *GOOD, *BAD, *PLAIN]


def tokenizer(words=WORDS):
    """One token per word, in small letters."""
    by_word = {word: k for k, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(by_word, unk_token="[UNK]"))
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return made


def word_vectors(dimensions=8, seed=0):
    """Random, but the first dimension tells good from bad, as a real encoder's would."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(0, 0.3, (len(WORDS), dimensions)).astype(np.float32)
    vectors[[WORDS.index(word) for word in GOOD], 0] += 1
    vectors[[WORDS.index(word) for word in BAD], 0] -= 1
    return vectors


def static_encoder(folder, *, settings=None, seed=0, dimensions=8, **tensors):
    """A folder in the format of model2vec; `tensors` replace or add some, None leaves one out."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = {"embeddings": word_vectors(dimensions, seed)} | tensors
    stored = {name: tensor for name, tensor in stored.items() if tensor is not None}
    safetensors.numpy.save_file(stored, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(settings or {"normalize": True}))
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def onnx_bytes(nodes, outputs, *, tensors=(), inputs=("input_ids", "attention_mask")):
    """A network of some nodes."""
    fed = [helper.make_tensor_value_info(name, TensorProto.INT64, [None, None]) for name in inputs]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "encoder", fed, given, [*tensors])
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    return model.SerializeToString()


def weights(name="W", vectors=None):
    vectors = word_vectors() if vectors is None else vectors
    return onnx.numpy_helper.from_array(vectors, name)


def onnx_encoder(folder, content=None):
    """A folder with a network: a vector for each token, and a curve through it."""
    folder.mkdir(parents=True, exist_ok=True)
    if content is None:
        nodes = [
            helper.make_node("Gather", ["W", "input_ids"], ["found"]),
            helper.make_node("Tanh", ["found"], ["last_hidden_state"]),
        ]
        content = onnx_bytes(nodes, ["last_hidden_state"], tensors=[weights()])
    (folder / "model.onnx").write_bytes(content)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


MAKERS = {"static": static_encoder, "onnx": onnx_encoder}


def notes(rows, seed, *, gaps=0.0):
    """A table of which the label depends on what is said in a text."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    said = []
    y = []
    for k in range(rows):
        mood = rng.integers(4)
        words = [*rng.choice(GOOD, mood), *rng.choice(BAD, 3 - mood), *rng.choice(PLAIN, 5)]
        said.append(" ".join(rng.permutation(words)))
        y.append(20 + 3 * mood + x[k] + rng.normal(0, 0.5))
    lacks = rng.random(rows) < gaps
    return pa.table({"x": x, "note": pa.array(said, mask=lacks), "y": y})


def noted(folder, section="", *, encoder="static", gaps=0.0, pinned=True, suffix=".csv", **options):
    """A project with a text column; `section` is more of [columns.note]."""
    options = {"categorical": "[]"} | options
    project(folder, suffix=suffix, **options)
    for i in range(3):
        write(folder / f"p{i}{suffix}", notes(60, i, gaps=gaps))
    write(folder / f"test{suffix}", notes(40, 99))
    made = MAKERS[encoder](folder / "encoders" / "mini")
    pin = f'encoder_sha256 = "{read_folder(made).sha256}"\n' if pinned else ""
    with (folder / "collaboration.toml").open("a") as file:
        file.write(f'[columns.note]\nkind = "text"\nencoder = "encoders/mini"\n{pin}{section}\n')
    return folder
