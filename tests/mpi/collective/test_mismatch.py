"""Collective calls in which ranks describe the same bytes by different types are reported, with both places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

PAIR = MPI.Datatype.Create_struct([1, 1], [0, 4], [MPI.INT, MPI.FLOAT]).Commit()


def odd(comm: Any, count: int, wrong: bool = True) -> Any:
    """n float64 elements; on rank 1 int64."""
    return np.zeros(count, "i8" if wrong and comm.Get_rank() == 1 else "f8")


def counted(comm: Any, wrong: bool = True) -> Any:
    """A buffer with counts: two elements for each rank."""
    return [odd(comm, 2 * comm.Get_size(), wrong), [2] * comm.Get_size()]


def typed(comm: Any, wrong: bool = True) -> Any:
    """A buffer with a type for each rank."""
    p, kind = comm.Get_size(), MPI.INT64_T if wrong and comm.Get_rank() == 1 else MPI.DOUBLE
    return [np.zeros(2 * p), [2] * p, [16 * i for i in range(p)], [kind] * p]


def at_root(comm: Any, buffer: Any) -> Any:
    """Return a value on rank 0 only."""
    return buffer if comm.Get_rank() == 0 else None


def ring(comm: Any) -> Any:
    """A ring of the ranks, where every rank has two neighbors."""
    return comm.Create_cart([comm.Get_size()], [True])


HAS = "has int64, but rank 0 had float64 at "
SENDS = "sends int64, but rank 0 expected float64 at "
TAKES = "expects int64, but rank 0 sent float64 at "
OWN = "sendbuf has int64, but recvbuf float64"
BOTH = "sends int64, but ranks 0 and 2 expected float64 at "

CALLS: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "Bcast": (lambda comm: comm.Bcast(odd(comm, 2)), [HAS]),
    "Gather": (lambda comm: comm.Gather(odd(comm, 2), at_root(comm, np.zeros(6))), [HAS]),
    "Gatherv": (lambda comm: comm.Gatherv(odd(comm, 2), at_root(comm, counted(comm))), [SENDS]),
    "Scatter": (lambda comm: comm.Scatter(at_root(comm, np.zeros(6)), odd(comm, 2)), [HAS]),
    "Scatterv": (lambda comm: comm.Scatterv(at_root(comm, counted(comm)), odd(comm, 2)), [TAKES]),
    "Allgather": (lambda comm: comm.Allgather(odd(comm, 2), odd(comm, 6)), [HAS]),
    "Allgatherv": (lambda comm: comm.Allgatherv(odd(comm, 2), counted(comm)), [HAS]),
    "Alltoall": (lambda comm: comm.Alltoall(odd(comm, 6, False), odd(comm, 6, False)), []),
    "Alltoallv": (lambda comm: comm.Alltoallv(counted(comm), counted(comm, False)), [OWN, SENDS]),
    "Alltoallw": (lambda comm: comm.Alltoallw(typed(comm), typed(comm, False)), [SENDS]),
    "Neighbor_alltoall": (lambda comm: ring(comm).Neighbor_alltoall(odd(comm, 4), odd(comm, 4, False)), [BOTH]),
    "Neighbor_allgatherv": (
        lambda comm: ring(comm).Neighbor_allgatherv(odd(comm, 2), [np.zeros(4), [2, 2]]), [BOTH]
    ),
    "Neighbor_alltoallw": (
        lambda comm: ring(comm).Neighbor_alltoallw(
            [odd(comm, 4), [2, 2], [0, 16], [MPI.INT64_T if comm.Get_rank() == 1 else MPI.DOUBLE] * 2],
            [np.zeros(4), [2, 2], [0, 16], [MPI.DOUBLE] * 2],
        ),
        [BOTH],
    ),
    "Ibcast": (lambda comm: comm.Ibcast(odd(comm, 2)).Wait(), [HAS]),
    "Bcast_init": (lambda comm: comm.Bcast_init(odd(comm, 2)).Free(), [HAS]),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_rank_with_a_different_type_is_reported(call: str) -> None:
    """It is compared with the first rank that called, or with the rank at the other end."""
    program, expected = CALLS[call]
    run = fakempi.run(lambda comm: program(comm) and None, 3)
    assert {one.call for one in run.findings} == ({call} if expected else set())
    found = [one.sentence for one in run.findings if one.ranks == (1,)]
    assert len(found) == len(expected)
    assert all(one.startswith(words) for words, one in zip(expected, found, strict=True))


def test_both_places_are_named(backend: Any) -> None:
    """Once for many ranks that do the same."""

    def main(comm: Any) -> None:
        if comm.Get_rank() == 0:
            comm.Bcast(np.zeros(4, "i4"))
        else:
            comm.Bcast(np.zeros(4, "f4"))

    first = main.__code__.co_firstlineno + 2
    here, there = f"test_mismatch.py:{first + 2}", f"test_mismatch.py:{first}"
    expected = f"datatype-mismatch: ranks 1-7: Bcast at {here}: has float32, but rank 0 had int32 at {there}"
    assert [str(one) for one in fakempi.run(main, 8, backend=backend).findings] == [expected]


def test_a_strict_run_ends_before_data_is_transferred() -> None:
    """No rank receives it."""
    got = []

    def main(comm: Any) -> None:
        comm.Bcast(odd(comm, 2))
        got.append(1)

    with pytest.raises(fakempi.FindingsError, match="rank 1: Bcast at .*: has int64, but rank 0 had float64 at "):
        fakempi.run(main, 3, strict=True)
    assert len(got) < 3


def test_equal_signatures_give_no_finding() -> None:
    """Other names, other layouts, other counts."""

    def main(comm: Any) -> None:
        rank, p = comm.Get_rank(), comm.Get_size()
        column = MPI.DOUBLE.Create_vector(3, 1, 2).Commit()
        comm.Bcast([np.zeros(6), 1, column] if rank else np.zeros(3))
        comm.Bcast([np.zeros(2, "i4"), 1, PAIR] if rank else [np.zeros(2, "i4"), 1, MPI.Datatype(PAIR)])
        comm.Gather([np.zeros(6), 1, column], at_root(comm, np.zeros(3 * p)))
        comm.Allgather(np.zeros(2, "l"), np.zeros(2 * p, "q"))
        comm.Alltoall(bytes(p), np.zeros(p, "u1"))
        comm.Allgather(MPI.IN_PLACE, np.zeros(p))
        comm.Gatherv(np.zeros(0, "i4"), at_root(comm, [np.zeros(p), [0] * p]))
        comm.Bcast([np.zeros(3), MPI.PACKED] if rank else np.zeros(3))
        # Pairs of ranks that exchange other types than their neighbors do.
        mine, counts = np.zeros(2 * p, "i4" if rank < 2 else "f4"), [2 * (i // 2 == rank // 2) for i in range(p)]
        comm.Alltoallv([mine, counts], [mine.copy(), counts])
        comm.Bcast(fakempi.phantom(16))
        column.Free()

    assert fakempi.run(main, 4).findings == []


def test_alltoallv_may_send_one_type_and_receive_another_without_an_own_block() -> None:
    """A ring of ints in one direction and floats in the other is correct."""

    def main(comm: Any) -> None:
        ints, floats = np.zeros(1, "i4"), np.zeros(1, "f4")
        other = [0, 1] if comm.Get_rank() == 0 else [1, 0]
        if comm.Get_rank() == 0:
            comm.Alltoallv([ints, other], [floats, other])
        else:
            comm.Alltoallv([floats, other], [ints, other])

    assert fakempi.run(main, 2).findings == []


def test_between_two_groups_each_direction_has_its_type() -> None:
    """Ints in one direction and floats in the other; a rank that receives ints as floats is reported."""

    def main(comm: Any, wrong: str) -> None:
        rank = comm.Get_rank()
        inter = comm.Split(rank % 2).Create_intercomm(0, comm, 1 - rank % 2)
        mine, theirs = ("i4", "f4") if rank % 2 == 0 else ("f4", "i4")
        inter.Allgather(np.zeros(2, mine), np.zeros(4, wrong if rank == 3 and wrong else theirs))

    assert fakempi.run(main, 4, "").findings == []
    (one,) = fakempi.run(main, 4, "u4").findings
    assert one.ranks == (3,)
    assert one.sentence.startswith("has uint32, but rank 0 had int32 at ")


def test_objects_and_reductions_are_never_reported() -> None:
    """Objects may differ in type; reductions reject other types on their own."""

    def main(comm: Any) -> None:
        comm.bcast({"a": comm.Get_rank()})
        comm.allgather(comm.Get_rank() if comm.Get_rank() else "zero")
        comm.alltoall(["x" * i for i in range(comm.Get_size())])
        comm.allreduce(1 if comm.Get_rank() else 2.5)
        comm.Allreduce(np.zeros(2), np.zeros(2))
        comm.scatter([b"1"] * comm.Get_size() if comm.Get_rank() == 0 else None)

    assert fakempi.run(main, 5, strict=True).findings == []
