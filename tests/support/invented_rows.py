"""The example of `fairpool init`, with rows that Hospital B invented.

`python -m tests.support.invented_rows` prints the table of docs/trust.md about rows that nobody can
check, in half a minute.
"""

import csv
import tempfile
from pathlib import Path

import numpy as np

import fairpool as fp
from fairpool.audit import uncheckable
from fairpool.consortium.example import write_example
from fairpool.consortium.learning import learn
from tests.support.projects import prepared

SEX = 1  # the column with words


def read(file):
    """The header, and all rows as numbers; men are 1."""
    header, *rows = csv.reader(file.read_text().splitlines())
    for row in rows:
        row[SEX] = row[SEX] == "male"
    return header, np.array(rows, dtype=float)


def write(file, header, rows):
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            words = [f"{value:.6g}" for value in row]
            words[SEX] = "male" if row[SEX] else "female"
            writer.writerow(words)


def example_with(folder, invent):
    """The example, and what Hospital B invents from its own 73 rows and the mean and scale of all.

    Args:
        folder: Where to.
        invent: From own rows, means and deviations of all, and a generator, to more rows; None:
            it is honest.
    """
    write_example(folder)
    if invent is None:
        return folder
    tables = {name: read(folder / f"hospital_{name}.csv") for name in "abc"}
    header, own = tables["b"]
    everybody = np.vstack([rows for _, rows in tables.values()])
    rng = np.random.default_rng(1)
    more = invent(own, everybody.mean(axis=0), everybody.std(axis=0), rng)
    more[:, SEX] = rng.integers(0, 2, len(more))
    more[:, -1] = rng.choice(own[:, -1], len(more))  # labels that look like its own
    write(folder / "hospital_b.csv", header, np.vstack([own, more]))
    return folder


def shifted(column, deviations):
    """A copy of its own rows with one column shifted."""

    def invent(own, mean, scale, rng):
        more = own.copy()
        more[:, column] += deviations * scale[column]
        return more

    return invent


def wider(factor):
    """Its own columns, each shuffled and spread wider."""

    def invent(own, mean, scale, rng):
        return mean + factor * (rng.permuted(own, axis=0) - mean)

    return invent


def resampled(own, mean, scale, rng):
    """600 rows of its own columns' values, each drawn by itself."""
    return np.column_stack([rng.choice(column, 600) for column in own.T])


INVENTED = {
    "nothing: honest": None,
    "73 rows, BMI 6 deviations higher": shifted(2, 6.0),
    "73 rows, columns shuffled, twice as wide": wider(2.0),
    "73 rows, columns shuffled, three times as wide": wider(3.0),
    "600 rows, columns resampled": resampled,
}
"""What Hospital B did."""


def found(folder):
    """Per party, what nobody can check, and its share of all contributions."""
    learning = learn(prepared(folder))
    game = fp.InformationGain(learning.built.model, learning.parties)
    phi = fp.shapley(game).values
    return fp.uncheckable_information(game), phi / phi.sum()


def main():
    print(
        "| what Hospital B added | its share of contributions | rows nobody can check | share, B |"
        " A | C | share of B at 0.7 | at 0.9 |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, invent in INVENTED.items():
        shares = []
        for bound in (uncheckable.LEFT_OPEN, 0.7, 0.9):
            before = uncheckable.LEFT_OPEN
            uncheckable.LEFT_OPEN = bound
            with tempfile.TemporaryDirectory() as folder:
                of_parties, phi = found(example_with(Path(folder) / "p", invent))
            uncheckable.LEFT_OPEN = before
            shares.append(of_parties)
        a, b, c = shares[0]
        cells = [f"{phi[1]:.0%}", f"{b.rows}", f"{b.share:.0%}", f"{a.share:.0%}", f"{c.share:.0%}"]
        cells += [f"{of_parties[1].share:.0%}" for of_parties in shares[1:]]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
