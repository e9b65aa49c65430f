"""Classifiers in reward files: the latent functions' posteriors, each as its own kind stores it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fairpool.errors import RewardFileError
from fairpool.model_kinds.kind import ModelKind, Stored
from fairpool.models import Classifier, ClassPosterior, Model
from fairpool.parties.class_coding import MOST_CLASSES
from fairpool.stored import number, whole_number

STORED_AS = "Classifier"

KEYS = {"kind", "classes", "concentration", "label_blind", "shared", "of_classes"}


def encode_classes(posterior: ClassPosterior, kind_of: Callable[[Model], ModelKind]) -> Stored:
    """A classifier and its posterior; what all classes have in common stands there once.

    Args:
        posterior: What it learned.
        kind_of: By which a latent function's kind is found.
    """
    model = posterior.model
    stored = [kind_of(one.model).encode(one) for one in posterior.of_classes]
    descriptions = [one.description for one in stored]
    if all(description == descriptions[0] for description in descriptions):
        descriptions = descriptions[:1]
    tensors = {}
    for name, tensor in stored[0].tensors.items():
        all_of_it = [one.tensors[name] for one in stored]
        if all(np.array_equal(tensor, other) for other in all_of_it):
            tensors[name] = tensor
            continue
        for c, of_one in enumerate(all_of_it):
            tensors[f"{c}.{name}"] = of_one
    description = {
        "kind": STORED_AS,
        "classes": model.label_sets,
        "concentration": model.concentration,
        "label_blind": model.label_blind,
        "shared": model.shared,
        "of_classes": descriptions,
    }
    return Stored(description, tensors)


def decode_classes(
    stored: Stored, kind_in_file: Callable[[dict[str, Any]], ModelKind]
) -> ClassPosterior:
    """What `encode_classes` stored, with everything checked."""
    description = stored.description
    if set(description) != KEYS:
        raise RewardFileError("its classifier is not described as a classifier is")
    k = whole_number(description["classes"], "classes")
    if not 2 <= k <= MOST_CLASSES:
        raise RewardFileError(f"it has {k} classes; there are 2 to {MOST_CLASSES}")
    described = description["of_classes"]
    if not isinstance(described, list) or len(described) not in (1, k):
        raise RewardFileError(f"it describes {len(described)} latent functions of {k} classes")
    of_classes = []
    for c in range(k):
        one = described[c % len(described)]
        tensors = _tensors_of(stored, c)
        of_classes.append(kind_in_file(one).decode(Stored(one, tensors)))
    if len({(type(one), one.inputs, one.weight_count) for one in of_classes}) > 1:
        raise RewardFileError("its latent functions are not of one kind and size")
    flags = (description["label_blind"], description["shared"])
    if not all(isinstance(flag, bool) for flag in flags):
        raise RewardFileError("label_blind and shared must be true or false")
    models: Any = tuple(one.model for one in of_classes)
    if description["shared"]:
        models = models[0]
    model = Classifier(
        models,
        k,
        concentration=number(description["concentration"], "concentration", least=0),
        label_blind=description["label_blind"],
    )
    return ClassPosterior(model=model, of_classes=tuple(of_classes))


def _tensors_of(stored: Stored, c: int) -> dict[str, Any]:
    """Those of one class, under the names that its kind gave them, and those of all classes."""
    tensors = {}
    for name, tensor in stored.tensors.items():
        owner, _, rest = name.partition(".")
        if not owner.isdigit():
            tensors[name] = tensor
        elif int(owner) == c:
            tensors[rest] = tensor
    return tensors
