"""How processes are born: with a world of their own, and if others spawned them, with an intercommunicator to those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fakempi.mpi.base.context import Context
from fakempi.mpi.base.members import Members
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.comms.comm import Comm


class Order(NamedTuple):
    """So many processes that are to run one program."""

    main: Callable[[Any], Any]  # called with the new world
    copies: int


def new_world(universe: Universe, nprocs: int, site: str = "") -> list[Process]:
    """New processes, each with its handle of their COMM_WORLD. The place in the program is that of those who spawn them."""
    first = len(universe.processes)
    universe.cost.node(first + nprocs - 1)  # a placement must name everybody's node
    universe.names.add(first, site)
    universe.started = universe.started or nprocs
    side = Context(universe, Members(range(first, first + nprocs))).sides[0]
    processes = [universe.add_process(rank) for rank in range(nprocs)]
    for rank, process in enumerate(processes):
        process.comm_world = Comm._kinds[False]._make(process, side, side, rank)
    return processes


def spawn(universe: Universe, parents: Members, orders: Sequence[Order], site: str) -> Context:
    """Have new processes start now, all in one world, and join them with their parents: the parents are side 0."""
    children = new_world(universe, sum(order.copies for order in orders), site)
    between = Context(universe, parents, children[0].comm_world._side.members)
    born = iter(children)
    for number, order in enumerate(orders):
        for child in (next(born) for _ in range(order.copies)):
            child.appnum = number
            child.parent = Comm._kinds[True]._make(child, between.sides[1], between.sides[0], child.rank)
            universe.launch(child, order.main)
    return between
