"""What is fuzzed: a fuzzer makes a hostile variant of something and judges the answer.

Every fuzzer is a function of a folder of its own and a random generator. It passes if fairpool does
what it promises for any input at all: it works, or says in words what is wrong (exit code 2); it
shows no traceback, obeys no escape sequence, and neither changes its inputs nor leaves half of a
result behind.
"""

import csv
import io
import json
import math
import random
import shutil
import tomllib
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import safetensors.numpy
from PIL import Image

import fairpool as fp
from fairpool.archive.file import ENTRY
from fairpool.compute.checkpoint import Checkpoint
from fairpool.encoders import read_folder
from fairpool.errors import FairpoolError
from fairpool.exchange.contribution_file import ContributionFile
from fairpool.exchange.plan import SignedPlan
from fairpool.realisation import tensor_file
from fairpool.signatures import sign
from tests.fuzz.mutations import HOSTILE_NUMBERS, HOSTILE_TEXTS, damaged, with_other_values
from tests.support.dialects import packed, text_file, workbook
from tests.support.encoders import MAKERS, noted
from tests.support.examples import MODELS as MODELS_OF_LIBRARY
from tests.support.examples import make_parties
from tests.support.exchange import KEYS, OPERATOR
from tests.support.images import image_bytes, photos, pictured
from tests.support.projects import MODELS, fairpool, project, round_folder, table, written_run
from tests.support.sums import Case, numbers

SENT = "North-0.contribution"
"""What the party that sends sums has sent."""

RUN_SHARE = 0.1
"""Of the cases about tables: the others are only checked, which takes a tenth of the time."""


def configuration_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of collaboration.toml."""
    file = small_project(folder) / "collaboration.toml"
    file.write_bytes(damaged(file.read_bytes(), rng))
    judge_project(folder, rng)


def configuration_values(folder: Path, rng: random.Random) -> None:
    """A collaboration.toml that is TOML, and says other things."""
    file = small_project(folder, kind=rng.choice([*MODELS])) / "collaboration.toml"
    tree = with_other_values(tomllib.loads(file.read_text()), rng)
    file.write_text(as_toml(tree))
    judge_project(folder, rng)


def csv_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of a party's CSV file."""
    file = small_project(folder) / "p0.csv"
    file.write_bytes(damaged(file.read_bytes(), rng))
    judge_project(folder, rng)


def csv_cells(folder: Path, rng: random.Random) -> None:
    """A party's CSV file with other cells, headers and numbers of cells."""
    file = small_project(folder) / rng.choice(("p0.csv", "p1.csv", "test.csv"))
    file.write_text(other_cells(file.read_text(), rng), errors="surrogatepass")
    judge_project(folder, rng)


def parquet_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of a party's Parquet file."""
    file = small_project(folder, suffix=".parquet") / "p0.parquet"
    file.write_bytes(damaged(file.read_bytes(), rng))
    judge_project(folder, rng)


def parquet_columns(folder: Path, rng: random.Random) -> None:
    """A party's Parquet file with columns of other types, names and values."""
    file = small_project(folder, suffix=".parquet") / "p0.parquet"
    columns = table(40, 0).to_pydict()
    names, arrays = [], []
    odd = rng.choice(list(columns))
    for name, column in columns.items():
        arrays.append(odd_column(column, rng) if name == odd else pa.array(column))
        names.append(name if rng.random() < 0.9 else rng.choice([*columns, *HOSTILE_TEXTS]))
    try:
        pyarrow.parquet.write_table(pa.table(arrays, names=names), file)
    except (pa.ArrowException, UnicodeEncodeError):
        return  # such a file cannot be written
    judge_project(folder, rng)


def reward_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of a reward file."""
    content = damaged(some_reward(rng.choice([*MODELS])), rng)
    judge_reward(folder, content, rng)


def reward_values(folder: Path, rng: random.Random) -> None:
    """A reward file with other entries or arrays, and a digest that is right for them."""
    content = some_reward(rng.choice([*MODELS]))
    tensors = {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
    length = int.from_bytes(content[:8], "little")
    description = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["fairpool"])
    if rng.random() < 0.7:
        description = with_other_values(description, rng)
    else:
        tensors = with_other_arrays(tensors, rng)
    # As an attacker would: the digest keeps accidents out, not people who can compute it.
    try:
        description["sha256"] = tensor_file.digest(description, tensors)
        text = json.dumps(description)
    except ValueError:  # what JSON does not know, such as infinity
        text = json.dumps(description | {"sha256": "0" * 64})
    metadata = {"fairpool": text.encode("utf-8", "replace").decode()}
    judge_reward(folder, safetensors.numpy.save(tensors, metadata=metadata), rng)


def archive_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of a saved collaboration."""
    judge_archive(folder, damaged(some_archive(rng.choice([*ARCHIVED])), rng))


def archive_values(folder: Path, rng: random.Random) -> None:
    """A saved collaboration with other entries or arrays, and a digest that is right for them."""
    content = some_archive(rng.choice([*ARCHIVED]))
    description, tensors = tensor_file.unpacked(
        content, ENTRY, "x", what="it", kinds=tensor_file.NUMBERS_AND_BYTES
    )
    del description["sha256"]
    if rng.random() < 0.7:
        description = with_other_values(description, rng)
    else:
        tensors = with_other_arrays(tensors, rng)
    try:
        content = tensor_file.packed(ENTRY, description, tensors)
    except (ValueError, TypeError):  # what JSON does not know, such as infinity
        return
    judge_archive(folder, content)


def prediction_table(folder: Path, rng: random.Random) -> None:
    """A table to predict whose cells are hostile."""
    judge_reward(folder, some_reward(rng.choice([*MODELS])), rng, hostile_table=True)


def dialects(folder: Path, rng: random.Random) -> None:
    """A party's table in another dialect, packed or in a workbook, with damage or other cells."""
    file = project_in_dialect(folder, rng)
    content = file.read_bytes()
    if rng.random() < 0.5:
        file.write_bytes(damaged(content, rng))
    else:
        settings = folder / "collaboration.toml"
        settings.write_text(as_toml(with_other_values(tomllib.loads(settings.read_text()), rng)))
    judge_project(folder, rng)


def reward_deliveries(folder: Path, rng: random.Random) -> None:
    """A reward file that says something else of how its party's tables come."""
    content = some_reward("blr")
    tensors = {name: array.copy() for name, array in safetensors.numpy.load(content).items()}
    length = int.from_bytes(content[:8], "little")
    description = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["fairpool"])
    delivery = {
        "reading": {
            "separator": ",",
            "decimal": ".",
            "encoding": "cp1252",
            "missing": ["-"],
            "header": 1,
        },
        "columns": [
            {"name": "x", "named": "x", "own_unit": "inch", "unit": "mm"},
            {"name": "z", "date_format": "%d.%m.%Y"},
            {"name": "kind", "constant": "red"},
        ],
    }
    description["delivery"] = with_other_values(delivery, rng)
    try:
        description["sha256"] = tensor_file.digest(description, tensors)
        text = json.dumps(description)
    except ValueError:  # what JSON does not know, such as infinity
        return
    metadata = {"fairpool": text.encode("utf-8", "replace").decode()}
    judge_reward(folder, safetensors.numpy.save(tensors, metadata=metadata), rng)


def summaries(folder: Path, rng: random.Random) -> None:
    """Sums that somebody made up: they are refused, or give finite values."""
    model, parties = MODELS_OF_LIBRARY["blr"], make_parties([6, 9, 7], rng.randrange(1000))
    honest = model.summarise(parties[0])
    entries = {
        "gram": honest.gram,
        "moment": honest.moment,
        "squares": honest.squares,
        "noise_variance": honest.noise_variance,
        "rows": honest.rows,
        "inputs": honest.inputs,
        "probe": honest.probe,
    }
    for name in rng.sample([*entries], rng.randint(1, 2)):
        entries[name] = other_array(entries[name], rng)
    try:
        summary = fp.PartySummary(name="made up", **entries)
        game = fp.InformationGain(model, [summary, *parties[1:]])
        values = [game.value(coalition) for coalition in range(8)]
    except FairpoolError as refusal:
        assert str(refusal)  # noqa: PT017 -- it may be refused, or not
        return
    assert all(math.isfinite(value) and value >= -1e-9 for value in values), values


def checkpoints(folder: Path, rng: random.Random) -> None:
    """Kept values that somebody damaged: what comes back is what was kept, or nothing."""
    values = np.arange(6.0) + 0.25
    kept = Checkpoint(folder / "kept")
    assert kept.keep("digest", "name", values) == ()
    for file in sorted((folder / "kept").rglob("*")):
        if file.is_file() and rng.random() < 0.7:
            file.write_bytes(damaged(file.read_bytes(), rng))
    again = Checkpoint(folder / "kept").load("digest", "name")
    if again is not None:
        np.testing.assert_array_equal(again, values)


def encoder_files(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of an encoder's file, which the configuration pins as it is."""
    noted(folder, encoder=rng.choice([*MAKERS]))
    encoder = folder / "encoders/mini"
    configuration = folder / "collaboration.toml"
    before = read_folder(encoder).sha256
    file = rng.choice(sorted(encoder.iterdir()))
    file.write_bytes(damaged(file.read_bytes(), rng))
    after = read_folder(encoder).sha256
    configuration.write_text(configuration.read_text().replace(before, after))
    judge_project(folder, rng)


def image_files(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of images, or a table that names or holds something else."""
    named = rng.random() < 0.7
    small = {"named": named, "suffix": ".csv" if named else ".parquet"}
    pictured(folder, rng.choice(("", 'missing = "drop"', 'missing = "impute"')), **small)
    kinds = {"PNG": ("RGB", "RGBA", "L", "LA", "P", "1", "I;16"), "JPEG": ("RGB", "L", "CMYK")}
    kind = rng.choice([*kinds])
    size = rng.randint(1, 40), rng.randint(1, 40)
    picture = Image.effect_noise(size, rng.randint(1, 200)).convert(rng.choice(kinds[kind]))
    content = damaged(image_bytes(picture, kind), rng)
    if not named:
        cells = photos(40, 0)["photo"].to_pylist()
        cells[rng.randrange(40)] = content
        rows = photos(40, 0)
        pa.parquet.write_table(rows.set_column(1, "photo", pa.array(cells)), folder / "p0.parquet")
    elif rng.random() < 0.6:
        (folder / "photos/0-5.png").write_bytes(content)
    else:
        file = folder / "p0.csv"
        file.write_text(other_cells(file.read_text(), rng), errors="surrogatepass")
    judge_project(folder, rng)


def image_settings(folder: Path, rng: random.Random) -> None:
    """What an encoder says of how images are treated, with other values or damaged."""
    pictured(folder)
    file = folder / "encoders/mini/preprocessor_config.json"
    configuration = folder / "collaboration.toml"
    before = read_folder(file.parent).sha256
    tree = with_other_values(json.loads(file.read_text()), rng)
    try:
        content = json.dumps(tree).encode("utf-8", "replace")
    except ValueError:
        return
    if rng.random() < 0.2:
        content = damaged(content, rng)
    file.write_bytes(content)
    after = read_folder(file.parent).sha256
    configuration.write_text(configuration.read_text().replace(before, after))
    judge_project(folder, rng)


def plan_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of plan.json."""
    file = agreed_project(folder) / "plan.json"
    file.write_bytes(damaged(file.read_bytes(), rng))
    judge_plan(folder, rng)


def plan_values(folder: Path, rng: random.Random) -> None:
    """A plan that says other things, and that the operator has signed."""
    file = agreed_project(folder) / "plan.json"
    plan = SignedPlan.of_content(file.read_bytes(), "plan.json")
    try:
        file.write_bytes(sign(OPERATOR, "plan", with_other_values(plan.document.body, rng)).content)
    except ValueError:  # what canonical JSON does not have, such as infinity
        return
    judge_plan(folder, rng)


def contribution_bytes(folder: Path, rng: random.Random) -> None:
    """Damaged bytes of a party's contribution."""
    file = agreed_project(folder) / SENT
    file.write_bytes(damaged(file.read_bytes(), rng))
    judge(fairpool("inspect", file))
    judge_project(folder, rng)


def contribution_values(folder: Path, rng: random.Random) -> None:
    """A contribution with other entries or sums, which its party has signed."""
    file = agreed_project(folder) / SENT
    honest = ContributionFile.of_bytes(file.read_bytes(), SENT)
    try:
        if rng.random() < 0.5:
            body = with_other_values(honest.document.body, rng)
            document = sign(KEYS["North"], "contribution", body)
            made = replace(honest, document=document)
        else:
            arrays = with_other_arrays(dict(honest.arrays), rng)
            made = ContributionFile.made(KEYS["North"], honest.manifest, arrays)
        file.write_bytes(made.to_bytes())
    except ValueError:  # what canonical JSON does not have, such as infinity
        return
    judge(fairpool("inspect", file))
    judge_project(folder, rng)


FUZZERS = (
    plan_bytes,
    plan_values,
    contribution_bytes,
    contribution_values,
    encoder_files,
    image_files,
    image_settings,
    configuration_bytes,
    configuration_values,
    csv_bytes,
    csv_cells,
    parquet_bytes,
    parquet_columns,
    reward_bytes,
    reward_values,
    archive_bytes,
    archive_values,
    prediction_table,
    dialects,
    reward_deliveries,
    summaries,
    checkpoints,
)


# What is mutated


def small_project(folder: Path, kind: str = "blr", suffix: str = ".csv") -> Path:
    """A project that runs; its model's hyperparameters are learned only where they must be."""
    model, rewards = MODELS[kind]
    model = model.replace("[8, 5]", "[3]").replace("features = 12", "features = 8")
    return project(folder, model=model, suffix=suffix, sizes=(14, 12, 13), rewards=rewards)


def agreed_project(folder: Path) -> Path:
    """A project with a plan, by which one of its parties sends sums."""
    for name, content in _agreed().items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o600)
    return folder


@cache
def _agreed() -> dict[str, bytes]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as place:
        tables = {name: numbers(30, seed) for seed, name in enumerate(KEYS)}
        case = Case(folder=Path(place), tables=tables, by_sums=("North",))
        case.contribute("North", tables["North"])
        case.configure(case.by_sums)
        (case.folder / "North.csv").rename(case.folder / "mine.csv")
        return contents(case.folder)


def project_in_dialect(folder: Path, rng: random.Random) -> Path:
    """A project whose first party has its table in its own way; its file."""
    small_project(folder)
    columns = table(14, 0).to_pydict()
    columns |= {"day": [19000.0 + 40 * k for k in range(14)]}
    own = {"X": columns.pop("x"), **columns}
    dialect = {"separator": rng.choice(";\t|"), "decimal": ","}
    if rng.random() < 0.5:
        dialect["thousands"] = rng.choice((".", "'", " "))
    encoding = rng.choice(("utf-8", "cp1252", "utf-16"))
    form = rng.choice(("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"))
    kind = rng.choice(("csv", "csv.gz", "xlsx"))
    content = text_file(own, **dialect, encoding=encoding, dates=("day",), form=form)
    if kind == "csv.gz":
        content = packed(content)
    elif kind == "xlsx":
        content = workbook(own, dates=("day",))
    file = folder / f"own.{kind}"
    file.write_bytes(content)
    others = {name: {"constant": "2024-01-01"} for name in ("day",)}
    tree = tomllib.loads((folder / "collaboration.toml").read_text())
    tree["columns"] = {"x": {"unit": "mm"}, "day": {"kind": "date"}}
    tree["parties"][0] |= {
        "data": file.name,
        "reading": dialect | {"encoding": encoding},
        "columns": {"x": {"named": "X", "from": "inch"}},
    }
    for party in (*tree["parties"][1:], tree["test"]):
        party["columns"] = others
    (folder / "collaboration.toml").write_text(as_toml(tree))
    return file


@cache
def some_reward(kind: str) -> bytes:
    """A reward file of this kind of model."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        written_run(small_project(Path(folder), kind=kind))
        [file, *_] = sorted(round_folder(folder).rglob("reward.safetensors"))
        return file.read_bytes()


ARCHIVED = {
    "rows": lambda model, parties: parties,
    "sums": lambda model, parties: [model.summarise(party) for party in parties],
}
"""How the parties of a saved collaboration take part."""


@cache
def some_archive(kind: str) -> bytes:
    """A saved collaboration."""
    from tempfile import TemporaryDirectory

    model, parties = MODELS_OF_LIBRARY["blr"], make_parties([12, 15, 11], 1)
    result = fp.collaborate(ARCHIVED[kind](model, parties), model, rho=0.5, rng=0)
    with TemporaryDirectory() as folder:
        result.save(Path(folder) / "all")
        return (Path(folder) / "all").read_bytes()


def other_cells(text: str, rng: random.Random) -> str:
    """A CSV text with some cells, headers or lengths of rows changed."""
    rows = list(csv.reader(io.StringIO(text)))
    for _ in range(rng.randint(1, 5)):
        row = rng.choice(rows)
        how = rng.randrange(6)
        if how == 0:
            row.append(rng.choice(HOSTILE_TEXTS))
        elif how == 1 and row:
            row.pop()
        elif how == 2:
            rows.insert(rng.randrange(len(rows)), list(rng.choice(rows)))
        elif how == 3 and len(rows) > 1:
            rows.remove(row)
        elif row:
            row[rng.randrange(len(row))] = str(rng.choice(HOSTILE_TEXTS + HOSTILE_NUMBERS))
    stream = io.StringIO()
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(stream, quoting=quoting, delimiter=rng.choice(",,,,;\t"), escapechar="\\")
    writer.writerows(rows)
    return stream.getvalue()


def odd_column(values: list, rng: random.Random) -> pa.Array:
    """A column of the same length and of any type."""
    n = len(values)
    odd = (
        lambda: pa.nulls(n),
        lambda: pa.array([True, False] * (n // 2) + [None] * (n % 2)),
        lambda: pa.array([float(rng.choice((math.nan, math.inf, -1e308, 1e308)))] * n),
        lambda: pa.array([2**62 + k for k in range(n)]),
        lambda: pa.array([rng.choice(HOSTILE_TEXTS) for _ in range(n)]),
        lambda: pa.array([b"\xff\xfe"] * n, type=pa.binary()),
        lambda: pa.array([[1.0]] * n),
        lambda: pa.array([{"a": 1}] * n),
        lambda: pa.array(range(n), type=pa.timestamp("ns", tz="UTC")),
        lambda: pa.array(range(n), type=pa.duration("s")),
        lambda: pa.array(range(n), type=pa.decimal128(38, 3)),
        lambda: pa.array(range(n), type=pa.uint64()),
        lambda: pa.array(np.zeros(n, dtype=np.float16)),
        lambda: pa.array([str(v) for v in values]).dictionary_encode(),
        lambda: pa.array([None, *values[1:]]),
    )
    return rng.choice(odd)()


def other_array(value, rng: random.Random):
    """A number or an array, scaled, turned, cut or replaced."""
    array = np.asarray(value, dtype=float)
    how = rng.randrange(7)
    if how == 0:
        return rng.choice(HOSTILE_NUMBERS)
    if how == 1:
        return rng.choice(HOSTILE_TEXTS)
    if how == 2:
        return array * rng.choice((-1, 0, 1e-300, 100.0, 1e20, 1e200))
    if how == 3 and array.ndim:
        return array[:-1]
    if how == 4 and array.size:
        array = array.copy()
        array.flat[rng.randrange(array.size)] = float(rng.choice(HOSTILE_NUMBERS[7:]))
        return array
    if how == 5:
        return array[None]
    return array + np.float64(rng.choice((1e-9, 1.0, -3.0, 1e12)))


def with_other_arrays(tensors, rng: random.Random):
    """Some tensor has other numbers, another shape or another name."""
    name = rng.choice([*tensors])
    try:
        other = np.ascontiguousarray(other_array(tensors[name], rng), dtype=np.float64)
    except (ValueError, OverflowError):
        other = np.zeros((0, 3))
    if rng.random() < 0.1:
        del tensors[name]
        name = rng.choice(("weights", "x", " "))
    return tensors | {name: other}


def as_toml(tree: dict) -> str:
    """TOML of nested dicts and lists, in braces throughout."""
    return "".join(f"{_toml(str(key))} = {_toml(value)}\n" for key, value in tree.items())


def _toml(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        inner = (f"{_toml(str(key))} = {_toml(entry)}" for key, entry in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL and for letters of two code units.
        signs = (sign if ord(sign) > 126 else json.dumps(sign)[1:-1] for sign in value)
        return '"' + "".join(signs) + '"'
    return repr(value)


# What is promised


def judge_project(folder: Path, rng: random.Random) -> None:
    """Check a project, sometimes run it, and look at what it says."""
    before = contents(folder)
    command = "run" if rng.random() < RUN_SHARE else "check"
    done = fairpool(command, folder)
    judge(done)
    after = contents(folder)
    if done.returncode:
        lock = after.pop(".fairpool/lock", b"")  # which nobody holds any longer
        assert (after, lock) == (before, b""), "it failed, and changed files"
    else:
        assert {name: after.get(name) for name in before} == before, "it changed its inputs"


def judge_plan(folder: Path, rng: random.Random) -> None:
    """Look at a plan, as the operator does and as a party that is to contribute by it."""
    file = folder / "plan.json"
    judge(fairpool("inspect", file))
    home = folder / "home"
    home.mkdir()
    KEYS["North"].write(home / "signing.key")
    before = contents(folder)
    data, out = folder / "mine.csv", folder / "out.contribution"
    trusted = ("--trust", OPERATOR.public.fingerprint, "--yes")
    with patch.dict("os.environ", {"FAIRPOOL_HOME": str(home)}):
        done = fairpool("contribute", file, "--data", data, "--out", out, *trusted)
    judge(done)
    after = contents(folder)
    if done.returncode:
        assert not out.exists(), "it failed, and left a contribution"
    assert {name: after.get(name) for name in before} == before, "it changed its inputs"
    judge_project(folder, rng)


def judge_reward(
    folder: Path, content: bytes, rng: random.Random, *, hostile_table: bool = False
) -> None:
    """Look at a reward file and predict with it."""
    folder.mkdir(parents=True, exist_ok=True)
    file, data = folder / "reward.safetensors", folder / "data.csv"
    file.write_bytes(content)
    rows = table(5, 1)
    lines = [",".join(rows.column_names)]
    lines += [",".join(map(str, row.values())) for row in rows.to_pylist()]
    text = "\n".join(lines) + "\n"
    data.write_text(other_cells(text, rng) if hostile_table else text, errors="surrogatepass")
    judge(fairpool("inspect", file))
    done = fairpool("predict", file, "--data", data)
    judge(done)
    if done.returncode == 0:
        cells = [cell for row in csv.reader(io.StringIO(done.stdout)) for cell in row]
        assert not {"nan", "inf", "-inf"} & {cell.lower() for cell in cells}, done.stdout
    judge(fairpool("export", file, "--to", folder / "model.onnx"))
    assert file.read_bytes() == content


def judge_archive(folder: Path, content: bytes) -> None:
    """Open a saved collaboration; one that opens can be looked at."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "all"
    file.write_bytes(content)
    # Rows that somebody made up may have squares that overflow; what comes of that is shown.
    with suppress(FairpoolError), np.errstate(all="ignore"):
        result = fp.load_collaboration(file)
        assert result.models.names == result.game.names
        assert repr(result)
        assert result._repr_html_()


def judge(done) -> None:
    """Exit code 0 or 2; no traceback, nothing unexpected, no character that a terminal obeys."""
    said = done.stdout + done.stderr
    assert done.returncode in (0, 2), said
    assert "Traceback" not in said, said
    assert "unexpected: " not in done.stderr, said
    orders = {sign for sign in said if ord(sign) < 32 or 127 <= ord(sign) < 160} - {"\n"}
    assert not orders, f"{orders}: {said!r}"
    if done.returncode:
        assert done.stderr.strip()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def cleared(folder: Path) -> Path:
    """A folder without anything in it, for the next case."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder
