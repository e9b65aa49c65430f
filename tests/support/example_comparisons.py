"""The example's rewards beside each hospital's own data, over many draws of the noise.

`python -m tests.support.example_comparisons` prints the table of docs/trust.md, in a minute.
"""

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairpool.consortium.example import write_example
from fairpool.consortium.learning import learn
from fairpool.consortium.rounds.context import nobody
from fairpool.consortium.scrutiny import scrutinise
from fairpool.consortium.valuation import value
from tests.support.projects import known_secret, prepared

DRAWS = 40


def compared(draws=DRAWS):
    """One tuple of `AgainstAlone` per draw of the noise."""
    with tempfile.TemporaryDirectory() as folder:
        write_example(Path(folder) / "p")
        learning = learn(prepared(Path(folder) / "p"))
        return [_with_secret(learning, seed).against_alone for seed in range(draws)]


def _with_secret(learning, seed):
    """The run of a collaboration whose secret, and so its noise, is made of a seed."""
    preparation = learning.preparation
    context = replace(nobody(preparation.folder), secret=known_secret(seed))
    return scrutinise(value(replace(learning, preparation=replace(preparation, context=context))))


def main():
    print("| party | predicted | log density | ± | RMSE alone | of reward | verdicts |")
    print("|---|---|---|---|---|---|---|")
    for of_party in zip(*compared(), strict=True):
        for key in ("test", "own_rows"):
            hows = [getattr(against, key) for against in of_party]
            difference = np.mean([how.log_density.difference for how in hows])
            error = np.mean([how.log_density.standard_error for how in hows])
            reward = np.mean([np.sqrt(how.squared_error.reward) for how in hows])
            alone = np.sqrt(hows[0].squared_error.alone)
            verdicts = Counter(how.verdict for how in hows)
            words = ", ".join(f"{word} {count}" for word, count in verdicts.most_common())
            print(
                f"| {of_party[0].party} | {hows[0].rows} {key.split('_')[0]} rows |"
                f" {difference:+.3f} | {error:.3f} | {alone:.2f} | {reward:.2f} | {words} |"
            )


if __name__ == "__main__":
    main()
