"""Collective calls in explored runs: calls that a rank may leave early, and the mode in which each call is a barrier.

MPI allows every collective call to wait until all ranks have entered it, but requires this only of few calls. A program that
relies on an early return is wrong, although it works with most libraries and small messages. `explore` therefore also runs
programs in a mode in which each collective call begins with a barrier. The start of a nonblocking call never waits; its
completion does.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.mpi.base.call_matching import CallEntry, Traffic
from fakempi.mpi.collective.call_facts import CallFacts
from fakempi.mpi.point.handle import CommState

RANKWISE = frozenset({"alltoallv", "alltoallw"})
"""Operations in which each rank passes its counts for each other rank."""

NEEDS_ALL = frozenset({"allgather", "allgatherv", "allreduce", "alltoall", "reduce_scatter", "reduce_scatter_block"})
"""Operations that give data of every rank to every rank, so that no rank can leave early if no block is empty."""


def barrier_before(
    comm: CommState, tag: int, entry: CallEntry | None, call: str, facts: CallFacts, nbytes: int, traffic: Traffic | None
) -> Callable[[], object] | None:
    """Note in a steered run whether a rank may leave the call early; return the barrier that precedes it, if any.

    `entry` has the line of the call; it is None on a communicator of one rank, where nothing can be early.
    """
    choices = comm._process.universe.choices
    if entry is None or choices is None:
        return None
    if facts.operation in NEEDS_ALL:
        full = nbytes > 0 and (facts.sizes is None or all(facts.sizes))
    else:
        full = facts.operation == "barrier" or (
            facts.operation in RANKWISE and traffic is not None and _no_block_is_empty(traffic)
        )
    if not full or comm._is_inter:
        slot = comm._rank if not comm._is_inter else comm._side.context.slot(comm._side, comm._rank)
        choices.may_return_early(call, entry.places[slot])
    return barrier(comm, tag) if choices.mode.synchronizing else None


def _no_block_is_empty(traffic: Traffic) -> bool:
    sizes = traffic.sends, traffic.receives
    return not any(isinstance(each, dict) for each in sizes) and all(all(each) for each in sizes)


def barrier(comm: CommState, tag: int) -> Callable[[], object]:
    """Return a function that waits until all ranks, of both groups if there are two, have entered the call with this tag.

    The messages of the call follow with the same tag; those of one sender are received in order. The program may have
    freed its handle of the communicator when the function is called.
    """
    side = comm._side
    first = side is side.context.sides[0]
    options = {"tag": tag} if comm._peer_side is side else {"tag": tag, "first": first}
    choice = comm._choice(CallFacts("barrier", leads=first))  # type: ignore[attr-defined]  # defined in a class that imports this module
    wait_for_all: Callable[[], object] = choice.on(comm._collective_comms(), **options)
    return wait_for_all
