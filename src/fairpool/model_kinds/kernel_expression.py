"""Kernels as text, such as "0.5 * rbf(2.0) + linear"; read without running any of it."""

import ast
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as sk

from fairpool.errors import KernelError, cut, shown
from fairpool.models.kernels import leaves

ATOMS: dict[str, Any] = {
    "rbf": lambda l: sk.RBF(l),  # noqa: E741 -- one line per kernel, in the same shape
    "exponential": lambda l: sk.Matern(l, nu=0.5),  # noqa: E741
    "matern32": lambda l: sk.Matern(l, nu=1.5),  # noqa: E741
    "matern52": lambda l: sk.Matern(l, nu=2.5),  # noqa: E741
}
"""Kernels with one length scale per feature; the argument is where they start."""


LONGEST = 2000
"""Characters of an expression; nobody writes a longer one by hand."""

MOST_OPERATORS = 30
"""Of + and * in an expression: a reward file holds no deeper kernel than its reader takes."""

LEAST, MOST = 1e-12, 1e12
"""Of an amplitude or a length scale, in units of standardised data: beyond, it is a slip."""


def parse_kernel(expression: str, features: int) -> Any:
    """A scikit-learn kernel from an expression.

    Args:
        expression: rbf, exponential, matern32, matern52 and linear, with + and * and numbers.
            `rbf(2.0)` starts at length scale 2, plain `rbf` at the root of the number of features;
            every term that has no number of its own gets an amplitude, starting at 1.
        features: Number of features p: each kernel has one length scale per feature (ARD).

    >>> parse_kernel("rbf + 0.25 * exponential(3)", 4)
    1**2 * RBF(length_scale=[2, 2, 2, 2]) + 0.5**2 * Matern(length_scale=[3, 3, 3, 3], nu=0.5)
    """
    if len(expression) > LONGEST:
        raise KernelError(
            _refusal(expression, f"it has {len(expression)} characters, more than {LONGEST}")
        )
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise KernelError(_refusal(expression, "it cannot be read")) from None
    operators = sum(isinstance(node, ast.BinOp) for node in ast.walk(tree))
    if operators > MOST_OPERATORS:
        raise KernelError(
            _refusal(expression, f"it has {operators} signs + and *, more than {MOST_OPERATORS}")
        )
    kernel = _evaluate(tree, expression, features)
    if not isinstance(kernel, sk.Kernel):
        kernel = sk.ConstantKernel(kernel)
    return _with_amplitudes(kernel)


def _evaluate(node: ast.expr, expression: str, features: int) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return _bounded(number, expression)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() as operator, right=right):
            a = _evaluate(left, expression, features)
            b = _evaluate(right, expression, features)
            result = a + b if isinstance(operator, ast.Add) else a * b
            return _bounded(result, expression) if isinstance(result, float) else result
        case ast.Name(id="linear"):
            return sk.DotProduct()
        case ast.Name(id=name) if name in ATOMS:
            return ATOMS[name](np.full(features, features**0.5))
        case ast.Call(
            func=ast.Name(id=name), args=[ast.Constant(value=int() | float() as scale)], keywords=[]
        ) if name in ATOMS:
            return ATOMS[name](np.full(features, _bounded(scale, expression)))
    # The text itself: writing a deep node anew could take more calls than Python allows.
    source = ast.get_source_segment(expression, node)
    raise KernelError(_refusal(expression, f"it cannot use {shown(source)}"))


def _bounded(number: float, expression: str) -> float:
    """A number of an expression; a whole one may be too large to become a float."""
    if not LEAST <= number <= MOST:
        raise KernelError(
            _refusal(expression, f"the number {shown(number)} is outside {LEAST:g} .. {MOST:g}")
        )
    return float(number)


def _with_amplitudes(kernel: Any) -> Any:
    if isinstance(kernel, sk.Sum):
        return _with_amplitudes(kernel.k1) + _with_amplitudes(kernel.k2)
    if any(isinstance(leaf, sk.ConstantKernel) for leaf in leaves(kernel)):
        return kernel
    return 1.0 * kernel


def _refusal(expression: str, what: str) -> str:
    return (
        f'kernel "{cut(expression)}": {what}; write {", ".join(ATOMS)} or linear, with + and * and'
        ' positive numbers, such as "rbf + exponential"'
    )
