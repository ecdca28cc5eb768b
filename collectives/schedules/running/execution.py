"""Execute a schedule on a communicator: an algorithm whose code is the schedule."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.rooted import check_root
from collectives.inter_patterns.union import Union
from collectives.schedules.contents import chunk_size
from collectives.schedules.contracts import NAMES
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.recording import OPERATIONS
from collectives.schedules.running.claims import ScheduleClaims
from collectives.schedules.running.executor import Executor
from collectives.schedules.running.fitting import Fitting
from collectives.schedules.running.units import has_units
from collectives.schedules.running.whole_blocks import WholeBlocks, check_whole_blocks
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Range
from collectives.tools.blocks import copy_of, spare_memory
from collectives.tools.local import check_local
from collectives.tools.protocol import Comm, Intercomm, Op
from collectives.trials.calls import ROOTED


def algorithm(schedule: Schedule) -> Algorithm:
    """Return an algorithm that executes a schedule.

    It accepts messages of other sizes if all buffers scale by the same factor and each chunk still has whole elements.
    """
    operation = _operation(schedule)
    if has_units(schedule):
        raise InvalidScheduleError(
            "ranks of the schedule use several cpus or nics, but a rank that calls a collective operation has one of each; "
            "fakempi schedule run simulates the schedule"
        )
    if operation != "barrier" and not schedule.has_ranges:
        raise InvalidScheduleError("the schedule has sizes but no buffer ranges, so it cannot move the data of a call")
    if operation == "alltoallw":
        check_whole_blocks(schedule)
    if schedule.groups is not None and operation in ROOTED:
        _check_idle(schedule)
    name = schedule.name.rpartition(" ")[2] or "schedule"
    execution = Execution(schedule, operation)
    claims = ScheduleClaims(schedule, execution.fitting)
    return Algorithm(
        operation,
        name,
        execution.run if schedule.groups is None else execution.run_between,
        schedule=claims.schedule,
        closed_sent=claims.sent,
        why_unsupported=execution.fitting.misfit,
        in_order=not schedule.commutative,
        kind="intra" if schedule.groups is None else "inter",
        parameters={} if schedule.groups is None else {"first": None},
        root=schedule.root if operation in ROOTED else None,
    )


def _operation(schedule: Schedule) -> str:
    """Return MPI's name of the schedule's operation; raise InvalidScheduleError if MPI has no such operation."""
    given = schedule.operation
    known = NAMES.get(given, given)
    if not given:
        if any("input" in sizes or "output" in sizes for sizes in schedule.buffers):
            raise InvalidScheduleError(
                'the schedule does not name its operation: add it to the file, for example "operation": "allreduce"'
            )
        return "barrier"
    if known == "reduce_scatter":
        return "reduce_scatter_block" if schedule.counts is None else "reduce_scatter"
    mpi_name = "bcast" if known == "broadcast" else given if given in OPERATIONS else known
    if mpi_name not in OPERATIONS:
        raise InvalidScheduleError(
            f"operation {given!r} is not a collective of MPI: use one of {', '.join(sorted(OPERATIONS))}"
        )
    return mpi_name


def _check_idle(schedule: Schedule) -> None:
    """Raise InvalidScheduleError if a rank in the root's group has steps: MPI leaves such a rank idle."""
    assert schedule.groups is not None
    for rank in range(schedule.groups[0]):
        if rank != schedule.root and schedule.steps[rank]:
            raise InvalidScheduleError(
                f"rank {rank} has steps, but of the first group only the root {schedule.root} takes part in "
                f"{schedule.operation}"
            )


class Execution:
    """The functions that an algorithm calls to execute its schedule."""

    def __init__(self, schedule: Schedule, operation: str) -> None:
        self._schedule, self._operation = schedule, operation
        self._resolved = schedule.without_aliases()
        self.fitting = Fitting(schedule, operation, chunk_size(self._resolved))

    def run(self, comm: Comm, *args: Any, op: Op | None = None, root: int | None = None, tag: int = 0) -> None:
        """Execute the steps of the calling rank."""
        root = self._schedule.root if root is None else root
        self.fitting.check(Case(comm.Get_size(), root=root, commutative=op is None or op.Is_commutative()))
        self._execute(comm, comm, args, op, tag)

    def run_between(
        self,
        inter: Intercomm,
        local: Comm,
        *args: Any,
        op: Op | None = None,
        root: RootRole | int | None = None,
        first: bool | None = None,
        tag: int = 0,
    ) -> None:
        """Execute the steps of the calling rank on an intercommunicator and the communicator of its own group."""
        own_size, other_size, root_rank = local.Get_size(), inter.Get_remote_size(), self._schedule.root
        if self._operation in ROOTED:
            root = root_rank if root is None else root
            check_root(inter, local, root)
            in_a = isinstance(root, RootRole)
            if root is not RootRole.PROC_NULL:
                root_rank = local.Get_rank() if isinstance(root, RootRole) else root
        else:
            check_local(inter, local)
            in_a = self.fitting.is_first(own_size, other_size, first)
        p, q = (own_size, other_size) if in_a else (other_size, own_size)
        roles = {"first": first is not None or None}
        commutative = op is None or op.Is_commutative()
        self.fitting.check(Case(p, q=q, root=root_rank, commutative=commutative, parameters=roles))
        if root is not RootRole.PROC_NULL:
            self._execute(Union(inter, local, in_a), inter, args, op, tag)

    def _execute(self, comm: Comm, clock: Comm, args: tuple[Any, ...], op: Op | None, tag: int) -> None:
        """Execute the steps on `comm`; steps that compute advance the modeled clock of `clock`."""
        schedule, rank = self._schedule, comm.Get_rank()
        named = zip(self.fitting.names(rank), args, strict=False)
        buffers = {name: buffer for name, buffer in named if buffer is not None}
        if self._operation == "alltoallw":
            sizes, own = self.fitting.block_sizes, rank if schedule.groups is None else -1
            buffers = {name: WholeBlocks(blocks, sizes(rank, name), own) for name, blocks in buffers.items()}
        scale = Fraction(1) if self._operation == "alltoallw" else self.fitting.scale(rank, buffers)
        executor = Executor(self._resolved, comm, self._memory(rank, buffers, scale), op, tag, scale, clock=clock)
        executor.run()
        for name, (whole, offset) in schedule.aliases_of(rank).items():
            if name == "output" and name in buffers:
                size = schedule.buffers[rank][name]
                buffers[name][0 : buffers[name].size] = executor.part(Range(whole, offset, size))

    def _memory(self, rank: int, buffers: Mapping[str, Any], scale: Fraction) -> dict[str, Any]:
        """Return arrays for a rank's buffers, by name. Arguments that must keep their contents are copied."""
        schedule = self._schedule
        memory, sizes = dict(buffers), schedule.buffers[rank]
        aliases = schedule.aliases_of(rank)
        if "input" in sizes and "input" not in aliases and "input" not in memory and rank == schedule.root and memory:
            memory["input"] = copy_of(memory["output"])  # bcast has one buffer
        for name, (whole, offset) in aliases.items():
            part = memory.pop(name, None)
            if whole not in memory and part is not None:
                memory[whole] = spare_memory(part, int(sizes[whole] * scale) // part.itemsize)
            if name == "input" and part is not None:
                start = int(offset * scale) // part.itemsize
                memory[whole][start : start + part.size] = part
            elif name == "output" and whole in buffers:
                memory[whole] = copy_of(buffers[whole])
        return memory
