"""What a rank's program touches: communicators, requests, groups, datatypes, and all else that mpi4py has.

A room may use those above it in this list:

base/         constants, handles, errors; a process, a communicator's context, how ranks wait and meet
failures/     processes that die, and what the others learn of it
datatypes/    how elements lie in memory: basic and derived types, packing
buffers/      from what a program hands over to a payload: memory, specifications, objects
operations/   what reductions do to two operands
point/        messages and requests: send, receive, probe, wait
partitions/   messages whose parts travel as they become ready
collective/   calls that all ranks make: describe, agree, choose an algorithm, carry it out
topologies/   who is whose neighbour, and exchanges along the edges
comms/        groups and communicators, and how they are made: split, spawn, connect
sessions/     sets of processes by name, and groups of them
windows/      one-sided communication: memory that others reach, epochs, locks
evidence/     why a rank does not go on, as records for a report
alone/        a world of one, for whoever calls outside a run
"""

from __future__ import annotations

from typing import Any

from fakempi.mpi.base.current import outside


def _alone() -> Any:
    from fakempi.mpi.alone.universe import process  # not before it is needed

    return process()


outside.make = _alone
