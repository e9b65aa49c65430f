"""All 2^n values with the evidence of labels, against all 2^n values alone.

What labels cost is one more row in every factorisation, and the sums that make agreement of it.
"""

import numpy as np

import fairpool as fp
from bench.games import D, gaussian_process_game, iid_tables, regression
from bench.measure import Row, interleaved, quick, same
from fairpool.values.evidence_gain import agreement


def labelled_weight_game(n: int) -> fp.InformationGain:
    """Bayesian linear regression, with labels."""
    rng = np.random.default_rng(3)
    parties = []
    for i, X in enumerate(iid_tables(n)):
        y = X @ rng.standard_normal(D) + rng.standard_normal(len(X))
        parties.append(fp.Party(f"party {i}", X, y))
    return fp.InformationGain(regression(), parties)


def measure(information: fp.InformationGain, row: str, size: str, repeats: int) -> None:
    """One game; its matrices are there before either starts."""
    space = information.space
    labelled = fp.EvidenceGain.of(information).space
    labelled.explained_by(np.zeros((1, information.n), dtype=bool))  # prepares what is kept

    def with_evidence() -> tuple[np.ndarray, np.ndarray]:
        explained = labelled.explained()
        return explained.v, agreement(explained.log_evidence)

    seconds, found = interleaved({"ours": with_evidence, "theirs": space.values}, repeats)
    Row.timed(
        seconds,
        at_most=1.5,
        row=row,
        size=size,
        against="all 2^n values alone",
        equal=same(found["ours"][0], found["theirs"], 1e-10, "all values"),
    ).print()


if __name__ == "__main__":
    parties = 12 if quick() else 16
    measure(
        labelled_weight_game(parties),
        "all 2^n values with evidence, weight space",
        f"n = {parties}, d = {D}",
        repeats=3 if quick() else 7,
    )
    measure(
        gaussian_process_game(10, 50 if quick() else 100),
        "all 2^n values with evidence, Gaussian process",
        f"n = 10, {50 if quick() else 100} rows each",
        repeats=3 if quick() else 7,
    )
