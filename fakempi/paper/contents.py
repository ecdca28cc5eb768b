"""What a call leaves in the ranks' buffers, all at once: the same bits as message by message.

What is only moved is known from the operation. What is combined hangs on the order in which the algorithm does it: here it
is done in that order, element by element for many ranks at a time. Nearly all of numpy's functions give the same bits
whatever else they are given; where they may not (which of two zeros is larger, which of two NaNs is passed on, how the parts
of complex numbers are rounded), it is `Unclear`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.paper.clocks import Unclear

Deliver = Callable[[int, Any], None]
"""Leaves in the buffer of a rank what it is to have."""

Arrays = Sequence[tuple[Any, Any]]
"""By rank: what it gives, or None if that is where the result is to be; and where that is."""


MOST = 1 << 28
"""Bytes that are copied at once, at most: what all ranks give."""


def nothing(arrays: Arrays, op: Any) -> Deliver:
    """There are no buffers."""
    return keep


def gathered(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has everybody's block."""
    p = len(arrays)
    return _the_same(np.concatenate([_own_block(r, p, *pair) for r, pair in enumerate(arrays)]))


def transposed(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has the block for it of everybody."""
    blocks = _matrix(arrays).reshape(len(arrays), len(arrays), -1)

    def deliver(rank: int, recvbuf: Any) -> None:
        recvbuf[...] = blocks[:, rank].reshape(-1)

    return deliver


def combined_with_neighbours_first(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has everybody's vectors combined: those of neighbours first, then of pairs of neighbours, and so on."""
    kernel, held = _kernel(arrays, op), _matrix(arrays)
    excess = len(held) - (1 << (len(held).bit_length() - 1))
    if excess:
        pairs = _combined(kernel, held[0 : 2 * excess : 2], held[1 : 2 * excess : 2])
        held = np.concatenate([pairs, held[2 * excess :]])
    while len(held) > 1:
        held = _combined(kernel, held[0::2], held[1::2])
    return _the_same(_certain(held[0]))


def dealt_out_with_distant_ones_first(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has its block of all vectors combined: those of the ranks half of all away first; for a power of two."""
    kernel, held, p = _kernel(arrays, op), _matrix(arrays), len(arrays)
    while len(held) > 1:
        half = len(held) // 2
        held = _combined(kernel, held[:half], held[half:])
    blocks = _certain(held[0]).reshape(p, -1)

    def deliver(rank: int, recvbuf: Any) -> None:
        recvbuf[: blocks.shape[1]] = blocks[rank]

    return deliver


def keep(rank: int, recvbuf: Any) -> None:
    """Nothing comes of it."""


def are_hollow(arrays: Arrays) -> bool:
    """Whether there are buffers without contents: all ranks have phantoms, or none has."""
    return bool(arrays[0]) and type(arrays[0][1]) is not ndarray


def _the_same(result: Any) -> Deliver:
    """Everybody has this."""

    def deliver(rank: int, recvbuf: Any) -> None:
        recvbuf[...] = result

    return deliver


def _own_block(rank: int, p: int, out: Any, into: Any) -> Any:
    if out is not None:
        return out
    size = into.size // p
    return into[rank * size : (rank + 1) * size]


def _matrix(arrays: Arrays) -> Any:
    """A row for each rank: what it gives."""
    if len(arrays) * (arrays[0][1] if arrays[0][0] is None else arrays[0][0]).nbytes > MOST:
        raise Unclear("it would take too much memory")
    return np.concatenate([into if out is None else out for out, into in arrays]).reshape(len(arrays), -1)


def why_not_combined(op: Any, into: Any) -> str:
    """Why an operation on arrays of that type is not for paper; empty if it is, as with phantoms.

    A program's own function may do anything, such as tell others, and so is not called at another time than its own.
    """
    if type(into) is not ndarray:
        return ""
    dtype, label = into.dtype, op._operation.label
    if op._operation.by_dtype.get(dtype) is None:
        return f"{op._name_for_people()} of {dtype} is not one of numpy's functions"
    if dtype.kind not in "?biufc" or (dtype.kind == "c" and label != "SUM"):
        return f"{label} of {dtype} may be rounded otherwise"
    return ""


def _kernel(arrays: Arrays, op: Any) -> Any:
    """What combines two arrays, and gives the same bits for one element as for many."""
    dtype, label = arrays[0][1].dtype, op._operation.label
    if dtype.kind == "f" and label in ("MAX", "MIN"):
        for out, into in arrays:
            given = into if out is None else out
            if (not given.all() and np.signbit(given[given == 0]).any()) or np.isnan(given).any():
                raise Unclear(f"{label} of zeros of both signs, or of NaNs, may leave another one")
    return op._operation.by_dtype[dtype]


def _combined(kernel: Any, left: Any, right: Any) -> Any:
    result = right.copy()
    kernel(left, result, out=result)
    return result


def _certain(result: Any) -> Any:
    """A NaN may be another one."""
    if result.dtype.kind in "fc" and np.isnan(result).any():
        raise Unclear("there is a NaN in the result")
    return result
