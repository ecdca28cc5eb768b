"""One fused call: its ranks wait until all have called, or each executes its steps."""

from __future__ import annotations

from typing import Any

from fakempi.core.kernel.loop import Loop
from fakempi.extensions.fused.array_clocks import Outcome
from fakempi.extensions.fused.programs import FusedProgram
from fakempi.mpi.base.rendezvous import Rendezvous
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.buffers.raw import flat
from fakempi.mpi.collective.block_sizes import BlockSizes

_wait = Loop.wait


class FusedCall(Rendezvous):
    """One call: the ranks that have called, with their times, their order and their data."""

    __slots__ = ("arrays", "arrived", "began", "complete", "entry", "is_special", "loop", "moves", "outcome", "p", "program",
        "reason", "results", "service", "side", "sizes", "subscribers", "tasks", "waits")  # fmt: skip

    def __init__(self, service: Any, side: Any, program: FusedProgram, results: Any, waits: bool) -> None:
        self.service, self.side, self.program = service, side, program
        self.results = results  # `Results` or, of objects, `ObjectResults`
        self.arrays: list[Any] = [] if program.case.objects else results.arrays
        self.loop: Loop = service.loop
        self.subscribers = service.subscribers  # of the loop, if they do not change `wait`
        self.p = program.p
        self.waits = waits  # whether its ranks wait until all have called
        self.moves: Any = None  # dtype of the arrays of ranks that wait, in place of bytes, if their data only move
        self.entry: Any = None  # of call matching, while its ranks may use `enter`
        self.arrived = 0  # the number of ranks that wait
        self.tasks: list[Any] = [None] * program.p if waits else []  # rank -> its task; None until it waits
        self.began = self.loop.now  # when the first rank called
        case = program.case
        self.is_special = bool(case.q or case.objects or case.sized or case.sizes_b)  # its data are not just arrays
        self.reason = Completion(self)  # of the ranks that wait, for reports
        self.outcome: Outcome | None = None  # once all have called
        self.complete = False  # whether they have been booked for their ends
        self.sizes = BlockSizes(case, program.messages) if self.is_special else None

    def enter(self, rank: int, arrays: tuple[Any, ...]) -> bool:
        """Wait until all ranks have called, and write the result of a rank; returns False if the call was undone."""
        loop = self.loop
        if arrays:
            self.arrays[rank] = arrays
        task: Any = loop.running
        task.reason, task.since = self.reason, loop.now
        self.tasks[rank] = task
        self.arrived = arrived = self.arrived + 1
        if arrived == self.p:
            self.service._all_called(self)
        elif loop.subscribers is self.subscribers:  # `_wait`, inlined: a frame less for each rank that waits
            _wait(loop)
        else:
            self.service._wait()
        complete = self.complete
        if arrays and complete:
            results = self.results  # `write`, inlined for the most frequent cases
            if rank == results.root:
                results.write(rank)
            elif (same := results.same) is not None:
                arrays[results.target][...] = same
            elif (rows := results.rows) is not None:
                arrays[1][...] = rows[rank]
            else:
                results.write(rank)
        return complete

    def as_elements(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arrays of elements, if the data of the call only move, and `arrays` are bytes."""
        if self.moves is None:
            return arrays
        return tuple(None if array is None else array.view(self.moves) for array in arrays)

    def undo(self) -> None:
        """Continue without waiting: ranks execute steps, for which data that move are bytes."""
        self.waits = False
        if self.moves is not None:
            for rank, arrays in enumerate(self.arrays):
                if arrays is not None:
                    self.arrays[rank] = tuple(None if array is None else flat(array) for array in arrays)

    def close(self) -> None:
        """Record that its ranks wait no longer; register those that have only entered the call."""
        self.reason.end = self.service.loop.now
        entry, self.entry = self.entry, None
        if entry is None:
            return
        if self.arrived == self.p:
            entry.end()
        elif entry.waiting is not None:
            entry.register_waiting()
        entry.waiting = None
        self.results.count_missing()

    def missing(self) -> list[int]:
        """The numbers of the processes that have not called, for reports."""
        return [number for number, task in zip(self.side.members, self.tasks, strict=True) if task is None]


class ObjectCall(FusedCall):
    """A call that combines objects. It can be emulated after some of its ranks have called."""

    __slots__ = ()

    def enter(self, rank: int, arrays: tuple[Any, ...]) -> bool:
        """Wait until all ranks have called, and write the result of a rank; False if the call was undone or is emulated."""
        entry = self.entry
        if why := self.results.store(rank, arrays):
            if rank not in entry.places:
                entry.register(rank, entry.recipe.place)
            self.service._emulate(self, entry, why)
            return False
        if super().enter(rank, ()):
            self.results.write(rank)
            return True
        return False
