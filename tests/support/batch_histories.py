"""Files of one party over several rounds, and the fewest rows that releases tell apart."""

from itertools import combinations

import numpy as np

from fairpool.rounds.batches import assign
from fairpool.rounds.party_batches import PartyBatches
from fairpool.rounds.row_keys import ids_of, keys_of


def keys(rows):
    """Rows, which are numbers here, by their identity."""
    numbers = np.array(sorted(rows), dtype=np.uint64)
    # Scattered, as keyed hashes are: neither order nor neighbourhood means anything.
    scattered = numbers * np.uint64(0x9E3779B97F4A7C15)
    return keys_of(np.column_stack([scattered, numbers]))


def rows_in(some_keys):
    """The numbers of some keys."""
    return {int(number) for number in ids_of(some_keys)[:, 1]}


def assigned(files, **settings):
    """What `assign` makes of one file after the other; None: the party takes no part then."""
    history = PartyBatches(party="a")
    assignments = []
    for file in files:
        if file is None:
            history = PartyBatches(party="a", parts=history.parts, batches=history.batches)
            assignments.append(None)
            continue
        assignment = assign(keys(file), history, **settings)
        history = assignment.batches
        assignments.append(assignment)
    return assignments


def released(assignment):
    """The rows that take part."""
    if assignment is None:
        return set()
    rows = set()
    for name in assignment.batches.active:
        rows |= rows_in(assignment.batches.keys_of_batch(name))
    return rows


def fewest_in_any_combination(releases):
    """The least number of rows that some combination of sums over releases depends on, exactly.

    A row takes part in some releases and not in others, a column of zeros and ones. A combination c
    has no use of it where c is orthogonal to that column, so it is lost with all rows whose columns
    are in the span of some columns. All spans that leave anything are looked at.
    """
    everybody = sorted(set().union(*releases))
    counts = {}
    for row in everybody:
        column = tuple(int(row in release) for release in releases)
        counts[column] = counts.get(column, 0) + 1
    columns = np.array(list(counts), dtype=float).reshape(-1, len(releases))
    sizes = np.array(list(counts.values()))
    rank = np.linalg.matrix_rank(columns) if len(columns) else 0
    best = None
    for size in range(rank):
        for chosen in combinations(range(len(columns)), size):
            span = columns[list(chosen)]
            of_span = np.linalg.matrix_rank(span) if size else 0
            if of_span < size:
                continue
            is_left = np.array(
                [np.linalg.matrix_rank(np.vstack([span, column])) > of_span for column in columns]
            )
            left = int(sizes[is_left].sum())
            best = left if best is None else min(best, left)
    return best
