"""Values as functions of rank and size. `(rank + 1) % size` is evaluated for every rank of a few small sizes.

A formula returns None where its value is not known. It is evaluated only with small integers, floats, booleans and texts.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

Evaluate = Callable[[int, int], Any]
SIZES = (4, 6, 70)
"""Sizes for which conditions are compared: even, for pairs; 6 is no power of two, 70 is above most constants."""
LARGEST = 1 << 40
DEPTH = 40
"""Maximum depth of a formula: formulas in loops would grow without limit."""


class Formula(NamedTuple):
    """A function of rank and size, and the depth of its expression."""

    at: Evaluate
    depth: int = 1


RANK = Formula(lambda rank, size: rank)
SIZE = Formula(lambda rank, size: size)

BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitXor: operator.xor, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.Div: operator.truediv, ast.LShift: lambda a, b: a << b if 0 <= b < 40 else None,
    ast.RShift: lambda a, b: a >> b if 0 <= b < 40 else None,
    ast.Pow: lambda a, b: a**b if 0 <= b < 40 and abs(a) < 1000 else None,
}  # fmt: skip
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Not: operator.not_, ast.Invert: operator.invert}
FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max, "int": int, "abs": abs, "bool": bool, "divmod": divmod}


def constant(value: Any) -> Formula | None:
    """Return the formula of a constant."""
    simple = isinstance(value, (int, float, str, bool)) and not (isinstance(value, int) and abs(value) > LARGEST)
    return Formula(lambda rank, size: value) if simple else None


def applied(function: Callable[..., Any] | None, *parts: Formula | None) -> Formula | None:
    """Return the formula of a function of other formulas; None if one of them is not known."""
    known = [part for part in parts if part is not None]
    depth = 1 + max((part.depth for part in known), default=0)
    if function is None or len(known) < len(parts) or depth > DEPTH:
        return None
    do = function

    def evaluate(rank: int, size: int) -> Any:
        values = [part.at(rank, size) for part in known]
        if any(value is None for value in values):
            return None
        try:
            result = do(*values)
        except (ArithmeticError, TypeError, ValueError, IndexError, KeyError, MemoryError):
            return None
        return None if isinstance(result, int) and abs(result) > LARGEST else result

    return Formula(evaluate, depth)


def both(is_and: bool, parts: list[Formula | None]) -> Formula | None:
    """Return the formula of `and` or `or`, which a part may determine: `rank == 0 and unknown` is false on rank 1."""
    if all(part is None for part in parts):
        return None

    def evaluate(rank: int, size: int) -> Any:
        values = [None if part is None else part.at(rank, size) for part in parts]
        if any(value is not None and bool(value) is not is_and for value in values):
            return not is_and
        return None if None in values else is_and

    return Formula(evaluate, 1 + max(part.depth for part in parts if part is not None))


def table(formula: Formula | None, size: int) -> list[Any] | None:
    """Return the value on each rank, or None if one is not known."""
    if formula is None:
        return None
    values = [formula.at(rank, size) for rank in range(size)]
    return None if any(value is None for value in values) else values


def same_on_all_ranks(formula: Formula | None) -> bool:
    """Return whether a value is known to be the same on all ranks."""
    tables = [table(formula, size) for size in SIZES]
    return all(found is not None and all(value == found[0] for value in found) for found in tables)
