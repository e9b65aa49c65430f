"""The model that the configuration asks for, made before any data is valued."""

from dataclasses import dataclass, replace

import numpy as np

from fairpool.consortium.configuration import ModelSection
from fairpool.encoding import TableEncoding
from fairpool.model_kinds import KINDS, LearningData, ModelKind
from fairpool.models import Classifier, Model
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray
from fairpool.targets import ClassTarget

START_NOISE = 0.3
"""Where the search for the noise variance starts, in variances of the target."""

SEED = 0
"""Of the choice of rows to learn from: not secret, it has nothing to do with noise on labels."""


@dataclass(frozen=True, kw_only=True)
class BuiltModel:
    """A model, and how it came about.

    Attributes:
        model: The model.
        origin: Where scaling, hyperparameters and network come from, in words.
        learned: Whether hyperparameters were learned; otherwise they were given.
        rows: The rows that it was made from, in words.
        settings: Its hyperparameters by name, in words.
        notes: Why the hyperparameters may not be the best ones.
    """

    model: Model
    origin: str
    learned: bool
    rows: str
    settings: dict[str, str]
    notes: tuple[Note, ...] = ()

    @property
    def optimum_reached(self) -> bool:
        """Whether learning ended at an optimum; True where nothing was to be learned."""
        return not self.notes


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The rows that a model is made from.

    Attributes:
        X: Inputs [m, p].
        y: Labels [m].
        words: Where they come from.
        public: Whether they are public. If not, what is learned from them is rounded, since it goes
            into every reward file: from exact sums a party could subtract its own rows.
    """

    X: FloatArray
    y: FloatArray
    words: str
    public: bool


def build_model(section: ModelSection, origin: Origin, encoding: TableEncoding) -> BuiltModel:
    """Make the model, and learn what is to be learned."""
    kind = KINDS[section.kind]
    X, y, words = origin.X, origin.y, origin.words
    if len(X) > kind.learning_rows:
        rows = np.random.default_rng(SEED).permutation(len(X))[: kind.learning_rows]
        X, y = X[rows], y[rows]
        words = f"{words}, {kind.learning_rows} rows of it"
    noise = section.noise_variance or START_NOISE
    target = encoding.target
    labels = target.indicators(y) if isinstance(target, ClassTarget) else y
    data = LearningData(X=X, y=labels, public=origin.public, noise=noise, encoding=encoding)
    model = kind.build(section, data)
    if isinstance(target, ClassTarget):
        model = target.classifier(model)
    notes: tuple[Note, ...] = ()
    if section.learn:
        learned = model.learn(X, y)
        notes = learned.notes
        model = learned.model
        if not origin.public:
            model = _rounded(model, kind)
    return BuiltModel(
        model=model,
        origin=words if section.learn else f"given; scaling from {words}",
        learned=section.learn,
        rows=words,
        settings=described(model, section, encoding),
        notes=notes,
    )


def described(model: Model, section: ModelSection, encoding: TableEncoding) -> dict[str, str]:
    """A model's hyperparameters by name, in words."""
    settings = {"noise": encoding.target.label_noise_in_words(model.noise_variance)}
    return settings | _settings_in_words(model, section, encoding)


def _rounded(model: Model, kind: ModelKind) -> Model:
    """The model with what was learned to three digits."""
    if not isinstance(model, Classifier):
        return kind.rounded(model)
    if model.shared:
        return replace(model, model=kind.rounded(model.base))
    return replace(model, model=tuple(kind.rounded(of_class) for of_class in model.of_classes))


def _settings_in_words(
    model: Model, section: ModelSection, encoding: TableEncoding
) -> dict[str, str]:
    """A model's hyperparameters; of classes that differ in them, those of each."""
    kind = KINDS[section.kind]
    target = encoding.target
    if not isinstance(model, Classifier) or not isinstance(target, ClassTarget):
        return kind.describe(model, section, encoding)
    settings = kind.describe(model.base, section, encoding)
    if model.shared:
        return settings
    described = [kind.describe(of_class, section, encoding) for of_class in model.of_classes]
    of_classes = {}
    for name, words in settings.items():
        if all(of_class[name] == words for of_class in described):
            of_classes[name] = words
            continue
        for level, of_class in zip(target.levels, described, strict=True):
            of_classes[f"{name} ({level})"] = of_class[name]
    return of_classes
