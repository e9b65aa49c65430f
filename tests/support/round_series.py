"""Many rounds in one process: what `realise_round` gives, with holdings carried on by hand."""

from dataclasses import dataclass, field, fields

import numpy as np

import fairpool as fp
from fairpool.keyed_noise.paths import Paths
from fairpool.parties import SummedRows
from fairpool.rounds.held import Unit
from fairpool.rounds.holdings import Holding
from fairpool.rounds.release import Before, realise_round

SECRET = fp.Secret(bytes(range(32)))


def ids_of(party):
    """Row identities: these need not be hashes here, only different."""
    name = np.frombuffer(party.name.encode().ljust(8, b"\0")[:8], "<u8")[0]
    numbers = np.arange(len(party), dtype=np.uint64)
    return np.column_stack([np.full(len(party), name, np.uint64), numbers])


@dataclass(kw_only=True)
class KeyedSource:
    """Noise of rows from their own paths, drawn afresh only where a test asks for that.

    Attributes:
        model: What the noise is added up for.
        parties: Whose rows, by the name of their part.
        sums: Whether the noise of a part is summed up with its features.
        rng: Noise that is fresh at every round, as a contrast; None: the rows' own.
    """

    model: object
    parties: dict
    sums: bool
    rng: np.random.Generator | None = None

    def noise(self, wanted):
        drawn = {}
        for part, etas in wanted.items():
            party = self.parties[part]
            for eta in etas:
                z = []
                for stream in range(self.model.label_sets):
                    if self.rng is None:
                        z.append(Paths(SECRET).at(ids_of(party), eta, stream=stream))
                    else:
                        z.append(np.sqrt(eta) * self.rng.standard_normal(len(party)))
                if self.sums:
                    drawn[part, eta] = self.model.whitened_features(party.X).T @ z[0]
                else:
                    drawn[part, eta] = np.concatenate(z)
        return drawn


def summed(model, party):
    """Sums over a party's rows, whose noise is summed up over them."""
    summary = model.summarise(party)
    return SummedRows(**{entry.name: getattr(summary, entry.name) for entry in fields(summary)})


@dataclass(kw_only=True)
class Series:
    """A collaboration from round to round.

    Attributes:
        model: The same in every round.
        sums: Whether models see sums over rows.
        rng: Of noise that is fresh at every round; None: the rows' own.
        parties: Everybody who ever took part, by name.
        holdings: What each holds.
        last: The last model of each.
        files: All that was sent: round, recipient, model and the noise variance of each part.
    """

    model: object
    sums: bool = False
    rng: np.random.Generator | None = None
    parties: dict = field(default_factory=dict)
    holdings: dict = field(default_factory=dict)
    last: dict = field(default_factory=dict)
    files: list = field(default_factory=list)

    def data(self, party):
        return summed(self.model, party) if self.sums else party

    def round(self, parties, share):
        """One more round, in which everybody gets its own and a share of the rest."""
        for party in parties:
            self.parties[party.name] = party
        game = fp.InformationGain(self.model, [self.data(party) for party in parties])
        rewards = game.alone + np.asarray(share) * (game.total - game.alone)
        present = {party.name for party in parties}
        units = []
        for name, party in self.parties.items():
            is_active = name in present
            units.append(Unit(part=name, party=name, data=self.data(party), is_active=is_active))
        before = []
        for party in parties:
            holding = self.holdings.get(party.name, Holding())
            before.append(Before(least=holding.etas, reward=self.last.get(party.name)))
        source = KeyedSource(model=self.model, parties=self.parties, sums=self.sums, rng=self.rng)
        results = realise_round(game, rewards, units=units, before=before, source=source)
        for party, result in zip(parties, results, strict=True):
            np.testing.assert_allclose(
                result.holds, max(result.due, result.held_before), rtol=0, atol=1e-9
            )
            if result.sent:
                holding = self.holdings.get(party.name, Holding())
                self.holdings[party.name] = holding.after(result.etas)
                self.last[party.name] = result.model
                self.files.append((party.name, result.model, dict(result.etas), list(parties)))
        return results


@dataclass(frozen=True, kw_only=True)
class Looks:
    """What attackers see of one party: its labels, or sums of them, each time with other noise.

    Attributes:
        truth: Without noise [q], in units in which noise is of variance eta.
        seen: With it [looks, q].
        etas: Its variance [looks].
    """

    truth: np.ndarray
    seen: np.ndarray
    etas: np.ndarray

    @property
    def least(self):
        return self.etas.min()

    def estimates(self):
        """What can be made of them: an average, a weighted one, and the best there is."""
        order = np.argsort(self.etas)
        etas = self.etas[order]
        distinct = np.concatenate([[True], np.diff(etas) > 1e-9 * etas[:-1]])
        seen = self.seen[order][distinct]
        etas = etas[distinct]
        weights = np.linalg.solve(np.minimum(etas[:, None], etas), np.ones(len(etas)))
        return {
            "average": self.seen.mean(axis=0),
            "weighted": np.average(self.seen, axis=0, weights=1 / self.etas),
            "half of them": np.median(self.seen, axis=0),
            "best linear": weights @ seen / weights.sum(),
            "least noisy": self.seen[np.argmin(self.etas)],
        }

    def variances(self):
        """Of each estimate, over the least noise variance."""
        return {
            name: np.mean(np.square(estimate - self.truth)) / self.least
            for name, estimate in self.estimates().items()
        }


def looks_at_labels(series, victim, recipients, labels):
    """Every label of a party in all files of some recipients; `labels` reads a file's."""
    seen, etas, truth = [], [], None
    for recipient, model, of_parts, parties in series.files:
        if recipient not in recipients or of_parts.get(victim, np.inf) == np.inf:
            continue
        told, truth = labels(series, model, recipient, victim, parties)
        seen.append(told)
        etas.append(of_parts[victim])
    return Looks(truth=truth, seen=np.array(seen), etas=np.array(etas))


def looks_at_moments(series, victim, recipients):
    """The sums of features times labels of a party, whitened, in all files of some recipients.

    The attackers are told everything but these sums: everybody else's rows, labels and noise, and
    the Gram matrices.
    """
    model = series.model
    party = series.parties[victim]
    A = model.whitened_features(party.X)
    values, vectors = np.linalg.eigh(A.T @ A)
    root = (vectors / np.sqrt(values)) @ vectors.T
    truth = root @ A.T @ (party.y - model.prior_mean_at(party.X))
    seen, etas = [], []
    for recipient, reward, of_parts, parties in series.files:
        if recipient not in recipients or of_parts.get(victim, np.inf) == np.inf:
            continue
        eta = of_parts[victim]
        precision = np.eye(A.shape[1])
        known = np.zeros(A.shape[1])
        for other in parties:
            of_other = 0.0 if other.name == recipient else of_parts.get(other.name, np.inf)
            B = model.whitened_features(other.X)
            weight = 1 / (model.noise_variance + of_other)
            precision += weight * B.T @ B
            if other.name != victim and weight:
                z = Paths(SECRET).at(ids_of(other), of_other) if of_other else 0.0
                known += weight * B.T @ (other.y - model.prior_mean_at(other.X) + z)
        told = precision @ reward.posterior.weights - known
        seen.append(root @ told * (model.noise_variance + eta))
        etas.append(eta)
    return Looks(truth=truth, seen=np.array(seen), etas=np.array(etas))
