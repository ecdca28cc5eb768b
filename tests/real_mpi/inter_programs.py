"""Programs of collective calls between two groups that must return the same on the emulator and on a real MPI.

As a script under mpiexec, with the first group's size, this file prints the results of mpi4py. Programs return numbers,
strings, lists and None, and no value that a library is free to choose. They do not import fakempi or mpi4py.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.real_mpi.collective_programs import blank, outcome
from tests.real_mpi.processes import answer

Program = Callable[[Any, Any, int], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Add it to the table."""
    PROGRAMS[function.__name__] = function
    return function


def roots(MPI: Any, inter: Any, side: int) -> Iterator[tuple[int, int, int]]:
    """Every rank of either group as the root: its side, its rank, and the root argument of this rank."""
    sizes = inter.size, inter.remote_size
    for root_side in (0, 1):
        for root in range(sizes[root_side != side]):
            own_group = MPI.ROOT if root == inter.rank else MPI.PROC_NULL
            yield root_side, root, own_group if root_side == side else root


# -- buffers -------------------------------------------------------------------------------------------------------


@program
def rooted_calls(MPI: Any, inter: Any, side: int) -> Any:
    """With every root; PROC_NULL ranks pass no buffers."""
    rank, n, found = inter.rank, inter.remote_size, []
    for root_side, root, part in roots(MPI, inter, side):
        data = np.arange(3) + 10 * root + 100 * root_side if part == MPI.ROOT else blank(3, "l")
        inter.Bcast(None if part == MPI.PROC_NULL else data, part)
        mine, into, share = np.arange(2.0) + 10 * rank, blank(2 * n), blank(2)
        at_root, leaf = part == MPI.ROOT, part >= 0
        inter.Gather(mine if leaf else None, into if at_root else None, part)
        inter.Scatter(np.arange(2.0 * n) + root if at_root else None, share if leaf else None, part)
        total = blank(2)
        inter.Reduce(mine if leaf else None, total if at_root else None, MPI.SUM, part)
        found.append([each.tolist() for each in (data, into, share, total)])
    return found


@program
def rooted_calls_of_any_sizes(MPI: Any, inter: Any, side: int) -> Any:
    """Decreasing displacements, with gaps."""
    rank, n, found = inter.rank, inter.remote_size, []
    for _, root, part in roots(MPI, inter, side):
        at_root, leaf = part == MPI.ROOT, part >= 0
        counts, displs = [(i + root) % 3 for i in range(n)], [3 * (n - 1 - i) for i in range(n)]
        mine = np.full((rank + root) % 3, rank + 0.5)
        into, back = blank(3 * n), blank(len(mine))
        inter.Gatherv(mine if leaf else None, [into, counts, displs, MPI.DOUBLE] if at_root else None, part)
        inter.Scatterv([into, (counts, displs), MPI.DOUBLE] if at_root else None, back if leaf else None, part)
        found.append([into.tolist(), back.tolist()])
    return found


@program
def gathering_to_all(MPI: Any, inter: Any, side: int) -> Any:
    """Blocks of different sizes in each group, also with holes."""
    rank, n = inter.rank, inter.remote_size
    into, room = blank(n * (3 - side), "i"), blank(4 * n, "i")
    inter.Allgather(np.arange(2 + side, dtype="i") + 10 * rank + 100 * side, into)
    sparse, counts = MPI.INT.Create_resized(0, 8).Commit(), [(i + side) % 3 for i in range(n)]
    mine = np.arange(4, dtype="i") + 10 * rank
    inter.Allgatherv([mine, (rank + 1 - side) % 3, sparse], [room, counts, list(range(0, 2 * n, 2)), sparse])
    return into.tolist(), room.tolist()


@program
def v_forms_without_counts(MPI: Any, inter: Any, side: int) -> Any:
    """Distributed evenly, with one more for the first ranks of the other group."""
    share = 7 // inter.size + (inter.rank < 7 % inter.size)
    into = blank(7)
    inter.Allgatherv(np.full(share, inter.rank + 10.0 * side), into)
    return into.tolist()


@program
def swapping(MPI: Any, inter: Any, side: int) -> Any:
    """Blocks of one size in each direction, of any sizes, and of any types."""
    rank, n = inter.rank, inter.remote_size
    a, b, c = blank(n * (2 - side), "l"), blank(2 * n), blank(2 * n, "i")
    inter.Alltoall(np.arange(n * (1 + side)) + 100 * rank + 1000 * side, a)
    out, into = [(rank + 2 * i + side) % 3 for i in range(n)], [(i + 2 * rank + 1 - side) % 3 for i in range(n)]
    places = [2 * (n - 1 - i) for i in range(n)]
    inter.Alltoallv([np.arange(2.0 * n) + 100 * rank, out, places, MPI.DOUBLE], [b, into, places, MPI.DOUBLE])
    pair = MPI.INT.Create_contiguous(2).Commit()
    kinds, at = [pair if (rank + i) % 2 else MPI.INT for i in range(n)], [8 * i for i in range(n)]
    inter.Alltoallw([np.arange(2 * n, dtype="i") + 100 * rank, [1] * n, at, kinds], [c, ([1] * n, at), kinds])
    return a.tolist(), b.tolist(), c.tolist()


@program
def reductions(MPI: Any, inter: Any, side: int) -> Any:
    """Reductions of the other group's data; scattered within the local group."""
    rank, p, total = inter.rank, inter.size, inter.size * inter.remote_size * 2
    mine = np.arange(float(total)) + rank + 10 * side
    found = []
    for name in ["MAX", "MIN", "SUM", "PROD"]:
        into = blank(3)
        inter.Allreduce(mine[:3].copy(), into, getattr(MPI, name))
        found.append(into.tolist())
    share, counts = blank(total // p), [i % 3 for i in range(p)]
    counts[-1] += total - sum(counts)
    piece = blank(counts[rank])
    inter.Reduce_scatter_block(mine, share)
    inter.Reduce_scatter(mine, piece, counts, MPI.MAX)
    return [*found, share.tolist(), piece.tolist()]


@program
def operations_that_do_not_commute(MPI: Any, inter: Any, side: int) -> Any:
    """Products of matrices, in rank order of the other group."""

    def multiply(left: Any, right: Any, datatype: Any) -> None:
        a, b = np.frombuffer(left, "l").reshape(-1, 2, 2), np.frombuffer(right, "l").reshape(-1, 2, 2)
        b[...] = a @ b

    matrix, op = MPI.LONG.Create_contiguous(4).Commit(), MPI.Op.Create(multiply, commute=False)
    mine = np.array([[1, inter.rank], [side, 2]], "l")
    into, at_root = blank(4, "l"), blank(4, "l")
    inter.Allreduce([mine, matrix], [into, matrix], op)
    part = 0 if side else MPI.ROOT if inter.rank == 0 else MPI.PROC_NULL
    inter.Reduce([mine, matrix], [at_root, matrix], op, part)
    op.Free()
    return into.tolist(), at_root.tolist()


# -- nonblocking and persistent ------------------------------------------------------------------------------------


def every_call(MPI: Any, inter: Any, side: int) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    """Each collective on buffers, with rank 0 of the second group as root: its name, its arguments, and its result buffer.

    Rank 0, since MPICH 5.0's Ibcast and Bcast_init from rank 1 leave buffers of 2 + 2 ranks unchanged.
    """
    rank, p, n = inter.rank, inter.size, inter.remote_size
    part = 0 if not side else MPI.PROC_NULL if rank else MPI.ROOT
    mine, many = np.arange(2.0) + 10 * rank + 100 * side, np.arange(2.0 * n) + 100 * rank
    long = np.arange(2.0 * p * n) + rank
    counts, shares = [2] * n, [2 * n] * p
    types, places = [MPI.DOUBLE] * n, [16 * i for i in range(n)]
    yield "Barrier", (), mine
    yield "Bcast", (data := mine.copy() if part == MPI.ROOT else blank(2), part), data
    yield "Gather", (mine, room := blank(2 * n), part), room
    yield "Gatherv", (mine, [room := blank(2 * n), counts], part), room
    yield "Scatter", (many, room := blank(2), part), room
    yield "Scatterv", ([many, counts], room := blank(2), part), room
    yield "Allgather", (mine, room := blank(2 * n)), room
    yield "Allgatherv", (mine, [room := blank(2 * n), counts]), room
    yield "Alltoall", (many, room := blank(2 * n)), room
    yield "Alltoallv", ([many, counts], [room := blank(2 * n), counts]), room
    yield "Alltoallw", ([many, counts, places, types], [room := blank(2 * n), counts, places[::-1], types]), room
    yield "Reduce", (mine, room := blank(2), MPI.SUM, part), room
    yield "Allreduce", (mine, room := blank(2), MPI.MAX), room
    yield "Reduce_scatter_block", (long, room := blank(2 * n)), room
    yield "Reduce_scatter", (long, room := blank(2 * n), shares, MPI.MIN), room


@program
def every_way_to_call(MPI: Any, inter: Any, side: int) -> Any:
    """Blocking, nonblocking and persistent, each on a separate intercommunicator (see `many_at_once`)."""
    found: list[Any] = []
    for way in "{}", "I{}", "{}_init":
        for name, args, room in every_call(MPI, inter, side):
            own = inter.Dup()
            request = getattr(own, way.format(name.lower() if way == "I{}" else name))(*args)
            if way == "{}_init":
                request.Start()
            if request is not None:
                request.Wait()
            found.append([name, room.tolist()])
            own.Free()
    return found


@program
def many_at_once(MPI: Any, inter: Any, side: int) -> Any:
    """Completed in a different order than started.

    Calls with a root come last: in MPICH 5.0 an Iallgather after an Ibcast hangs if a rank passed PROC_NULL.
    """
    rank, n = inter.rank, inter.remote_size
    part = (MPI.ROOT if rank == 0 else MPI.PROC_NULL) if side else 0
    data, room, total, swapped = np.full(2, float(side)), blank(n), blank(1), blank(n)
    gathered, mine, more = blank(n), np.full(1, float(rank)), np.full(1, rank + 5.0)
    requests = [
        inter.Iallgather(mine, room),
        inter.Ibarrier(),
        inter.Iallreduce(mine, total),
        inter.Ialltoall(np.arange(float(n)) + 10 * rank, swapped),
        inter.Ibcast(data, part),
        inter.Igather(more, gathered, part),
    ]
    for request in requests[::-1]:
        request.Wait()
    return [each.tolist() for each in (data, room, total, gathered, swapped)], [bool(each) for each in requests]


@program
def started_again(MPI: Any, inter: Any, side: int) -> Any:
    """Persistent calls use the data of each start."""
    data, total, room, found = np.zeros(1), blank(1), blank(inter.remote_size), []
    requests = [inter.Allreduce_init(data, total), inter.Allgather_init(data, room), inter.Barrier_init()]
    for turn in range(3):
        data[0] = 100 * turn + 10 * side + inter.rank
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        found.append([total.tolist(), room.tolist()])
    for request in requests:
        request.Free()
    return found


# -- objects -------------------------------------------------------------------------------------------------------


@program
def rooted_objects(MPI: Any, inter: Any, side: int) -> Any:
    """The result of each part."""
    rank, found = inter.rank, []
    for _, root, part in roots(MPI, inter, side):
        items = [[i, root] for i in range(inter.remote_size)] if part == MPI.ROOT else None
        found.append([
            inter.bcast({"root": root, "me": rank}, part), inter.gather([rank] * rank, part), inter.scatter(items, part),
            inter.reduce([rank], root=part), inter.reduce(f"{rank},", operator.add, part),
        ])  # fmt: skip
    return found


@program
def objects_for_all(MPI: Any, inter: Any, side: int) -> Any:
    """By all calls without a root."""
    rank, n = inter.rank, inter.remote_size
    return [
        inter.barrier(),
        inter.allgather({"rank": rank, "words": ["x"] * rank}),
        inter.alltoall([f"{side} {rank} to {i}" for i in range(n)]),
        inter.alltoall(None),
        inter.allreduce([side, rank]),
        inter.allreduce(rank + 1, MPI.PROD),
        inter.allreduce((rank % 2, rank), MPI.MAXLOC),
        inter.allreduce([rank], lambda x, y: y + x),
    ]


# -- new communicators, and mistakes -------------------------------------------------------------------------------


@program
def made_in_other_ways(MPI: Any, inter: Any, side: int) -> Any:
    """Split, duplicated, reduced, merged and joined again."""
    lone = inter.Split(inter.rank)
    half = inter.Create(inter.Get_group().Incl([0]))
    merged = inter.Merge(bool(side))
    both = merged.Split(side).Create_intercomm(0, merged, 0 if side else inter.size)
    found: list[Any] = [merged.allgather((side, inter.rank))]
    for other in inter.Dup(), MPI.Comm(inter), both, lone, half:
        found.append(other.allgather((side, inter.rank)) if other != MPI.COMM_NULL else None)
    return found


@program
def unavailable_calls(MPI: Any, inter: Any, side: int) -> Any:
    """Scans need one group, and so does Create_group."""
    names = ["Scan", "Exscan", "scan", "exscan", "Iscan", "Iexscan", "Scan_init", "Exscan_init", "Create_group"]
    names += ["Create_cart", "Create", "Split", "Split_type", "Dup", "Idup", "Merge", "Get_remote_group", "Create_intercomm"]
    return [(hasattr(inter, name), hasattr(MPI.Comm, name)) for name in names]


@program
def mistakes(MPI: Any, inter: Any, side: int) -> Any:
    """Calls that fail on every rank, before any message is sent."""
    n, one, two = inter.remote_size, np.zeros(1), np.zeros(2)
    calls: list[Callable[[], Any]] = [
        lambda: inter.Bcast(one, n), lambda: inter.Bcast(one, -9), lambda: inter.Bcast(one, "a"),
        lambda: inter.bcast(1, n), lambda: inter.Ibcast(one, n), lambda: inter.Bcast_init(one, -7),
        lambda: inter.Allreduce(MPI.IN_PLACE, one), lambda: inter.Allreduce(one, two),
        lambda: inter.Allgather(None, np.zeros(n)),
        lambda: inter.Allreduce(one, np.ones(1), MPI.BAND), lambda: inter.Allreduce(one, np.ones(1), None),
        lambda: inter.Reduce_scatter(np.zeros(inter.size), one), lambda: inter.Allgatherv(one, [two, [1] * (n + 1)]),
        lambda: inter.alltoall([1] * (n + 1)), lambda: inter.Allgather(one, None), lambda: MPI.Intercomm().Barrier(),
        lambda: MPI.Intercomm().bcast(1), lambda: MPI.Intercomm(inter.Merge()),
    ]  # fmt: skip
    return [outcome(MPI, call) for call in calls]


def facts(MPI: Any, world: Any, p: int) -> dict[str, Any]:
    """The results of the programs on one rank of p + q; one that fails returns its error."""
    side = int(world.rank >= p)
    inter = world.Split(side).Create_intercomm(0, world, 0 if side else p)
    found = {}
    for name, function in PROGRAMS.items():
        try:
            found[name] = function(MPI, inter.Dup(), side)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    answer(lambda MPI, world: facts(MPI, world, int(sys.argv[1])))
