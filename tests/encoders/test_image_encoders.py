"""Encoders of images: decoding in a stated way, settings of hubs, hostile images and networks."""

import hashlib
import io
import pickle
import struct
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from fairpool.encoders import find_encoder, image_network, open_encoder, read_folder
from fairpool.encoders.pictures import (
    MADE_UP,
    MOST_PIXELS,
    ImageLimits,
    UnfitImageError,
    image_problem,
    made_up_picture,
    picture_of,
)
from fairpool.encoders.preprocessing import Preprocessing
from fairpool.errors import EncoderError
from tests.support.encoders import onnx_encoder
from tests.support.images import (
    DIMENSIONS,
    PREPROCESSOR,
    SIDE,
    image_bytes,
    image_encoder,
    matrix,
    mean_colour_network,
    network_bytes,
    plain,
)

rng = np.random.default_rng(5)
SOME = rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
"""Pixels that need not be resized."""


def opened(folder, content=None, **settings):
    return open_encoder(read_folder(image_encoder(folder, content, **settings)))


def naive(pixels):
    """What the encoder of the tests makes of pixels [h, w, 3] that need not be resized."""
    scaled = (pixels / 255 - PREPROCESSOR["image_mean"]) / PREPROCESSOR["image_std"]
    weights, bias = matrix()
    vector = np.tanh(scaled.mean(axis=(0, 1)) @ weights + bias)
    return vector / np.linalg.norm(vector) * np.sqrt(DIMENSIONS)


# What becomes of an image


def test_an_image_is_what_the_network_makes_of_its_scaled_pixels(tmp_path):
    encoder = opened(tmp_path)
    images = [SOME, plain(10, 200, 30), plain(0, 0, 0)]
    found = encoder.embed([image_bytes(pixels) for pixels in images])
    expected = np.array([naive(pixels) for pixels in images])
    assert found == pytest.approx(expected, abs=1e-5)  # the network computes in single precision
    assert encoder.pin.dimensions == DIMENSIONS


def test_a_jpeg_is_nearly_what_it_was_made_of(tmp_path):
    encoder = opened(tmp_path)
    found = encoder.embed([image_bytes(plain(200, 90, 30), "JPEG", quality=95)])[0]
    assert found == pytest.approx(naive(plain(200, 90, 30)), abs=0.02)


@pytest.mark.parametrize(
    ("settings", "height", "width", "rows", "columns"),
    [
        ({"size": {"height": 6, "width": 10}}, 6, 10, slice(0, 6), slice(0, 10)),
        ({"size": 7}, 7, 7, slice(0, 7), slice(0, 7)),
        ({"size": {"shortest_edge": 6}}, 6, 11, slice(0, 6), slice(0, 11)),
        ({"size": {"shortest_edge": 6}, "crop_size": 4}, 6, 11, slice(1, 5), slice(3, 7)),
        ({"size": 6, "crop_size": 4, "do_center_crop": True}, 11, 6, slice(3, 7), slice(1, 5)),
        (
            {"size": {"height": 9, "width": 6}, "crop_size": {"height": 5, "width": 2}},
            9,
            6,
            slice(2, 7),
            slice(2, 4),
        ),
    ],
)
def test_sizes_and_crops_are_those_of_the_settings(
    tmp_path, settings, height, width, rows, columns
):
    settings |= {"do_normalize": False, "do_rescale": False}
    folder = image_encoder(tmp_path, **settings)
    pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    preprocessing = Preprocessing.of(read_folder(folder))
    found = preprocessing.tensor(Image.fromarray(pixels))  # of a size that needs no resizing
    assert found.dtype == np.float32
    assert found[0].transpose(1, 2, 0).tolist() == pixels[rows, columns].tolist()


def test_an_image_is_resized_as_it_is_said(tmp_path):
    settings = {"do_normalize": False, "do_rescale": False, "size": {"shortest_edge": 4}}
    pixels = rng.integers(0, 256, (8, 20, 3), dtype=np.uint8)
    nearest = Preprocessing.of(read_folder(image_encoder(tmp_path / "a", **settings, resample=0)))
    found = nearest.tensor(Image.fromarray(pixels))
    assert found.shape == (1, 3, 4, 10)
    assert found[0].transpose(1, 2, 0).tolist() == pixels[1::2, 1::2].tolist()
    box = Preprocessing.of(read_folder(image_encoder(tmp_path / "b", **settings, resample=4)))
    means = pixels.reshape(4, 2, 10, 2, 3).mean(axis=(1, 3))
    assert np.abs(box.tensor(Image.fromarray(pixels))[0].transpose(1, 2, 0) - means).max() <= 1


# Kinds of images


def pixels_of(content):
    return np.asarray(picture_of(content)).tolist()


def test_every_mode_of_an_image_becomes_red_green_and_blue():
    grey = SOME[:, :, 0]
    as_colour = np.repeat(grey[:, :, None], 3, axis=2).tolist()
    assert pixels_of(image_bytes(SOME)) == SOME.tolist()
    assert pixels_of(image_bytes(grey)) == as_colour
    sixteen = Image.fromarray(grey.astype(np.uint16) * 256 + 77)
    assert pixels_of(image_bytes(sixteen)) == as_colour
    bits = np.repeat(255 * (grey > 100)[:, :, None], 3, axis=2).tolist()
    assert pixels_of(image_bytes(Image.fromarray(grey > 100))) == bits
    few_colours = Image.fromarray(SOME // 128 * 255).quantize(8)
    assert few_colours.mode == "P"
    assert pixels_of(image_bytes(few_colours)) == np.asarray(few_colours.convert("RGB")).tolist()


def test_what_is_transparent_lies_on_white():
    alpha = np.zeros((SIDE, SIDE, 1), dtype=np.uint8)
    alpha[:4] = 255
    layered = np.concatenate([SOME, alpha], axis=2)
    expected = SOME.copy()
    expected[4:] = 255
    assert pixels_of(image_bytes(layered)) == expected.tolist()
    half = np.concatenate([plain(0, 0, 0), np.full((9, 12, 1), 128, np.uint8)], axis=2)
    assert {tuple(pixel) for row in pixels_of(image_bytes(half)) for pixel in row} == {(127,) * 3}
    palette = Image.fromarray(plain(10, 20, 30)).quantize(2)
    assert {
        tuple(pixel)
        for row in pixels_of(image_bytes(palette, transparency=palette.getpixel((0, 0))))
        for pixel in row
    } == {(255, 255, 255)}


def test_a_print_becomes_colours():
    content = image_bytes(plain(200, 90, 30), "JPEG", mode="CMYK", quality=95)
    assert np.abs(np.array(pixels_of(content)) - (200, 90, 30)).max() < 12


TURNED = {
    1: lambda p: p,
    2: lambda p: p[:, ::-1],
    3: lambda p: p[::-1, ::-1],
    4: lambda p: p[::-1],
    5: lambda p: p.transpose(1, 0, 2),
    6: lambda p: p.transpose(1, 0, 2)[:, ::-1],
    7: lambda p: p[::-1, ::-1].transpose(1, 0, 2),
    8: lambda p: p.transpose(1, 0, 2)[::-1],
    9: lambda p: p,
}


@pytest.mark.parametrize("orientation", TURNED)
def test_an_image_is_turned_as_the_camera_was_held(orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = rng.integers(0, 256, (5, 7, 3), dtype=np.uint8)
    content = image_bytes(upright, exif=exif)
    assert pixels_of(content) == TURNED[orientation](upright).tolist()


def test_of_a_photograph_with_a_second_picture_the_first_counts():
    first, second = (Image.fromarray(plain(*colour)) for colour in ((250, 0, 0), (0, 0, 250)))
    stream = io.BytesIO()
    first.save(stream, "MPO", save_all=True, append_images=[second], quality=95)
    (colour, *_), *_ = pixels_of(stream.getvalue())
    assert colour[0] > 200
    assert colour[2] < 50


# Images that cannot be used


def chunk(kind, content):
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))


def bomb(width, height):
    """A PNG file of a few bytes that says it is large."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


def animation():
    pictures = [Image.fromarray(plain(red)) for red in (0, 100, 200)]
    return image_bytes(pictures[0], save_all=True, append_images=pictures[1:])


NOISE = rng.integers(0, 256, (60, 60, 3), dtype=np.uint8)
UNREAD = "not a PNG or JPEG image that can be read"
UNFIT = {
    "nothing": (b"", UNREAD),
    "text": (b"hello, world", f"{UNREAD} .something else, or damaged at its beginning"),
    "gif": (image_bytes(plain(), "GIF"), UNREAD),
    "bmp": (image_bytes(plain(), "BMP"), UNREAD),
    "tiff": (image_bytes(plain(), "TIFF"), UNREAD),
    "postscript": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", UNREAD),
    "png cut short": (image_bytes(NOISE)[:4000], UNREAD),
    "jpeg cut short": (image_bytes(NOISE, "JPEG")[:1000], UNREAD),
    "head alone": (image_bytes(NOISE)[:20], UNREAD),
    "damaged": (image_bytes(NOISE).replace(b"IDAT", b"IDAX"), UNREAD),
    "bomb": (bomb(50_000, 50_000), "more than 1000000 pixels; make it smaller, or raise"),
    "nearly a bomb": (bomb(13_000, 13_000), "more than 1000000 pixels; make it smaller, or raise"),
    "large": (bomb(1001, 1000), "more than 1000000 pixels; make it smaller, or raise image_pixels"),
    "long": (
        image_bytes(NOISE) + bytes(30_000),
        "more than 20000 bytes; make it smaller, or raise image_bytes",
    ),
    "no pixels": (bomb(0, 5), UNREAD),
    "thin": (image_bytes(np.zeros((3, 100, 3))), "100 x 3 pixels, and no side may be more than 20"),
    "animation": (animation(), "an animation; save one of its pictures"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_images_that_cannot_be_used_are_refused(name):
    content, said = UNFIT[name]
    limits = ImageLimits(size=20_000, pixels=1_000_000)
    with pytest.raises(UnfitImageError, match=said):
        picture_of(content, limits)
    assert "\n" not in image_problem(content, limits)
    assert image_problem(image_bytes(SOME), limits) is None


def test_no_image_is_beyond_what_pillow_opens():
    assert Image.MAX_IMAGE_PIXELS <= MOST_PIXELS < 2 * Image.MAX_IMAGE_PIXELS


@given(
    place=st.integers(0, 3000),
    byte=st.integers(0, 255),
    kind=st.sampled_from(["PNG", "JPEG"]),
)
def test_a_damaged_image_is_read_or_refused(place, byte, kind):
    content = bytearray(image_bytes(NOISE[:20, :20], kind))
    content[place % len(content)] = byte
    problem = image_problem(bytes(content), ImageLimits(size=20_000, pixels=1_000_000))
    assert problem is None or "; " in problem


# The same numbers for everybody


def test_what_an_image_becomes_depends_on_its_bytes_alone(tmp_path, monkeypatch):
    images = [image_bytes(SOME), image_bytes(plain()), image_bytes(SOME, "JPEG")]
    encoder = opened(tmp_path / "a")
    together = encoder.embed([*images, images[0]])
    alone = np.concatenate([encoder.embed([image]) for image in [*images, images[0]]])
    assert together.tobytes() == alone.tobytes()
    monkeypatch.setattr(image_network, "REMEMBERED_BYTES", 0)
    again = opened(tmp_path / "b").embed([*images, images[0]])
    assert again.tobytes() == together.tobytes()


def test_an_image_goes_through_the_network_once(tmp_path, monkeypatch):
    encoder = opened(tmp_path)
    first = encoder.embed([image_bytes(SOME)])
    monkeypatch.setattr(image_network, "picture_of", None)  # nothing could be decoded now
    assert encoder.embed([image_bytes(SOME)]).tobytes() == first.tobytes()


def test_a_worker_gets_a_path_and_no_weights(tmp_path):
    encoder = opened(tmp_path)
    sent = pickle.dumps(encoder)
    assert len(sent) < 1000
    found = pickle.loads(sent).embed([image_bytes(SOME)])
    assert found.tobytes() == encoder.embed([image_bytes(SOME)]).tobytes()


def test_made_up_images_are_images_and_differ():
    made = {made_up_picture(number) for number in range(MADE_UP)}
    assert len(made) == MADE_UP
    assert made_up_picture(3) == made_up_picture(3)
    assert picture_of(made_up_picture(3)).size == (8, 8)


# Folders


def test_the_hash_is_of_the_network_and_its_settings(tmp_path):
    folder = image_encoder(tmp_path)
    (folder / "README.md").write_text("of no account")
    lines = ""
    for name in ("model.onnx", "preprocessor_config.json"):
        lines += f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
    files = read_folder(folder)
    assert (files.sha256, files.reads) == (hashlib.sha256(lines.encode()).hexdigest(), "image")


def test_a_folder_for_texts_and_images_at_once_is_refused(tmp_path):
    image_encoder(onnx_encoder(tmp_path))
    with pytest.raises(EncoderError, match=r"holds tokenizer.json, as .* leave out the one"):
        read_folder(tmp_path)


def test_an_encoder_of_texts_is_found_for_no_images(tmp_path):
    pin = opened(tmp_path).pin
    assert find_encoder(pin, tmp_path, reads="image").pin == pin
    with pytest.raises(EncoderError, match=r"an encoder of images, and one of texts is needed"):
        find_encoder(pin, tmp_path, reads="text")


@pytest.mark.parametrize("package", ["PIL", "onnxruntime"])
def test_without_the_extra_the_remedy_is_said(tmp_path, monkeypatch, package):
    folder = image_encoder(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    needed = {"PIL": "pillow"}.get(package, package)
    with pytest.raises(EncoderError, match=rf"needs {needed}; install it: .*fairpool\[encoders\]"):
        open_encoder(read_folder(folder))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"size": None}, "size is None; it must be whole numbers from 1 to 2048"),
        ({"size": 0}, "size is 0; it must be"),
        ({"size": True}, "size is True; it must be"),
        ({"size": {"height": 5}}, "it must be a height and a width, or, of size, a shortest_edge"),
        ({"size": {"shortest_edge": 10**9}}, "whole numbers from 1 to 2048"),
        ({"crop_size": 9}, "crop_size is 9; it must be at most 8, as size is"),
        ({"crop_size": {"shortest_edge": 3}}, "crop_size is .*; it must be a height and a width"),
        ({"do_center_crop": True}, "crop_size is None; it must be"),
        ({"do_center_crop": 1}, "do_center_crop is 1; it must be true or false"),
        ({"do_resize": False}, "do_resize is false, so that images of any size"),
        ({"resample": 6}, "resample is 6; it must be a whole number from 0 to 5"),
        ({"resample": "bicubic"}, "resample is 'bicubic'"),
        ({"rescale_factor": 0}, "rescale_factor is 0; it must be a number above 0"),
        ({"rescale_factor": 10**400}, "rescale_factor is 1000"),
        ({"image_mean": [0.5]}, "image_mean is .*; it must be 3 numbers, of red, green"),
        ({"image_mean": [0, 0, "x"]}, "image_mean is"),
        ({"image_std": [1, 0, 1]}, "image_std is .*; it must be numbers above 0"),
        ({"image_std": None}, "image_std is None"),
        ({"do_pad": True}, "'do_pad' is not known here, and would change images"),
        ({"crop_pct": 0.9}, "'crop_pct' is not known here"),
    ],
)
def test_settings_that_make_no_sense_are_refused(tmp_path, settings, said):
    folder = image_encoder(tmp_path, **settings)
    with pytest.raises(EncoderError, match=said):
        open_encoder(read_folder(folder))


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"[1]", r"\[1\] is not a JSON object"), (b"{", "not JSON"), (b"\xff\xfe", "not JSON")],
)
def test_settings_that_are_no_json_are_refused(tmp_path, content, said):
    (image_encoder(tmp_path) / "preprocessor_config.json").write_bytes(content)
    with pytest.raises(EncoderError, match=rf"preprocessor_config.json: .*{said}"):
        open_encoder(read_folder(tmp_path))


def tensor(array):
    return numpy_helper.from_array(np.asarray(array), "W")


POOL = helper.make_node("GlobalAveragePool", ["pixels"], ["out"])
NETWORKS = {
    "two inputs": (
        network_bytes([POOL], ["out"], inputs=("pixels", "mask")),
        "it asks for pixels, mask; an encoder of images asks for one input",
    ),
    "rows": (
        network_bytes([helper.make_node("Tanh", ["pixels"], ["out"])], ["out"], shape=(None, 3)),
        "it asks for pixels; an encoder of images asks for one input of floating numbers",
    ),
    "another size": (mean_colour_network(shape=(1, 3, 30, 30)), "the network fails on an image"),
    "too many numbers": (
        network_bytes(
            [helper.make_node("Conv", ["pixels", "W"], ["out"])],
            ["out"],
            tensors=[tensor(np.ones((1025, 3, 1, 1), np.float32))],
        ),
        "it makes 1025 numbers of an image; 1 to 1024 are allowed",
    ),
    "whole numbers": (
        network_bytes(
            [POOL, helper.make_node("Cast", ["out"], ["whole"], to=TensorProto.INT64)], ["whole"]
        ),
        "not a network that can be used|for one image; it must give",
    ),
    "five axes": (
        network_bytes(
            [POOL, helper.make_node("Unsqueeze", ["out", "W"], ["deep"])],
            ["deep"],
            tensors=[tensor(np.array([4]))],
        ),
        r"for one image; it must give \(1, d\) or \(1, patches, d\) or \(1, d, height, width\)",
    ),
    "not finite": (
        network_bytes(
            [helper.make_node("Add", ["pixels", "W"], ["out"])],
            ["out"],
            tensors=[tensor(np.float32([np.inf]))],
        ),
        "it gives values that are not finite",
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_that_make_no_sense_are_refused(tmp_path, capfd, name):
    content, said = NETWORKS[name]
    with pytest.raises(EncoderError, match=said):
        opened(tmp_path, content)
    assert capfd.readouterr() == ("", "")


def test_places_and_patches_of_an_image_are_averaged(tmp_path):
    places = opened(tmp_path / "a", network_bytes([POOL], ["out"]))
    nodes = [
        helper.make_node("Reshape", ["pixels", "W"], ["flat"]),
        helper.make_node("Transpose", ["flat"], ["out"], perm=[0, 2, 1]),
    ]
    shape = tensor(np.array([1, 3, SIDE * SIDE]))
    patches = opened(tmp_path / "b", network_bytes(nodes, ["out"], tensors=[shape]))
    content = [image_bytes(SOME)]
    assert places.embed(content) == pytest.approx(patches.embed(content), abs=1e-5)
    assert places.pin.dimensions == 3


def test_an_output_that_is_pooled_already_is_preferred(tmp_path):
    nodes = [
        helper.make_node("Identity", ["pixels"], ["hidden"]),
        helper.make_node("GlobalMaxPool", ["pixels"], ["pooler_output"]),
    ]
    found = opened(tmp_path, network_bytes(nodes, ["hidden", "pooler_output"]))
    scaled = (SOME / 255 - PREPROCESSOR["image_mean"]) / PREPROCESSOR["image_std"]
    largest = scaled.max(axis=(0, 1))
    expected = largest / np.linalg.norm(largest) * np.sqrt(3)
    assert found.embed([image_bytes(SOME)])[0] == pytest.approx(expected, rel=1e-5)


def test_a_network_whose_numbers_depend_on_the_image_is_refused_there(tmp_path):
    nodes = [helper.make_node("ReduceMean", ["pixels"], ["out"], axes=[1, 2], keepdims=0)]
    encoder = opened(tmp_path, network_bytes(nodes, ["out"]), size={"shortest_edge": SIDE})
    encoder.embed([image_bytes(SOME)])
    with pytest.raises(EncoderError, match="makes 16 numbers of one image and 8 of another"):
        encoder.embed([image_bytes(np.zeros((SIDE, 2 * SIDE, 3)))])
