"""An example to start from: three hospitals with patients of different ages.

The data ship with scikit-learn.
"""

import csv
import io
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from fairpool.consortium.configuration import FILE_NAME
from fairpool.errors import DataError

YOUNG = 48
"""Hospital A is for all ages, Hospital B for patients under this age, Hospital C for those above.
"""

CONFIGURATION = """\
# A collaboration: who takes part, what is predicted, and how the rewards are decided.
# Check it with `fairpool check`, run it with `fairpool run`. Lines that start with # are
# explanations, or settings at their default; take the # away to change them.

name = "Three hospitals"

# Whom a party may ask: letters and model cards say it.
# contact = "Data office, data@example.org"

# The column to predict; every file must have it.
# It is a number; target = { column = "progression", kind = "number" } says the same. Where it is
# one of several classes, kind is "classes", with levels (all of them, as ["benign", "malignant"]);
# other, the class that all other labels count as; concentration (the smaller, the surer a single
# label makes the model; 0.01); label_blind (whether values and variances must not depend on
# labels; false); and kernels ("shared" by all classes, or "per_class").
target = "progression"

# The columns to predict it from. By default: every column that all files share.
# features = ["age", "bmi", "bp"]

# Columns of text, one-hot encoded, with all their levels. By names alone, categorical = ["sex"],
# levels are learned from [public] data or else from the parties' rows; then every reward file tells
# its holder which of its own levels others have.
categorical = { sex = ["female", "male"] }

# What to do with missing values: "error", "drop" to leave those rows out, or "impute" to take the
# median or the most frequent level instead.
# missing = "error"

# How files are written, where that is not commas, decimal points and UTF-8. A party's own `reading`
# (below) goes before this, key by key. Excel files may also need the sheet that has the table.
# [reading]
# separator = ";"
# decimal = ","
# thousands = "."
# encoding = "latin-1"
# missing = ["-", "n.a."]       # besides empty cells, NA, N/A, NaN, null, None and #N/A
# sheet = "Data"
# header = 1                    # the line that names the columns; what stands above is not read

# What a column is, for everybody.
# [columns.rain]
# unit = "mm"                   # parties that have it in another unit say so below
# [columns.sown]
# kind = "date"                 # read as days

[model]
# "sparse_gp", "fourier" (the same by waves that follow from the kernel, for which no row is
# needed), "blr" (Bayesian linear regression), "network" (regression on a network's last hidden
# layer), or "gp". An exact "gp" puts everybody's inputs into every reward file, and
# needs share_inputs = true below.
kind = "sparse_gp"
# rbf, exponential, matern32, matern52, linear, with + and *: "rbf + exponential".
kernel = "rbf"
# How many inducing points a sparse_gp has.
inducing_points = 40
# Where they lie: "clusters", at means of several rows, or "spread", evenly over the ranges and
# levels of [columns.NAME], for which nobody's rows are needed.
# inducing = "clusters"
# Hyperparameters are learned, on [public] data if there is some and otherwise on all parties' data.
# With learn = false they are as given: noise_variance in units of the standardised target, length
# scales as rbf(2.0).
# learn = true
# noise_variance = 0.3
# features = 50                 # of "fourier": how many waves
# hidden_layers = [100, 50]     # of a network
# prior_variance = 1.0          # of the weights, for blr and network

# Public data, if there is some: scaling, hyperparameters and network then come from it alone.
# [public]
# data = "public.csv"

# Test data: every model is scored on it, and no round learns from it.
[test]
data = "test.csv"

[rewards]
# How strictly rewards follow contributions: 1 is purely proportional, 0 gives everybody the best
# model. Or a word: "fair" (1), "rational" (nobody gets less information than it has alone),
# "stable" (no group has more by itself), "welfare" (0).
rho = "stable"
# Whether all parties agreed that their inputs may be seen by the others; only an exact "gp" needs
# it.
# share_inputs = false
# Whether all parties agreed that a network is trained on everybody's exact labels; only a "network"
# without [public] data needs it, and, of classes, a "gp" or covariance = "full".
# share_labels = false
# What predicted variances are made of: "hidden" (your own rows and made-up ones, which tells little
# of the others' inputs) or "full" (everybody's rows; only for large parties).
# covariance = "hidden"
# How many parties may put their models together to compute the rows of another. The more, the more
# rows everybody needs. Without this line: all of them.
# colluding = 2
# What becomes of a party whose labels do not agree with what the others' data predict: "warn",
# "discount" its reward, "exclude" its data, or "stop". And the chance that any honest party of a
# run is said to be one.
# on_harm = "warn"
# false_alarms = 0.01
# How rewards are weakened: "label_noise" is noise on the labels of the other parties.
# mechanism = "label_noise"

# How contributions are measured: "shapley" (what a party adds on average, over all orders in which
# the parties could join), "banzhaf" (over all groups that the others could form), "standalone"
# (what it has alone) or "leave_one_out" (what is lost without it). The last two are simple, but not
# fair. Of more than 16 parties, the first two are estimated from a sample of coalitions: until
# every standard error is this share of the average contribution (shapley only), or so many
# coalitions are valued.
# [valuation]
# contributions = "shapley"
# precision = 0.01
# evaluations = 10000

# For how many rounds sums over rows are kept that take no part any longer; without this line,
# always.
# They say what parties hold of such rows; forgotten ones are no longer counted.
# [retention]
# rounds = 12

# What is known of single columns; every key may be left out.
# kind: "number", "category", "date", "text" or "image" (inputs only with an encoder), "id" (never
#   an input, but predictions keep it), or "target". levels: of a category, all of them.
# unit: the collaboration's.
# range: what values may be. Scaling then comes from it alone, and is learned from nobody. Values
#   outside are refused, or moved to the nearer end with outside = "clip" ("refuse" is the default).
# missing: "error", "drop", "impute"; or with values that stand for missing ones,
#   { tokens = ["999"], do = "impute" }.
# transform: "log", of positive numbers; predictions come back in units.
# role: "input", or "ignore".
# encoder: of text or images, the folder of a public encoder that makes numbers of them; needs
#   pip install 'fairpool[encoders]'. encoder_sha256: which one; `fairpool check` prints the line.
# [columns.bmi]
# kind = "number"
# unit = "kg/m2"
# range = [10, 70]
# outside = "clip"
# missing = "error"
# transform = "log"
# role = "input"
# [columns.note]
# encoder = "encoders/mini"
# encoder_sha256 = "0000000000000000000000000000000000000000000000000000000000000000"

# What a table may be at most, so that a small file cannot fill memory: columns of a file, rows of a
# party, characters of a column's name or a level, and of a text with an encoder, bytes and pixels
# of an image, how many times larger than its file a Parquet table may be, and, of a column with
# values far from all others, how many median deviations its standard deviation may be.
# [limits]
# columns = 10000
# rows = 100000000
# name_length = 500
# text_length = 100000
# image_bytes = 20000000
# image_pixels = 50000000
# expansion = 500
# spread = 100

# The parties: a CSV (also .csv.gz), Parquet or Excel file, a folder of them, a pattern such as
# "north/*.csv", or a list of these. Each may deliver its tables as it has them, and so may [public]
# and [test]: `reading` says how its files are written, `columns` what its columns are called, in
# which unit they are, how dates are written, or what all rows have where it records nothing.
# `id` is what a party is known by in all rounds, so that it may be called otherwise later; without
# it, its name. `most` is the share of the best model's information that it wants to hold at most.
# `second_look` is the number of a round in which its rows of earlier rounds may come again, written
# otherwise: they get new noise, which averages with the old.
# `key` is that of a party which keeps its rows and sends sums over them: the line that `fairpool
# keys show` prints there. `fairpool plan` then writes plan.json, by which the party contributes;
# data names what came, "hospital_a*.contribution", and may be left out until then.
[[parties]]
name = "Hospital A"
data = "hospital_a.csv"
# id = "Hospital A"
# most = 0.9
# second_look = 2
# key = "ed25519:0000000000000000000000000000000000000000000000000000000000000000"

[[parties]]
name = "Hospital B"
data = "hospital_b.csv"
# reading = { separator = ",", decimal = "." }
# columns.rain = { named = "Niederschlag", from = "inch" }
# columns.sown = { date_format = "%d.%m.%Y" }
# columns.irrigated = { constant = "no" }

[[parties]]
name = "Hospital C"
data = "hospital_c.csv"
"""


def example_files() -> dict[str, str]:
    """The example's files, by name."""
    diabetes = load_diabetes(scaled=False)
    names = [*diabetes.feature_names, "progression"]
    rows = np.column_stack([diabetes.data, diabetes.target])
    rng = np.random.default_rng(0)
    rows = rows[rng.permutation(len(rows))]
    test, train = rows[:88], rows[88:]
    everyone, others = train[:170], train[170:]
    young = others[:, names.index("age")] < YOUNG
    hospitals = {"hospital_a": everyone, "hospital_b": others[young], "hospital_c": others[~young]}
    files = {FILE_NAME: CONFIGURATION, "test.csv": _csv(names, test)}
    files |= {f"{hospital}.csv": _csv(names, own) for hospital, own in hospitals.items()}
    return files


def write_example(folder: Path, files: Mapping[str, str] | None = None) -> None:
    """Write the example, or other files by name, into a folder that is empty or new."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} exists and is not empty; give another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (example_files() if files is None else files).items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({os.strerror(error.errno or 0)})") from None


def _csv(names: list[str], rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    sex = names.index("sex")
    for row in rows:
        values = [f"{value:g}" for value in row]
        values[sex] = "male" if row[sex] == 2 else "female"
        writer.writerow(values)
    return stream.getvalue()
