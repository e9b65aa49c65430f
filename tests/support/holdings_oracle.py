"""What every party holds, counted row by row with dense determinants, beside what rounds say.

Nothing here knows of batches' sums or of who solved for which noise: rows as they stand in the
tables, the noise variances that the ledger states, and one determinant.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from fairpool.keyed_noise.paths import Paths
from fairpool.models import Classifier, GaussianProcess
from fairpool.realisation.reward_file import decode_reward
from tests.support.noise_attacks import labels_in


def rows_of(table):
    """Every row, told from its equals by how many came before."""
    seen = Counter()
    rows = []
    for row in table.to_pylist():
        values = tuple(row.items())
        rows.append((*values, seen[values]))
        seen[values] += 1
    return rows


def gain(features, noise):
    """1/2 log |I + A^T D^-1 A|."""
    d = features.shape[1]
    return 0.5 * np.linalg.slogdet(np.eye(d) + (features.T / noise) @ features)[1]


def worth(model, X, y, eta):
    """The information gain of rows whose labels have noise of variance eta [m] added."""
    if isinstance(model, Classifier):
        total = 0.0
        for c, of_class in enumerate(model.of_classes):
            noise = model.coding.noise(y, c) + eta
            total += gain_of_function(of_class, X, noise)
        return total
    return gain_of_function(model, X, model.noise_variance + eta)


def gain_of_function(model, X, noise):
    if isinstance(model, GaussianProcess):
        K = model.covariance(X)
        root = np.sqrt(noise)
        return 0.5 * np.linalg.slogdet(np.eye(len(X)) + K / np.outer(root, root))[1]
    return gain(model.whitened_features(X), noise)


@dataclass(kw_only=True)
class Holdings:
    """Whom every row was released to, and with how little noise.

    Attributes:
        least: By recipient and row, the least noise variance so far, in squared units of the
            target.
        cells: What stands in every row.
        ids: What every row's noise is made of.
        members: The rows of each part, as they were when all of them were in a table.
    """

    least: dict = field(default_factory=lambda: defaultdict(dict))
    cells: dict = field(default_factory=dict)
    ids: dict = field(default_factory=dict)
    members: dict = field(default_factory=dict)

    def see(self, consortium, run):
        """Look at all tables, before anything is taken out of them again."""
        for contribution in run.contributions:
            rows = rows_of(consortium.tables[contribution.data.name])
            keys = [(contribution.id, row) for row in rows]
            assignment = contribution.assignment
            for key, id_ in zip(keys, contribution.identities.ids, strict=True):
                self.cells[key] = dict(key[1][:-1])
                self.ids[key] = id_
            for place, part in enumerate(assignment.part_names):
                there = [
                    key
                    for key, group in zip(keys, assignment.groups, strict=True)
                    if group == place
                ]
                if part in assignment.standing:
                    assert set(there) <= set(self.members[part])
                else:
                    self.members[part] = there
            rows_that_count = sum(len(self.members[part]) for part in assignment.part_names)
            assert rows_that_count == len(contribution.data) == assignment.rows

    def release(self, run, body):
        """Count one release, as its record in the ledger tells it."""
        for contribution in run.contributions:
            for part in contribution.assignment.part_names:
                for party in body["parties"]:
                    if part not in party["etas"]:
                        continue
                    assert party["id"] != contribution.id
                    held = self.least[party["id"]]
                    eta = party["etas"][part]
                    for key in self.members[part]:
                        held[key] = min(eta, held.get(key, np.inf))

    def encoded(self, run, keys):
        """Some rows, as the model sees them."""
        encoding = run.preparation.encoding
        if not keys:
            return np.zeros((0, len(encoding.features))), np.zeros(0)
        table = pa.Table.from_pylist([self.cells[key] for key in keys])
        return encoding.encode(table), encoding.encode_target(table)

    def own_rows(self, run, i):
        """Those of a party that take part, though they may be gone from its table."""
        assignment = run.contributions[i].assignment
        return [key for part in assignment.part_names for key in self.members[part]]

    def value(self, run, i, held=None):
        """V_i: its own rows, and all that it was ever sent with the least noise of each."""
        own = self.own_rows(run, i)
        if held is None:
            held = self.least[run.contributions[i].id]
        scale = run.preparation.encoding.target.noise_scale
        eta = np.array([0.0] * len(own) + [held[key] / scale**2 for key in held])
        X, y = self.encoded(run, [*own, *held])
        return worth(run.built.model, X, y, eta)

    def most(self, run, i):
        """What it could hold, were it told everything that can be told in this round."""
        held = dict(self.least[run.contributions[i].id])
        for j, contribution in enumerate(run.contributions):
            for part in contribution.assignment.part_names:
                if i != j and part not in contribution.assignment.standing:
                    held |= dict.fromkeys(self.members[part], 0.0)
        return self.value(run, i, held)


@dataclass(frozen=True, kw_only=True)
class FileRows:
    """The rows that a file was trained on, as its model saw them.

    Attributes:
        X: Inputs [m, p].
        y: Labels without noise [m].
        eta: Variance of the noise on each [m].
        z: The noise on each, of every class [label sets, m].
        is_own: Which are the recipient's [m].
    """

    X: np.ndarray
    y: np.ndarray
    eta: np.ndarray
    z: np.ndarray
    is_own: np.ndarray


def file_rows(consortium, run, body, i, holdings):
    """What the ledger says that party i's file of this round holds."""
    encoding = run.preparation.encoding
    scale = encoding.target.noise_scale
    paths = Paths(consortium.secret)
    model = run.built.model
    X, y, eta, z, is_own = [], [], [], [], []
    for j, contribution in enumerate(run.contributions):
        keys = holdings.own_rows(run, j)
        of_party = holdings.encoded(run, keys)
        ids = np.array([holdings.ids[key] for key in keys], np.uint64).reshape(-1, 2)
        X.append(of_party[0])
        y.append(of_party[1])
        is_own.append(np.full(len(ids), i == j))
        noise = np.zeros((model.label_sets, len(ids)))
        variance = np.zeros(len(ids))
        if i != j:
            etas = body["parties"][i]["etas"]
            begin = 0
            for part in contribution.assignment.part_names:
                rows = slice(begin, begin + len(holdings.members[part]))
                begin = rows.stop
                raw = etas.get(part, np.inf)
                variance[rows] = raw / scale**2
                for stream in range(model.label_sets):
                    if np.isfinite(raw):
                        noise[stream, rows] = paths.at(ids[rows], raw, stream=stream) / scale
        eta.append(variance)
        z.append(noise)
    return FileRows(
        X=np.concatenate(X),
        y=np.concatenate(y),
        eta=np.concatenate(eta),
        z=np.concatenate(z, axis=1),
        is_own=np.concatenate(is_own),
    )


def told_moment(model, rows, c=0):
    """Of a model with weights: precision, and moment with the noise and without it."""
    of_class = model
    y = rows.y - (0.0 if isinstance(model, Classifier) else model.prior_mean_at(rows.X))
    noise = np.full(len(y), getattr(model, "noise_variance", np.nan))
    if isinstance(model, Classifier):
        of_class = model.of_classes[c]
        y = model.coding.targets(rows.y, c)
        noise = model.coding.noise(rows.y, c)
    A = of_class.whitened_features(rows.X)
    weights = 1 / (noise + rows.eta)
    precision = np.eye(A.shape[1]) + (A.T * weights) @ A
    return precision, (A.T * weights) @ (y + rows.z[c]), (A.T * weights) @ y


def check_file(consortium, run, body, i, holdings):
    """Party i's file holds the rows that the ledger says, with their own noise, and is worth it."""
    stated = body["parties"][i]
    reward = decode_reward((consortium.folder / stated["path"]).read_bytes(), "file")
    rows = file_rows(consortium, run, body, i, holdings)
    model = run.built.model
    expected = worth(model, rows.X, rows.y, rows.eta)
    np.testing.assert_allclose(reward.value, expected, rtol=0, atol=1e-9)
    of_classes = [reward.posterior]
    if isinstance(model, Classifier):
        of_classes = reward.posterior.of_classes
    if all(hasattr(posterior, "weights") for posterior in of_classes):
        # Also the precision that is handed out, hidden or not.
        written = sum(np.log(np.diag(posterior.factor)).sum() for posterior in of_classes)
        np.testing.assert_allclose(written, expected, rtol=0, atol=1e-9)
        for c, posterior in enumerate(of_classes):
            precision, moment, without_noise = told_moment(model, rows, c)
            size = np.abs(moment).max()
            told = precision @ posterior.weights
            np.testing.assert_allclose(told, moment, rtol=0, atol=1e-8 * size)
            is_noisy = (rows.eta > 0) & np.isfinite(rows.eta)
            assert not is_noisy.any() or np.abs(told - without_noise).max() > 1e-4 * size
    elif not isinstance(model, Classifier):
        finite = np.isfinite(rows.eta)
        seen = {}
        for x, label in zip(reward.posterior.X, labels_in(reward), strict=True):
            seen.setdefault(tuple(x), []).append(label)
        labels = rows.y + rows.z[0]
        for x, label in zip(rows.X[finite], labels[finite], strict=True):
            assert np.abs(np.array(seen[tuple(x)]) - label).min() < 1e-6
    return reward


def check_noise_of_batches(consortium, run, body):
    """In one file, all rows of a batch have the same noise; not where rows need not hide."""
    if consortium.kind == "gp":
        return
    for contribution in run.contributions:
        batches = contribution.assignment.batches
        for name in batches.active:
            for party in body["parties"]:
                etas = [party["etas"].get(part, np.inf) for part in batches.batches[name].parts]
                np.testing.assert_allclose(etas, etas[0], rtol=1e-12)


def check_round(consortium, run, holdings):
    """All that a round promises about values; then it is counted."""
    body = consortium.releases()[-1]
    holdings.see(consortium, run)
    before = [holdings.value(run, i) for i in range(len(run.contributions))]
    most = [holdings.most(run, i) for i in range(len(run.contributions))]
    holdings.release(run, body)
    check_noise_of_batches(consortium, run, body)
    for i, received in enumerate(run.collaboration.received):
        name = run.contributions[i].data.name
        stated = body["parties"][i]
        due = float(run.collaboration.rewards[i])
        held = holdings.value(run, i)
        near = {"rtol": 0, "atol": 1e-9, "err_msg": name}
        np.testing.assert_allclose(received.holds, held, **near)
        np.testing.assert_allclose(stated["holds"], held, **near)
        np.testing.assert_allclose(received.held_before, before[i], **near)
        assert stated["reward"] == due
        assert received.sent == (stated["file"] is not None) == (stated["path"] is not None)
        assert held >= before[i] - 1e-9
        if not received.sent:
            assert not stated["etas"]
            continue
        # What it then holds is what it is due, unless it held more before, or no more can be told.
        np.testing.assert_allclose(held, max(min(due, most[i]), before[i]), **near)
        if before[i] >= due + 1e-9:
            assert not stated["etas"], name  # its first model, of its own rows alone
        check_file(consortium, run, body, i, holdings)
    return body
