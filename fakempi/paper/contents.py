"""What a call leaves in the ranks' buffers, all at once: the same bits as message by message.

What is only moved is known from the operation. What is combined hangs on the order in which the algorithm does it: here it
is done in that order, element by element for many ranks at a time. Nearly all of numpy's functions give the same bits
whatever else they are given; where they may not (which of two zeros is larger, which of two NaNs is passed on, how the parts
of complex numbers are rounded), it is `Unclear`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.paper.clocks import Unclear

Deliver = Callable[[int, Any], None]
"""Leaves in the buffer of a rank what it is to have."""

Arrays = Sequence[tuple[Any, ...]]
"""By rank: what it gives, or None if that is where the result is to be; where that is; and the blocks' sizes, if told."""


MOST = 1 << 27
"""Bytes that are copied at once, at most: what all ranks give."""


def nothing(arrays: Arrays, op: Any) -> Deliver:
    """There are no buffers."""
    return keep


def gathered(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has everybody's block."""
    p = len(arrays)
    return _the_same(np.concatenate([_own_block(r, p, *pair) for r, pair in enumerate(arrays)]))


def gathered_of_any_sizes(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has everybody's block."""
    ends = list(accumulate(arrays[0][2], initial=0))
    return _the_same(
        np.concatenate([into[ends[r] : ends[r + 1]] if out is None else out for r, (out, into, _) in enumerate(arrays)])
    )


def transposed(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has the block for it of everybody."""
    blocks = _matrix(arrays).reshape(len(arrays), len(arrays), -1)

    def deliver(rank: int, recvbuf: Any) -> None:
        recvbuf[...] = blocks[:, rank].reshape(-1)

    return deliver


def combined_with_neighbours_first(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has everybody's vectors combined: those of neighbours first, then of pairs of neighbours, and so on."""

    def combined(held: Any, first: int) -> Any:
        excess = len(held) - (1 << (len(held).bit_length() - 1))
        if excess:
            pairs = _combined(kernel, held[0 : 2 * excess : 2], held[1 : 2 * excess : 2])
            held = np.concatenate([pairs, held[2 * excess :]])
        while len(held) > 1:
            held = _combined(kernel, held[0::2], held[1::2])
        return held[0]

    kernel = _kernel(arrays, op)
    return _the_same(_by_columns(arrays, combined))


def dealt_out_with_distant_ones_first(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has its block of all vectors combined: those of the ranks half of all away first; for a power of two."""

    def combined(held: Any, first: int) -> Any:
        while len(held) > 1:
            half = len(held) // 2
            held = _combined(kernel, held[:half], held[half:])
        return held[0]

    kernel = _kernel(arrays, op)
    return _a_block_each(_by_columns(arrays, combined), len(arrays))


def combined_around(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has everybody's vectors combined, each of p nearly equal pieces beginning with the rank after its own."""
    p, size = len(arrays), arrays[0][1].size
    longer = size % p
    owners = np.repeat(np.arange(p), [size // p + (r < longer) for r in range(p)])
    return _the_same(_around(arrays, op, owners))


def dealt_out_around(arrays: Arrays, op: Any) -> Deliver:
    """Everybody has its block of all vectors combined, each block beginning with the rank after its own."""
    p = len(arrays)
    given = arrays[0][1] if arrays[0][0] is None else arrays[0][0]
    return _a_block_each(_around(arrays, op, np.repeat(np.arange(p), given.size // p)), p)


def _around(arrays: Arrays, op: Any, owners: Any) -> Any:
    """All vectors combined; `owners` says for each element at which rank it is finished."""

    def combined(held: Any, first: int) -> Any:
        columns = np.arange(held.shape[1])
        finished_at = owners[first : first + len(columns)]
        partial = held[(finished_at + 1) % p, columns]
        for k in range(2, p + 1):
            partial = _combined(kernel, held[(finished_at + k) % p, columns], partial)
        return partial

    kernel, p = _kernel(arrays, op), len(arrays)
    return _by_columns(arrays, combined)


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


def _a_block_each(result: Any, p: int) -> Deliver:
    """Everybody has its own of p blocks."""
    blocks = result.reshape(p, -1)

    def deliver(rank: int, recvbuf: Any) -> None:
        recvbuf[: blocks.shape[1]] = blocks[rank]

    return deliver


def _own_block(rank: int, p: int, out: Any, into: Any) -> Any:
    if out is not None:
        return out
    size = into.size // p
    return into[rank * size : (rank + 1) * size]


def _matrix(arrays: Arrays) -> Any:
    """A row for each rank: what it gives."""
    rows = [into if out is None else out for out, into in arrays]
    if len(rows) * rows[0].nbytes > MOST:
        raise Unclear("it would take too much memory")
    return np.concatenate(rows).reshape(len(rows), -1)


def _by_columns(arrays: Arrays, combined: Callable[[Any, int], Any]) -> Any:
    """What all give, combined: `combined(matrix, first column)`, for so many columns at a time as there is room for."""
    rows = [into if out is None else out for out, into in arrays]
    size = rows[0].size
    wide = max(1, MOST // (len(rows) * rows[0].itemsize))
    if wide >= size:
        return _certain(combined(np.concatenate(rows).reshape(len(rows), -1), 0))
    parts = [combined(np.stack([row[i : i + wide] for row in rows]), i) for i in range(0, size, wide)]
    return _certain(np.concatenate(parts))


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
