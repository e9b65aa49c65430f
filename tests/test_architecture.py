"""docs/architecture.md and the code must agree: rooms, layers, names, seams and their examples."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from fairpool.columns import COLUMNS
from fairpool.contributions.registry import CONCEPTS
from fairpool.model_kinds import KINDS
from fairpool.realisation.mechanisms import MECHANISMS
from fairpool.targets import TARGETS
from tests.support.projects import fairpool, project
from tests.test_paper_map import find

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/architecture.md").read_text()
SOURCE = ROOT / "src/fairpool"
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.S)
ROOMS = [line.split()[0] for line in BLOCKS[0][1].strip().splitlines()]
NAMES = sorted(set(re.findall(r"`(fairpool\.[\w.]+)`", PAGE)))
SEAMS = re.findall(r"^### (.+?)\n(.*?)(?=^### |\Z)", PAGE, re.M | re.S)


def test_the_rooms_are_those_of_the_code():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__about__"}
    assert set(ROOMS) == folders | modules


def test_the_rooms_stand_in_the_order_of_the_layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    floors = {}
    for floor, layer in enumerate(layers):
        for room in layer.split(" | "):
            floors[room.removeprefix("fairpool.")] = floor
    assert set(floors) == set(ROOMS)
    drawn = [floors[room] for room in ROOMS]
    assert drawn == sorted(drawn)
    assert "exclude_type_checking_imports" not in contracts
    assert "ignore_imports" not in contracts["contracts"][0]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name):
    find(name)


@pytest.mark.parametrize(("title", "text"), SEAMS, ids=[title for title, _ in SEAMS])
def test_every_seam_is_declared_and_has_its_example(title, text):
    assert re.search(r"^Declared: `fairpool\.", text, re.M)
    assert re.search(r"^To add a ", text, re.M)
    (example,) = re.findall(r"^Example: `(tests/seams/\w+\.py)`\.$", text, re.M)
    assert re.search(r"^def test_a_new_", (ROOT / example).read_text(), re.M)


def test_every_seam_of_the_tests_is_on_the_page():
    examples = {path.name for path in (ROOT / "tests/seams").glob("test_*.py")}
    assert examples == set(re.findall(r"tests/seams/(\w+\.py)", PAGE))
    assert len(SEAMS) == 8


def test_every_registered_variant_lies_beside_its_declaration_and_is_named():
    for registry in (KINDS, MECHANISMS, CONCEPTS, TARGETS, COLUMNS):
        for name, variant in registry.items():
            # A record of functions lies where these do.
            made_by = getattr(variant, "labels", getattr(variant, "fix", variant))
            home = getattr(variant, "measure", made_by)
            module = getattr(home, "__self__", home)
            where = getattr(module, "__module__", None) or type(module).__module__
            assert f"`{where}" in PAGE, name


def test_the_notebook_runs(tmp_path, monkeypatch):
    project(tmp_path / "my-project")
    monkeypatch.chdir(tmp_path)
    (snippet,) = [code for language, code in BLOCKS if language == "python"]
    names = {}
    exec(snippet, names)
    assert names["result"].collaboration.rho == 0.5
    assert (tmp_path / "my-project/rounds/0001/operator/report.html").exists()
    # A model of the result is whole: it can be saved, and knows the columns of a table.
    names["result"].collaboration.models[0].save("reward.safetensors")
    done = fairpool("predict", "reward.safetensors", "--data", "my-project/test.csv")
    assert done.returncode == 0, done.stderr


def test_nothing_below_the_front_ends_prints_or_reads_arguments():
    for path in SOURCE.rglob("*.py"):
        within = path.relative_to(SOURCE)
        # A service is a front end, too, and its log is all that it prints.
        if within.parts[0] == "cli" or within == Path("server/logs.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name):
                assert node.id not in ("print", "input", "typer"), path
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("argv", "stdout", "stderr", "stdin"), path


def dense_linear_algebra(source):
    """The lines that use scipy.linalg or numpy.linalg, but for the length of a vector."""
    tree = ast.parse(source)
    lengths = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "norm":
            lengths.add(node.value)
    lines = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute) and node not in lengths:
            names = [node.attr]
        if any("linalg" in name.split(".") for name in names):
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "line",
    [
        "import scipy.linalg",
        "import scipy.linalg.lapack as lapack",
        "from scipy import linalg",
        "from scipy.linalg import eigh",
        "from scipy.linalg.blas import dger",
        "from numpy.linalg import LinAlgError",
        "L = np.linalg.cholesky(B)",
        "raise np.linalg.LinAlgError",
        "algebra = np.linalg",
    ],
)
def test_dense_linear_algebra_is_recognised(line):
    assert dense_linear_algebra(line) == [1]


def test_dense_linear_algebra_is_in_its_room_alone():
    assert dense_linear_algebra("length = np.linalg.norm(x)") == []
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] != "linear_algebra":
            assert not dense_linear_algebra(path.read_text()), path
