"""Process creation: a COMM_WORLD for new processes, and an intercommunicator to the processes that spawned them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.comms.comm import Comm


class SpawnRequest(NamedTuple):
    """A program and the number of processes that run it."""

    main: Callable[[Any], Any]  # called with the new world
    copies: int


def new_world(universe: Universe, nprocs: int, place: str = "") -> list[Process]:
    """Create processes with a common COMM_WORLD; `place` is the line of the Spawn call. Return the processes."""
    first = len(universe.processes)
    universe.cost.node(first + nprocs - 1)  # raises an error if the placement has too few ranks
    universe.names.add(first, place)
    universe.started = universe.started or nprocs
    side = Context(universe, Members(range(first, first + nprocs))).sides[0]
    processes = [universe.add_process(rank) for rank in range(nprocs)]
    for rank, process in enumerate(processes):
        process.comm_world = Comm._kinds[False]._make(process, side, side, rank)
    return processes


def spawn(universe: Universe, parents: Members, requests: Sequence[SpawnRequest], place: str) -> Context:
    """Start new processes in one COMM_WORLD and return the context that joins them with their parents (side 0)."""
    children = new_world(universe, sum(request.copies for request in requests), place)
    between = Context(universe, parents, children[0].comm_world._side.members)
    remaining = iter(children)
    for number, request in enumerate(requests):
        for child in (next(remaining) for _ in range(request.copies)):
            child.appnum = number
            child.parent = Comm._kinds[True]._make(child, between.sides[1], between.sides[0], child.rank)
            child.parent._properties().name = "MPI_COMM_PARENT"
            universe.launch(child, request.main)
            if universe.recorder is not None:
                universe.recorder.record(child.number, "not spawned yet", 0, universe.loop.now)
    return between
