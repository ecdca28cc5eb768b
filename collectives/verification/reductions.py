"""The calls of reductions: every rank's operand, and the result that numpy computes in rank order."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from collectives.catalogue.case import Case
from collectives.verification.calls import PERIOD, Array, CheckedCall, blank, contents, input_only, repeated, sizes
from collectives.verification.reduction_ops import FUNCTIONS, MODULUS


def operand(case: Case, rank: int, size: int) -> Array:
    """Return a rank's operand; affine maps for the noncommutative op."""
    values = contents(rank, size, case.itemsize)
    if case.commutative:
        return values
    maps: Array = (values.real % (MODULUS * (MODULUS - 1)) + MODULUS).astype(values.dtype)
    return maps


def combination(case: Case, ranks: range, size: int) -> Array:
    """Return the operands of consecutive ranks, combined from the left."""
    function = FUNCTIONS["sum" if case.commutative else "compose"]
    # The sum is exact (or wraps around) in every dtype, so the order of the additions does not matter.
    return repeated(reduce(function, (operand(case, r, min(size, PERIOD)) for r in ranks)), size)


def prepare_reduce(case: Case, rank: int) -> CheckedCall:
    mine, kwargs = operand(case, rank, case.elements), {"root": case.root}
    if rank != case.root:
        return input_only((mine, None), {**kwargs}, mine)
    return _call(case, mine, combination(case, range(case.p), case.elements), kwargs)


def prepare_allreduce(case: Case, rank: int) -> CheckedCall:
    mine = operand(case, rank, case.elements)
    return _call(case, mine, combination(case, range(case.p), case.elements))


def prepare_scan(case: Case, rank: int) -> CheckedCall:
    mine = operand(case, rank, case.elements)
    return _call(case, mine, combination(case, range(rank + 1), case.elements))


def prepare_exscan(case: Case, rank: int) -> CheckedCall:
    mine = operand(case, rank, case.elements)
    if rank > 0:
        return _call(case, mine, combination(case, range(rank), case.elements))
    return _call(case, mine, mine.copy() if case.in_place else blank(case.elements, case.itemsize))


def prepare_reduce_scatter(case: Case, rank: int) -> CheckedCall:
    total, block = sum(sizes(case)), sizes(case)[rank]
    mine = operand(case, rank, total)
    start = case.layout.start(rank)
    expected = combination(case, range(case.p), total)[start : start + block]
    call = _call(case, mine, expected)
    call.result = call.result[:block]
    if case.counts is not None:
        call.args = (*call.args, case.counts)
    return call


def _call(case: Case, mine: Array, expected: Array, kwargs: dict[str, int] | None = None) -> CheckedCall:
    if case.in_place:
        buffer = mine.copy()
        return CheckedCall((None, buffer), {**(kwargs or {})}, buffer, expected)
    recvbuf = blank(expected.size, case.itemsize)
    return CheckedCall((mine, recvbuf), {**(kwargs or {})}, recvbuf, expected, ((mine, np.copy(mine)),))


REDUCTIONS: dict[str, Callable[[Case, int], CheckedCall]] = {
    "reduce": prepare_reduce,
    "allreduce": prepare_allreduce,
    "scan": prepare_scan,
    "exscan": prepare_exscan,
    "reduce_scatter": prepare_reduce_scatter,
    "reduce_scatter_block": prepare_reduce_scatter,
}
