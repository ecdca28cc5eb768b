"""Reductions: all operations on all types, pairs, user-defined operations, rank order, in place, holes."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each
from tests.helpers.runs import run
from tests.mpi.collective.calls import FORMS, GAP, Array, StridedElements, blank, numbers

Data = st.DataObject
INTEGERS, REALS, COMPLEX = "bBhHiIlLqQ", "efdg", "FDG"
UFUNCS: dict[str, tuple[Any, str]] = {
    "MAX": (np.maximum, INTEGERS + REALS),
    "MIN": (np.minimum, INTEGERS + REALS),
    "SUM": (np.add, INTEGERS + REALS + COMPLEX),
    "PROD": (np.multiply, INTEGERS + REALS + COMPLEX),
    "LAND": (np.logical_and, INTEGERS + "?"),
    "BAND": (np.bitwise_and, INTEGERS),
    "LOR": (np.logical_or, INTEGERS + "?"),
    "BOR": (np.bitwise_or, INTEGERS),
    "LXOR": (np.logical_xor, INTEGERS + "?"),
    "BXOR": (np.bitwise_xor, INTEGERS),
}
CALLS = ["Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block", "Reduce_scatter"]
Combine = Callable[[Array, Array], Array]


def reduced(call: str, operands: list[Array], combine: Combine, counts: list[int], root: int) -> list[Any]:
    """Return the expected result of each rank; None if its buffer is unchanged."""
    p = len(operands)
    prefixes = [reduce(combine, operands[: rank + 1]) for rank in range(p)]
    if call == "Reduce":
        return [prefixes[-1].tolist() if rank == root else None for rank in range(p)]
    if call == "Allreduce":
        return [prefixes[-1].tolist()] * p
    if call == "Scan":
        return [prefix.tolist() for prefix in prefixes]
    if call == "Exscan":
        return [None, *(prefix.tolist() for prefix in prefixes[:-1])]
    starts = np.cumsum([0, *counts])
    return [prefixes[-1][starts[rank] : starts[rank + 1]].tolist() for rank in range(p)]


def make(
    call: str, comm: Any, out: Any, into: Any, op: Any, counts: list[int], root: int, in_place: bool
) -> None:
    """One of the calls; `out` and `into` are its arguments."""
    sendbuf = MPI.IN_PLACE if in_place and (call != "Reduce" or comm.rank == root) else out
    if call == "Reduce":
        comm.Reduce(sendbuf, into if comm.rank == root else None, op, root)
    elif call == "Reduce_scatter":
        comm.Reduce_scatter(sendbuf, into, counts, op)
    else:
        getattr(comm, call)(sendbuf, into, op)


@pytest.mark.quick(1)
@pytest.mark.parametrize("call", CALLS)
@given(data=st.data(), p=st.integers(1, 9), name=st.sampled_from(list(UFUNCS)), in_place=st.booleans())
@settings(max_examples=examples(15))
def test_predefined_operations_equal_those_of_numpy(call: str, data: Data, p: int, name: str, in_place: bool) -> None:
    """For all number types, and memory of every form."""
    ufunc, letters = UFUNCS[name]
    letter, root = data.draw(st.sampled_from(letters)), data.draw(st.integers(0, p - 1))
    counts = data.draw(st.lists(st.integers(0, 3), min_size=p, max_size=p))
    if call == "Reduce_scatter_block":
        counts = counts[:1] * p
    forms = data.draw(st.lists(st.sampled_from(["plain", "listed", "shifted", "two-dimensional"]), min_size=2, max_size=2))
    total = sum(counts)
    # 1 and 2: sums and products are exact in all types, or wrap around in any order
    operands = [(numbers(rank, total, "i") % 2 + (letter != "?")).astype(letter) for rank in range(p)]
    whole = call not in ("Reduce_scatter", "Reduce_scatter_block")

    def main(comm: Any) -> Any:
        rank, mine = comm.rank, operands[comm.rank]
        blocks = p if call == "Reduce_scatter_block" else 1
        out = StridedElements(mine, forms[0], blocks)
        size = total if whole or in_place else counts[rank]
        into = StridedElements(mine if in_place else blank(size, letter), forms[1], blocks if in_place else 1)
        make(call, comm, out.spec, into.spec, getattr(MPI, name), counts, root, in_place)
        assert out.contents() == mine.tolist()
        found = into.contents()
        if (call == "Exscan" and rank == 0) or (call == "Reduce" and rank != root):
            assert found == (mine if in_place else blank(size, letter)).tolist()
            return None
        return found if whole else found[: counts[rank]]

    def combine(left: Array, right: Array) -> Array:
        with np.errstate(all="ignore"):
            found: Array = ufunc(left, right).astype(letter)
        return found

    assert run(main, p) == reduced(call, operands, combine, counts, root)


PAIRS = {"SHORT_INT": "h", "INT_INT": "i", "LONG_INT": "l", "FLOAT_INT": "f", "DOUBLE_INT": "d", "LONG_DOUBLE_INT": "g"}


@pytest.mark.quick(1)
@pytest.mark.parametrize("call", CALLS)
@given(data=st.data(), p=st.integers(1, 9), kind=st.sampled_from(list(PAIRS)), name=st.sampled_from(["MAXLOC", "MINLOC"]))
@settings(max_examples=examples(15))
def test_the_best_value_has_its_index(call: str, data: Data, p: int, kind: str, name: str) -> None:
    """For equal values the smallest index, with any padding between value and index in memory."""
    dtype = np.dtype([("value", PAIRS[kind]), ("index", "i")], align=True)
    root, in_place = data.draw(st.integers(0, p - 1)), data.draw(st.booleans())
    counts = [data.draw(st.integers(0, 2))] * p
    total = sum(counts)
    drawn = [data.draw(st.lists(st.integers(0, 3), min_size=total, max_size=total)) for _ in range(p)]
    operands = [np.array([(value, rank) for value in drawn[rank]], dtype) for rank in range(p)]

    def combine(left: Array, right: Array) -> Array:
        better = left["value"] > right["value"] if name == "MAXLOC" else left["value"] < right["value"]
        takes_left = better | ((left["value"] == right["value"]) & (left["index"] < right["index"]))
        return np.where(takes_left, left, right).astype(dtype)

    def main(comm: Any) -> Any:
        rank = comm.rank
        whole = call not in ("Reduce_scatter", "Reduce_scatter_block")
        size = total if whole or in_place else counts[rank]
        into = operands[rank].copy() if in_place else np.zeros(size, dtype)
        datatype = getattr(MPI, kind)
        make(call, comm, [operands[rank], datatype], [into, datatype], getattr(MPI, name), counts, root, in_place)
        if (call == "Exscan" and rank == 0) or (call == "Reduce" and rank != root):
            return None
        return into.tolist() if whole else into[: counts[rank]].tolist()

    assert run(main, p) == reduced(call, operands, combine, counts, root)


# -- user-defined operations ---------------------------------------------------------------------------------------

# An element is an interval of ranks (first, last). Two adjacent intervals are joined, in this order only: otherwise the
# result is (-1, -1). So the result shows every operand that is missing, repeated or out of order.


def join(left: Any, right: Any, datatype: Any) -> None:
    """Store the joined intervals in the right operand, with the stride of the datatype."""
    step = datatype.Get_extent()[1] // 4
    a, b = np.frombuffer(left, "i").reshape(-1, step), np.frombuffer(right, "i").reshape(-1, step)
    fits = a[:, 1] + 1 == b[:, 0]
    b[:, 0] = np.where(fits, a[:, 0], -1)
    b[:, 1] = np.where(fits, b[:, 1], -1)


def joined(call: str, p: int, root: int, counts: list[int]) -> list[Any]:
    """The expected interval in a rank's buffer, and its count."""
    total = sum(counts)
    if call == "Reduce":
        return [stretches(0, p - 1, total) if rank == root else None for rank in range(p)]
    if call == "Scan":
        return [stretches(0, rank, total) for rank in range(p)]
    if call == "Exscan":
        return [None, *(stretches(0, rank, total) for rank in range(p - 1))]
    return [stretches(0, p - 1, total if call == "Allreduce" else counts[rank]) for rank in range(p)]


def stretches(first: int, last: int, count: int) -> Any:
    """Return n elements in the form of results."""
    return count, [[first, last]] * min(count, 1)


@pytest.mark.slow
@for_each("table", ["plain", "mpich", "openmpi"])
@for_each("holes", [False, True])
@for_each("call", CALLS)
@settings(max_examples=3)
@given(data=st.data(), p=st.integers(1, 9), in_place=st.booleans(), big=st.booleans())
def test_noncommutative_operations_are_applied_in_rank_order(
    call: str, holes: bool, table: str, data: Data, p: int, in_place: bool, big: bool
) -> None:
    """By every table, for short and long messages, on a contiguous datatype and on one with holes."""
    root = data.draw(st.integers(0, p - 1))
    counts = [data.draw(st.integers(0, 2)) * (600 if big else 1)] * p
    total, step = sum(counts), 3 if holes else 2
    datatype = MPI.INT.Create_contiguous(2).Create_resized(0, 4 * step).Commit()
    whole = call not in ("Reduce_scatter", "Reduce_scatter_block")

    def main(comm: Any) -> Any:
        rank, op = comm.rank, MPI.Op.Create(join)
        mine = np.full((total, step), GAP, "i")
        mine[:, 0] = mine[:, 1] = rank
        into = mine.copy() if in_place else np.full((total if whole else counts[rank], step), GAP, "i")
        make(call, comm, [mine, datatype], [into, datatype], op, counts, root, in_place)
        if holes:
            assert (into[:, 2] == GAP).all()
        if (call == "Exscan" and rank == 0) or (call == "Reduce" and rank != root):
            return None
        found = into[: total if whole else counts[rank], :2]
        return len(found), np.unique(found, axis=0).tolist()

    assert run(main, p, algorithms=table, cost=fakempi.ZeroCost()) == joined(call, p, root, counts)


def test_a_commutative_user_defined_operation(backend: Any) -> None:
    """It gets raw memory and the datatype."""
    seen: list[str] = []

    def main(comm: Any) -> Any:
        def add(left: Any, right: Any, datatype: Any) -> None:
            seen.append(datatype.Get_name())
            np.frombuffer(right, "d")[...] += np.frombuffer(left, "d")

        op, into = MPI.Op.Create(add, commute=True), np.zeros(3)
        comm.Allreduce(np.arange(3.0) + comm.rank, into, op)
        op.Free()
        return into.tolist()

    assert run(main, 5, backend) == [[10, 15, 20]] * 5
    assert set(seen) == {"MPI_DOUBLE"}


def test_an_operation_may_be_freed_while_it_is_used() -> None:
    """The pending call continues with it."""

    def main(comm: Any) -> Any:
        op, into = MPI.Op.Create(join), np.zeros(2, "i")
        pair = MPI.INT.Create_contiguous(2).Commit()
        request = comm.Iallreduce([np.full(2, comm.rank, "i"), pair], [into, pair], op)
        op.Free()
        request.Wait()
        return into.tolist()

    assert run(main, 4) == [[0, 3]] * 4


def test_exscan_leaves_the_first_ranks_buffer_unchanged() -> None:
    """Also a buffer with holes, and in place."""

    def main(comm: Any) -> Any:
        a, b = StridedElements(np.full(2, 5.0), "plain"), StridedElements(np.full(2, 6.0), "shifted")
        comm.Exscan(np.ones(2), a.spec)
        comm.Exscan(MPI.IN_PLACE, b.spec)
        return a.contents(), b.contents()

    assert run(main, 3) == [([5, 5], [6, 6]), ([1, 1], [6, 6]), ([2, 2], [12, 12])]


def test_reduce_scatter_without_counts_infers_them() -> None:
    """From the size of each rank's buffer, as in mpi4py."""

    def main(comm: Any) -> Any:
        into = np.zeros(comm.rank)
        comm.Reduce_scatter(np.arange(6.0), into)
        return into.tolist()

    assert run(main, 4) == [[], [0], [4, 8], [12, 16, 20]]


def test_in_place_the_block_is_at_the_start_of_the_buffer() -> None:
    """The rest is unchanged."""

    def main(comm: Any) -> Any:
        a, b = np.arange(6.0), np.arange(6.0)
        comm.Reduce_scatter_block(MPI.IN_PLACE, a)
        comm.Reduce_scatter(MPI.IN_PLACE, b, [1, 2, 3])
        return a.tolist(), b.tolist()

    assert run(main, 3) == [
        ([0, 3, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]),
        ([6, 9, 2, 3, 4, 5], [3, 6, 2, 3, 4, 5]),
        ([12, 15, 2, 3, 4, 5], [9, 12, 15, 3, 4, 5]),
    ]


@pytest.mark.parametrize("form", FORMS)
def test_sums_of_buffers_described_in_every_form(form: str) -> None:
    """Predefined operations reject derived datatypes, which are the forms with holes; bytes cannot be added."""

    def main(comm: Any) -> Any:
        into = np.zeros(4, "i")
        comm.Allreduce(StridedElements(numbers(comm.rank, 4, "i"), form).spec, into)
        return into.tolist()

    if form in ("holes", "pieces", "bytes"):
        with pytest.raises(fakempi.RankError, match="they must be of one datatype|elements, but recvbuf"):
            run(main, 3)
    else:
        assert run(main, 3) == [sum(numbers(rank, 4, "i") for rank in range(3)).tolist()] * 3  # type: ignore[union-attr]


def test_combining_takes_the_time_of_the_cost_model() -> None:
    """The claimed time: recursive doubling combines once per exchange."""
    cost = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0, compute_per_byte=0.25)
    result = fakempi.run(lambda comm: comm.Allreduce(np.ones(2), np.ones(2)), 8, cost=cost)
    assert result.time == 3 * (8 + 16 * 0.5 + 16 * 0.25)
