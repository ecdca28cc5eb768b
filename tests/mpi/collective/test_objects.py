"""Collectives on Python objects: expected results in plain Python; all ranks get copies; any callable is an operation."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.runs import run

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5) | st.binary(max_size=5)
letters = st.text(max_size=2)
objects = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(letters, inner, max_size=2))
one_per_rank = st.integers(1, 9).flatmap(lambda p: st.lists(objects, min_size=p, max_size=p))


@given(data=st.data(), things=one_per_rank)
def test_objects_arrive_complete(backend: Any, data: st.DataObject, things: list[Any]) -> None:
    """By bcast, gather, scatter and allgather, from and to any root."""
    p = len(things)
    root = data.draw(st.integers(0, p - 1))

    def main(comm: Any) -> Any:
        mine = things[comm.rank]
        return (
            comm.bcast(mine if comm.rank == root else "ignored", root),
            comm.gather(mine, root=root),
            comm.scatter(things if comm.rank == root else None, root),
            comm.allgather(mine),
        )

    found = run(main, p, backend)
    assert found == [(things[root], things if r == root else None, things[r], things) for r in range(p)]


@given(data=st.data(), p=st.integers(1, 6))
def test_alltoall_swaps_objects(data: st.DataObject, p: int) -> None:
    """Item j of rank i becomes item i of rank j."""
    table = data.draw(st.lists(st.lists(objects, min_size=p, max_size=p), min_size=p, max_size=p))
    found = run(lambda comm: comm.alltoall(table[comm.rank]), p)
    assert found == [[table[i][j] for i in range(p)] for j in range(p)]


@given(data=st.data(), words=st.lists(st.text(max_size=3), min_size=1, max_size=9))
def test_reductions_keep_rank_order(backend: Any, data: st.DataObject, words: list[str]) -> None:
    """String concatenation shows it."""
    p, root = len(words), data.draw(st.integers(0, len(words) - 1))

    def main(comm: Any) -> Any:
        mine = words[comm.rank]
        return comm.reduce(mine, root=root), comm.allreduce(mine), comm.scan(mine), comm.exscan(mine)

    prefixes = ["".join(words[: rank + 1]) for rank in range(p)]
    assert run(main, p, backend) == [
        (prefixes[-1] if r == root else None, prefixes[-1], prefixes[r], prefixes[r - 1] if r else None) for r in range(p)
    ]


PREDEFINED: dict[str, Callable[[Any, Any], Any]] = {
    "SUM": operator.add, "PROD": operator.mul, "MAX": max, "MIN": min, "BAND": operator.and_, "BOR": operator.or_,
    "BXOR": operator.xor, "LAND": lambda x, y: bool(x and y), "LOR": lambda x, y: bool(x or y),
    "LXOR": lambda x, y: bool(x) != bool(y),
}  # fmt: skip


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", PREDEFINED)
@given(values=st.lists(st.integers(-5, 5), min_size=2, max_size=9))
@settings(max_examples=8)
def test_predefined_operations_on_integers(name: str, values: list[int]) -> None:
    """They equal Python's."""
    op, oracle = getattr(MPI, name), PREDEFINED[name]

    def main(comm: Any) -> Any:
        return comm.allreduce(values[comm.rank], op=op), comm.scan(values[comm.rank], op)

    total = reduce(oracle, values)
    assert run(main, len(values)) == [(total, reduce(oracle, values[: rank + 1])) for rank in range(len(values))]


def test_the_best_of_pairs_has_its_index() -> None:
    """For equal values, the smaller index."""

    def main(comm: Any) -> Any:
        pair = comm.rank % 3, comm.rank
        return comm.allreduce(pair, MPI.MAXLOC), comm.allreduce(pair, op=MPI.MINLOC)

    assert run(main, 7) == [((2, 2), (0, 0))] * 7


def test_any_callable_is_an_operation() -> None:
    """A function, a lambda, an object, an operation created by Op.Create; numpy arrays may be operands."""

    class Longest:
        def __call__(self, one: str, other: str) -> str:
            return max(one, other, key=len)

    def main(comm: Any) -> Any:
        created = MPI.Op.Create(lambda x, y, datatype: (x, y, datatype))  # type: ignore[arg-type]
        return (
            comm.allreduce("x" * comm.rank, Longest()),
            comm.reduce([comm.rank], lambda x, y: y + x),
            comm.allreduce(np.arange(3) + comm.rank, np.maximum).tolist(),
            comm.allreduce(comm.rank, created),
            comm.reduce({comm.rank}, set.union, root=2),
        )

    found = run(main, 3)
    assert found == [
        ("xx", [2, 1, 0] if rank == 0 else None, [2, 3, 4], ((0, 1, None), 2, None), {0, 1, 2} if rank == 2 else None)
        for rank in range(3)
    ]


def test_an_operation_may_return_none() -> None:
    """None is an ordinary value."""

    def main(comm: Any) -> Any:
        seen: list[Any] = []

        def forget(x: Any, y: Any) -> None:
            seen.append((x, y))

        return comm.allreduce(comm.rank, forget), comm.exscan(comm.rank, forget), comm.scan(None, lambda x, y: "met")

    found = run(main, 4)
    assert [each[2] for each in found] == [None, "met", "met", "met"]
    assert [each[:2] for each in found] == [(None, None), (None, 0), (None, None), (None, None)]


def test_every_rank_gets_a_copy() -> None:
    """The rank's own object is copied too, also on a single rank."""

    def main(comm: Any) -> Any:
        mine = [comm.rank]
        came = [
            comm.bcast(mine),
            comm.allgather(mine)[comm.rank],
            comm.alltoall([mine] * comm.size)[comm.rank],
            comm.scatter([mine] * comm.size if comm.rank == 0 else None),
            comm.allreduce(mine, lambda x, y: x),
            comm.scan(mine, lambda x, y: y),
        ]
        gathered = comm.gather(mine)
        if gathered is not None:
            came += [gathered[0], comm.reduce(mine, lambda x, y: x)]
        else:
            comm.reduce(mine, lambda x, y: x)
        return [thing is mine for thing in came]

    for p in (1, 3):
        assert not any(any(each) for each in run(main, p))


@pytest.mark.parametrize("spoil", ["left", "right", "both"])
def test_an_operation_may_change_its_operands(spoil: str) -> None:
    """The arguments and other results are unchanged."""

    def join(x: list[int], y: list[int]) -> list[int]:
        result = x + y
        if spoil != "right":
            x[:] = result
        if spoil != "left":
            y[:] = result
        return x if spoil == "left" else y

    def main(comm: Any) -> Any:
        mine = [comm.rank]
        found = [comm.allreduce(mine, join), comm.scan(mine, join), comm.exscan(mine, join), comm.reduce(mine, join)]
        return [*found, mine]

    for p in (1, 2, 3, 5, 8):
        everything = list(range(p))
        assert run(main, p) == [
            [everything, everything[: r + 1], everything[:r] or None, None if r else everything, [r]] for r in range(p)
        ]


def test_scatter_takes_any_iterable() -> None:
    """As in mpi4py, where None means None for every rank."""

    def main(comm: Any) -> Any:
        return (
            comm.scatter((letter for letter in "abc") if comm.rank == 0 else None),
            comm.scatter({"x": 1, "y": 2, "z": 3} if comm.rank == 0 else None),
            comm.scatter(None),
            comm.alltoall(None),
            comm.alltoall("uvw"),
        )

    assert run(main, 3) == [("abc"[r], "xyz"[r], None, [None] * 3, ["uvw"[r]] * 3) for r in range(3)]


def test_objects_that_cannot_be_pickled_raise() -> None:
    """The error is pickle's."""
    with pytest.raises(fakempi.RankError, match="(?i)pickle|local object"):
        run(lambda comm: comm.bcast(lambda: None), 2)


def test_pickle_settings_of_a_rank_are_used() -> None:
    """Settings of other ranks are not used."""

    def main(comm: Any) -> Any:
        MPI.pickle.PROTOCOL = 2
        return comm.allgather([comm.rank]), comm.allreduce([comm.rank])

    assert run(main, 2) == [([[0], [1]], [0, 1])] * 2


def test_large_objects_take_modeled_time() -> None:
    """The modeled time is that of their pickles: first the size, 8 bytes, then the bytes, along a binomial tree."""
    cost = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)
    data = bytes(10_000)
    requested = {"bcast": "binomial"}
    result = fakempi.run(lambda comm: len(comm.bcast(data if comm.rank == 0 else None)), 4, cost=cost, algorithms=requested)
    pickled = 10_000 + 6 + 12  # opcode, length and framing
    assert result.returns == [10_000] * 4
    assert result.time == 2 * (8 + 4) + 2 * (8 + pickled * 0.5)


def test_barrier_in_lower_case_is_a_barrier() -> None:
    """No rank leaves before all ranks have called."""

    def main(comm: Any) -> Any:
        fakempi.compute(comm.rank)
        comm.barrier()
        return MPI.Wtime()

    assert min(run(main, 4)) >= 3
