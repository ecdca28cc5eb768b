"""Programs of collective calls that must return the same on the emulator and on a real MPI.

As a script under mpiexec, this file prints the results of mpi4py. Programs return numbers, strings, lists and None, and no
value that a library is free to choose. They do not import fakempi or mpi4py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.real_mpi.processes import answer

Program = Callable[[Any, Any], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Add it to the table."""
    PROGRAMS[function.__name__] = function
    return function


def outcome(MPI: Any, call: Callable[[], Any]) -> Any:
    """The result of a call, or its failure: Python's exception if mpi4py itself raises it, otherwise the error class."""
    try:
        return call()
    except (BufferError, TypeError, ValueError) as error:
        kinds = [kind.__name__ for kind in (BufferError, TypeError, ValueError) if isinstance(error, kind)]
        return kinds[0]
    except MPI.Exception as error:
        names = ["ERR_ARG", "ERR_BUFFER", "ERR_COMM", "ERR_COUNT", "ERR_OP", "ERR_RANK", "ERR_ROOT", "ERR_TYPE"]
        return {getattr(MPI, name): name for name in names}.get(error.Get_error_class(), "another")


def blank(count: int, kind: str = "d") -> Any:
    """A buffer filled with a value that no rank sends."""
    return np.full(count, 77, kind)


# -- buffers -------------------------------------------------------------------------------------------------------


@program
def bcast_from_each(MPI: Any, comm: Any) -> Any:
    """Every root, and a datatype with holes on one side."""
    found = []
    spread = MPI.INT.Create_vector(3, 1, 2).Commit()
    for root in range(comm.size):
        data = np.arange(6, dtype="i") + 10 * root if comm.rank == root else blank(6, "i")
        comm.Bcast([data, 1, spread] if comm.rank % 2 else [np.ascontiguousarray(data[:3]), 3, MPI.INT], root)
        comm.Bcast(data, root=root)
        found.append(data.tolist())
    return found


@program
def gather_and_scatter(MPI: Any, comm: Any) -> Any:
    """In both directions."""
    mine, back, root = np.arange(2) + 10 * comm.rank, blank(2, "l"), comm.size - 1
    into = blank(2 * comm.size, "l")
    comm.Gather(mine, into if comm.rank == root else None, root)
    comm.Scatter([into, 2, MPI.LONG] if comm.rank == root else None, back, root)
    return into.tolist(), back.tolist()


@program
def gather_and_scatter_in_place(MPI: Any, comm: Any) -> Any:
    """The root's block is in place."""
    p, rank = comm.size, comm.rank
    data = np.arange(2.0 * p) + 100 * rank
    if rank == 0:
        comm.Gather(MPI.IN_PLACE, data)
        gathered = data.tolist()
        comm.Scatter(data[::-1].copy(), MPI.IN_PLACE)
        return gathered, data.tolist()
    comm.Gather(data[:2], None)
    comm.Scatter(None, data[:2])
    return data.tolist()


@program
def gatherv_out_of_order(MPI: Any, comm: Any) -> Any:
    """Decreasing displacements, with gaps."""
    p, rank = comm.size, comm.rank
    counts = [(i + 1) % 3 for i in range(p)]
    displs = [3 * (p - 1 - i) for i in range(p)]
    into, back = blank(3 * p), blank(counts[rank])
    comm.Gatherv(np.full(counts[rank], float(rank)), [into, counts, displs, MPI.DOUBLE])
    comm.Scatterv([into, (counts, displs), MPI.DOUBLE], back)
    return into.tolist(), back.tolist()


@program
def v_forms_without_counts(MPI: Any, comm: Any) -> Any:
    """Distributed evenly, with one more for the first ranks."""
    p, rank = comm.size, comm.rank
    share = 7 // p + (rank < 7 % p)
    into, back = blank(7), blank(share)
    comm.Allgatherv(np.full(share, float(rank)), into)
    comm.Scatterv(into, back)
    return into.tolist(), back.tolist()


@program
def allgather_of_types(MPI: Any, comm: Any) -> Any:
    """Characters, booleans, complex numbers, bytes."""
    found = []
    for kind in "?bHlfdD":
        into = np.zeros(2 * comm.size, kind)
        comm.Allgather(np.array([comm.rank, 1], kind), into)
        found.append([str(each) for each in into.tolist()])
    room = bytearray(comm.size)
    comm.Allgather([bytes([comm.rank]), MPI.BYTE], [room, MPI.BYTE])
    return [*found, room.hex()]


@program
def allgather_in_place(MPI: Any, comm: Any) -> Any:
    """IN_PLACE, None, and IN_PLACE in a list."""
    found = []
    for place in MPI.IN_PLACE, None, [MPI.IN_PLACE, 1]:
        into = np.full(comm.size, comm.rank)
        comm.Allgather(place, into)
        found.append(into.tolist())
    return found


@program
def allgatherv_of_holes(MPI: Any, comm: Any) -> Any:
    """Elements with holes, of which only the elements arrive."""
    p, rank = comm.size, comm.rank
    sparse = MPI.INT.Create_resized(0, 8).Commit()
    counts = [i % 2 + 1 for i in range(p)]
    into = blank(4 * p, "i")
    mine = np.arange(4, dtype="i") + 10 * rank
    comm.Allgatherv([mine, counts[rank], sparse], [into, counts, list(range(0, 2 * p, 2)), sparse])
    return into.tolist()


@program
def alltoall_both_ways(MPI: Any, comm: Any) -> Any:
    """Between two buffers, and in place."""
    data = np.arange(2 * comm.size) + 100 * comm.rank
    into = blank(2 * comm.size, "l")
    comm.Alltoall(data, into)
    comm.Alltoall(MPI.IN_PLACE, data)
    return into.tolist(), data.tolist()


@program
def alltoallv_of_any_sizes(MPI: Any, comm: Any) -> Any:
    """With zero counts, and the blocks in reverse order."""
    p, rank = comm.size, comm.rank
    out, into = [(rank + 2 * i) % 3 for i in range(p)], [(i + 2 * rank) % 3 for i in range(p)]
    places = [2 * (p - 1 - i) for i in range(p)]
    room = blank(2 * p)
    comm.Alltoallv([np.arange(2.0 * p) + 100 * rank, out, places, MPI.DOUBLE], [room, into, places, MPI.DOUBLE])
    return room.tolist()


@program
def alltoallw_of_any_types(MPI: Any, comm: Any) -> Any:
    """To even ranks integers, to odd ones pairs."""
    p, rank = comm.size, comm.rank
    pair = MPI.INT.Create_contiguous(2).Commit()
    kinds = [pair if (rank + i) % 2 else MPI.INT for i in range(p)]
    room, places = blank(2 * p, "i"), [8 * i for i in range(p)]
    comm.Alltoallw([np.arange(2 * p, dtype="i") + 100 * rank, [1] * p, places, kinds], [room, ([1] * p, places), kinds])
    return room.tolist()


# -- reductions ----------------------------------------------------------------------------------------------------


@program
def predefined_operations(MPI: Any, comm: Any) -> Any:
    """All operations, on integers."""
    found = []
    for name in ["MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR"]:
        into = blank(3, "i")
        comm.Allreduce(np.array([comm.rank, comm.rank % 2, 5 - comm.rank], "i"), into, getattr(MPI, name))
        found.append(into.tolist())
    return found


@program
def reduce_to_each(MPI: Any, comm: Any) -> Any:
    """Every root; in place at the root."""
    found = []
    for root in range(comm.size):
        data = np.arange(3.0) + comm.rank
        if comm.rank == root:
            comm.Reduce(MPI.IN_PLACE, data, root=root)
        else:
            comm.Reduce(data, None, root=root)
        found.append(data.tolist())
    return found


@program
def best_with_its_place(MPI: Any, comm: Any) -> Any:
    """MAXLOC and MINLOC on pairs with padding and without."""
    found = []
    for name, letter in [("SHORT_INT", "h"), ("INT_INT", "i"), ("LONG_INT", "l"), ("FLOAT_INT", "f"), ("DOUBLE_INT", "d")]:
        kind = np.dtype([("value", letter), ("index", "i")], align=True)
        mine = np.array([(comm.rank % 2, comm.rank), (comm.rank % 3, comm.rank)], kind)
        for op in MPI.MAXLOC, MPI.MINLOC:
            into = np.zeros(2, kind)
            comm.Allreduce([mine, getattr(MPI, name)], [into, getattr(MPI, name)], op)
            found.append(into.tolist())
    return found


@program
def scans(MPI: Any, comm: Any) -> Any:
    """Inclusive and exclusive scans; rank 0's buffer is unchanged."""
    a, b, c, d = blank(2), blank(2), np.full(2, 1.0 + comm.rank), np.full(2, 1.0 + comm.rank)
    mine = np.arange(2.0) + comm.rank
    comm.Scan(mine, a)
    comm.Exscan(mine, b, MPI.MAX)
    comm.Scan(MPI.IN_PLACE, c, op=MPI.PROD)
    comm.Exscan(MPI.IN_PLACE, d)
    return a.tolist(), b.tolist(), c.tolist(), d.tolist()


@program
def reduce_and_scatter(MPI: Any, comm: Any) -> Any:
    """In equal and unequal blocks, with counts and without, in place and not."""
    p, rank = comm.size, comm.rank
    counts = [i % 3 for i in range(p)]
    a, b, c = blank(2), blank(counts[rank]), blank(counts[rank])
    comm.Reduce_scatter_block(np.arange(2.0 * p), a)
    comm.Reduce_scatter(np.arange(float(sum(counts))) + rank, b, counts, MPI.MAX)
    comm.Reduce_scatter(np.arange(float(sum(counts))) + rank, c)
    d, e = np.arange(2.0 * p), np.arange(2.0 * p)
    comm.Reduce_scatter_block(MPI.IN_PLACE, [d, 2, MPI.DOUBLE])
    comm.Reduce_scatter(MPI.IN_PLACE, e, [2] * p)
    return [each.tolist() for each in (a, b, c, d[:2], e[:2])]


@program
def operations_that_do_not_commute(MPI: Any, comm: Any) -> Any:
    """Products of matrices, on a datatype of four numbers."""

    def multiply(left: Any, right: Any, datatype: Any) -> None:
        a, b = np.frombuffer(left, "l").reshape(-1, 2, 2), np.frombuffer(right, "l").reshape(-1, 2, 2)
        b[...] = a @ b

    matrix, op = MPI.LONG.Create_contiguous(4).Commit(), MPI.Op.Create(multiply, commute=False)
    mine, found = np.array([[[1, comm.rank], [0, 1]], [[1, 0], [comm.rank, 2]]], "l"), []
    for name in "Allreduce", "Scan", "Exscan":
        into = blank(8, "l")
        getattr(comm, name)([mine, matrix], [into, matrix], op)
        found.append(into.tolist())
    into = blank(8, "l")
    comm.Reduce([mine, matrix], [into, matrix], op, comm.size - 1)
    op.Free()
    return [*found, into.tolist()]


@program
def operations_that_commute(MPI: Any, comm: Any) -> Any:
    """A user-defined sum."""

    def add(left: Any, right: Any, datatype: Any) -> None:
        np.frombuffer(right, "d")[...] += np.frombuffer(left, "d")

    into, share = blank(3), blank(1)
    op = MPI.Op.Create(add, commute=True)
    comm.Allreduce(np.arange(3.0), into, op)
    comm.Reduce_scatter_block(np.arange(float(comm.size)), share, op)
    return into.tolist(), share.tolist(), op.Is_commutative()


# -- nonblocking and persistent ------------------------------------------------------------------------------------


@program
def many_at_once(MPI: Any, comm: Any) -> Any:
    """Completed in a different order than started."""
    p, rank = comm.size, comm.rank
    data = np.full(2, float(rank == p - 1))
    room, total, prefix, swapped = blank(p), blank(1), blank(1), blank(p)
    share = blank(1)
    requests = [
        comm.Ibcast(data, p - 1),
        comm.Iallgather(np.full(1, float(rank)), room),
        comm.Ibarrier(),
        comm.Iallreduce(np.full(1, float(rank)), total),
        comm.Iscan(np.full(1, 1.0), prefix),
        comm.Ialltoall(np.arange(float(p)) + 10 * rank, swapped),
        comm.Ireduce_scatter_block(np.arange(float(p)), share),
    ]
    for request in requests[::-1]:
        request.Wait()
    return [each.tolist() for each in (data, room, total, prefix, swapped, share)], [bool(each) for each in requests]


@program
def mixed_with_messages(MPI: Any, comm: Any) -> Any:
    """One Waitall for all."""
    left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
    came, total = blank(1), blank(1)
    mine = np.full(1, float(comm.rank))
    MPI.Request.Waitall([comm.Irecv(came, left), comm.Iallreduce(mine, total), comm.Isend(mine, right), comm.Ibarrier()])
    return came.tolist(), total.tolist()


@program
def started_again(MPI: Any, comm: Any) -> Any:
    """Persistent calls use the data of each start."""
    data, total, room, found = np.zeros(1), blank(1), blank(comm.size), []
    requests = [comm.Allreduce_init(data, total), comm.Allgather_init(data, room), comm.Barrier_init()]
    for turn in range(3):
        data[0] = 10 * turn + comm.rank
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
        found.append([total.tolist(), room.tolist(), [bool(each) for each in requests]])
    for request in requests:
        request.Free()
    return found


# -- objects -------------------------------------------------------------------------------------------------------


@program
def objects(MPI: Any, comm: Any) -> Any:
    """By all calls."""
    p, rank = comm.size, comm.rank
    thing = {"rank": rank, "words": ["x"] * rank}
    return [
        comm.bcast(thing if rank == p - 1 else None, p - 1),
        comm.gather(thing, root=p - 1),
        comm.scatter([[i] for i in range(p)] if rank == 0 else None),
        comm.scatter(None),
        comm.allgather(thing),
        comm.alltoall([f"{rank} to {i}" for i in range(p)]),
        comm.alltoall(None),
        comm.alltoall(str(each) for each in range(p)),
    ]


@program
def reduced_objects(MPI: Any, comm: Any) -> Any:
    """With operations of all kinds, in rank order."""
    rank = comm.rank
    return [
        comm.reduce([rank], root=comm.size - 1),
        comm.allreduce(f"{rank},"),
        comm.scan([rank]),
        comm.exscan([rank]),
        comm.allreduce(rank + 1, MPI.PROD),
        comm.allreduce(rank % 2, op=MPI.LXOR),
        comm.allreduce((rank % 3, rank), MPI.MAXLOC),
        comm.allreduce((rank % 3, rank), MPI.MINLOC),
        comm.reduce(rank, max),
        comm.allreduce([rank], lambda x, y: y + x),
        comm.scan(rank + 1, operator.mul),
        comm.allreduce(rank, MPI.Op.Create(lambda x, y, datatype: x + y)),
    ]


@program
def copies(MPI: Any, comm: Any) -> Any:
    """Results are copies, and an operation that changes its operands changes only copies."""
    mine = [comm.rank]

    def spoil(x: list[int], y: list[int]) -> list[int]:
        x += y
        return x

    came = [comm.bcast(mine), comm.allgather(mine)[comm.rank], comm.allreduce(mine, lambda x, y: x)]
    came += comm.alltoall([mine] * comm.size)
    return [thing is mine for thing in came], comm.allreduce(mine, spoil), mine


# -- neighbors ----------------------------------------------------------------------------------------------------


def exchanges(MPI: Any, comm: Any) -> Any:
    """All exchanges with the neighbors."""
    sources, dests = comm.inoutedges
    rank, found = comm.rank, []
    one, two, three = blank(len(sources)), blank(len(sources)), blank(2 * len(sources))
    out = np.arange(float(len(dests))) + 10 * rank
    comm.Neighbor_allgather(np.full(1, float(rank)), one)
    comm.Neighbor_alltoall(out, two)
    counts, places = [1] * len(sources), [2 * i for i in range(len(sources))][::-1]
    comm.Neighbor_alltoallv([out, [1] * len(dests)], [three, counts, places, MPI.DOUBLE])
    found += [one.tolist(), two.tolist(), three.tolist()]
    four = blank(len(sources))
    comm.Ineighbor_alltoallw(
        [out, [1] * len(dests), [8 * i for i in range(len(dests))], [MPI.DOUBLE] * len(dests)],
        [four, counts, [8 * i for i in range(len(sources))], [MPI.DOUBLE] * len(sources)],
    ).Wait()
    words = comm.neighbor_allgather(str(rank)), comm.neighbor_alltoall([f"{rank}:{i}" for i in range(len(dests))])
    return [*found, four.tolist(), *words]


@program
def neighbors_in_grids(MPI: Any, comm: Any) -> Any:
    """Lines and rings; in rings of one or two, left and right are distinguished."""
    line = exchanges(MPI, comm.Create_cart([comm.size]))
    flat = exchanges(MPI, comm.Create_cart([comm.size, 1]))
    ring = exchanges(MPI, comm.Create_cart([comm.size], [True]))
    torus = exchanges(MPI, comm.Create_cart([1, comm.size], [True, True]))
    return line, flat, ring, torus


@program
def neighbors_in_graphs(MPI: Any, comm: Any) -> Any:
    """A star with rank 0 in the center."""
    p = comm.size
    index, edges = list(range(p - 1, 2 * p - 1)), [*range(1, p), *[0] * (p - 1)]
    return exchanges(MPI, comm.Create_graph(index, edges)) if p > 1 else None


@program
def neighbors_in_distributed_graphs(MPI: Any, comm: Any) -> Any:
    """Two edges to the right, which match in order, one to the same rank, and one two to the left."""
    p, rank = comm.size, comm.rank
    dests = [(rank + 1) % p, rank, (rank + 1) % p, (rank - 2) % p]
    sources = [(rank - 1) % p, rank, (rank - 1) % p, (rank + 2) % p]
    return exchanges(MPI, comm.Create_dist_graph_adjacent(sources, dests))


# -- mistakes ------------------------------------------------------------------------------------------------------


@program
def mistakes(MPI: Any, comm: Any) -> Any:
    """Calls that fail on every rank, before any message is sent."""
    p, one, two = comm.size, np.zeros(1), np.zeros(2)
    calls: list[Callable[[], Any]] = [
        lambda: comm.Bcast(one, p), lambda: comm.Bcast(one, -1), lambda: comm.Bcast(one, "a"), lambda: comm.Bcast(None),
        lambda: comm.bcast(1, p), lambda: comm.reduce(1, root=-1), lambda: comm.Allreduce(one, two),
        lambda: comm.Allreduce(one, np.zeros(1, "i")), lambda: comm.Allreduce(one, np.ones(1), MPI.BAND),
        lambda: comm.Allreduce(one, np.ones(1), MPI.OP_NULL), lambda: comm.Allreduce(one, np.ones(1), None),
        lambda: comm.Allreduce(one, np.ones(1), MPI.MAXLOC), lambda: comm.Scan(one, np.ones(1), MPI.BXOR),
        lambda: comm.Exscan(one, two), lambda: comm.Allreduce(one, one), lambda: comm.Scan(one, one),
        lambda: comm.Reduce_scatter_block(np.zeros(2 * p), np.zeros(3)),
        lambda: comm.Reduce_scatter(two, two, [1] * (p + 1)),
        lambda: comm.Reduce_scatter(np.zeros(p + 1), one, [1] * p), lambda: comm.Reduce_scatter(np.zeros(p), two, [1] * p),
        lambda: comm.Reduce_scatter(MPI.IN_PLACE, np.zeros(p)), lambda: comm.Allgatherv(one, [two, [1] * (p + 1)]),
        lambda: comm.Alltoallv([two, [1] * (p + 1)], two), lambda: comm.alltoall([1] * (p + 1)), lambda: comm.alltoall(5),
        lambda: MPI.Intracomm().Bcast(one), lambda: MPI.Intracomm().bcast(1), lambda: MPI.Cartcomm().Barrier(),
        lambda: comm.Allgather(one, None), lambda: comm.Gather(one, None, comm.rank),
        lambda: comm.Ibcast(one, p), lambda: comm.Bcast_init(one, p), lambda: comm.Iallreduce(one, two),
    ]  # fmt: skip
    return [outcome(MPI, call) for call in calls]


@program
def calls_of_the_base_class(MPI: Any, comm: Any) -> Any:
    """Comm has the collectives, too; its null handle rejects them."""
    calls: list[Callable[[], Any]] = [MPI.COMM_NULL.Barrier, lambda: MPI.COMM_NULL.bcast(1), MPI.COMM_NULL.Barrier_init]
    return [outcome(MPI, call) for call in calls], MPI.Comm(comm).allreduce(comm.rank)


def facts(MPI: Any, comm: Any) -> dict[str, Any]:
    """The results of the programs on one rank; one that fails returns its error."""
    found = {}
    for name, function in PROGRAMS.items():
        try:
            found[name] = function(MPI, comm.Dup())
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    answer(facts)
