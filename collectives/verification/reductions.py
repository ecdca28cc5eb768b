"""The calls of the reductions: what each rank gives, and what numpy makes of it in rank order."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from collectives.catalogue.case import Case
from collectives.verification.calls import Array, Call, blank, contents, gives, sizes
from collectives.verification.ops import FUNCTIONS, MODULUS


def operand(case: Case, rank: int, size: int) -> Array:
    """What a rank gives; for an op that is not commutative, affine maps."""
    values = contents(rank, size, case.itemsize)
    if case.commutative:
        return values
    maps: Array = (values.real % (MODULUS * (MODULUS - 1)) + MODULUS).astype(values.dtype)
    return maps


def combination(case: Case, ranks: range, size: int) -> Array:
    """The operands of consecutive ranks, combined from the left."""
    function = FUNCTIONS["sum" if case.commutative else "compose"]
    # Sums of small integers wrap around and round alike in any order.
    return reduce(function, (operand(case, r, size) for r in ranks))


def prepare_reduce(case: Case, rank: int) -> Call:
    mine, kwargs = operand(case, rank, case.elements), {"root": case.root}
    if rank != case.root:
        return gives((mine, None), {**kwargs}, mine)
    return _call(case, mine, combination(case, range(case.p), case.elements), kwargs)


def prepare_allreduce(case: Case, rank: int) -> Call:
    mine = operand(case, rank, case.elements)
    return _call(case, mine, combination(case, range(case.p), case.elements))


def prepare_scan(case: Case, rank: int) -> Call:
    mine = operand(case, rank, case.elements)
    return _call(case, mine, combination(case, range(rank + 1), case.elements))


def prepare_exscan(case: Case, rank: int) -> Call:
    mine = operand(case, rank, case.elements)
    if rank > 0:
        return _call(case, mine, combination(case, range(rank), case.elements))
    return _call(case, mine, mine.copy() if case.in_place else blank(case.elements, case.itemsize))


def prepare_reduce_scatter(case: Case, rank: int) -> Call:
    total, block = sum(sizes(case)), sizes(case)[rank]
    mine = operand(case, rank, total)
    start = case.layout.start(rank)
    expected = combination(case, range(case.p), total)[start : start + block]
    call = _call(case, mine, expected)
    call.result = call.result[:block]
    if case.counts is not None:
        call.args = (*call.args, case.counts)
    return call


def _call(case: Case, mine: Array, expected: Array, kwargs: dict[str, int] | None = None) -> Call:
    if case.in_place:
        buffer = mine.copy()
        return Call((None, buffer), {**(kwargs or {})}, buffer, expected)
    recvbuf = blank(expected.size, case.itemsize)
    return Call((mine, recvbuf), {**(kwargs or {})}, recvbuf, expected, ((mine, np.copy(mine)),))


REDUCTIONS: dict[str, Callable[[Case, int], Call]] = {
    "reduce": prepare_reduce,
    "allreduce": prepare_allreduce,
    "scan": prepare_scan,
    "exscan": prepare_exscan,
    "reduce_scatter": prepare_reduce_scatter,
    "reduce_scatter_block": prepare_reduce_scatter,
}
