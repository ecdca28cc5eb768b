"""Expression trees of reductions: run an algorithm with an op that records the order of its operands.

An element of a buffer is the number of a tree. The op combines two numbers to the number of the tree with these two
branches; exchanged branches are the same tree. So two results have equal numbers if and only if they are combined in the
same order, up to exchanged operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification import inter_calls, intra_calls
from collectives.verification.calls import CheckedCall
from collectives.verification.group_side import GroupSide
from collectives.verification.machine import Machine, Setting
from collectives.verification.reduction_ops import LOCAL

Array = NDArray[Any]
FIRST_OF_B = 100
"""The number of the first operand of group B; those of A, and of a single group, begin with 0."""

NEUTRAL = 998
"""The neutral operand, like 0 in a sum."""

LEAVES = 1000
"""Numbers below this are operands."""


class OrderTrees:
    """Numbered trees."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self._branches: list[tuple[int, int]] = []

    def combined(self, left: Array, right: Array) -> Array:
        """Return the trees of `left op right`, element by element."""
        return np.array([self._node(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)])

    def _node(self, left: int, right: int) -> int:
        if NEUTRAL in (left, right):
            return left if right == NEUTRAL else right
        pair = (min(left, right), max(left, right))
        if pair not in self._numbers:
            self._numbers[pair] = LEAVES + len(self._branches)
            self._branches.append(pair)
        return self._numbers[pair]

    def text(self, tree: int) -> str:
        """Return a tree as text: 0 to p-1 are the operands of the ranks.

        >>> trees = OrderTrees()
        >>> trees.text(int(trees.combined(trees.combined(np.array([2]), np.array([0])), np.array([1]))[0]))
        '1 + (0 + 2)'
        """
        if tree < LEAVES:
            return str(tree)
        branches = self._branches[tree - LEAVES]
        return " + ".join(self.text(each) if each < LEAVES else f"({self.text(each)})" for each in branches)

    def op(self, MPI: Any) -> Any:
        """Return the op that records the order, as an op of an MPI module."""

        def record(inbuf: Any, inoutbuf: Any, datatype: Any) -> None:
            left, right = np.frombuffer(inbuf, "d"), np.frombuffer(inoutbuf, "d")
            right[:] = self.combined(left.astype(int), right.astype(int))

        return MPI.Op.Create(record, commute=True)


def reduced(
    algorithm: Algorithm, case: Case, machine: Machine, setting: Setting, operand: Callable[[int], float], op: Any
) -> list[Array] | None:
    """Return the result of each rank for operands of floats; None if the run fails.

    `operand(number)` is the value of all elements of a rank's operand; the ranks of group B have the numbers from
    `FIRST_OF_B` on. The case has elements of 8 bytes, and is not in place.
    """
    results: list[Array] = [np.empty(0)] * case.ranks

    def program(comm: Any, local: Any = None, in_a: bool = True) -> None:
        rank = comm.Get_rank()
        call = _prepared(algorithm, case, rank, in_a)
        if call.args[0] is not None:
            call.args[0][:] = operand(rank + (0 if in_a else FIRST_OF_B))
        keywords: Mapping[str, Any] = inter_calls.keywords(case, in_a) if case.q else case.parameters
        if setting.late >= 0:
            machine.compute((rank - setting.late - 1) % case.ranks * 3000)
        algorithm.run(*((comm, local) if case.q else (comm,)), *call.args, **{**call.kwargs, "op": op}, **keywords)
        results[rank + (0 if in_a else case.p)] = call.result.copy()

    return None if machine.run(program, case.p, case.q, setting).failure else results


def _prepared(algorithm: Algorithm, case: Case, rank: int, in_a: bool) -> CheckedCall:
    if case.q:
        return inter_calls.prepare(algorithm.operation, GroupSide(case, in_a, rank), LOCAL)
    return intra_calls.prepare(algorithm.operation, case, rank, LOCAL)
