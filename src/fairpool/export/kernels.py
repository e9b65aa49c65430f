"""Kernels as operations of a graph, by the formulas of scikit-learn's."""

from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process import kernels as sk

from fairpool.errors import RewardFileError, shown
from fairpool.export.graph import Graph, doubles
from fairpool.tables.arrays import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Covariances:
    """Covariances of a kernel between inputs of a graph and fixed points.

    Attributes:
        graph: Where they are computed.
        X: The inputs [rows, p].
        U: The points [d, p].
    """

    graph: Graph
    X: str
    U: FloatArray

    def between(self, kernel: sk.Kernel) -> str:
        """k(X, U) [rows, d], or [rows, 1] where it is the same for all points."""
        graph = self.graph
        if isinstance(kernel, sk.Sum | sk.Product):
            operator = "Add" if isinstance(kernel, sk.Sum) else "Mul"
            return graph.add(operator, self.between(kernel.k1), self.between(kernel.k2))
        if isinstance(kernel, sk.Exponentiation):
            power = graph.constant(float(kernel.exponent))
            return graph.add("Pow", self.between(kernel.kernel), power)
        if isinstance(kernel, sk.ConstantKernel):
            return graph.add("Add", self._zeros(), graph.constant(float(kernel.constant_value)))
        if isinstance(kernel, sk.DotProduct):
            product = graph.add("MatMul", self.X, graph.constant(doubles(self.U.T)))
            return graph.add("Add", product, graph.constant(float(kernel.sigma_0**2)))
        if isinstance(kernel, sk.Matern):
            return self._matern(kernel)
        if isinstance(kernel, sk.RBF):
            squares = self._squares(kernel.length_scale)
            return graph.add("Exp", graph.add("Mul", squares, graph.constant(-0.5)))
        if isinstance(kernel, sk.RationalQuadratic):
            return self._rational_quadratic(kernel)
        if isinstance(kernel, sk.ExpSineSquared):
            return self._periodic(kernel)
        raise RewardFileError(f"the kernel {shown(kernel)} cannot be exported")

    def of_each(self, kernel: sk.Kernel) -> str:
        """k(x, x) for every row x [rows, 1]."""
        graph = self.graph
        if isinstance(kernel, sk.Sum | sk.Product):
            operator = "Add" if isinstance(kernel, sk.Sum) else "Mul"
            return graph.add(operator, self.of_each(kernel.k1), self.of_each(kernel.k2))
        if isinstance(kernel, sk.Exponentiation):
            power = graph.constant(float(kernel.exponent))
            return graph.add("Pow", self.of_each(kernel.kernel), power)
        if isinstance(kernel, sk.ConstantKernel):
            return graph.constant([[float(kernel.constant_value)]])
        if isinstance(kernel, sk.DotProduct):
            squares = graph.sum(graph.add("Mul", self.X, self.X), 1, keep=True)
            return graph.add("Add", squares, graph.constant(float(kernel.sigma_0**2)))
        return graph.constant([[1.0]])

    def _squares(self, scale: FloatArray | float) -> str:
        """Squared distances [rows, d], in length scales.

        They are sums of squared differences: what cancels in |x|^2 - 2 xu + |u|^2 would be seen
        where points are close.
        """
        graph = self.graph
        factor = graph.constant(doubles(np.broadcast_to(1 / np.asarray(scale), self.U.shape[1])))
        X = graph.add("Unsqueeze", graph.add("Mul", self.X, factor), graph.constant([1]))
        U = graph.constant(doubles(self.U / scale)[None])
        gap = graph.add("Sub", X, U)
        return graph.sum(graph.add("Mul", gap, gap), 2)

    def _zeros(self) -> str:
        """0 for every row and point."""
        nothing = self.graph.add("Mul", self.X, self.graph.constant(0.0))
        of_rows = self.graph.sum(nothing, 1, keep=True)
        return self.graph.add("Add", of_rows, self.graph.constant(np.zeros((1, len(self.U)))))

    def _matern(self, kernel: sk.Matern) -> str:
        graph = self.graph
        if kernel.nu not in (0.5, 1.5, 2.5):
            raise RewardFileError(
                f"the kernel {shown(kernel)} cannot be exported: of Matern kernels, those with nu"
                " 0.5, 1.5 and 2.5 can; use fairpool predict"
            )
        distance = graph.add("Sqrt", self._squares(kernel.length_scale))
        r = graph.add("Mul", distance, graph.constant(float(np.sqrt(2 * kernel.nu))))
        decay = graph.add("Exp", graph.add("Neg", r))
        if kernel.nu == 0.5:
            return decay
        factor = graph.add("Add", r, graph.constant(1.0))
        if kernel.nu == 2.5:
            third = graph.add("Mul", graph.add("Mul", r, r), graph.constant(1 / 3))
            factor = graph.add("Add", factor, third)
        return graph.add("Mul", factor, decay)

    def _rational_quadratic(self, kernel: sk.RationalQuadratic) -> str:
        """(1 + r^2 / (2 alpha l^2))^-alpha."""
        graph = self.graph
        share = 1 / (2 * kernel.alpha * kernel.length_scale**2)
        base = graph.add("Mul", self._squares(1.0), graph.constant(float(share)))
        base = graph.add("Add", base, graph.constant(1.0))
        return graph.add("Pow", base, graph.constant(-float(kernel.alpha)))

    def _periodic(self, kernel: sk.ExpSineSquared) -> str:
        """exp(-2 (sin(pi r / periodicity) / l)^2)."""
        graph = self.graph
        distance = graph.add("Sqrt", self._squares(1.0))
        angle = graph.add("Mul", distance, graph.constant(float(np.pi / kernel.periodicity)))
        wave = graph.add("Mul", graph.add("Sin", angle), graph.constant(1 / kernel.length_scale))
        return graph.add(
            "Exp", graph.add("Mul", graph.add("Mul", wave, wave), graph.constant(-2.0))
        )
