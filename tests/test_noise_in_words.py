"""How much noise there is, people are told in one way: by its standard deviation."""

import html
import json
import re

import numpy as np
import pytest

import fairpool as fp
from fairpool.columns.rules import Bounds, Rules
from fairpool.realisation.label_noise import LabelNoiseWords
from fairpool.realisation.noise_variance import NoiseLevel
from fairpool.targets import LABELS, ClassTarget, LogNumberTarget, NumberTarget
from tests.support.projects import fairpool, project, reward_file, round_folder

NUMBER = NumberTarget("yield", mean=3.0, scale=20.0)
RANGED = NumberTarget("yield", mean=3.0, scale=20.0, rules=Rules(bounds=Bounds(0, 400)))
LOG = LogNumberTarget(name="price", mean=1.0, scale=0.5, rules=Rules(log=True))
CLASSES = ClassTarget(name="kind", levels=("a", "b", "c"))
BLIND = ClassTarget(name="kind", levels=("a", "b", "c"), label_blind=True)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            NUMBER,
            "a standard deviation of 10 in the units of yield (25% of the labels' variance)",
        ),
        (RANGED, "a standard deviation of 10 in the units of yield (whose range is 0 .. 400)"),
        (LABELS, "a standard deviation of 0.5 in the units of the labels"),
        (
            LOG,
            "a standard deviation that multiplies price by 1.284 (25% of the variance of its"
            " logarithms)",
        ),
        (
            CLASSES,
            "a standard deviation of 0.5, where a label's own class and the others are 6.58 apart",
        ),
    ],
    ids=["number", "range", "labels as they came", "logarithms", "classes"],
)
def test_noise_is_told_by_its_standard_deviation_and_what_to_compare_it_with(target, words):
    assert target.noise_in_words(0.25) == words


def test_the_figure_is_the_deviation_that_is_added_to_labels():
    """As a letter's reader could find out, with labels and noise as the model sees them."""
    noise = np.sqrt(0.25) * np.random.default_rng(0).standard_normal(100_000)
    labels, _ = NUMBER.decode(noise, noise)
    assert np.std(labels) == pytest.approx(float(NUMBER.noise_figure(0.25)), rel=0.01)
    logarithms, _ = LOG.logarithms(noise, noise)
    factor = float(LOG.noise_figure(0.25).removeprefix("× "))
    assert np.std(logarithms) == pytest.approx(np.log(factor), rel=0.01)
    inside, outside = CLASSES.coding.inside, CLASSES.coding.outside
    assert f"{inside.target - outside.target:.3g} apart" in CLASSES.noise_unit


@pytest.mark.parametrize("target", [NUMBER, LABELS])
def test_labels_of_numbers_are_as_noisy_as_any_noise(target):
    assert target.label_noise_in_words(0.3) == target.noise_in_words(0.3)


def test_labels_of_classes_have_the_noise_of_their_coding():
    inside, outside = CLASSES.coding.inside.noise, CLASSES.coding.outside.noise
    words = CLASSES.label_noise_in_words(1.0)
    assert f"{inside**0.5:.3g} on a label's own class and {outside**0.5:.3g} on" in words
    assert f"{BLIND.coding.inside.noise**0.5:.3g} on every class" in BLIND.label_noise_in_words(1)


def test_small_factors_keep_their_digits():
    assert LOG.noise_figure(1e-8) == "× 1.00005"
    assert LOG.noise_figure(100.0) == "× 148"


@pytest.mark.parametrize(
    ("eta", "figure"), [(0.0, "none"), (0.25, "10"), (np.inf, "others unused")]
)
def test_a_table_says_none_or_that_the_others_are_unused(eta, figure):
    level = NoiseLevel(tau=1 / (1 + eta), value=1.0, eta=eta)
    assert LabelNoiseWords().figure(level, NUMBER) == figure


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A released round, and one party of it that is sent noise."""
    folder = project(tmp_path_factory.mktemp("noise") / "p")
    done = fairpool("run", folder)
    assert done.returncode == 0, done.stderr
    for name in ("Party-0", "Party-1", "Party-2"):
        reward = fp.load_reward(reward_file(folder, name))
        if 0 < reward.eta < np.inf:
            return folder, name, reward, done.stdout
    raise AssertionError("nobody has noise")


def plain(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>|\\|\n- ", " ", text)).split())


def test_run_report_letter_card_inspect_verify_and_audit_say_the_same(told):
    folder, name, reward, printed = told
    target = reward.encoding.target
    words = target.noise_in_words(reward.eta)
    figure = target.noise_figure(reward.eta)
    own = round_folder(folder) / "parties" / name
    files = {
        "letter": (own / "letter.html").read_text(),
        "card": (own / "model-card.md").read_text(),
        "inspect": fairpool("inspect", own / "reward.safetensors").stdout,
    }
    data = folder / f"p{name[-1]}.csv"
    verify = ["verify", own / "reward.safetensors", "--letter", own / "letter.html"]
    files["verify"] = fairpool(*verify, "--data", data).stdout
    files["audit"] = fairpool("audit", folder, 1).stdout
    for where, text in files.items():
        assert words in plain(text), where
        assert not re.search(r"(?<!labels' )\bvariance\b", plain(text)), where
    report = plain((round_folder(folder) / "operator" / "report.html").read_text())
    for text in (plain(printed), report):
        assert re.search(rf"{re.escape(figure)}\b", text)
        assert f"Noise on the others' labels: {target.noise_unit}." in text
    assert f"noise {target.label_noise_in_words(reward.posterior.model.noise_variance)}" in report


def test_the_number_for_programs_is_the_variance_as_ever(told):
    folder, name, reward, _ = told
    result = json.loads((round_folder(folder) / "operator" / "result.json").read_text())
    (eta,) = [one["eta"] for one in result["parties"] if one["folder"] == f"parties/{name}"]
    assert eta == pytest.approx(reward.eta)
