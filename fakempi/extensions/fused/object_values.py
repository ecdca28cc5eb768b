"""Reductions of Python numbers: the value that each message has, and so its size, from the schedule.

A message of such a reduction has the pickle of a value, whose size depends on the value. The schedule determines which
values ranks combine, and operands are combined in rank order, so every value is the result of consecutive ranks. Once all
ranks have called, their operands are combined as in the emulated call: the same function for the same pairs of operands.
Numbers, and tuples of them, never change, so ranks may share them, and combining them takes no modeled time.

A rank may leave an emulated call early only if combining fails on it. So ranks wait for a call only while the operands of
those that have called can be combined in any way (`_COMPATIBLE`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fakempi.extensions.fused.programs import FusedProgram, Ints, Round, Steps, add_steps
from fakempi.mpi.buffers.objects import pack
from fakempi.mpi.buffers.pickling import process_wide
from fakempi.mpi.collective.fused_case import OBJECT_BYTES, SIZE_BYTES
from fakempi.mpi.collective.object_arrays import PickledElement


class ObjectSchedule:
    """The values of a reduction, numbered: first the operands by rank, then each combination of two earlier values."""

    def __init__(self, program: FusedProgram) -> None:
        p, operation = program.p, program.case.operation
        self.pairs: list[tuple[int, int]] = []  # the left and the right operand of each combination
        self._first, self._last = np.arange(p), np.arange(p)  # by value: the ranks whose operands it has
        scans, held = operation in ("scan", "exscan"), np.arange(p)
        self.results = held.copy() if operation == "scan" else np.full(p, -1)  # by rank: a value, or -1
        self.rounds: list[tuple[Round, Ints | None]] = []  # and the value that each rank sends, or -1
        for phase in program.phases():
            source, dest, nbytes, combined = phase.transfers[:4]
            is_size = bool((nbytes == SIZE_BYTES).all())
            if not is_size and not (nbytes == OBJECT_BYTES).all():
                raise ValueError("its algorithm cuts objects into pieces")
            sent, values = held[source], np.full(p, -1)
            values[source] = sent
            self.rounds.append((phase.round._replace(combined=()), None if is_size else values))
            if is_size:
                continue
            joins = np.full(len(source), scans) | (combined > 0)
            held[dest[~joins]] = sent[~joins]
            held[dest[joins]] = self._combine(sent[joins], held[dest[joins]])
            if scans:
                self._extend_prefixes(dest[source < dest], sent[source < dest])
        if not scans:
            self.results = held
        self._check_results(operation)
        self.needed = np.zeros(p + len(self.pairs), bool)  # values that are sent or are results, or operands of these
        for some in (self.results, *(values for _, values in self.rounds if values is not None)):
            self.needed[some[some >= 0]] = True
        for value in range(len(self.needed) - 1, p - 1, -1):
            if self.needed[value]:
                self.needed[list(self.pairs[value - p])] = True

    def _combine(self, one: Ints, two: Ints) -> Ints:
        """Return the values of pairs of values, in rank order; equal pairs are one value."""
        left, right = (np.where((self._first[one] < self._first[two]) == is_left, one, two) for is_left in (True, False))
        if (self._last[left] + 1 != self._first[right]).any():
            raise ValueError("its schedule does not determine the order of combining")
        count = len(self._first)
        keys, number = np.unique(left * count + right, return_inverse=True)
        left, right = keys // count, keys % count
        self.pairs += zip(left.tolist(), right.tolist(), strict=True)
        self._first, self._last = np.r_[self._first, self._first[left]], np.r_[self._last, self._last[right]]
        return count + number.reshape(-1)

    def _extend_prefixes(self, ranks: Ints, sent: Ints) -> None:
        empty = self.results[ranks] < 0
        self.results[ranks[empty]] = sent[empty]
        ranks, sent = ranks[~empty], sent[~empty]
        self.results[ranks] = self._combine(sent, self.results[ranks])

    def _check_results(self, operation: str) -> None:
        """Raise an error unless each rank has the result of all ranks, or of those up to it or before it in a scan."""
        ranks = np.arange(len(self.results))
        last = {"scan": ranks, "exscan": ranks - 1}.get(operation, ranks[-1])
        has_result = self.results >= 0
        found = np.where(has_result, self._last[self.results], -1)
        if (found != last).any() or self._first[self.results[has_result]].any():
            raise ValueError("its schedule does not determine the order of combining")


_ANY = frozenset(["int", "long int", "float", "pair", "tuple"])
_INTS, _TUPLES = frozenset(["int", "long int"]), frozenset(["pair", "tuple"])
_LONG = 900  # bits; the sum of shorter integers of all ranks can be converted to a float

_COMPATIBLE: dict[str, tuple[frozenset[str], ...]] = {
    "SUM": (_INTS, frozenset(["int", "float"]), _TUPLES),
    "PROD": (_INTS, frozenset(["float"])),
    **dict.fromkeys(("MAX", "MIN"), (_INTS | {"float"}, _TUPLES)),
    **dict.fromkeys(("MAXLOC", "MINLOC"), (frozenset(["pair"]),)),
    **dict.fromkeys(("BAND", "BOR", "BXOR"), (_INTS,)),
    **dict.fromkeys(("LAND", "LOR", "LXOR", "REPLACE", "NO_OP"), (_ANY,)),
}
"""Operation -> sets of kinds of operands; combining operands of one set, in any way, does not fail."""


def _kind_of(operand: Any) -> str:
    """Return the kind of an operand; empty if it is not a number or a tuple of numbers."""
    kind = type(operand)
    if kind is int:
        return "int" if -256 < operand < 256 or operand.bit_length() < _LONG else "long int"
    if kind is float or kind is bool:
        return "float" if kind is float else "int"
    if kind is not tuple or not {int, float, bool}.issuperset(map(type, operand)):
        return ""
    return "pair" if len(operand) == 2 else "tuple"


class ObjectResults:
    """The operands of one call, and its results. `store` is called when a rank enters the call, `write` when it leaves."""

    def __init__(self, program: FusedProgram) -> None:
        self.schedule: ObjectSchedule = program.reduction
        self.operands: list[Any] = [None] * program.p
        self.into: list[Any] = [None] * program.p  # rank -> the array for its result
        self.function: Any = None  # of two operands
        self.kinds: set[str] = set()  # of operands
        self.missing = program.p  # the number of ranks whose operands are not known
        self.values: list[Any] = []  # by number, once all ranks have called
        self._steps: list[list[Any]] = []  # by rank

    def store(self, rank: int, arrays: tuple[Any, ...]) -> str:
        """Store the object with which a rank enters the call; return why the call has to be emulated, or an empty string."""
        _, self.into[rank], op = arrays
        operation, self.operands[rank] = getattr(op.op, "_operation", None), op.operand
        if operation is None or operation.arithmetic is None:
            return "its operation is user-defined"
        if op.settings is not None or process_wide.settings is not None:
            return "MPI.pickle has functions of the program"
        kind, self.function = _kind_of(op.operand), operation.arithmetic.objects
        if kind not in self.kinds:
            self.kinds.add(kind)
            if not any(self.kinds <= each for each in _COMPATIBLE[operation.label]):
                return f"{operation.label} of its objects may fail" if kind else "it combines objects that are not numbers"
        self.missing -= 1
        return ""

    def count_missing(self) -> None:
        """Do nothing: `store` counts them."""

    def use_program(self, _: object) -> None:
        """Do nothing: objects have no block sizes."""

    def rounds(self) -> Iterator[Round]:
        """Combine the operands of all ranks; return the rounds with the sizes of messages."""
        schedule, function = self.schedule, self.function
        values = self.values = self.operands.copy()
        for (left, right), needed in zip(schedule.pairs, schedule.needed[len(values) :].tolist(), strict=True):
            values.append(function(values[left], values[right]) if needed else None)
        sizes = np.array([pack(value)[1] if needed else 0 for value, needed in zip(values, schedule.needed, strict=True)])
        for each, sent in schedule.rounds:
            if sent is None:
                yield each
                continue
            sends = sent >= 0
            nbytes = sizes[sent[sends]]
            if len(nbytes) == len(sent) and nbytes.min() == nbytes.max():
                yield each._replace(nbytes=int(nbytes[0]))
            else:
                column = np.zeros(len(sent), np.int64)
                column[sends] = nbytes
                yield each._replace(nbytes=column)

    def steps(self, rank: int, _: object) -> Steps:
        """The steps of a rank. All ranks have called."""
        if not self._steps:
            self._steps = [[] for _ in self.operands]
            for each in self.rounds():
                add_steps(self._steps, each)
        return self._steps[rank]

    def compute(self) -> None:
        """Do nothing: `rounds` has combined the operands."""

    def write(self, rank: int) -> None:
        """Write the result of a rank that leaves the call to its array."""
        value = int(self.schedule.results[rank])
        if value >= 0:
            self.into[rank][0] = PickledElement(None, None, self.values[value])
