"""rank-number is reported for -1 that the program has computed, and not for constants of MPI."""

from __future__ import annotations

from typing import Any

import numpy as np

import fakempi
from fakempi import MPI


def found(main: Any, size: int = 1) -> list[tuple[str, str]]:
    """Return call and sentence of each finding of the kind rank-number."""
    findings = fakempi.run(main, size).findings
    return [(one.call, one.sentence.partition(":")[0]) for one in findings if one.kind == "rank-number"]


def test_a_negative_number_and_a_difference_are_reported() -> None:
    """At the call, or where the variable is assigned; in calls of several lines, and for each parameter."""

    def main(comm: Any) -> None:
        rank, left = comm.Get_rank(), comm.rank - 1
        previous = rank - 1
        comm.recv(source=-1)
        comm.Send(b"x", previous)
        comm.send(
            1,
            dest=comm.Get_rank() - 1,
        )
        comm.Sendrecv(b"x", rank - 1, 0, bytearray(1), comm.rank - 1)
        comm.Iprobe(source=previous)
        comm.recv(source=left)  # bound together with another variable: not followed

    assert sorted(found(main)) == [
        ("Iprobe", "source is -1 (rank - 1)"), ("Send", "dest is -1 (rank - 1)"),
        ("Sendrecv", "dest is -1 (rank - 1)"), ("Sendrecv", "source is -1 (comm.rank - 1)"),
        ("recv", "source is -1 (-1)"), ("send", "dest is -1 (comm.Get_rank() - 1)"),
    ]  # fmt: skip


def test_a_call_is_counted_once() -> None:
    """Also one that sends and receives: it checks its arguments before it posts the receive."""

    def main(comm: Any) -> None:
        comm.sendrecv(1, dest=comm.rank - 1, source=MPI.PROC_NULL)

    findings = fakempi.run(main, 1).findings
    assert [(one.call, one.times) for one in findings] == [("sendrecv", 1)]


def test_constants_are_not_reported() -> None:
    """Also copies of them, neighbors, items of arrays and lists, parameters, and variables that are assigned twice."""

    def main(comm: Any) -> None:
        null, rank = MPI.PROC_NULL, comm.rank
        chosen = rank - 1 if rank > 0 else MPI.PROC_NULL
        source, dest = comm.Create_cart([1]).Shift(0, 1)
        several = np.array([MPI.PROC_NULL])
        twice = rank - 1
        twice = MPI.PROC_NULL
        shifted = null - 0

        def send(to: int) -> None:
            comm.send(1, dest=to)

        for number in (null, comm.bcast(null), int(several[0]), *several):
            send(number)
            comm.recv(source=number)
        for call in (comm.send, comm.ssend):
            call(1, dest=-1)  # another name than that of the call
        comm.recv(source=MPI.PROC_NULL)
        comm.recv(source=chosen)
        comm.recv(source=source)
        comm.send(1, dest=dest)
        comm.recv(source=several[0])
        comm.recv(source=twice)
        comm.recv(source=shifted)
        comm.barrier()

    assert found(main) == []


def test_the_first_messages_are_checked() -> None:
    """A check takes longer than a message to PROC_NULL, and a program repeats its lines."""

    def main(comm: Any) -> None:
        for _ in range(64):
            comm.send(1, dest=MPI.PROC_NULL)
        comm.recv(source=-1)

    assert found(main) == []
