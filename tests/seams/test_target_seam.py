"""Targets: a new kind of label, carried from the configuration to letter, file and prediction."""

import csv
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from scipy.stats import norm

import fairpool as fp
from fairpool.columns import NumberColumn, Rules
from fairpool.consortium.configuration_file import load_configuration
from fairpool.consortium.scrutiny import residual_notes
from fairpool.encoding import TableEncoding
from fairpool.errors import ConfigurationError
from fairpool.keys import Key
from fairpool.report.scores import score_models
from fairpool.targets import TARGETS, Measure, NumberLabels, NumberTarget, TargetKind
from fairpool.targets.target import ComparisonNames
from tests.support.projects import fairpool, finished_run, project, round_folder, table
from tests.support.projects import write as write_table


@dataclass(frozen=True)
class YesNoTarget:
    """A toy: one of two words, of which the model sees 1 and -1."""

    name: str
    yes: str
    no: str

    kind = "yes_no"
    type = pa.string()
    rules = Rules()
    noise_scale = 1.0
    comparison = ComparisonNames()
    likely_errors = "answers that were exchanged"
    measures = (
        Measure(
            key="errors",
            title="wrong answers",
            meaning="The share of test rows that are answered wrongly.",
            digits=".3f",
        ),
    )

    @property
    def prediction_columns(self):
        return (self.name, "probability")

    def encode(self, column):
        is_yes = pc.cast(pc.equal(column, self.yes), pa.float64())
        return 2 * is_yes.to_numpy() - 1

    def decode(self, mean, variance):
        return mean, variance

    def predictions(self, mean, variance):
        return np.where(mean > 0, self.yes, self.no), norm.cdf(mean / np.sqrt(variance))

    def score(self, y, mean, variance):
        return {"errors": float(np.mean(np.sign(mean) != y))}

    def log_density(self, y, mean, variance):
        return norm.logcdf(y * mean / np.sqrt(variance))

    def squared_error(self, y, mean, variance):
        return norm.cdf(-y * mean / np.sqrt(variance)) ** 2

    noise_unit = "how much softer answers are"

    def noise_in_words(self, variance, digits=3):
        return f"softer answers by {self.noise_figure(variance, digits)}"

    def noise_figure(self, variance, digits=3):
        return f"{variance**0.5:.{digits}g}"

    def label_noise_in_words(self, noise_variance):
        return f"{noise_variance:.3g} answers squared"

    def promise(self):
        return f"For every row you get {self.yes} or {self.no}, and how likely it is."

    def entries(self):
        return {"target": self.name, "yes": self.yes, "no": self.no}

    @classmethod
    def of_entries(cls, entries):
        return cls(entries["target"], entries["yes"], entries["no"])


@dataclass(frozen=True)
class YesNoLabels:
    """The same before anybody's table was looked at."""

    name: str
    yes: str
    no: str

    type = pa.string()

    @property
    def in_words(self):
        return f"{self.yes} or {self.no}"

    def wrong(self, column):
        known = pc.is_in(column, value_set=pa.array([self.yes, self.no]))
        return pc.and_(pc.is_valid(column), pc.invert(known)).to_numpy()

    def fix(self, parties, public):
        problems = []
        for seen in parties:
            if len(seen.levels) == 1:
                answer = next(iter(seen.levels))
                problems.append(f'{seen.owner}: all its answers are "{answer}"; ask it for others')
        if problems:
            raise ConfigurationError(*problems)
        return YesNoTarget(self.name, self.yes, self.no)


def word(value):
    if not value.isalpha():
        raise ValueError(f"{value!r} is not allowed; give a word")
    return value


YES_NO = TargetKind(
    name="yes_no",
    labels=lambda settings: YesNoLabels(settings.column, settings.yes, settings.no),
    more_labels=lambda target: YesNoLabels(target.name, target.yes, target.no),
    decode=YesNoTarget.of_entries,
    keys={
        "yes": Key(type=str, default="yes", check=word),
        "no": Key(type=str, default="no", check=word),
    },
)


@pytest.fixture(autouse=True)
def _yes_no(monkeypatch):
    monkeypatch.setitem(TARGETS, "yes_no", YES_NO)


def answers(rows, seed, yes="yes", no="no"):
    """A table whose labels are words."""
    content = table(rows, seed)
    is_high = content["y"].to_numpy() > 58
    return content.drop_columns(["y"]).append_column("ill", [np.where(is_high, yes, no)])


def illnesses(folder, target='{ column = "ill", kind = "yes_no" }', *, suffix=".csv", **words):
    """A collaboration about them."""
    project(folder, suffix=suffix)
    for i in range(3):
        write_table(folder / f"p{i}{suffix}", answers(60, i, **words))
    write_table(folder / f"test{suffix}", answers(30, 99, **words))
    say(folder, f"target = {target}")
    return folder


def say(folder, line):
    """Let the configuration say something else of the target."""
    file = folder / "collaboration.toml"
    (old,) = [line for line in file.read_text().splitlines() if line.startswith("target")]
    file.write_text(file.read_text().replace(old, line))


def with_label(file, row, value):
    """Put a label into a row (from 0) of a file."""
    lines = file.read_text().splitlines()
    before, _, _ = lines[row + 1].rpartition(",")
    lines[row + 1] = f'{before},"{value}"'
    file.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_new_target_goes_from_the_configuration_to_letter_and_prediction(
    tmp_path, monkeypatch, suffix
):
    target = '{ column = "ill", kind = "yes_no", yes = "ja", no = "nein" }'
    folder = illnesses(tmp_path / "p", target, suffix=suffix, yes="ja", no="nein")
    check = fairpool("check", folder)
    assert check.returncode == 0, check.stderr
    assert "; target: ill\n" in check.stdout
    run = fairpool("run", folder, "--json")
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["model"]["noise"].endswith(" answers squared")
    assert result["parties"][0]["value"] > 0
    assert result["test"]["everyone"]["errors"] < 0.2
    report = (round_folder(folder) / "operator/report.html").read_text()
    assert "wrong answers" in report
    assert "The share of test rows that are answered wrongly." in report
    least = min(result["parties"], key=lambda party: party["reward"])
    own = round_folder(folder) / least["folder"]
    letter = (own / "letter.html").read_text()
    assert "For every row you get ja or nein, and how likely it is." in letter
    assert "The noise has softer answers by " in letter
    reward = own / "reward.safetensors"
    assert "ill" in fairpool("inspect", reward).stdout
    updated = fairpool(
        "update", reward, "--data", folder / f"test{suffix}", "--add", "--out", folder / "new"
    )
    assert updated.returncode == 0, updated.stderr
    predicted = fairpool("predict", reward, "--data", folder / f"test{suffix}")
    assert predicted.returncode == 0, predicted.stderr
    header, *rows = csv.reader(predicted.stdout.splitlines())
    assert header == ["ill", "probability"]
    labels = answers(30, 99, yes="ja", no="nein")["ill"].to_pylist()
    assert np.mean([row[0] == label for row, label in zip(rows, labels, strict=True)]) > 0.8
    assert all((row[0] == "ja") == (float(row[1]) > 0.5) for row in rows)
    as_json = fairpool("predict", reward, "--data", folder / f"test{suffix}", "--json")
    assert [row["ill"] for row in json.loads(as_json.stdout)] == [row[0] for row in rows]
    # Who does not know the kind cannot read the file, and is told so.
    monkeypatch.delitem(TARGETS, "yes_no")
    with pytest.raises(ValueError, match="no target of kind 'yes_no' is known"):
        fp.load_reward(reward)


def refused(folder):
    """The problems that a check tells."""
    check = fairpool("check", folder, "--json")
    assert check.returncode == 2, check.stdout
    return json.loads(check.stdout)["errors"]


def test_a_label_that_is_none_is_told_with_file_and_row(tmp_path):
    folder = illnesses(tmp_path)
    with_label(tmp_path / "p1.csv", 2, "maybe")
    with_label(tmp_path / "p1.csv", 7, "1,5")
    with_label(tmp_path / "test.csv", 0, "perhaps")
    assert refused(folder) == [
        f'party "Party 1": {tmp_path}/p1.csv, line 4, column "ill": \'maybe\' is not yes or no'
        " (and 1 more); correct it (a target must be yes or no)",
        f"test data: {tmp_path}/test.csv, line 2, column \"ill\": 'perhaps' is not yes or no;"
        " correct it (a target must be yes or no)",
    ]


def test_a_missing_label_is_a_missing_value(tmp_path):
    folder = illnesses(tmp_path)
    with_label(tmp_path / "p1.csv", 2, "")
    (problem,) = refused(folder)
    assert problem == (
        f'party "Party 1": 1 missing value(s) (ill 1), first at {tmp_path}/p1.csv, line 4, column'
        ' "ill"; fill them in, or set missing = "drop" to leave those rows out'
    )
    say(tmp_path, 'missing = "drop"\ntarget = { column = "ill", kind = "yes_no" }')
    assert finished_run(folder).collaboration.game.rows == (60, 59, 60)


def test_other_faults_of_labels_are_told_in_the_targets_words(tmp_path):
    folder = illnesses(tmp_path, suffix=".parquet")
    content = answers(60, 0)
    names = content.column_names
    for column, said in (
        (pa.array([["yes"]] * 60), "has type list<element: string>, not text; a target must be"),
        (pa.array(["yes\x07"] * 60), "the label 'yes\\x07' cannot be shown (and 59 more); remove"),
        (
            pa.array(["yes" * 200] * 60),
            "600 characters (and 59 more), is too long for a label; is it free text? predict"
            " another column, or raise name_length in [limits]",
        ),
        (
            pa.array(["yes" * 2000] * 60),
            "a text of 6000 bytes, and 500 characters are allowed; is it free text? predict another"
            " column, or raise name_length in [limits]",
        ),
    ):
        write_table(tmp_path / "p1.parquet", content.set_column(names.index("ill"), "ill", column))
        assert any(said in problem for problem in refused(folder)), said


def test_what_makes_a_target_useless_is_told_with_its_owner(tmp_path):
    folder = illnesses(tmp_path)
    for row in range(60):
        with_label(tmp_path / "p2.csv", row, "no")
    assert refused(folder) == ['party "Party 2": all its answers are "no"; ask it for others']


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ('{ column = "ill", kind = "yes_on" }', "kind: 'yes_on' is not allowed; did you mean \"ye"),
        (
            '{ column = "ill", kind = "cat" }',
            "kind: 'cat' is not allowed; give one of number, classes, yes_",
        ),
        ('{ colum = "ill" }', 'target, colum: unknown key; did you mean "column"?'),
        ('{ kind = "yes_no" }', "target, column: missing; give it a value"),
        ('{ column = "ill", kind = "yes_no", yes = "!" }', "target, yes: '!' is not allowed; give"),
        (
            '{ column = "ill", yes = "ja" }',
            'target: yes has no meaning for kind = "number" (only for yes_no); leave it out',
        ),
        ('""', "target: '' is not allowed; string should have at least 1 character"),
        ("5", "target: 5 is not allowed; input should be a valid string"),
        (
            '{ column = "kind", kind = "yes_no" }',
            'the target "kind" is listed under categorical; it must be yes or no',
        ),
    ],
)
def test_the_section_of_a_target_is_checked_like_all_others(tmp_path, target, said):
    assert any(said in problem for problem in refused(illnesses(tmp_path, target)))


def test_a_column_alone_is_a_number(tmp_path):
    folder = project(tmp_path)
    alone = load_configuration(folder)
    say(folder, 'target = { column = "y", kind = "number" }')
    in_full = load_configuration(folder)
    assert alone.labels == in_full.labels == NumberLabels("y")


def test_a_key_of_a_target_is_declared_once(tmp_path, monkeypatch):
    for name in ("yes", "kind"):
        keys = {name: Key(type=str, default="", check=str)}
        other = TargetKind(
            name="other",
            labels=NumberLabels,
            more_labels=NumberLabels,
            decode=YES_NO.decode,
            keys=keys,
        )
        monkeypatch.setitem(TARGETS, "other", other)
        with pytest.raises(TypeError, match=f'"other" declares the key "{name}"'):
            load_configuration(project(tmp_path))


class PositiveLabels(NumberLabels):
    """A toy: numbers, of which not all will do."""

    in_words = "a number above 0"

    def wrong(self, column):
        return column.to_numpy() <= 0


def test_numbers_that_a_target_refuses_are_told_and_others_are_not(tmp_path, monkeypatch):
    """A value that is no number must not be told as the zero that is read in its place."""
    kind = TargetKind(
        name="positive",
        labels=PositiveLabels.of_settings,
        more_labels=PositiveLabels.of_target,
        decode=NumberTarget.of_entries,
    )
    monkeypatch.setitem(TARGETS, "positive", kind)
    folder = project(tmp_path)
    say(folder, 'target = { column = "y", kind = "positive" }')
    with_label(tmp_path / "p0.csv", 3, "-3")
    with_label(tmp_path / "p1.csv", 2, "many")
    assert refused(folder) == [
        f'party "Party 0": {tmp_path}/p0.csv, line 5, column "y": \'-3.0\' is not a number above 0;'
        " correct it (a target must be a number above 0)",
        f'party "Party 1": {tmp_path}/p1.csv, line 4, column "y": \'many\' is not a number; correct'
        " it (a target must be a number above 0)",
    ]


def test_a_target_says_what_odd_labels_may_be():
    party = fp.Party("a", [[1.0]], [1.0])
    (note,) = residual_notes([party], np.array([3.0]), YesNoTarget("ill", "yes", "no"))
    assert "look for answers that were exchanged (its value does not show them)" in note.text


def test_a_target_says_how_it_is_scored():
    test = answers(20, 9)
    numbers = test.append_column("n", [table(20, 9)["y"]])
    for target, keys in (
        (YesNoTarget("ill", "yes", "no"), ["errors"]),
        (NumberTarget("n", 5.0, 2.0), ["mnlp", "rmse"]),
    ):
        encoding = TableEncoding((NumberColumn("x", 0.0, 1.0), NumberColumn("z", 2.5, 2.0)), target)
        X, y = encoding.encode(numbers), encoding.encode_target(numbers)
        result = fp.collaborate([fp.Party("a", X, y)], fp.BayesianLinearRegression(0.1))
        scores = score_models(result, X, y, target=target)
        assert list(scores.everyone) == keys == [measure.key for measure in target.measures]
        mean, variance = result.models[0].predict(X)
        assert scores.reward[0] == target.score(y, mean, variance)


@pytest.mark.parametrize("name", ["number"])
def test_every_kind_of_target_is_registered_under_its_name(name):
    assert TARGETS[name].name == name
