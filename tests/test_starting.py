"""What is loaded when: nothing that takes time before it is needed."""

import json
import pickle
import subprocess
import sys

import pytest

import fairpool as fp
from fairpool.consortium.example import write_example
from tests.support.projects import fairpool, project, reward_file, table, write

CHARTS = {"altair", "vl_convert", "jinja2", "fairpool.report.charts"}
HEAVY = CHARTS | {
    "numpy",
    "scipy",
    "sklearn",
    "pyarrow",
    "safetensors",
    "distributed",
    "threadpoolctl",
}
NOT_FOR_A_PARTY = CHARTS | {
    "distributed",
    "fairpool.paper",
    "fairpool.collaboration",
    "fairpool.consortium.configuration",
}
"""Pydantic is not among these: typer itself loads it to read a command's arguments. But our use of
it is.
"""

RUN_AND_LIST = """
import json, sys
status = 0
try:
    exec(sys.argv.pop(1))
except SystemExit as end:
    status = end.code or 0
print()
print(json.dumps({"status": status, "modules": sorted(sys.modules)}))
"""
COMMAND = "from fairpool.cli import entry; entry()"


def loaded_by(code, *arguments, cwd=None):
    """The exit code, and the names of all modules that a new Python has loaded after some code."""
    command = [sys.executable, "-c", RUN_AND_LIST, code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["status"], set(found["modules"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A party's reward, and a table to predict."""
    folder = project(tmp_path_factory.mktemp("finished"))
    assert fairpool("run", folder, "--quiet").returncode == 0
    write(folder / "new.csv", table(5, 7))
    return reward_file(folder, "Party-1"), folder / "new.csv"


def test_importing_the_library_loads_nothing_heavy():
    assert loaded_by("import fairpool")[1] & (HEAVY | {"rich", "typer", "pydantic"}) == set()


def test_a_name_loads_what_it_needs_and_no_charts():
    _, modules = loaded_by("import fairpool as fp; fp.Party")
    assert "numpy" in modules
    assert modules & (CHARTS | {"sklearn", "scipy", "rich", "pydantic", "distributed"}) == set()
    _, modules = loaded_by("import fairpool as fp; fp.collaborate")
    assert "sklearn" in modules
    assert modules & (CHARTS | {"pydantic", "distributed"}) == set()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--help"], 0),
        (["-h"], 0),
        (["--version"], 0),
        (["run", "--help"], 0),
        ([], 2),
        (["run"], 2),
        (["nonsense"], 2),
        (["run", "somewhere", "--jobs", "none"], 2),
    ],
)
def test_help_version_and_wrong_usage_load_nothing_heavy(arguments, code):
    status, modules = loaded_by(COMMAND, *arguments)
    assert status == code
    assert "typer" in modules
    assert modules & HEAVY == set()


def test_what_a_party_calls_loads_nothing_that_only_the_operator_needs(finished):
    reward, data = finished
    for arguments in (
        ["inspect", reward],
        ["predict", reward, "--data", data],
        ["update", reward, "--data", data, "--add"],
    ):
        status, modules = loaded_by(COMMAND, *arguments)
        assert status == 0
        assert "safetensors" in modules
        assert modules & NOT_FOR_A_PARTY == set()


def test_check_loads_no_charts(tmp_path):
    write_example(tmp_path)
    status, modules = loaded_by(COMMAND, "check", tmp_path)
    assert status == 0
    assert "fairpool.consortium.configuration" in modules
    assert modules & CHARTS == set()


INTERRUPTED = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
from fairpool.cli import entry
entry()
"""


@pytest.mark.parametrize("module", ["fairpool.consortium.prediction", "numpy"])
def test_ctrl_c_ends_with_130_even_while_a_command_is_being_loaded(module):
    """It comes at the moment when that module is looked for."""
    code = INTERRUPTED.replace("MODULE", repr(module))
    command = [sys.executable, "-c", code, "inspect", "reward.safetensors"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "stopped; nothing was written\n")


def test_wrong_usage_has_no_traceback():
    for arguments in (["run"], ["nonsense"], ["predict", "--nonsense"]):
        done = fairpool(*arguments)
        assert done.returncode == 2
        assert "Usage: fairpool" in done.stderr
        assert "Traceback" not in done.stderr


def test_every_public_name_can_be_had_in_every_way():
    names = {}
    exec("from fairpool import *", names)
    assert set(fp.__all__) <= set(names)
    assert set(fp.__all__) == {*fp.HOMES, "__version__"}
    assert set(fp.__all__) <= set(dir(fp))
    for name in fp.__all__:
        assert getattr(fp, name) is names[name]


def test_modules_can_still_be_reached_from_the_package():
    status, _ = loaded_by(
        "import fairpool; assert issubclass(fairpool.errors.DataError, ValueError)"
    )
    assert status == 0


def test_an_unknown_name_is_an_attribute_error():
    for name in ("nonsense", "__nonsense__", "_private"):
        with pytest.raises(AttributeError, match=f"module 'fairpool' has no attribute '{name}'"):
            getattr(fp, name)
    with pytest.raises(ImportError, match="cannot import name 'nonsense' from 'fairpool'"):
        exec("from fairpool import nonsense")


def test_public_classes_and_functions_can_be_pickled():
    for name in fp.HOMES:
        assert pickle.loads(pickle.dumps(getattr(fp, name))) is getattr(fp, name)


def test_what_comes_next_after_init_releases_nothing(tmp_path):
    said = " ".join(fairpool("init", tmp_path / "new").stdout.split())
    next_, then = said.split("Next: ")[1].split(", then ")
    assert next_ == f"fairpool check {tmp_path / 'new'}"
    assert then == f"fairpool run {tmp_path / 'new'} --preview"
