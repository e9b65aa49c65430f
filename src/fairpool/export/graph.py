"""A graph in ONNX's format, put together operation by operation, in double precision.

Only operators of ONNX itself and of its own part for machine learning are used, of versions that
every runtime since 2023 knows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairpool.errors import RewardFileError

OPERATORS = 18
LABEL_OPERATORS = 3
FORMAT = 8
"""The format's version that these sets of operators need, and older runtimes read."""

ROWS = "rows"
"""What the first axis of inputs and outputs is called."""

LABELS = "ai.onnx.ml"


def onnx_package() -> Any:
    """The package onnx, which a plain install lacks."""
    try:
        import onnx
    except ImportError:
        raise RewardFileError(
            "an export to ONNX needs onnx; install it: pip install 'fairpool[export]'; a linear"
            " model can be exported to coefficients.json without it"
        ) from None
    return onnx


@dataclass(frozen=True, kw_only=True)
class Port:
    """An input or output of a graph.

    Attributes:
        name: What it is called.
        kind: "double", "string" or "int64".
        width: Its number of columns; None: it is a vector.
        meaning: What it is, for people.
    """

    name: str
    kind: str
    width: int | None = None
    meaning: str = ""

    @property
    def shape(self) -> list[str | int]:
        """Its axes."""
        return [ROWS] if self.width is None else [ROWS, self.width]


@dataclass(kw_only=True)
class Graph:
    """Operations in order, and the constants that they use.

    It is not frozen: every method that adds something returns the name of what is computed.
    """

    taken: set[str] = field(default_factory=set)
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    names_of_constants: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def free_name(self, wanted: str) -> str:
        """A name that nothing has: the one that is wanted, or with signs behind it."""
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def add(self, operator: str, *inputs: str, domain: str = "", **settings: Any) -> str:
        """An operation on what has these names; the name of what it gives."""
        (output,) = self.add_all(operator, *inputs, outputs=1, domain=domain, **settings)
        return output

    def add_all(
        self, operator: str, *inputs: str, outputs: int, domain: str = "", **settings: Any
    ) -> list[str]:
        """An operation that gives several things; their names."""
        names = [self.free_name(f"/{operator}/{len(self.taken)}") for _ in range(outputs)]
        make_node = onnx_package().helper.make_node
        self.nodes.append(make_node(operator, [*inputs], names, domain=domain, **settings))
        return names

    def constant(self, value: Any) -> str:
        """Numbers, truth values or texts; the same ones are there once."""
        array = np.asarray(value)
        content = tuple(array.ravel()) if array.dtype == object else array.tobytes()
        key = (array.shape, array.dtype.str, content)
        if key not in self.names_of_constants:
            name = self.free_name(f"/constant/{len(self.taken)}")
            self.constants[name] = onnx_package().numpy_helper.from_array(array, name)
            self.names_of_constants[key] = name
        return self.names_of_constants[key]

    def body(self) -> "Graph":
        """A graph for the inside of a loop: it sees all that is here, and has its own nodes."""
        return Graph(
            taken=self.taken,
            constants=self.constants,
            names_of_constants=self.names_of_constants,
        )

    def sum(self, value: str, axis: int, *, keep: bool = False) -> str:
        """The sum along an axis."""
        return self.add("ReduceSum", value, self.constant([axis]), keepdims=int(keep))

    def column(self, vector: str) -> str:
        """A vector [rows] as a matrix of one column."""
        return self.add("Unsqueeze", vector, self.constant([1]))

    def as_doubles(self, truths: str) -> str:
        """Truth values as 1 and 0."""
        return self.add("Cast", truths, to=onnx_package().TensorProto.DOUBLE)

    def either(self, conditions: Sequence[str]) -> str:
        """Whether any of some conditions holds; at least one is given."""
        first, *others = conditions
        for other in others:
            first = self.add("Or", first, other)
        return first

    def to_bytes(
        self,
        inputs: Sequence[Port],
        outputs: Sequence[tuple[Port, str]],
        *,
        about: str,
        facts: dict[str, str],
    ) -> bytes:
        """The whole model as a file's content, checked by the format's own rules.

        Args:
            inputs: What is fed.
            outputs: What is given, each with the name that it has inside.
            about: What the model is, for people.
            facts: The same for programs, by name.
        """
        onnx = onnx_package()
        for port, inside in outputs:
            self.nodes.append(onnx.helper.make_node("Identity", [inside], [port.name]))
        graph = onnx.helper.make_graph(
            self.nodes,
            "reward",
            [_value(port) for port in inputs],
            [_value(port) for port, _ in outputs],
            initializer=[*self.constants.values()],
        )
        model = onnx.helper.make_model(
            graph,
            opset_imports=[
                onnx.helper.make_opsetid("", OPERATORS),
                onnx.helper.make_opsetid(LABELS, LABEL_OPERATORS),
            ],
            ir_version=FORMAT,
            producer_name="fairpool",
            doc_string=about,
        )
        onnx.helper.set_model_props(model, facts)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _value(port: Port) -> Any:
    """How the format declares an input or output."""
    onnx = onnx_package()
    kinds = {"double": onnx.TensorProto.DOUBLE, "int64": onnx.TensorProto.INT64}
    kind = kinds.get(port.kind, onnx.TensorProto.STRING)
    return onnx.helper.make_tensor_value_info(port.name, kind, port.shape, doc_string=port.meaning)


def doubles(values: Any) -> NDArray[np.float64]:
    """Numbers as the graph computes with them."""
    return np.ascontiguousarray(values, dtype=np.float64)
