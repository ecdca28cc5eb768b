"""A collective call for `fakempi.extensions.fused`: its algorithm and the facts about it; counts of fused calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

SIZED = ("gatherv", "scatterv", "alltoallv")
"""Operations in which each rank knows the sizes of its own blocks only."""

SYNCHRONIZING = ("barrier", "allreduce", "allgather", "allgatherv", "alltoall", "reduce_scatter", "reduce_scatter_block")
"""Operations in which no rank leaves before all have called, if no block is empty."""

REDUCING = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
"""Operations that combine data."""


SIZE_BYTES = 8
"""Bytes of the message that precedes the broadcast of an object: the size of its pickle."""

OBJECT_BYTES = 1 << 24
"""Bytes of an object in a schedule, whose size is not known yet. An algorithm that cuts long messages cuts this one."""


class FusedCase(NamedTuple):
    """One collective call; equal cases have equal schedules.

    `nbytes` and `sizes` are what `CollectiveCalls._choose` receives. In an operation of `SIZED` they are not used. On an
    intercommunicator `p` and `nbytes` are those of the group that leads, and `q` and `nbytes_b` those of the other; ranks
    of the other group are numbered from p on.
    """

    choice: Any
    operation: str
    p: int
    nbytes: int = 0
    itemsize: int = 1
    sizes: tuple[int, ...] | None = None
    root: Any = None  # a rank; None in an operation without a root
    commutative: bool = True
    in_place: bool = False
    q: int = 0
    nbytes_b: int = 0
    leads: int = 0  # which side of the context leads
    why_not: str = ""  # why the call is emulated
    sizes_b: tuple[int, ...] | None = None
    objects: bool = False  # whether it is a reduction of objects

    def between_groups(
        self, own: tuple[int, int], theirs: tuple[int, int], root: int | None, count: int, *, leads: bool, first: bool
    ) -> FusedCase:
        """Return the case on an intercommunicator, given ranks and bytes of this rank's group and of the other one.

        `leads` is whether this rank's group leads, `first` whether it is the first side of the context. Block sizes that
        the rank does not know are replaced until `block_sizes` has them all: those of an allgatherv by 0, so that the
        schedule only has the messages with sizes; those of the other group in a reduce_scatter by nearly equal ones.
        """
        (p, m), (q, m_b) = (own, theirs) if leads else (theirs, own)
        itemsize = own[0] * own[1] // count if count and self.operation == "reduce_scatter_block" else self.itemsize
        sizes = sizes_b = None
        if self.operation == "allgatherv":
            sizes, sizes_b = (0,) * p, (0,) * q
        elif self.operation == "reduce_scatter":
            cuts = [i * count // theirs[0] * itemsize for i in range(theirs[0] + 1)]
            other = tuple(end - start for start, end in pairwise(cuts))
            sizes, sizes_b = (self.sizes, other) if leads else (other, self.sizes)
        return self._replace(
            p=p, nbytes=m, itemsize=itemsize, sizes=sizes, root=root, q=q, nbytes_b=m_b, leads=int(leads is not first),
            sizes_b=sizes_b,
        )  # fmt: skip

    @property
    def key(self) -> tuple[Any, ...]:
        """The case as a key of a dictionary. Choices are not hashable, but the table keeps them, so their ids are unique."""
        return (id(self.choice), *self[1:])

    @property
    def groups(self) -> tuple[range, ...]:
        """The numbers of the ranks of each group."""
        return (range(self.p), range(self.p, self.p + self.q)) if self.q else (range(self.p),)

    @property
    def sized(self) -> bool:
        """Whether each rank knows the sizes of its own blocks only."""
        return self.operation in SIZED

    def schedule(self, block: int = 1) -> Iterator[tuple[Any, ...]]:
        """The phases of the schedule (`Choice.phases`). If the operation is in `SIZED`, all blocks have `block` bytes."""
        if self.objects:
            return self._object_phases()
        ones, ones_b = (block,) * self.p, (block,) * self.q
        known: dict[str, Any] = {"m": self.nbytes, "m_b": self.nbytes_b, "itemsize": self.itemsize}
        if self.operation == "alltoallv":
            known = {"traffic": (ones_b or ones,) * self.p, "traffic_b": (ones,) * self.q}
        elif self.sized:
            known = {"counts": ones, "counts_b": ones_b}
        elif self.sizes is not None:
            counts, counts_b = (tuple(size // self.itemsize for size in sizes or ()) for sizes in (self.sizes, self.sizes_b))
            known = {"counts": counts, "counts_b": counts_b, "itemsize": self.itemsize}
        if self.operation == "allgatherv" and self.q and not any((self.sizes or ()) + (self.sizes_b or ())):
            # Its parts depend on whether the pieces are equal. Raise an error now if one of them has no schedule.
            for pieces in ((1, 1), (self.q, self.p)):
                first, first_b = ((size, *(0,) * (n - 1)) for size, n in zip(pieces, (self.p, self.q), strict=True))
                list(self._replace(sizes=first, sizes_b=first_b).schedule())
        known |= {"root": self.root or 0, "commutative": self.commutative, "in_place": self.in_place, "q": self.q}
        return self.choice.phases(self.p, **known)  # type: ignore[no-any-return]  # the choice has no type here

    def _object_phases(self) -> Iterator[tuple[Any, ...]]:
        """The phases of a reduction of objects; a message has `OBJECT_BYTES` for an object, or `SIZE_BYTES` for a size.

        A part of an algorithm that is a broadcast first sends the size of the pickle (`object_arrays.bcast_elements`).
        """
        choice = self.choice
        parts = [part for part in ({**choice.algorithm.parameters, **choice.parameters}).values() if hasattr(part, "run")]
        phases = list(choice.phases(self.p, m=OBJECT_BYTES, itemsize=1, commutative=False, in_place=False, root=0, q=0))
        if choice.algorithm.name == "reduce_bcast":
            (bcast,) = [part for part in parts if part.operation == "bcast"]
            part = choice.__class__(bcast, {})
            sizes, pickles = (list(part.phases(self.p, m=m, root=0)) for m in (SIZE_BYTES, OBJECT_BYTES))
            phases[len(phases) - len(pickles) :] = [*sizes, *pickles]
        elif parts:
            raise ValueError("parts of its algorithm may send sizes of objects")
        return iter(phases)

    def run_code(self, comm: Any, op: Any, operands: Sequence[Any]) -> Any:
        """Run the algorithm's code on a rank of another run, with these operands by rank, or zeros; return the result."""
        rank, some, comms, options = comm.rank, operands[0], [comm], {"op": op}
        side = int(rank >= self.p)
        counts = [size // self.itemsize for size in (self.sizes_b if side else self.sizes) or ()]
        blocks = len(self.groups[side]) if self.operation == "reduce_scatter_block" else 1
        into = np.zeros(counts[rank - side * self.p] if counts else some.size // blocks, some.dtype)
        if self.q:
            local = comm.Split(side)
            comms, options["first"] = [local.Create_intercomm(0, comm, 0 if side else self.p), local], not side
        if self.root is not None:
            options["root"] = self.root if side or not self.q else None
        if side or not self.q or self.root in (None, rank):  # otherwise it is in the root's group, and idle
            operand = operands[rank].copy() if rank < len(operands) else np.zeros_like(some)
            self.choice.on(comms, tag=0, **options)(operand, into, *((counts,) if counts else ()))
        return into


class FusedCalls(NamedTuple):
    """Calls of one operation: the number of fused calls, and the numbers of emulated calls by reason."""

    fused: int
    emulated: dict[str, int]

    def __str__(self) -> str:
        """The counts in words, such as "3 fused, 1 emulated (it combines objects)"."""
        return ", ".join([f"{self.fused} fused", *(f"{count} emulated ({why})" for why, count in self.emulated.items())])


class CallCounts:
    """Counts calls by operation, and by the reason why they are emulated; "" if they are fused."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}

    def add(self, operation: str, why_not: str) -> None:
        """Count a call."""
        self._counts.setdefault(operation, Counter())[why_not] += 1

    def change(self, operation: str, why_not: str) -> None:
        """Count a call as emulated that has been counted as fused."""
        self._counts[operation][""] -= 1
        self.add(operation, why_not)

    def by_operation(self) -> dict[str, FusedCalls]:
        """Return the counts; operations and reasons are sorted."""
        return {
            operation: FusedCalls(counts[""], {why: count for why, count in sorted(counts.items()) if why})
            for operation, counts in sorted(self._counts.items())
        }


def why_emulated(operation: str, algorithm: str, *, between: bool, combining: bool, bound: bool) -> str:
    """Return the reason why a call cannot be fused, as far as its arguments show; empty if it can."""
    if between and operation == "allgatherv" and algorithm != "full_duplex":
        return "ranks send blocks before they know all block sizes"
    if combining and (between or operation == "reduce"):
        return "it combines objects"  # most ranks of a reduce leave at once, so they do not wait for each other
    if not bound:
        return "its operation or datatype is user-defined"
    return "each of its blocks has a datatype" if operation == "alltoallw" else ""


def why_not_combined(op: Any, dtype: Any) -> str:
    """Return why an operation on elements of a dtype is emulated; empty if it is not.

    A user-defined function may do anything, such as communicate, and so is called by each rank at its own time.
    """
    if op._operation is None or op._operation.by_dtype.get(dtype) is None:
        return f"{op._display_name()} of {dtype} is not a function of numpy"
    if dtype.kind not in "?biufc" or (dtype.kind == "c" and op._operation.label != "SUM"):
        return f"{op._operation.label} of {dtype} may be rounded differently"
    return ""
