"""A reward as a fitted scikit-learn estimator, for its tools that inspect and score.

A reward is what its party was given: fitting it again would make another model, of other data. So
`fit` is refused, and with it whatever fits in secret, such as cross-validation; wrap the estimator
in `sklearn.frozen.FrozenEstimator` for what only goes through such a step, as calibration does.
"""

from typing import Any, Never

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score

from fairpool.encoding import TableEncoding
from fairpool.errors import DataError, RewardError
from fairpool.models import ClassPosterior
from fairpool.realisation.model_reward import ModelReward
from fairpool.tables.arrays import FloatArray, as_table
from fairpool.targets import ClassTarget

NO_FIT = (
    "it is what its party was given, and is not fitted again: that would make another model, worth"
    " something else; to add rows of your own use fairpool.realisation.update (or `fairpool"
    " update`), to compare models by cross-validation fit the model itself"
)


class _RewardEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both kinds share: it is fitted, stays so, and takes what the reward takes."""

    def __init__(self, reward: ModelReward) -> None:
        self.reward = reward

    def fit(self, X: Any, y: Any = None, **settings: Any) -> Never:  # noqa: ARG002
        """Refused, with the reason."""
        raise RewardError(f'the reward of "{self.reward.party}" cannot be fitted: {NO_FIT}')

    def __sklearn_clone__(self) -> Never:
        raise RewardError(
            f'the reward of "{self.reward.party}" cannot be cloned, as cross-validation and'
            f" searches over settings do before they fit: {NO_FIT}; for what only passes it on,"
            " wrap it in sklearn.frozen.FrozenEstimator"
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def n_features_in_(self) -> int:
        """How many columns it takes: those of tables, if the reward knows them."""
        if self.reward.encoding is not None:
            return len(self.reward.encoding.columns)
        return self.reward.posterior.inputs

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Their names; where none are known, there is no such attribute, as in scikit-learn."""
        names = self.reward.posterior.columns
        if self.reward.encoding is not None:
            names = tuple(column.name for column in self.reward.encoding.columns)
        if names is None:
            raise AttributeError("the reward knows no column names")
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        encoding = self.reward.encoding
        if encoding is not None:
            tags.input_tags.string = tags.input_tags.categorical = bool(encoding.categories)
            tags.input_tags.allow_nan = bool(encoding.imputed)
            tags.input_tags.two_d_array = False
        return tags

    def _predicted(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, in the target's own units where they are known."""
        if self.reward.encoding is not None:
            return self.reward.predict_table(_named(X, self.reward.encoding))
        if not hasattr(X, "__arrow_c_stream__"):
            self._check_array(X)
        return self.reward.predict(X)

    def _check_array(self, X: Any) -> None:
        """Refuse an array of another shape, in scikit-learn's words, which its tools look for."""
        if issparse(X):
            raise DataError("X is sparse, and rewards take dense inputs; give X.toarray()")
        shape = np.shape(X)
        if len(shape) != 2:
            raise DataError(
                f"Expected 2D array, got {len(shape)}D array instead. Reshape your data: X has one"
                " row per data point and one column per feature"
            )
        if shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting"
                f" {self.n_features_in_} features as input"
            )


def _named(X: Any, encoding: TableEncoding) -> Any:
    """A table of named columns; an array is refused, since its columns could be anything."""
    if not hasattr(X, "__arrow_c_stream__"):
        names = ", ".join(column.name for column in encoding.columns)
        raise DataError(
            f"the reward takes tables with the columns {names}, not arrays; give a data frame, or"
            " anything that speaks Arrow, or use predict with the model's own inputs"
        )
    return as_table(X, "the table to predict")


class RewardRegressor(RegressorMixin, _RewardEstimator):  # type: ignore[misc]
    """A reward that predicts numbers, as scikit-learn's regressors do.

    Args:
        reward: What it predicts with; `ModelReward.as_regressor` makes it.
    """

    def predict(
        self, X: Any, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Means [t], and standard deviations with `return_std`, observation noise included.

        Args:
            X: A table, where the reward knows how one becomes its inputs; otherwise inputs [t, p].
            return_std: Whether to give standard deviations as well.
        """
        mean, variance = self._predicted(X)
        if return_std:
            return mean, np.sqrt(variance)
        return mean


class RewardClassifier(ClassifierMixin, _RewardEstimator):  # type: ignore[misc]
    """A reward that predicts classes, as scikit-learn's classifiers do.

    Args:
        reward: What it predicts with; `ModelReward.as_classifier` makes it.
    """

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes as they stand in tables; where no names are known, 0 .. k - 1."""
        target = self._target
        if target is None:
            return np.arange(self.reward.posterior.model.label_sets)
        return np.array(target.levels, dtype=object)

    @property
    def _target(self) -> ClassTarget | None:
        encoding = self.reward.encoding
        if encoding is None or not isinstance(encoding.target, ClassTarget):
            return None
        return encoding.target

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row [t]."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Every class's probability [t, k], in the order of `classes_`."""
        return self._predicted(X)[0]

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Their logarithms [t, k]."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is right; labels are read as those of the parties were.

        Args:
            X: As `predict` takes it.
            y: Labels [t]; where some class stands for all others, they may be anything.
            sample_weight: How much each row counts [t].
        """
        target = self._target
        if target is not None:
            table = as_table({target.name: list(y)}, "labels")
            y = self.classes_[target.encode(table[0]).astype(int)]
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))


def regressor_of(reward: ModelReward) -> RewardRegressor:
    """A reward as a regressor; one of classes is refused."""
    if isinstance(reward.posterior, ClassPosterior):
        raise RewardError(f'the reward of "{reward.party}" predicts classes; use as_classifier()')
    _refuse_several_draws(reward)
    return RewardRegressor(reward)


def classifier_of(reward: ModelReward) -> RewardClassifier:
    """A reward as a classifier; one of numbers is refused."""
    if not isinstance(reward.posterior, ClassPosterior):
        raise RewardError(f'the reward of "{reward.party}" predicts numbers; use as_regressor()')
    _refuse_several_draws(reward)
    return RewardClassifier(reward)


def _refuse_several_draws(reward: ModelReward) -> None:
    """Refuse a model trained on several draws of the noise, which predicts once for each."""
    if reward.for_evaluation:
        raise RewardError(
            f'the reward of "{reward.party}" is for evaluation, and may predict once for each draw'
            " of the noise; realise it with the default settings"
        )
