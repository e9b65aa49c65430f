"""The example's consortium with one hospital that cheats, each way as a table of its own.

`python -m tests.support.cheating` runs them all and prints the table of docs/trust.md.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from tests.support.projects import fairpool, finished_run

CHEAT = "hospital_b.csv"
NAME = "Hospital B"
NUMBERS = ("age", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
TARGET = "progression"


def read(path):
    return pa.csv.read_csv(path).to_pandas()


def honest(own, other, rng):
    return own


def invented(own, other, rng):
    """600 rows: another party's columns, each resampled by itself."""
    return other.sample(600, replace=True, random_state=1).apply(
        lambda column: rng.choice(column.to_numpy(), 600)
    )


def random_labels(own, other, rng):
    own[TARGET] = rng.uniform(25, 346, len(own)).round()
    return own


def permuted_labels(own, other, rng):
    own[TARGET] = rng.permutation(own[TARGET].to_numpy())
    return own


def reversed_labels(own, other, rng):
    own[TARGET] = 300 - own[TARGET]
    return own


def ten_times(own, other, rng):
    many = own.loc[np.repeat(np.arange(len(own)), 10)].reset_index(drop=True)
    for column in NUMBERS:
        many[column] = many[column] + 1e-6 * own[column].std() * rng.standard_normal(len(many))
    return many


def wide_garbage(own, other, rng):
    """730 rows, twice as wide, with labels of no sense."""
    many = own.sample(730, replace=True, random_state=1).reset_index(drop=True)
    for column in NUMBERS:
        middle = own[column].mean()
        many[column] = middle + 2 * own[column].std() * rng.standard_normal(len(many))
    many[TARGET] = rng.uniform(25, 346, len(many)).round()
    return many


def a_copy_with_one_column_shifted(own, other, rng):
    copy = other.copy()
    copy["bmi"] = copy["bmi"] + 0.1
    return copy


def nine_far_rows(own, other, rng):
    """Of a linear model, the further out a row the more it tells."""
    deviation = np.median(np.abs(own["bmi"] - own["bmi"].median()))
    own.loc[:8, "bmi"] = own["bmi"].median() + 720 * deviation
    return own


def _labelled_by(rows, known):
    """Labels that a regression on some rows predicts, with the noise that it found."""
    inputs = StandardScaler().fit(known[list(NUMBERS)])
    found = RidgeCV().fit(inputs.transform(known[list(NUMBERS)]), known[TARGET])
    noise = (known[TARGET] - found.predict(inputs.transform(known[list(NUMBERS)]))).std()
    labels = found.predict(inputs.transform(rows[list(NUMBERS)]))
    return labels, noise


def _more_rows(own, known, rng):
    more = own.apply(lambda column: rng.choice(column.to_numpy(), len(own)))
    labels, noise = _labelled_by(more, known)
    more[TARGET] = (labels + noise * rng.standard_normal(len(more))).round()
    return pd.concat([own, more], ignore_index=True)


def labels_by_its_own_fit(own, other, rng):
    """As many invented rows again, with labels as its own data predict them."""
    return _more_rows(own, own, rng)


def labels_by_a_good_model(own, other, rng):
    """The same, with labels as everybody's data predict them: a recipient's in the second round."""
    return _more_rows(own, pd.concat([own, other], ignore_index=True), rng)


CHEATS = {
    "honest": honest,
    "600 invented rows": invented,
    "random labels": random_labels,
    "permuted labels": permuted_labels,
    "labels reversed (300 - y)": reversed_labels,
    "a copy of A with one column + 0.1": a_copy_with_one_column_shifted,
    "every row ten times, jitter of 1e-6 sd": ten_times,
    "730 rows, inputs twice as wide, garbage labels": wide_garbage,
    "as many invented rows, labelled by its own fit": labels_by_its_own_fit,
    "as many invented rows, labelled by a good model": labels_by_a_good_model,
}


def project(folder, cheat, rewards="", seed=0):
    """The example with a table of Hospital B's that was altered, by name or by a function."""
    folder = Path(folder)
    assert fairpool("init", folder).returncode == 0
    rng = np.random.default_rng(seed)
    alter = CHEATS.get(cheat, cheat)
    altered = alter(read(folder / CHEAT), read(folder / "hospital_a.csv"), rng)
    pa.csv.write_csv(pa.Table.from_pandas(altered, preserve_index=False), folder / CHEAT)
    toml = folder / "collaboration.toml"
    text = toml.read_text()
    assert 'rho = "stable"' in text
    toml.write_text(text.replace('rho = "stable"', f'rho = "stable"\n{rewards}', 1))
    return folder


def main(seeds):
    for cheat in CHEATS:
        verdicts, shares, phis, others = [], [], [], []
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                run = finished_run(project(Path(folder) / "p", cheat, seed=seed))
            evidence = run.evidence.parties
            phi = run.collaboration.contributions.values
            verdicts.append(str(evidence[1].verdict))
            shares.append(phi[1] / phi.sum())
            phis.append(evidence[1].phi)
            others += [str(evidence[i].verdict) for i in (0, 2)]
        codes = sorted({note.code for note in run.notes})
        flagged = {verdict: verdicts.count(verdict) for verdict in sorted(set(verdicts))}
        neighbours = {verdict: others.count(verdict) for verdict in sorted(set(others))}
        print(
            f"| {cheat} | {min(shares):.0%} to {max(shares):.0%} | {min(phis):.1f} to"
            f" {max(phis):.1f} | {flagged} | {neighbours} | {codes} |",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
