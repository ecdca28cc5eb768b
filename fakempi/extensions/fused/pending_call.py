"""One fused call: its ranks wait until all have called, or each executes its steps."""

from __future__ import annotations

from typing import Any

from fakempi.core.kernel.loop import Loop
from fakempi.extensions.fused.array_clocks import Outcome
from fakempi.extensions.fused.object_values import ObjectResults
from fakempi.extensions.fused.programs import FusedProgram
from fakempi.extensions.fused.results import Results
from fakempi.extensions.fused.step_simulator import RankSimulator
from fakempi.mpi.base.rendezvous import Rendezvous
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.collective.block_sizes import BlockSizes


class FusedCall(Rendezvous):
    """One call: the ranks that have called, with their times, their order and their data."""

    __slots__ = ("arrived", "complete", "entry", "is_special", "outcome", "ports", "program", "reason", "results", "service",
        "side", "sizes", "tasks", "waits")  # fmt: skip

    def __init__(
        self, service: Any, side: Any, program: FusedProgram, results: Results | ObjectResults, waits: bool
    ) -> None:
        self.service, self.side, self.program, self.results = service, side, program, results
        self.waits = waits  # whether its ranks wait until all have called
        self.entry: Any = None  # of call matching, while its ranks may use `enter`
        self.arrived = 0  # the number of ranks that wait
        self.tasks: list[Any] = [None] * program.p if waits else []  # rank -> its task; None until it waits
        self.ports: tuple[list[Any], list[Any]] | None = None  # the output and the input ports of its ranks
        case = program.case
        # Whether `_prepare` applies, or whether the call may still be emulated.
        self.is_special = bool(case.q or case.objects or case.sized or case.sizes_b) or program.has_too_many_steps
        self.reason = Completion(self)  # of the ranks that wait, for reports
        self.outcome: Outcome | None = None  # once all have called
        self.complete = False  # whether they have been booked for their ends
        self.sizes = BlockSizes(program.case, program.messages)

    def enter(self, comm: Any, comms: Any, tag: int, arrays: tuple[Any, ...]) -> None:
        """Make the call on one rank, like `FusedService.enter`: wait until all ranks have called, and receive the result.

        The entry of call matching has this method while ranks wait, unless their data are `is_special`. Most ranks of a
        repeated call need nothing else.
        """
        rank = comm._rank
        if arrays:
            self.results.arrays[rank] = arrays  # type: ignore[union-attr]  # no `ObjectResults`, which are special
        self.wait_for_all(rank)
        if not self.complete:
            RankSimulator(comms or comm._collective_comms(), tag, self, rank).execute()
        if arrays:
            self.results.write(rank)

    def wait_for_all(self, rank: int) -> None:
        """Stop the running task, the rank's, until the call is complete or undone."""
        service = self.service
        loop = service.loop
        task: Any = loop.running
        task.reason, task.since = self.reason, loop.now
        self.tasks[rank] = task
        self.arrived += 1
        if self.arrived == self.program.p:
            service._all_called(self)
        elif loop.subscribers is service.subscribers:  # `_wait`, inlined: a frame less for each rank that waits
            Loop.wait(loop)
        else:
            service._wait()

    def close(self) -> None:
        """Record that its ranks wait no longer."""
        self.reason.end = self.service.loop.now
        if self.entry is not None:
            self.entry.enter, self.entry = None, None
            self.results.count_missing()

    def missing(self) -> list[int]:
        """The numbers of the processes that have not called, for reports."""
        return [number for number, task in zip(self.side.members, self.tasks, strict=True) if task is None]
