"""Two ops for reductions: a sum, and a noncommutative op whose result depends on the order of its operands.

The second composes affine maps x -> a x + b modulo 13; an element 13 a + b with 0 < a < 13 represents a map. It works
element by element on every dtype, because all values are below 169.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectives.tools.protocol import Op

Array = NDArray[Any]
MODULUS = 13


def _compositions() -> Array:
    """Return the composition of all pairs of maps; a table is several times as fast as divisions of long operands."""
    pairs = np.arange(MODULUS**4)
    (a, b), (c, d) = np.divmod(pairs // MODULUS**2, MODULUS), np.divmod(pairs % MODULUS**2, MODULUS)
    composed: Array = (MODULUS * (a * c % MODULUS) + (a * d + b) % MODULUS).astype("uint8")
    return composed


COMPOSED = _compositions()


def compose(left: Array, right: Array) -> Array:
    """Return the map that first applies `right`, then `left`: (a, b) after (c, d) is (a c, a d + b)."""
    pairs = left.real.astype(int) * MODULUS**2 + right.real.astype(int)
    # "wrap", because a wrong algorithm may combine elements that are not maps.
    composed: Array = np.take(COMPOSED, pairs, mode="wrap").astype(right.dtype)
    return composed


FUNCTIONS: Mapping[str, Callable[[Array, Array], Array]] = {"sum": np.add, "compose": compose}


class LocalOp:
    """An op without MPI, with the methods that the algorithms call."""

    def __init__(self, name: str) -> None:
        self.name = name

    def Is_commutative(self) -> bool:
        return self.name == "sum"

    def Reduce_local(self, inbuf: Any, inoutbuf: Any) -> None:
        inoutbuf[...] = FUNCTIONS[self.name](inbuf, inoutbuf)


LOCAL: Mapping[str, Op] = {name: LocalOp(name) for name in FUNCTIONS}


def ops_of(MPI: Any) -> Mapping[str, Op]:
    """Return the two ops as ops of an MPI module, mpi4py's or the emulator's."""

    def composing(inbuf: Any, inoutbuf: Any, datatype: Any) -> None:
        dtype = np.dtype(datatype.tocode())
        left, right = np.frombuffer(inbuf, dtype), np.frombuffer(inoutbuf, dtype)
        right[:] = compose(left, right)

    return {"sum": MPI.SUM, "compose": MPI.Op.Create(composing, commute=False)}
