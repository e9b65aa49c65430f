"""Probabilities of classes as operations of a graph: the same integrals at the same points.

Rows are looked at one by one, so that a table of any length needs little memory.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairpool.export.graph import Graph, doubles, onnx_package
from fairpool.export.latent import Latent
from fairpool.models.class_probabilities import normal_points, trapezoid


class Probabilities(NamedTuple):
    """Inside a graph: every class's probability [rows, k], and the most probable one's variance."""

    mean: str
    variance: str


def probabilities_of(graph: Graph, latents: Sequence[Latent]) -> Probabilities:
    """Of latent functions, one for each class."""
    k = len(latents)
    # A last row of nothing, left out of what is given: a runtime may refuse to go through no rows.
    nothing = graph.constant(np.zeros((1, k)))
    means, variances = (
        graph.add(
            "Concat",
            graph.add("Concat", *[graph.column(one) for one in of_classes], axis=1),
            nothing,
            axis=0,
        )
        for of_classes in zip(*latents, strict=True)
    )
    body = graph.body()
    m, v = graph.free_name("/row/means"), graph.free_name("/row/variances")
    row = _of_two(body, m, v) if k == 2 else _of_many(body, m, v, k)
    helper, double = onnx_package().helper, onnx_package().TensorProto.DOUBLE
    inner = helper.make_graph(
        body.nodes,
        "row",
        [helper.make_tensor_value_info(name, double, [k]) for name in (m, v)],
        [
            helper.make_tensor_value_info(row.mean, double, [k]),
            helper.make_tensor_value_info(row.variance, double, []),
        ],
    )
    mean, variance = graph.add_all(
        "Scan", means, variances, outputs=2, body=inner, num_scan_inputs=2
    )
    return Probabilities(_but_the_last(graph, mean), _but_the_last(graph, variance))


def _but_the_last(graph: Graph, rows: str) -> str:
    return graph.add("Slice", rows, graph.constant([0]), graph.constant([-1]), graph.constant([0]))


def _of_two(graph: Graph, means: str, variances: str) -> Probabilities:
    """One integral over f_1 - f_0, by the trapezoidal rule."""
    z, weights = (graph.constant(doubles(one)) for one in trapezoid())
    signs = graph.constant([-1.0, 1.0])
    difference = graph.sum(graph.add("Mul", means, signs), 0)
    deviation = graph.add("Sqrt", graph.sum(variances, 0))
    f = graph.add("Add", difference, graph.add("Mul", deviation, z))
    first, second = graph.add("Sigmoid", graph.add("Neg", f)), graph.add("Sigmoid", f)
    p_0, p_1 = (graph.sum(graph.add("Mul", p, weights), 0, keep=True) for p in (first, second))
    square = graph.sum(graph.add("Mul", graph.add("Mul", second, second), weights), 0, keep=True)
    spread = graph.add("Sub", square, graph.add("Mul", p_1, p_1))
    spread = graph.add("Max", spread, graph.constant(0.0))
    return Probabilities(
        graph.add("Concat", p_0, p_1, axis=0),
        graph.add("Squeeze", spread, graph.constant([0])),
    )


def _of_many(graph: Graph, means: str, variances: str, k: int) -> Probabilities:
    """Means of a softmax over evenly spread points."""
    column = graph.constant([1])
    mean = graph.add("Unsqueeze", means, column)
    deviation = graph.add("Unsqueeze", graph.add("Sqrt", variances), column)
    spread = graph.add("Mul", deviation, graph.constant(doubles(normal_points(k))))
    p = graph.add("Softmax", graph.add("Add", mean, spread), axis=0)  # [k, points]
    probabilities = graph.add("ReduceMean", p, column, keepdims=0)
    place = graph.add("ArgMax", probabilities, axis=0, keepdims=0)
    likely = graph.add("Gather", p, place, axis=0)
    gap = graph.add("Sub", likely, graph.add("Gather", probabilities, place, axis=0))
    variance = graph.add("ReduceMean", graph.add("Mul", gap, gap), graph.constant([0]), keepdims=0)
    return Probabilities(probabilities, variance)
