"""Small images, an encoder of them, and projects in which labels depend on what they show."""

import io
import json

import numpy as np
import pyarrow as pa
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from fairpool.encoders import read_folder
from tests.support.projects import project, write

SIDE = 8
DIMENSIONS = 6

PREPROCESSOR = {
    "do_resize": True,
    "size": {"height": SIDE, "width": SIDE},
    "resample": 2,
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.25, 0.5],
    "image_processor_type": "ViTImageProcessor",
}


def image_bytes(pixels, kind="PNG", mode=None, **options):
    """Pixels [h, w, ...], or an image of Pillow's, as a file."""
    picture = pixels
    if not isinstance(pixels, Image.Image):
        picture = Image.fromarray(np.asarray(pixels, dtype=np.uint8))
    if mode is not None:
        picture = picture.convert(mode)
    stream = io.BytesIO()
    picture.save(stream, kind, **options)
    return stream.getvalue()


def plain(red=255, green=0, blue=0, *, height=9, width=12):
    """An image of one colour."""
    return np.full((height, width, 3), (red, green, blue), dtype=np.uint8)


def matrix(seed=0):
    """What the encoder multiplies colours with [3, d], and what it adds [d]."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, DIMENSIONS)).astype(np.float32), np.ones(DIMENSIONS, np.float32)


def network_bytes(nodes, outputs, *, tensors=(), shape=(None, 3, None, None), inputs=("pixels",)):
    """A network of some nodes."""
    fed = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in inputs]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "encoder", fed, given, [*tensors])
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString()


def mean_colour_network(seed=0, shape=(None, 3, None, None)):
    """The mean colour, and a curve through it."""
    weights, bias = matrix(seed)
    nodes = [
        helper.make_node("GlobalAveragePool", ["pixels"], ["places"]),
        helper.make_node("Flatten", ["places"], ["colour"]),
        helper.make_node("Gemm", ["colour", "W", "b"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["image_embeds"]),
    ]
    tensors = [numpy_helper.from_array(weights, "W"), numpy_helper.from_array(bias, "b")]
    return network_bytes(nodes, ["places", "image_embeds"], tensors=tensors, shape=shape)


def image_encoder(folder, content=None, *, seed=0, **settings):
    """A folder with a network that reads images; `settings` replace some, None leaves one out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(content or mean_colour_network(seed))
    entries = PREPROCESSOR | settings
    entries = {key: value for key, value in entries.items() if value is not None}
    (folder / "preprocessor_config.json").write_text(json.dumps(entries))
    return folder


def seen(rows, seed):
    """How red each of some images is, from 0 to 1, and the image."""
    rng = np.random.default_rng(seed)
    redness = rng.uniform(size=rows)
    images = []
    for share in redness:
        noise = rng.integers(0, 20, (9, 12, 3))
        images.append(image_bytes(plain(230 * share, 40, 230 * (1 - share)) + noise))
    return redness, images


def photos(rows, seed, folder=None, *, gaps=0.0):
    """A table of which the label depends on what an image shows.

    Args:
        rows: How many.
        seed: Which ones.
        folder: Where the images go, and the table has names; None: the table has their bytes.
        gaps: The share of rows without an image.
    """
    redness, images = seen(rows, seed)
    rng = np.random.default_rng(1000 + seed)
    x = rng.normal(size=rows)
    y = 20 + 12 * redness + x + rng.normal(0, 0.3, rows)
    cells = images
    if folder is not None:
        (folder / "photos").mkdir(parents=True, exist_ok=True)
        cells = [f"photos/{seed}-{k}.png" for k in range(rows)]
        for name, image in zip(cells, images, strict=True):
            (folder / name).write_bytes(image)
    lacks = rng.random(rows) < gaps
    return pa.table({"x": x, "photo": pa.array(cells, mask=lacks), "y": y})


def pictured(folder, section="", *, suffix=".csv", gaps=0.0, pinned=True, named=True, **options):
    """A project with an image column; `section` is more of [columns.photo]."""
    options = {"categorical": "[]"} | options
    project(folder, suffix=suffix, **options)
    place = folder if named else None
    for i in range(3):
        write(folder / f"p{i}{suffix}", photos(40, i, place, gaps=gaps))
    write(folder / f"test{suffix}", photos(30, 99, place))
    made = image_encoder(folder / "encoders/mini")
    pin = f'encoder_sha256 = "{read_folder(made).sha256}"\n' if pinned else ""
    with (folder / "collaboration.toml").open("a") as file:
        file.write(f'[columns.photo]\nkind = "image"\nencoder = "encoders/mini"\n{pin}{section}\n')
    return folder
