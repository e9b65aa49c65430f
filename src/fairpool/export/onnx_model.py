"""A reward as a model in ONNX's format: raw columns in, predictions in the target's units out."""

from typing import NamedTuple

import numpy as np

from fairpool.errors import RewardFileError
from fairpool.export.columns import inputs_of, masked
from fairpool.export.graph import Graph, Port
from fairpool.export.latent import latent_of, weights_of
from fairpool.export.note import note_of
from fairpool.export.probabilities import probabilities_of
from fairpool.models import ClassPosterior
from fairpool.realisation import ModelReward
from fairpool.targets import ClassTarget, LogNumberTarget, NumberTarget, Target

Output = tuple[Port, str]
"""An output, and the name that it has inside the graph."""

NUMBERS = (
    "It gives the predicted mean and variance of each row, in the target's own units, with the"
    " noise of labels; nan where a row cannot be predicted."
)
CLASSES = (
    "It gives the most probable class of each row, every class's probability, and the variance of"
    ' the most probable one\'s; nan and "" where a row cannot be predicted.'
)


class OnnxModel(NamedTuple):
    """A model's file, and what it is fed and gives."""

    content: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def onnx_model(reward: ModelReward) -> OnnxModel:
    """The graph of a reward; the same reward gives the same bytes."""
    graph = Graph()
    fed = inputs_of(graph, reward.encoding, reward.posterior.inputs)
    target = None if reward.encoding is None else reward.encoding.target
    if isinstance(reward.posterior, ClassPosterior):
        outputs = _of_classes(graph, reward.posterior, fed.features, fed.unusable, target)
        note = note_of(reward, CLASSES)
    else:
        posterior = weights_of(reward.posterior)
        latent = latent_of(graph, posterior, fed.features)
        noise = graph.constant(posterior.model.noise_variance)
        variance = graph.add("Add", latent.variance, noise)
        outputs = _of_numbers(graph, latent.mean, variance, fed.unusable, target)
        note = note_of(reward, NUMBERS)
    return OnnxModel(
        content=graph.to_bytes(fed.ports, outputs, about=note.text, facts=note.facts),
        inputs=tuple(port.name for port in fed.ports),
        outputs=tuple(port.name for port, _ in outputs),
    )


def _of_numbers(
    graph: Graph, mean: str, variance: str, unusable: str | None, target: Target | None
) -> list[Output]:
    """Mean and variance, in the target's own units where these are known."""
    if target is not None:
        mean, variance = _decoded(graph, target, mean, variance)
    outputs = []
    for name, value in (("mean", mean), ("variance", variance)):
        port = Port(name=graph.free_name(name), kind="double")
        value = masked(graph, unusable, value, width=False, instead=np.nan)
        outputs.append((port, value))
    return outputs


def _decoded(graph: Graph, target: Target, mean: str, variance: str) -> tuple[str, str]:
    """What `Target.decode` does."""
    if not isinstance(target, NumberTarget | LogNumberTarget):
        raise RewardFileError(f'a target of kind "{target.kind}" cannot be exported')
    scale = graph.constant(target.scale)
    mean = graph.add("Add", graph.add("Mul", mean, scale), graph.constant(target.mean))
    variance = graph.add("Mul", variance, graph.constant(target.scale**2))
    if isinstance(target, NumberTarget):
        return mean, variance
    # Of the log-normal: exp(mu + s2 / 2), and exp(s2) - 1 times its square.
    half = graph.add("Mul", variance, graph.constant(0.5))
    in_units = graph.add("Exp", graph.add("Add", mean, half))
    excess = graph.add("Sub", graph.add("Exp", variance), graph.constant(1.0))
    return in_units, graph.add("Mul", excess, graph.add("Mul", in_units, in_units))


def _of_classes(
    graph: Graph,
    posterior: ClassPosterior,
    X: str,
    unusable: str | None,
    target: Target | None,
) -> list[Output]:
    """The most probable class, every class's probability, and that one's variance."""
    latents = [latent_of(graph, weights_of(one), X) for one in posterior.of_classes]
    found = probabilities_of(graph, latents)
    place = graph.add("ArgMax", found.mean, axis=1, keepdims=0)
    label, kind = place, "int64"
    if isinstance(target, ClassTarget):
        kind = "string"
        levels = graph.constant(np.array(target.levels, dtype=object))
        label = graph.add("Gather", levels, place)
        empty = np.array("", dtype=object)
        label = masked(graph, unusable, label, width=False, instead=empty)
    probabilities = masked(graph, unusable, found.mean, width=True, instead=np.nan)
    variance = masked(graph, unusable, found.variance, width=False, instead=np.nan)
    k = len(latents)
    return [
        (Port(name=graph.free_name("label"), kind=kind), label),
        (Port(name=graph.free_name("probabilities"), kind="double", width=k), probabilities),
        (Port(name=graph.free_name("variance"), kind="double"), variance),
    ]
