"""Collectives on buffers: every call on every kind of memory, any number of ranks, in place, with holes, out of order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.runs import run
from tests.mpi.collective.calls import (
    FORMS,
    LETTERS,
    Array,
    ScatteredBlocks,
    StridedElements,
    blank,
    numbers,
    operations,
)

Data = st.DataObject
ranks = st.integers(1, 9)
sizes = st.integers(0, 6)
forms = st.sampled_from(FORMS)
letters = st.sampled_from(LETTERS)


def tolist(arrays: list[Array]) -> list[Any]:
    return [array.tolist() for array in arrays]


def drawn_counts(data: Data, p: int) -> list[int]:
    """A count for each rank, some of them 0."""
    return data.draw(st.lists(st.integers(0, 4), min_size=p, max_size=p), label="counts")


def drawn_orders(data: Data, p: int) -> list[list[int]]:
    """For each rank an order in which its blocks lie in memory."""
    return [data.draw(st.permutations(range(p)), label=f"order {rank}") for rank in range(p)]


# -- one block each ------------------------------------------------------------------------------------------------


@given(data=st.data(), p=ranks, count=sizes, letter=letters)
def test_bcast_copies_the_roots_data_to_every_rank(backend: Any, data: Data, p: int, count: int, letter: str) -> None:
    """For any description of memory on each rank."""
    root, form = data.draw(st.integers(0, p - 1)), data.draw(st.lists(forms, min_size=p, max_size=p))
    values = numbers(root, count, letter)

    def main(comm: Any) -> Any:
        place = StridedElements(values if comm.rank == root else blank(count, letter), form[comm.rank])
        comm.Bcast(place.spec, root)
        return place.contents()

    assert run(main, p, backend) == [values.tolist()] * p


@given(data=st.data(), p=ranks, count=sizes, letter=letters, in_place=st.booleans())
def test_gather_copies_all_blocks_to_the_root(data: Data, p: int, count: int, letter: str, in_place: bool) -> None:
    """In rank order; also in place on the root."""
    root, form = data.draw(st.integers(0, p - 1)), data.draw(st.lists(forms, min_size=p + 1, max_size=p + 1))
    blocks = [numbers(rank, count, letter) for rank in range(p)]

    def main(comm: Any) -> Any:
        mine = StridedElements(blocks[comm.rank], form[comm.rank])
        if comm.rank != root:
            return comm.Gather(mine.spec, None, root)
        room = blank(p * count, letter)
        room[root * count : (root + 1) * count] = blocks[root]
        into = StridedElements(room, form[p], p)
        comm.Gather(MPI.IN_PLACE if in_place else mine.spec, into.spec, root=root)
        return into.contents()

    expected = [np.concatenate(blocks).tolist() if rank == root else None for rank in range(p)]
    assert run(main, p) == expected


@given(data=st.data(), p=ranks, count=sizes, letter=letters, in_place=st.booleans())
def test_scatter_distributes_the_roots_blocks(data: Data, p: int, count: int, letter: str, in_place: bool) -> None:
    """Also in place on the root."""
    root, form = data.draw(st.integers(0, p - 1)), data.draw(st.lists(forms, min_size=p + 1, max_size=p + 1))
    values = numbers(root, p * count, letter)

    def main(comm: Any) -> Any:
        into = StridedElements(blank(count, letter), form[comm.rank])
        if comm.rank != root:
            comm.Scatter(None, into.spec, root)
            return into.contents()
        out = StridedElements(values, form[p], p)
        comm.Scatter(out.spec, MPI.IN_PLACE if in_place else into.spec, root=root)
        assert out.contents() == values.tolist()
        return out.contents()[root * count : (root + 1) * count] if in_place else into.contents()

    assert run(main, p) == tolist(np.split(values, p))


@given(data=st.data(), p=ranks, count=sizes, letter=letters, in_place=st.booleans())
def test_allgather_copies_all_blocks_to_every_rank(
    backend: Any, data: Data, p: int, count: int, letter: str, in_place: bool
) -> None:
    """Each rank may describe its memory differently."""
    form = data.draw(st.lists(forms, min_size=2 * p, max_size=2 * p))
    blocks = [numbers(rank, count, letter) for rank in range(p)]

    def main(comm: Any) -> Any:
        rank = comm.rank
        room = blank(p * count, letter)
        room[rank * count : (rank + 1) * count] = blocks[rank]
        into = StridedElements(room, form[rank], p)
        comm.Allgather(MPI.IN_PLACE if in_place else StridedElements(blocks[rank], form[p + rank]).spec, into.spec)
        return into.contents()

    assert run(main, p, backend) == [np.concatenate(blocks).tolist()] * p


@given(data=st.data(), p=ranks, count=sizes, letter=letters, in_place=st.booleans())
def test_alltoall_swaps_blocks(data: Data, p: int, count: int, letter: str, in_place: bool) -> None:
    """Block j of rank i becomes block i of rank j."""
    form = data.draw(st.lists(forms, min_size=2 * p, max_size=2 * p))
    rows = [numbers(rank, p * count, letter) for rank in range(p)]

    def main(comm: Any) -> Any:
        into = StridedElements(rows[comm.rank] if in_place else blank(p * count, letter), form[comm.rank], p)
        comm.Alltoall(MPI.IN_PLACE if in_place else StridedElements(rows[comm.rank], form[p + comm.rank], p).spec, into.spec)
        return into.contents()

    columns = [np.concatenate([np.split(row, p)[rank] for row in rows]) for rank in range(p)]
    assert run(main, p) == tolist(columns)


# -- blocks of different sizes -------------------------------------------------------------------------------------


@given(data=st.data(), p=ranks, letter=letters, in_place=st.booleans(), holes=st.booleans(), bare=st.booleans())
def test_gatherv_stores_every_block_at_its_displacement(
    data: Data, p: int, letter: str, in_place: bool, holes: bool, bare: bool
) -> None:
    """Displacements in any order, with gaps, which stay unchanged."""
    root, counts, order = data.draw(st.integers(0, p - 1)), drawn_counts(data, p), drawn_orders(data, p)[0]
    form = data.draw(st.lists(forms, min_size=p, max_size=p))
    blocks = [numbers(rank, counts[rank], letter) for rank in range(p)]

    def main(comm: Any) -> Any:
        mine = StridedElements(blocks[comm.rank], form[comm.rank])
        if comm.rank != root:
            return comm.Gatherv(mine.spec, None, root=root)
        there = [blocks[i] if i == root and in_place else blank(counts[i], letter) for i in range(p)]
        into = ScatteredBlocks(there, order, holes=holes, bare=bare)
        comm.Gatherv(MPI.IN_PLACE if in_place else mine.spec, into.spec, root)
        return into.contents()

    assert run(main, p) == [tolist(blocks) if rank == root else None for rank in range(p)]


@given(data=st.data(), p=ranks, letter=letters, in_place=st.booleans(), holes=st.booleans(), bare=st.booleans())
def test_scatterv_distributes_blocks_with_displacements(
    data: Data, p: int, letter: str, in_place: bool, holes: bool, bare: bool
) -> None:
    """Displacements in any order, with gaps."""
    root, counts, order = data.draw(st.integers(0, p - 1)), drawn_counts(data, p), drawn_orders(data, p)[0]
    form = data.draw(st.lists(forms, min_size=p, max_size=p))
    blocks = [numbers(rank, counts[rank], letter) for rank in range(p)]

    def main(comm: Any) -> Any:
        into = StridedElements(blank(counts[comm.rank], letter), form[comm.rank])
        if comm.rank != root:
            comm.Scatterv(None, into.spec, root=root)
            return into.contents()
        out = ScatteredBlocks(blocks, order, holes=holes, bare=bare)
        comm.Scatterv(out.spec, MPI.IN_PLACE if in_place else into.spec, root)
        return out.contents()[root] if in_place else into.contents()

    assert run(main, p) == tolist(blocks)


@given(data=st.data(), p=ranks, letter=letters, in_place=st.booleans(), holes=st.booleans(), bare=st.booleans())
def test_allgatherv_stores_every_block_at_its_displacement(
    data: Data, p: int, letter: str, in_place: bool, holes: bool, bare: bool
) -> None:
    """Each rank chooses its displacements."""
    counts, orders = drawn_counts(data, p), drawn_orders(data, p)
    form = data.draw(st.lists(forms, min_size=p, max_size=p))
    blocks = [numbers(rank, counts[rank], letter) for rank in range(p)]

    def main(comm: Any) -> Any:
        rank = comm.rank
        there = [blocks[i] if i == rank and in_place else blank(counts[i], letter) for i in range(p)]
        into = ScatteredBlocks(there, orders[rank], holes=holes, bare=bare)
        comm.Allgatherv(MPI.IN_PLACE if in_place else StridedElements(blocks[rank], form[rank]).spec, into.spec)
        return into.contents()

    assert run(main, p) == [tolist(blocks)] * p


@given(data=st.data(), p=st.integers(1, 6), letter=letters, holes=st.booleans(), bare=st.booleans())
def test_alltoallv_swaps_blocks_of_any_sizes(
    backend: Any, data: Data, p: int, letter: str, holes: bool, bare: bool
) -> None:
    """With any displacements."""
    counts, orders = [drawn_counts(data, p) for _ in range(p)], [drawn_orders(data, p) for _ in range(2)]
    rows = [[numbers(i, counts[i][j], letter, j) for j in range(p)] for i in range(p)]

    def main(comm: Any) -> Any:
        rank = comm.rank
        into = ScatteredBlocks([blank(counts[i][rank], letter) for i in range(p)], orders[0][rank], holes=holes, bare=bare)
        comm.Alltoallv(ScatteredBlocks(rows[rank], orders[1][rank], holes=not holes, bare=bare).spec, into.spec)
        return into.contents()

    assert run(main, p, backend) == [tolist([rows[i][rank] for i in range(p)]) for rank in range(p)]


@given(data=st.data(), p=st.integers(1, 6), letter=letters, holes=st.booleans())
def test_alltoallv_in_place_swaps_within_one_buffer(data: Data, p: int, letter: str, holes: bool) -> None:
    """Each pair of ranks exchanges blocks of equal sizes."""
    half, orders = [drawn_counts(data, p) for _ in range(p)], drawn_orders(data, p)
    rows = [[numbers(i, half[min(i, j)][max(i, j)], letter, j) for j in range(p)] for i in range(p)]

    def main(comm: Any) -> Any:
        both = ScatteredBlocks(rows[comm.rank], orders[comm.rank], holes=holes)
        comm.Alltoallv(MPI.IN_PLACE, both.spec)
        return both.contents()

    assert run(main, p) == [tolist([rows[i][rank] for i in range(p)]) for rank in range(p)]


@given(data=st.data(), p=st.integers(1, 6), in_place=st.booleans())
def test_alltoallw_swaps_blocks_of_any_datatypes(data: Data, p: int, in_place: bool) -> None:
    """Each block with its own datatype, with holes or without, on either side."""
    kinds = {
        "INT": MPI.INT,
        "holes": MPI.INT.Create_resized(0, 8).Commit(),
        "pair": MPI.INT.Create_contiguous(2).Commit(),
        "spread": MPI.INT.Create_vector(2, 1, 3).Commit(),
        "nothing": MPI.INT.Create_contiguous(0).Create_resized(0, 8).Commit(),
    }
    names = list(kinds)
    drawn = [[data.draw(st.sampled_from(names)) for _ in range(p)] for _ in range(2 * p)]
    kind_of = [[drawn[min(i, j)][max(i, j)] if in_place else drawn[i][j] for j in range(p)] for i in range(p)]
    wide = {"INT": 1, "holes": 1, "pair": 2, "spread": 2, "nothing": 0}
    placed = {"INT": [0], "holes": [0], "pair": [0, 1], "spread": [0, 3], "nothing": []}

    def elements(rank: int, other: int) -> list[int]:
        return [100 * rank + 10 * other + k for k in range(wide[kind_of[rank][other]])]

    def main(comm: Any) -> Any:
        rank = comm.rank
        memory = np.full(4 * p, GAP_INT, "i")
        for other in range(p):
            for at, value in zip(placed[kind_of[rank][other]], elements(rank, other), strict=True):
                memory[4 * other + at] = value
        out = [memory, [1] * p, [16 * i for i in range(p)], [kinds[kind_of[rank][i]] for i in range(p)]]
        if in_place:
            comm.Alltoallw(MPI.IN_PLACE, out)
            return [[int(memory[4 * i + at]) for at in placed[kind_of[rank][i]]] for i in range(p)]
        room = np.full(4 * p, GAP_INT, "i")
        order = list(range(p))[::-1]
        counts = [wide[kind_of[i][rank]] for i in range(p)]
        comm.Alltoallw(out, [room, counts, [16 * at for at in order], [MPI.INT] * p])
        return [room[4 * at : 4 * at + counts[i]].tolist() for i, at in enumerate(order)]

    assert run(main, p) == [[elements(i, rank) for i in range(p)] for rank in range(p)]


GAP_INT = -1


# -- forms of arguments --------------------------------------------------------------------------------------------


def test_none_is_in_place_as_in_mpi4py() -> None:
    """Where IN_PLACE is allowed."""

    def main(comm: Any) -> Any:
        rank, p = comm.rank, comm.size
        a, b, c, d = np.full(p, rank), np.full(p, rank), np.full(p, rank), np.full(1, rank)
        comm.Allgather(None, a)
        comm.Alltoall(None, b)
        comm.Allgatherv([MPI.IN_PLACE, 1], [c, 1])
        comm.Allreduce(None, d)
        e, f = np.full(p, rank), np.full(p, rank)
        if rank == 0:
            comm.Gather(None, e)
            comm.Scatter(f, None)
        else:
            comm.Gather(e[:1], None)
            comm.Scatter(None, f[:1])
        return [a.tolist(), b.tolist(), c.tolist(), d.tolist(), e.tolist(), f.tolist()]

    both = [[0, 1], [0, 1], [0, 1], [1]]
    assert run(main, 2) == [[*both, [0, 1], [0, 0]], [*both, [1, 1], [0, 1]]]


def test_a_count_in_a_list_is_that_of_one_block() -> None:
    """For buffers that hold a block for each rank."""

    def main(comm: Any) -> Any:
        p, long = comm.size, np.arange(20)
        a, b, c, d = (np.zeros(20, int) for _ in range(4))
        comm.Gather([long, 2], [a, 2])
        comm.Scatter([long, 2], [b, 2])
        comm.Alltoall([long, 1], [c, 1])
        comm.Reduce_scatter_block([long, 3], [d, 3])
        e = np.arange(20)
        comm.Reduce_scatter_block(MPI.IN_PLACE, [e, 3])
        return [part[: 3 * p].tolist() for part in (a, b, c, d, e)]

    assert run(main, 2) == [
        [[0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 2, 4, 0, 0, 0], [0, 2, 4, 3, 4, 5]],
        [[0] * 6, [2, 3, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [6, 8, 10, 0, 0, 0], [6, 8, 10, 3, 4, 5]],
    ]


def test_v_forms_without_counts_distribute_evenly() -> None:
    """As in mpi4py: the first ranks get one more."""

    def main(comm: Any) -> Any:
        mine, into = np.full([3, 2][comm.rank], comm.rank), np.full(5, -1)
        comm.Allgatherv(mine, into)
        back = np.full(len(mine), -1)
        comm.Scatterv(into, back)
        return into.tolist(), back.tolist()

    assert run(main, 2) == [([0, 0, 0, 1, 1], [0, 0, 0]), ([0, 0, 0, 1, 1], [1, 1])]


def test_the_root_may_send_read_only_memory() -> None:
    """Bytes, and read-only memory behind a datatype with holes."""

    def main(comm: Any) -> Any:
        place = bytes(range(8)) if comm.rank == 0 else bytearray(8)
        spread = MPI.BYTE.Create_resized(0, 2).Commit()
        comm.Bcast([place, spread])
        return bytes(place)

    assert run(main, 2) == [bytes(range(8)), bytes([0, 0, 2, 0, 4, 0, 6, 0])]


def test_ranks_may_describe_one_message_by_different_types() -> None:
    """Also if the algorithm splits it into pieces."""
    algorithms = ["scatter_ring_allgather", "two_tree", "circulant", ("chain", {"segment_bytes": 7})]

    def main(comm: Any) -> Any:
        data = np.arange(24, dtype="i2") if comm.rank == 1 else np.zeros(24, "i2")
        spec = [data, [data, MPI.SHORT.Create_contiguous(8).Commit()], [data.view("B"), MPI.BYTE]][comm.rank % 3]
        comm.Bcast(spec, root=1)
        return data.tolist()

    for algorithm in algorithms:
        assert run(main, 5, algorithms={"bcast": algorithm}) == [list(range(24))] * 5


def test_bottom_uses_absolute_addresses() -> None:
    """In a datatype, as in C."""

    def main(comm: Any) -> Any:
        data = np.full(3, comm.rank, "i")
        absolute = MPI.INT.Create_hindexed([3], [MPI.Get_address(data)]).Commit()
        into = np.zeros(3 * comm.size, "i")
        comm.Allgather([MPI.BOTTOM, 1, absolute], into)
        comm.Bcast([MPI.BOTTOM, 1, absolute], root=1)
        return data.tolist(), into.tolist()

    assert run(main, 2) == [([1, 1, 1], [0, 0, 0, 1, 1, 1])] * 2


# -- order, time, backends -----------------------------------------------------------------------------------------


def test_no_rank_leaves_a_barrier_before_all_have_called(backend: Any) -> None:
    """In modeled time."""

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank)
        comm.Barrier()
        return MPI.Wtime()

    assert min(run(main, 7, backend)) >= 6


def test_messages_of_the_program_do_not_match_those_of_a_collective(backend: Any) -> None:
    """A receive with wildcards does not match a message of a barrier."""

    def main(comm: Any) -> Any:
        request = comm.irecv()
        comm.Barrier()
        total = comm.allreduce(comm.rank)
        comm.send(total, (comm.rank + 1) % comm.size, tag=5)
        return request.wait()

    assert run(main, 5, backend) == [10] * 5


def test_collectives_of_different_communicators_do_not_interfere(backend: Any) -> None:
    """Although they are pending between the same ranks."""

    def main(comm: Any) -> Any:
        other, half = comm.Dup(), comm.Split(comm.rank % 2)
        a, b, c = np.zeros(1), np.zeros(1), np.zeros(1)
        requests = [
            each.Iallreduce(np.full(1, 10.0**i), place) for i, (each, place) in enumerate([(other, a), (comm, b), (half, c)])
        ]
        MPI.Request.Waitall(requests[::-1])
        return a[0], b[0], c[0]

    assert run(main, 4, backend) == [(4, 40, 200)] * 4


def test_every_collective_gives_the_same_result_on_both_backends() -> None:
    """Results, clocks, messages."""

    def main(comm: Any) -> Any:
        found = []
        for name, args, read in operations(comm, root=comm.size - 1):
            getattr(comm, name)(*args)
            found.append((name, read(), MPI.Wtime()))
        return found

    for p in (1, 2, 5):
        one, other = (fakempi.run(main, p, backend=each) for each in ("greenlets", "threads"))
        assert (one.returns, one.clocks, one.messages) == (other.returns, other.clocks, other.messages)


@pytest.mark.parametrize("p", [1, 2, 3, 4, 7])
def test_phantoms_take_as_long_as_memory(p: int) -> None:
    """In every collective, although there are no contents."""

    def main(comm: Any, ghost: bool) -> None:
        rank = comm.rank
        counts = [8 * (i % 3) for i in range(p)]

        def memory(nbytes: int, item: int = 1) -> Any:
            return fakempi.phantom(nbytes, item) if ghost else np.zeros(nbytes // item, {1: "u1", 8: "f8"}[item])

        comm.Bcast(memory(80), p - 1)
        comm.Gather(memory(24), memory(24 * p) if rank == 0 else None)
        comm.Gatherv(memory(counts[rank]), [memory(sum(counts)), counts] if rank == 0 else None)
        comm.Scatter(memory(24 * p) if rank == 0 else None, memory(24))
        comm.Scatterv([memory(sum(counts)), counts] if rank == 0 else None, memory(counts[rank]))
        comm.Allgather(memory(24), memory(24 * p))
        comm.Allgatherv(memory(counts[rank]), [memory(sum(counts)), counts])
        comm.Alltoall(memory(24 * p), memory(24 * p))
        comm.Alltoall(MPI.IN_PLACE, memory(24 * p))
        comm.Alltoallv([memory(8 * p), [8] * p], [memory(8 * p), [8] * p])
        comm.Alltoallv(MPI.IN_PLACE, [memory(8 * p), [8] * p])
        w = [[8] * p, [8 * i for i in range(p)], [MPI.BYTE] * p]
        comm.Alltoallw([memory(8 * p), *w], [memory(8 * p), *w])
        comm.Reduce(memory(48, 8), memory(48, 8) if rank == 0 else None)
        comm.Allreduce(memory(48, 8), memory(48, 8))
        comm.Allreduce(MPI.IN_PLACE, [memory(48), MPI.DOUBLE])
        comm.Allreduce([memory(48), MPI.DOUBLE], memory(48, 8))
        comm.Reduce_scatter_block(memory(16 * p, 8), memory(16, 8))
        comm.Reduce_scatter(memory(16 * p, 8), memory(16, 8), [2] * p)
        comm.Scan(memory(48, 8), memory(48, 8), MPI.MAX)
        comm.Exscan(memory(48, 8), memory(48, 8), MPI.Op.Create(lambda a, b, t: None))

    cost = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0, compute_per_byte=0.25)
    ghosts, real = (fakempi.run(main, p, ghost, cost=cost) for ghost in (True, False))
    assert (ghosts.clocks, ghosts.sent, ghosts.received) == (real.clocks, real.sent, real.received)


def test_a_collective_at_many_ranks() -> None:
    """Only the modeled time grows with their number."""
    assert set(run(lambda comm: comm.allreduce(1), 300)) == {300}
