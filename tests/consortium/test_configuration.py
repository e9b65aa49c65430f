import re
import time
import tomllib
from pathlib import Path

import pytest

from fairpool.consortium.column_sections import ColumnSection, OwnColumnSection
from fairpool.consortium.configuration import DataSection, PartySection, known_format
from fairpool.consortium.configuration_file import load_configuration, toml_values
from fairpool.consortium.example import CONFIGURATION
from fairpool.consortium.limits import Limits
from fairpool.consortium.reading_sections import ReadingSection
from fairpool.errors import ConfigurationError
from tests.support.projects import project

ROOT = Path(__file__).parents[2]
GOOD = 'target = "y"\n[[parties]]\nname = "a"\ndata = "a.csv"\n'

FORMAT = known_format()


def problems(tmp_path, text):
    (tmp_path / "collaboration.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=re.escape(str(tmp_path))) as caught:
        load_configuration(tmp_path)
    return caught.value.problems


def test_defaults(tmp_path):
    (tmp_path / "collaboration.toml").write_text(GOOD)
    found = load_configuration(tmp_path)
    assert found.rewards.rho == "stable"
    assert found.model.kind == "sparse_gp"
    assert found.public is None
    assert found == load_configuration(tmp_path / "collaboration.toml")


def test_the_example_mentions_every_setting():
    """A commented file to start from must not forget a key."""

    def keys(section):
        for name, field in section.model_fields.items():
            yield field.alias or name
            inner = [
                a
                for a in (field.annotation, *getattr(field.annotation, "__args__", ()))
                if hasattr(a, "model_fields")
            ]
            for part in inner:
                yield from keys(part)

    for key in set(keys(FORMAT)):
        assert key in CONFIGURATION, key


def test_the_guide_has_every_key_of_tables_and_columns():
    guide = (ROOT / "docs" / "operator-guide.md").read_text()
    for section in (ReadingSection, OwnColumnSection, ColumnSection):
        for name, field in section.model_fields.items():
            assert f"\n| `{field.alias or name}` | " in guide, (section, name)
    for name in {*PartySection.model_fields} - {*DataSection.model_fields} - {"name"}:
        assert f"\n| `[[parties]] {name}` | " in guide, name


def test_every_setting_of_the_example_works_when_its_sign_is_taken_away():
    """Each is on a line of its own."""
    setting = re.compile(r"^# (?=\[[\w.]+\]$|(?!categorical)\w+ = )", re.M)
    values = tomllib.loads(setting.sub("", CONFIGURATION))
    found = FORMAT.model_validate(values)
    given = {key for key, value in values.items() if isinstance(value, dict)}
    sections = {"model", "public", "test", "rewards", "valuation", "limits", "retention"}
    assert given == {"categorical", "reading", "columns", *sections}
    of_numbers = found.columns["bmi"].model_fields_set
    of_texts = found.columns["note"].model_fields_set
    assert of_numbers | of_texts == {*ColumnSection.model_fields} - {"levels"}
    for name in ("model", "rewards", "valuation", "limits", "retention"):
        assert getattr(found, name).model_fields_set == set(type(getattr(found, name)).model_fields)
    assert found.valuation.contributions == "shapley"
    assert found.limits == Limits()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            GOOD.replace("target", "traget"),
            ['unknown key; did you mean "target"?', "target: missing"],
        ),
        (GOOD + "[model]\nkinds = 'gp'", ['model, kinds: unknown key; did you mean "kind"?']),
        (GOOD + "[model]\nwibble = 1", ["model, wibble: unknown key; known keys are kind, learn"]),
        (GOOD + '"float" = 1', ["float: unknown key"]),
        (
            GOOD + "[model]\nkind = 'network'\nhidden_layers = [10, 0]",
            ["model, hidden_layers: layer 2 of 0 is not allowed; give whole numbers from 1"],
        ),
        (GOOD + '"a[b]" = 1', ["a[b]: unknown key"]),
        (
            GOOD + "[model]\nkind = 'svm'",
            ["model, kind: 'svm' is not allowed; give one of gp, sparse_gp, fourier, blr, network"],
        ),
        (GOOD + "[model]\nkernel = 'rbf +'", ['model, kernel: kernel "rbf +": it cannot be read']),
        (GOOD + "[model]\nlearn = false", ["model: learn = false needs noise_variance"]),
        (GOOD + "[model]\nnoise_variance = -1", ["model, noise_variance: -1 is not allowed"]),
        (
            GOOD + "[model]\nlearn = false\nnoise_variance = 1e-300",
            ["model, noise_variance: 1e-300 is outside 1e-12 .. 1e+12; give a variance"],
        ),
        (
            GOOD + "[rewards]\nrho = 1.5",
            ["rewards, rho: 1.5 is not allowed; give a number in 0 .. 1, or one of fair"],
        ),
        (GOOD + "[rewards]\nrho = 'kind'", ["rewards, rho: 'kind' is not allowed"]),
        (GOOD + "[rewards]\nrho = 'stabel'", ['did you mean "stable"?']),
        (GOOD + "[rewards]\nrho = true", ["rewards, rho: True is not allowed"]),
        (
            GOOD + "[model]\nkind = 'blr'\nkernel = 'rbf'",
            ['kernel has no meaning for kind = "blr" (only for gp, sparse_gp, fourier)'],
        ),
        (
            GOOD + '[[parties]]\nname = "A "\ndata = "b.csv"',
            ['two parties are named "a" and "A ", but for case or blanks'],
        ),
        (GOOD.replace('"a"', '"a\\u001b[31m"'), ["has a control character"]),
        (GOOD.replace('"a"', '"' + "a" * 300 + '"'), ["a name of 300 characters is too long"]),
        (GOOD + '[[parties]]\nname = "a"\ndata = "b.csv"', ['two parties are named "a"']),
        (GOOD + '[[parties]]\nname = "b"', ["parties 2, data: missing"]),
        (GOOD.replace('"a"', '"  "'), ["parties 1, name: a name must not be blank"]),
        ('target = "y"', ["parties: missing"]),
        ('target = "y"\nparties = []', ["parties: [] is not allowed"]),
        ("features = ['x', 'y']\n" + GOOD, ['the target "y" is also listed under features']),
        ("categorical = ['y']\n" + GOOD, ['the target "y" is listed under categorical']),
        (
            "features = ['x', 'z', 'x']\n" + GOOD,
            ['features: the column "x" is listed twice; leave one of them out'],
        ),
        (
            "categorical = ['k', 'k']\n" + GOOD,
            ['categorical: the column "k" is listed twice; leave one of them out'],
        ),
        (
            "categorical = { k = ['F', 'M', 'F'] }\n" + GOOD,
            ['categorical: k: the level "F" is listed twice'],
        ),
        (
            "features = ['x', 'x']\ncategorical = ['k', 'k']\n" + GOOD,
            ["features: the", "categorical: the"],
        ),
        ("missing = 'guess'\n" + GOOD, ["missing: 'guess' is not allowed"]),
        ("target = ", ["not valid TOML"]),
        (f"x = 1{'0' * 5000}", ["not valid TOML"]),
    ],
)
def test_problems_are_named_with_their_remedy(tmp_path, text, expected):
    found = problems(tmp_path, text)
    for part in expected:
        assert any(part in problem for problem in found), found


def test_all_problems_are_listed_at_once(tmp_path):
    assert (
        len(problems(tmp_path, GOOD + "[model]\nkind = 'x'\nkernl = 'rbf'\n[rewards]\nrho = 2\n"))
        >= 3
    )


def test_a_folder_without_a_file_says_how_to_begin(tmp_path):
    with pytest.raises(
        ConfigurationError, match="there is no such file; `fairpool init my-project`"
    ):
        load_configuration(tmp_path)
    (tmp_path / "collaboration.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_configuration(tmp_path)


def test_a_project_loads(tmp_path):
    assert load_configuration(project(tmp_path)).rewards.rho == 0.6


@pytest.mark.parametrize(
    "value",
    ["[" * 3000 + "]" * 3000, "{a=" * 3000 + "1" + "}" * 3000],
    ids=["arrays", "tables"],
)
def test_a_file_that_is_nested_too_deeply_is_refused(tmp_path, value):
    """It was an unexpected error."""
    [problem] = problems(tmp_path, f"x = {value}\n{GOOD}")
    assert problem.endswith("are nested too deeply; no key needs more than three levels")


@pytest.mark.parametrize("part", ["x", '"\\""', "'.'"])
@pytest.mark.parametrize("where", ["{} = 1", "[{}]", "a = {{ {} = 1 }}"])
def test_a_key_without_an_end_is_refused_at_once(tmp_path, part, where):
    """One of 50,000 parts took minutes."""
    began = time.monotonic()
    for parts in (101, 20_000):
        dotted = " . ".join([part] * parts)
        [problem] = problems(tmp_path, f"{where.format(dotted)}\n{GOOD}")
        assert "a key has more than 100 parts, joined by dots" in problem
    assert time.monotonic() - began < 5
    few = ".".join([part] * 100)
    assert "more than" not in problems(tmp_path, f"{where.format(few)}\n{GOOD}")[0]


def test_texts_and_numbers_with_many_dots_are_no_keys():
    texts = "\n".join(f't{n} = "{"e.g. this, and that. " * 500}"' for n in range(3))
    text = f"levels = [{'0.5, ' * 500}]\n{texts}\n"
    assert len(toml_values(text, "collaboration.toml")) == 4
