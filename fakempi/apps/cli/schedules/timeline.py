"""Run a schedule on the emulator, and draw its timeline with a mark at a fault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rich.text import Text

from collectives.schedules import Fault, Schedule
from collectives.schedules.matching import execute
from collectives.schedules.running.executor import Executor
from collectives.schedules.running.units import UnitsExecutor, has_units, interfaces_of
from collectives.schedules.work import check_run
from fakempi.core.network.cost import CostModel
from fakempi.core.run_result import Run
from fakempi.core.world import run
from fakempi.errors import DeadlockError
from fakempi.mpi.base.environment import Wtime
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.comms.units import Units
from fakempi.mpi.operations.op import SUM
from fakempi.trace.blocked import shown_end
from fakempi.trace.record import Trace
from fakempi.view.timeline import label_width, timeline

ROWS = 24
"""Ranks that a timeline with a mark shows."""


@dataclass
class Simulation:
    """A traced run of a schedule.

    Attributes
    ----------
    trace : what happened
    done : the run; None if it ended in a deadlock
    started : the modeled time at which each step started, by (rank, step)
    """

    trace: Trace
    done: Run[None] | None = None
    started: dict[tuple[int, int], float] = field(default_factory=dict)


def simulate(schedule: Schedule, cost: CostModel) -> Simulation:
    """Run all steps with buffers that have sizes but no contents; InvalidScheduleError if this would take long."""
    check_run(schedule)
    resolved = schedule.without_aliases()
    started: dict[tuple[int, int], float] = {}
    on_cpus = has_units(schedule) or any(step.seconds for _, _, step in schedule)
    interfaces = interfaces_of(resolved, execute(resolved)) if on_cpus else {}

    def main(comm: Any) -> None:
        rank = comm.Get_rank()

        def observe(index: int, ended: bool) -> None:
            if not ended:
                started[rank, index] = Wtime()

        sizes = {"": 0} | dict(schedule.buffers[rank])
        buffers = {name: phantom(size) for name, size in sizes.items()}
        if on_cpus:
            units = Units(comm, interfaces.values())
            UnitsExecutor(resolved, comm, buffers, units, interfaces, observe).run()
            units.finish()
        else:
            Executor(resolved, comm, buffers, SUM, observer=observe).run()

    try:
        done = run(main, schedule.ranks, cost=cost, trace=True)
    except DeadlockError as error:
        return Simulation(_recorded(error.trace), None, started)
    return Simulation(_recorded(done.trace), done, started)


def _recorded(trace: object) -> Trace:
    assert isinstance(trace, Trace)  # the run has trace=True
    return trace


def fault_label(schedule: Schedule, fault: Fault, simulation: Simulation) -> str:
    """Return the kind of a fault and its step, for a mark in a timeline."""
    if fault.step < 0:
        return f"{fault.kind}: the result"
    never = " never starts" * ((fault.rank, fault.step) not in simulation.started)
    return f"{fault.kind}: {schedule.place(fault.rank, fault.step).partition(', ')[2]}{never}"


def marked(schedule: Schedule, fault: Fault, simulation: Simulation, width: int) -> Text:
    """Return the timeline of the ranks around a fault, with a mark where its step starts."""
    end = float(shown_end(simulation.trace))
    time = float(simulation.started.get((fault.rank, fault.step), end))
    first = max(0, min(fault.rank - ROWS // 2, schedule.ranks - ROWS))
    ranks = range(first, min(first + ROWS, schedule.ranks))
    lines = timeline(simulation.trace, width=width, height=ROWS, ranks=ranks).split("\n")
    margin = label_width([[rank] for rank in ranks])
    columns = width - margin - 5
    column = margin + min(columns - 1, int(time / end * columns) if end else 0)
    label = fault_label(schedule, fault, simulation)
    text = f"{'^':>{column + 1}} {label}"
    if len(text) > width:
        text = f"{label} ^".rjust(column + 1)
    rows = list(lines)
    rows.insert(2 + fault.rank - first, Text(text, "bold red"))
    return Text("\n").join(rows)
