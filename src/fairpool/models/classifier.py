"""Classification that keeps values exact: one latent function for each class, by regression.

Any model of numbers becomes one of classes. Labels of k classes are k sets of numbers with noise of
their own (`fairpool.parties.class_coding`), and each is learned by the model as it is, so that

    v_C = sum over classes c of 1/2 log|I + sum_{i in C} (G_ic / s2+ + (G_i - G_ic) / s2-)|

with G_ic the Gram matrix of party i's rows of class c. All of it is additive, monotone and
submodular, and rewards are realised exactly: `docs/classification.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fairpool.compute.memory import refuse_beyond_memory
from fairpool.errors import DataError, shown
from fairpool.information import LabelledSpace, Space, StackedLabels, StackedSpace
from fairpool.models.class_posterior import ClassPosterior
from fairpool.models.evidence import (
    AS_GIVEN,
    FACTOR_BOUNDS,
    Evidence,
    evidence_with_known_noise,
)
from fairpool.models.hyperparameters import NOISE_BOUNDS, Learned
from fairpool.models.model import Model
from fairpool.models.posteriors import TrainedPosterior
from fairpool.models.weight_model import RowSums, WeightModel
from fairpool.notes import Note, warn_of
from fairpool.parties import ClassCoding, ClassSummary, NoisySummary, Party, PartyData, Pool
from fairpool.tables.arrays import FloatArray, as_matrix, as_vector

LEAST_PROBABILITY = 1e-12
"""No class is taken to be less probable where a logarithm is asked for."""


@dataclass(frozen=True, eq=False)
class Classifier(Model):
    """Classes 0 .. k - 1, each with a latent function of the same prior.

    Milios et al., NeurIPS 2018. Parties' labels y are the numbers of classes. Predictions are the
    probabilities of all classes [t, k] and the variance of the most probable one's [t].

    Args:
        model: A model of numbers; its noise variance is not used, since noise follows from classes.
            Or k of them, one for each class, all of one kind and size.
        classes: k.
        concentration: a, see `ClassCoding`. Fixed in advance, and the same for everybody.
        label_blind: Whether all rows have one noise variance, so that neither values nor
            covariances depend on labels.
    """

    model: Model | Sequence[Model]
    classes: int
    concentration: float = 0.01
    label_blind: bool = False
    noise_variance: float = field(init=False, repr=False)
    coding: ClassCoding = field(init=False, repr=False)
    label_sets: int = field(init=False, repr=False)
    of_classes: tuple[Model, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        coding = ClassCoding(
            classes=self.classes,
            concentration=self.concentration,
            label_blind=self.label_blind,
        )
        models = (self.model,) * coding.classes
        if not isinstance(self.model, Model):
            models = tuple(self.model)
            object.__setattr__(self, "model", models)
        for model in models:
            if not isinstance(model, Model) or isinstance(model, Classifier):
                raise DataError(
                    f"{shown(model)} is not a model of numbers; give a GaussianProcess,"
                    " SparseGaussianProcess or regression"
                )
        if len(models) != coding.classes or len({type(model) for model in models}) > 1:
            raise DataError(
                f"there are {len(models)} models for {coding.classes} classes; give one for all, or"
                " one for each, all of one kind"
            )
        object.__setattr__(self, "coding", coding)
        # What tau refers to, for all classes: the noise of rows of the class itself.
        object.__setattr__(self, "noise_variance", coding.inside.noise)
        object.__setattr__(self, "label_sets", coding.classes)
        object.__setattr__(self, "of_classes", models)

    @property
    def shared(self) -> bool:
        """Whether all classes' latent functions have one prior."""
        return isinstance(self.model, Model)

    @property
    def has_weights(self) -> bool:
        """Whether the latent functions are made of weights, so that sums over rows will do."""
        return isinstance(self.of_classes[0], WeightModel)

    @property
    def base(self) -> Model:
        """The model of the first class's latent function, or of all of them."""
        return self.of_classes[0]

    def class_pools(self, pool: Pool) -> tuple[Pool, ...]:
        """What each class's latent function sees of some parties' data."""
        pools = []
        for c, model in enumerate(self.of_classes):
            pools.append(Pool(tuple(self._of_class(party, c) for party in pool.parties), model))
        return tuple(pools)

    def _of_class(self, party: PartyData, c: int) -> PartyData:
        if isinstance(party, ClassSummary | NoisySummary):
            return party.of_class(self.coding, c)
        rows = party.shown_rows
        coding = self.coding
        return Party(party.name, rows.X, coding.targets(rows.y, c), coding.noise(rows.y, c))

    def counts_of(self, party: PartyData) -> FloatArray:
        """How many rows a party has of each class [k]; 0 where noise hides that."""
        if isinstance(party, NoisySummary):
            return np.zeros(self.coding.classes)
        if isinstance(party, ClassSummary):
            return party.counts
        return self.coding.counts(party.shown_rows.y)

    def posterior(self, X: Any, y: Any, noise_variance: Any = None) -> ClassPosterior:
        """Train on X [m, p] and classes y [m]."""
        if noise_variance is not None:
            raise DataError("noise follows from classes; leave noise_variance out")
        X, columns = as_matrix(X, "training data")
        y = as_vector(y, "training data")
        self.coding.check(y, "training data")
        of_classes = []
        for c, model in enumerate(self.of_classes):
            noise = self.coding.noise(y, c)
            of_classes.append(model.posterior(X, self.coding.targets(y, c), noise))
        return ClassPosterior(model=self, of_classes=tuple(of_classes), columns=columns)

    def prior_variance_at(self, X: FloatArray) -> FloatArray:
        """Of the latent functions' values at X [m], the mean over the classes."""
        variances = [model.prior_variance_at(X) for model in self.of_classes]
        return np.asarray(np.mean(variances, axis=0))

    def log_marginal_likelihood(self, X: Any, y: Any, noise_variance: Any = None) -> float:
        """Log p of all classes' labels, given X."""
        if noise_variance is not None:
            raise DataError("noise follows from classes; leave noise_variance out")
        y = as_vector(y, "training data")
        self.coding.check(y, "training data")
        likelihoods = []
        for c, model in enumerate(self.of_classes):
            noise = self.coding.noise(y, c)
            likelihoods.append(model.log_marginal_likelihood(X, self.coding.targets(y, c), noise))
        return sum(likelihoods)

    def learn(
        self,
        X: Any,
        y: Any,
        rng: np.random.Generator | int | None = None,
        *,
        restarts: int = 0,
        noise_bounds: tuple[float, float] = NOISE_BOUNDS,  # noqa: ARG002 -- noise is known
    ) -> Learned:
        """The prior of the largest likelihood of all classes' labels, with their own noise.

        One for all classes, or, where there is a model for each, one for each.
        """
        X, _ = as_matrix(X, "hyperparameter data")
        y = as_vector(y, "hyperparameter data")
        self.coding.check(y, "hyperparameter data")
        classes = range(self.coding.classes)
        Y = np.column_stack([self.coding.targets(y, c) for c in classes])
        noise = np.column_stack([self.coding.noise(y, c) for c in classes])
        if self.shared:
            learned = self.base.learn_prior(X, Y, noise, rng=rng, restarts=restarts)
            return Learned(replace(self, model=learned.model), learned.notes)
        models = []
        notes: list[Note] = []
        for c, model in enumerate(self.of_classes):
            learned = model.learn_prior(X, Y[:, [c]], noise[:, [c]], rng=rng, restarts=restarts)
            models.append(learned.model)
            notes += learned.notes
        # What is to be said of several classes is said once.
        return Learned(replace(self, model=tuple(models)), tuple(dict.fromkeys(notes)))

    def with_prior_scaled(self, factor: float) -> "Classifier":
        """The same with the prior covariance of every class's latent values times a factor."""
        scaled = tuple(model.with_prior_scaled(factor) for model in self._weight_models())
        return replace(self, model=scaled[0] if self.shared else scaled)

    def learn_from_sums(self, parties: Sequence[PartyData]) -> Learned:
        """What `fit_from_sums` does, with notes instead of warnings."""
        pool = Pool.of(parties, self)
        self.check(pool)
        models = self._weight_models()
        of_classes = [evidence_with_known_noise(of_class) for of_class in pool.of_classes]
        if self.shared:
            best = Evidence.of_sets(of_classes).best(factor_bounds=FACTOR_BOUNDS)
            scaled = models[0].with_prior_scaled(best.factor)
            return Learned(replace(self, model=scaled), best.notes(AS_GIVEN, FACTOR_BOUNDS))
        own = []
        notes: list[Note] = []
        for model, evidence in zip(models, of_classes, strict=True):
            best = evidence.best(factor_bounds=FACTOR_BOUNDS)
            own.append(model.with_prior_scaled(best.factor))
            notes += best.notes(AS_GIVEN, FACTOR_BOUNDS)
        return Learned(replace(self, model=tuple(own)), tuple(dict.fromkeys(notes)))

    def fit_from_sums(self, parties: Sequence[PartyData]) -> "Classifier":
        """The same with the factor on the prior variance that the labels make most likely.

        One for all classes, or, where there is a model for each, one for each; noise follows from
        classes. Sums over rows will do, see `WeightModel.fit_from_sums`.

        Args:
            parties: Summaries; or rows, or some of each.
        """
        learned = self.learn_from_sums(parties)
        warn_of(learned.notes)
        fitted: Classifier = learned.model
        return fitted

    # What a game asks.

    def check(self, pool: Pool) -> None:
        """Refuse labels that are no classes, and sums that were made for something else."""
        for party in pool.parties:
            where = f'party "{party.name}"'
            if isinstance(party, ClassSummary | NoisySummary):
                classes = party.classes
                if classes != self.coding.classes:
                    raise DataError(
                        f"{where}: its summary is of {classes} classes, the model has"
                        f" {self.coding.classes}; summarise all with the same one"
                    )
                continue
            rows = party.shown_rows
            if len(rows) != len(party):
                raise DataError(
                    f"{where}: its sums are not of classes; summarise its rows with the classifier"
                )
            if rows.noise_variance is not None:
                raise DataError(
                    f"{where} has a noise variance of its own, but noise follows from classes;"
                    " leave it out"
                )
            self.coding.check(rows.y, where)
        self._refuse_prior_mean(pool.inputs)
        for model, of_class in zip(self.of_classes, pool.of_classes, strict=True):
            model.check(of_class)

    def _refuse_prior_mean(self, inputs: int) -> None:
        for model in self.of_classes:
            if isinstance(model, WeightModel) and model.probe(inputs)[:, -1].any():
                raise DataError(
                    "the model has a prior mean, which is the same for every class and tells"
                    " nothing; use prior_mean = 0"
                )

    def space(self, pool: Pool) -> StackedSpace:
        """One space for each class: their values add up."""
        if not self.has_weights:
            rows = sum(pool.sizes)
            refuse_beyond_memory(
                8 * self.label_sets * rows**2,
                f"an exact Gaussian process of {rows} rows for each of {self.label_sets} classes",
                "use a sparse one (SparseGaussianProcess), or fewer rows",
            )
        layers = []
        for model, of_class in zip(self.of_classes, pool.of_classes, strict=True):
            layers.append(model.space(of_class))
        return StackedSpace(tuple(layers))

    def labelled_space(self, pool: Pool, space: Space) -> LabelledSpace:
        """The same with the labels of every class."""
        assert isinstance(space, StackedSpace)  # what `space` gave
        layers = []
        of_classes = zip(self.of_classes, pool.of_classes, space.layers, strict=True)
        for model, of_class, layer in of_classes:
            layers.append(model.labelled_space(of_class, layer))
        return StackedLabels(tuple(layers))

    def judged_space(self, pool: Pool, space: Space) -> LabelledSpace:
        """The same with one noise variance for all rows.

        What is expected of labels is known where they are normal and the rows' noise does not
        depend on them. With two levels, honest labels of classes that overlap look odd: in 25
        simulations each, 6 and 7 honest parties were said to harm, and 1 with one level. How well
        that goes is in `docs/classification.md`.
        """
        if self.label_blind:
            return self.labelled_space(pool, space)
        blind = replace(self, label_blind=True)
        of_parties = Pool(pool.parties, blind)
        return blind.labelled_space(of_parties, blind.space(of_parties))

    def posterior_of(self, pool: Pool, mask: int) -> ClassPosterior:
        """Trained on a coalition's data."""
        of_classes: list[TrainedPosterior] = []
        for model, of_class in zip(self.of_classes, pool.of_classes, strict=True):
            of_classes.append(model.posterior_of(of_class, mask))
        return ClassPosterior(model=self, of_classes=tuple(of_classes))

    def posterior_with_noise(
        self, pool: Pool, space: Space, *, eta: FloatArray, z: Sequence[FloatArray]
    ) -> ClassPosterior:
        """Trained on everybody's data, with noise on the labels of every class's function."""
        assert isinstance(space, StackedSpace)  # what `space` gave
        by_class = [np.split(noise, self.label_sets) for noise in z]
        of_classes: list[TrainedPosterior] = []
        for c, (model, of_class) in enumerate(zip(self.of_classes, pool.of_classes, strict=True)):
            noise = [of_party[c] for of_party in by_class]
            layer = space.layers[c]
            of_classes.append(model.posterior_with_noise(of_class, layer, eta=eta, z=noise))
        return ClassPosterior(model=self, of_classes=tuple(of_classes), columns=pool.columns)

    def rounding_error(self, pool: Pool) -> float:
        """How far rounding in the models themselves may put a value off, in nats."""
        errors = []
        for model, of_class in zip(self.of_classes, pool.of_classes, strict=True):
            errors.append(model.rounding_error(of_class))
        return sum(errors)

    def refuse_too_many_rows(self, sizes: Sequence[int], workers: int) -> None:
        """One class after the other is valued; what all keep is looked at by `space`."""
        self.base.refuse_too_many_rows(sizes, workers)

    @property
    def inputs_within(self) -> FloatArray:
        """The inputs that any class's model contains."""
        models = [self.base] if self.shared else list(self.of_classes)
        return np.concatenate([model.inputs_within for model in models])

    def gain_of(self, posterior: TrainedPosterior, party: Party) -> float:
        """I(theta; D | what the posterior was trained on), for more rows D."""
        noise = [self.coding.noise(party.y, c) for c in range(self.label_sets)]
        return posterior.gain_from(party.X, np.column_stack(noise))

    def residual(self, posterior: TrainedPosterior, party: Party) -> float:
        """The root of squared errors over those that the probabilities themselves expect.

        With p_c the probability of class c and y the label, the sum over rows of
        sum_c ([y = c] - p_c)^2, over the sum over rows of 1 - sum_c p_c^2.
        """
        p, _ = posterior.predict(party.X)
        told = party.y[:, None] == np.arange(self.label_sets)
        expected = float((1 - np.square(p).sum(axis=1)).sum())
        if not expected > 0:
            return float("inf") if (told != (p > 0)).any() else 0.0
        return float(np.sqrt(np.square(told - p).sum() / expected))

    def surprise(self, y: FloatArray, prediction: tuple[FloatArray, FloatArray]) -> float:
        """The log loss: the mean of -log p of the classes y [t]."""
        return -float(np.mean(log_probability(y, prediction[0])))

    # What a model with weights is asked by tables that are summed up.

    def probe(self, inputs: int) -> FloatArray:
        """Features at a few fixed inputs, by which models can be told apart.

        [3, d + 1] where all classes share them, or else those of each [k, 3, d + 1].
        """
        models = self._weight_models()
        if self.shared:
            return models[0].probe(inputs)
        probes = [model.probe(inputs) for model in models]
        if len({probe.shape for probe in probes}) > 1:
            raise DataError(
                "the classes' models have different numbers of weights; sums over rows need the"
                " same number for each"
            )
        return np.array(probes)

    def features_of_classes(self, X: FloatArray) -> tuple[FloatArray, ...]:
        """A [m, d] of every class; where these share a prior, they are the same array."""
        models = self._weight_models()
        if self.shared:
            return (models[0].whitened_features(X),) * self.label_sets
        return tuple(model.whitened_features(X) for model in models)

    def moments(self, X: FloatArray, y: FloatArray) -> RowSums:
        """Gram matrices, sums of features and numbers of rows, as a `ClassSummary` has them."""
        return self.sums_of(self.features_of_classes(X), y)

    def sums_of(self, features: Sequence[FloatArray], y: FloatArray) -> RowSums:
        """The same from rows' features of every class [m, d]."""
        grams, sums = [], []
        for c, A in enumerate(features):
            levels = [A[y == c]]
            if not self.shared:
                levels.append(A[y != c])
            grams.append([rows.T @ rows for rows in levels])
            sums.append([rows.sum(axis=0) for rows in levels])
        gram = np.array(grams)
        moment = np.array(sums)
        if self.shared:
            return RowSums(gram[:, 0], moment[:, 0], self.coding.counts(y))
        return RowSums(gram, moment, self.coding.counts(y))

    def precisions(self, gram: FloatArray) -> FloatArray:
        """What rows with the Gram matrices of `moments` tell each class [k, d, d]."""
        inside = gram
        outside = gram.sum(axis=0) - gram
        if not self.shared:
            inside = gram[:, 0]
            outside = gram[:, 1]
        coding = self.coding
        return np.asarray(inside / coding.inside.noise + outside / coding.outside.noise)

    def summary_of(self, name: str, sums: RowSums, *, rows: int, inputs: int) -> ClassSummary:
        """The sums over a party's rows, as party data."""
        assert rows == int(np.sum(sums.squares))  # every row is of a class
        return ClassSummary(
            name=name,
            grams=sums.gram,
            sums=sums.moment,
            counts=np.asarray(sums.squares),
            inputs=inputs,
            probe=self.probe(inputs),
        )

    def summarise(self, party: Party) -> ClassSummary:
        """A party's sufficient statistics; those of several batches are added up with +."""
        self.coding.check(party.y, f'party "{party.name}"')
        self._refuse_prior_mean(party.inputs)
        self.probe(party.inputs)  # first, since it refuses models of different sizes
        sums = self.moments(party.X, party.y)
        return self.summary_of(party.name, sums, rows=len(party), inputs=party.inputs)

    def _weight_models(self) -> tuple[WeightModel, ...]:
        models = tuple(model for model in self.of_classes if isinstance(model, WeightModel))
        if not models:
            raise DataError(
                "sums over rows are for models with weights; use a sparse Gaussian process or a"
                " regression, or give rows"
            )
        return models


def log_probability(y: FloatArray, p: FloatArray) -> FloatArray:
    """Log of the probability that was given to each label's class [t], of p [t, k]."""
    given = p[np.arange(len(y)), np.asarray(y, dtype=np.intp)]
    return np.log(np.maximum(given, LEAST_PROBABILITY))
