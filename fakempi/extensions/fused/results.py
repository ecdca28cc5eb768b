"""The data of a call: the contribution of each rank, and the data that the rank receives when it leaves the call.

If a call only moves data, the operation determines its results; the results of a reduction also depend on the schedule
(`reductions`). If a rank leaves while other ranks still need its data, the data are copied. If the bits of a reduction
depend on the order of two operands, a separate run of the algorithm's code computes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.extensions.fused.programs import FusedProgram, Round, Steps
from fakempi.mpi.collective.block_sizes import BlockSizes
from fakempi.mpi.collective.fused_case import REDUCING, SYNCHRONIZING

TO_ROOT = ("reduce", "gather", "gatherv")
"""Operations in which only the root receives data."""


class Results:
    """The data of one call. `store` is called when a rank enters the call, `write` when it leaves."""

    def __init__(self, program: FusedProgram, op: Any, emulate: Callable[..., list[Any]]) -> None:
        self.program, self.op, self.emulate, case = program, op, emulate, program.case
        self.p, self.groups, self.operation, self.root = program.p, case.groups, case.operation, case.root
        self.arrays: list[Any] = [None] * self.p  # rank -> the arrays that it passes; None until it enters the call
        self.missing = [len(group) for group in self.groups]  # group -> the number of its ranks that have not entered
        self.phantoms: bool | None = None  # whether the arrays are phantoms, once known: all ranks have them, or none has
        # once all ranks have called, in frequent cases: the data that every rank receives, or one row for each rank
        self.same: Any = None
        self.rows: Any = None
        self.target = 1  # which of its arrays a rank receives them in
        self.values: dict[int, Any] = {}  # group -> the data that ranks receive from it, once they are known
        self.starts: dict[int, list[int]] = {}  # group -> where blocks of different sizes begin
        self.known: dict[Any, Any] = {}  # scan: missing ranks -> results; alltoallv: rank -> where its blocks begin

    def store(self, rank: int, arrays: tuple[Any, ...]) -> None:
        """Store the arrays with which a rank enters the call."""
        if self.phantoms is None:
            self.phantoms = type(_operand(arrays) if len(arrays) > 1 else arrays[0]) is not ndarray
        self.arrays[rank] = arrays
        self.missing[rank >= self.groups[0].stop] -= 1

    def count_missing(self) -> None:
        """Count the ranks that have not entered; ranks that wait for the call only put their arrays into the list."""
        self.missing = [self.arrays[group.start : group.stop].count(None) for group in self.groups]

    def write(self, rank: int) -> None:
        """Write the result of a rank that leaves the call to its array."""
        arrays = self.arrays[rank]
        if self.same is not None:
            if arrays:
                arrays[self.target][...] = self.same
            return
        if self.rows is not None:
            if (into := arrays[1]) is not None:
                into[...] = self.rows[rank]
            return
        if not arrays or not self.program.transfers_data or self.phantoms:
            return
        if self.root != rank and self.operation in TO_ROOT and len(self.groups) == 1:  # most ranks of these calls
            self._leave_copy(rank)
            return
        operation, root, own = self.operation, self.root, int(rank not in self.groups[0])  # `own` and `source`: groups
        source, place = len(self.groups) - 1 - own, (rank - self.groups[own].start, len(self.groups[own]), own)
        if operation in ("scan", "exscan"):
            self._write_scan(rank, arrays)
        elif operation == "alltoallv":
            self._write_blocks(rank, arrays, place[0], self.groups[source].start)
        elif operation == "bcast":
            if rank == root:
                self._leave_copy(rank)
            else:
                arrays[0][...] = self.arrays[root][0]
        elif operation in ("scatter", "scatterv"):
            if arrays[1] is not None and arrays[1].size:  # otherwise the rank does not wait for the root
                arrays[1][...] = self._block(*self.arrays[root][::2], place)
            if rank == root:
                self._leave_copy(rank)
        elif root not in (None, rank) or (operation in REDUCING and self.missing[source]) or not arrays[1].size:
            self._leave_copy(rank)  # the rank receives nothing
        else:
            value = self._compute_value(source)
            if operation.startswith("reduce_scatter"):
                block = self._block(value, *arrays[2:], place)
                arrays[1][: block.size] = block
            else:
                arrays[1][...] = value[:, place[0]].reshape(-1) if operation == "alltoall" else value
            if root is None and own not in self.values:
                self._leave_copy(rank)

    def use_program(self, program: FusedProgram) -> None:
        """Replace the program: the sizes of all blocks are known now."""
        self.program = program

    def rounds(self) -> Iterator[Round]:
        """The rounds of the schedule."""
        return (each.round for each in self.program.phases())

    def steps(self, rank: int, sizes: BlockSizes) -> Steps:
        """The steps of a rank, with blocks of these sizes."""
        program = self.program
        return program.sized_steps(rank, sizes) if program.case.sized else program.steps(rank)

    def compute(self) -> None:
        """Compute the result of a call that all ranks have entered."""
        if not self.program.transfers_data or not self.arrays[0] or self.phantoms:
            return
        if self.operation in SYNCHRONIZING:
            value = self._compute_value(0)
            if self.operation in ("allreduce", "allgather", "allgatherv") and len(self.groups) == 1:
                self.same = value
            elif self.operation == "reduce_scatter_block" and len(self.groups) == 1:
                self.rows = list(value.reshape(self.p, -1))
        elif self.operation in ("scan", "exscan"):
            operands = [each[1] if each[0] is None else each[0] for each in self.arrays]
            results = self.program.reduction.combined(operands, self._kernel())
            if not self._uncertain(operands, results):
                self.values[0] = results
                if self.operation == "scan":
                    self.rows = list(results)
        elif self.operation == "bcast" and len(self.groups) == 1:
            self.target, self.same = 0, self.arrays[self.root][0].copy()  # the root may change its data once it has left
            self.arrays[self.root] = ()
        elif self.operation == "scatter" and len(self.groups) == 1:
            self.rows = list(self.arrays[self.root][0].copy().reshape(self.p, -1))

    def _leave_copy(self, rank: int) -> None:
        """Copy the data of a rank that leaves while other ranks need them."""
        arrays = self.arrays[rank]
        self.arrays[rank] = (_operand(arrays).copy(), *arrays[1:])

    def _block(self, whole: Any, *sizes_and_place: Any) -> Any:
        """A rank's block in `whole`. Arguments: sizes, if blocks differ; (rank in its group, size of the group, group)."""
        *sizes, (rank, ranks, group) = sizes_and_place
        if not sizes:
            size = whole.size // ranks
            return whole[rank * size : (rank + 1) * size]
        if group not in self.starts:
            self.starts[group] = list(accumulate(sizes[0], initial=0))
        return whole[self.starts[group][rank] : self.starts[group][rank + 1]]

    def _write_blocks(self, rank: int, arrays: tuple[Any, ...], group_rank: int, first_source: int) -> None:
        at = 0
        for source, count in enumerate(arrays[3], first_source):
            if count:
                out, _, sizes, *_ = self.arrays[source]
                if source not in self.known:
                    self.known[source] = list(accumulate(sizes, initial=0))
                start = self.known[source][group_rank]
                arrays[1][at : at + count] = out[start : start + count]
                at += count
        self._leave_copy(rank)

    def _write_scan(self, rank: int, arrays: tuple[Any, ...]) -> None:
        if 0 in self.values:
            if rank or self.operation == "scan":
                arrays[1][...] = self.values[0][rank]
            return
        self._leave_copy(rank)
        if rank or self.operation == "scan":
            missing, zeros = self.missing[0], (np.zeros_like(arrays[1]),)
            if missing not in self.known:  # the result of a rank does not depend on higher ranks, which may be missing
                operands = [_operand(each or zeros) for each in self.arrays]
                self.known = {missing: self.program.reduction.combined(operands, self._kernel())}
            result = self.known[missing][rank]
            if self._uncertain((_operand(each) for each in self.arrays[: rank + 1]), result):
                result = self._emulated([_operand(each) for each in self.arrays[: rank + 1]])[rank]
            arrays[1][...] = result

    def _compute_value(self, senders: int) -> Any:
        """Return the data that ranks receive from a group; the first call computes them from the group's contributions."""
        if senders in self.values:
            return self.values[senders]
        operation, group, receivers = self.operation, self.groups[senders], self.groups[len(self.groups) - 1 - senders]
        given = self.arrays[group.start : group.stop]
        if operation in REDUCING:
            operands = [each[1] if each[0] is None else each[0] for each in given]
            if len(group) < self.p:
                zeros = [np.zeros_like(operands[0])]  # the operand of a rank in the other group
                operands = zeros * group.start + operands + zeros * (self.p - group.stop)
            value = self.program.reduction and self.program.reduction.combined(operands, self._kernel(), senders)
            if value is None or self._uncertain(operands, value):
                results = self._emulated(operands)[receivers.start : receivers.stop]
                value = np.concatenate(results) if operation.startswith("reduce_scatter") else results[self.root or 0]
        elif operation == "alltoall":
            value = np.concatenate([_operand(each) for each in given]).reshape(len(group), len(receivers), -1)
        else:  # a rank that has not called has an empty block
            placed = [(each, (rank, len(group), senders)) for rank, each in enumerate(given) if each]
            value = np.concatenate([one[0] if one[0] is not None else self._block(*one[1:], at) for one, at in placed])
        self.values[senders] = value
        return value

    def _uncertain(self, operands: Iterable[Any], result: Any) -> bool:
        """Return whether bits depend on the order of two operands: NaNs, or zeros in MAX and MIN."""
        if result.dtype.kind == "f" and self.op._operation.label in ("MAX", "MIN"):
            return any((not one.all() and np.signbit(one[one == 0]).any()) or np.isnan(one).any() for one in operands)
        return bool(result.dtype.kind in "fc" and np.isnan(result).any())

    def _emulated(self, operands: list[Any]) -> list[Any]:
        """Return the results of all ranks, from a run of the algorithm's code; ranks without an operand have zeros."""
        return self.emulate(lambda comm: self.program.case.run_code(comm, self.op, operands), self.p)

    def _kernel(self) -> Any:
        return self.op._operation.by_dtype[next(_operand(each) for each in self.arrays if each).dtype]


def _operand(arrays: tuple[Any, ...]) -> Any:
    return arrays[1] if arrays[0] is None else arrays[0]
