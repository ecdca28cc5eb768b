"""Large memory outside pickles: the same bytes and sizes as inside, and no two ranks share memory."""

from __future__ import annotations

import pickle as standard
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney
from fakempi.mpi.buffers import objects
from fakempi.mpi.buffers.objects import pack, pack_all, unpack
from fakempi.mpi.buffers.out_of_band import LARGE, Pickled, copied, parts_of
from fakempi.mpi.buffers.payload import as_bytes
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

HIGHEST = standard.HIGHEST_PROTOCOL
COST = Hockney(t_s=2.0**-10, t_w=2.0**-30, eager_limit=4096)
DOUBLES = LARGE // 8


@pytest.fixture(autouse=True)
def nothing_was_large_lately() -> Iterator[None]:
    """Isolate tests from each other."""
    objects._large_types.clear()
    yield
    objects._large_types.clear()


class Column:
    """Reduces to its memory, as tables do."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuilt, (standard.PickleBuffer(self.values),)


def rebuilt(memory: Any) -> Column:
    """The function that its pickle calls."""
    return Column(memoryview(memory).cast("B"))


class Named(np.ndarray[Any, Any]):
    """A subclass whose memory numpy copies itself."""


def read_only(array: Any) -> Any:
    """The same, read-only."""
    array.flags.writeable = False
    return array


def twice(obj: Any) -> list[Any]:
    """An object that is in a list twice."""
    return [obj, obj]


MAKE: dict[str, Callable[[], Any]] = {
    "just too small": lambda: np.arange(DOUBLES - 1.0),
    "array": lambda: np.arange(DOUBLES * 1.0),
    "read-only array": lambda: read_only(np.arange(DOUBLES * 1.0)),
    "Fortran's order": lambda: np.asfortranarray(np.arange(DOUBLES * 2.0).reshape(DOUBLES, 2)),
    "columns": lambda: np.arange(DOUBLES * 4.0).reshape(DOUBLES, 4)[:, ::2],
    "backwards": lambda: np.arange(DOUBLES * 1.0)[::-1],
    "records": lambda: np.zeros(DOUBLES, [("a", "i4"), ("b", "f8")]),
    "other byte order": lambda: np.arange(DOUBLES * 1.0).astype(">f8"),
    "characters": lambda: np.full(LARGE, "x"),
    "subclass": lambda: np.arange(DOUBLES * 1.0).view(Named),
    "masked": lambda: np.ma.masked_array(np.arange(DOUBLES * 1.0), np.arange(DOUBLES) % 2 == 0),
    "array of objects": lambda: np.array([None, np.arange(DOUBLES * 1.0), "x"], object),
    "bytearray": lambda: bytearray(range(256)) * (LARGE // 256),
    "bytes": lambda: bytes(LARGE),
    "string": lambda: "x" * LARGE,
    "in a tree": lambda: {"a": [1, np.arange(DOUBLES * 1.0)], "b": (bytearray(LARGE), "x" * LARGE, np.arange(3)), "c": {2}},
    "one array twice": lambda: twice(np.arange(DOUBLES * 1.0)),
    "much that is small": lambda: [[i, str(i)] for i in range(3_000)] + [np.arange(DOUBLES * 1.0), [1, 2]],
    "separate memory": lambda: Column(bytearray(LARGE)),
    "memory of an array": lambda: Column(np.arange(DOUBLES * 1.0)),
    "read-only memory": lambda: Column(bytes(LARGE)),
    "PickleBuffer": lambda: standard.PickleBuffer(bytearray(LARGE)),
}


def standard_copy(obj: Any) -> Any:
    """The object as copied by the standard library alone."""
    return standard.loads(standard.dumps(obj, HIGHEST))


def described(obj: Any) -> Any:
    """Everything that can be observed of an object except its address."""
    if isinstance(obj, np.ndarray) and obj.dtype.hasobject:
        return type(obj), [described(each) for each in obj.tolist()]
    if isinstance(obj, np.ndarray):
        order = obj.flags.c_contiguous, obj.flags.f_contiguous, obj.flags.writeable
        return type(obj), obj.dtype, obj.shape, order, obj.tobytes()
    if isinstance(obj, Column):
        return obj.values.readonly, obj.values.tobytes()
    if isinstance(obj, dict):
        return [(key, described(value)) for key, value in obj.items()]
    return (type(obj), [described(each) for each in obj]) if isinstance(obj, (list, tuple)) else (type(obj), obj)


@for_each("make", MAKE.values())
def test_parts_are_the_bytes_of_the_pickle_and_load_like_it(make: Callable[[], Any]) -> None:
    """For any contents; the size of the message is that of the pickle, for the first and for repeated sends."""
    obj = make()
    data = standard.dumps(obj, HIGHEST)
    parts: Any = parts_of(obj)
    assert b"".join(parts) == data
    for _ in range(3):
        payload, nbytes = pack(obj)
        assert nbytes == len(data)
        assert as_bytes(payload, nbytes) == data
        expected = described(standard_copy(obj))
        assert described(unpack(payload, nbytes)) == described(unpack(payload, nbytes, take=True)) == expected
    row, sizes = pack_all([obj, 1, obj], None)
    assert row.tobytes() == data + standard.dumps(1, HIGHEST) + data
    assert sizes.tolist() == [len(data), 5, len(data)]


LEAVES = st.sampled_from(
    [*(MAKE[name]() for name in ("array", "read-only array", "bytearray", "bytes")), np.arange(4), 7, "x"]
)
TREES = st.recursive(LEAVES, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=3))


@given(st.lists(TREES, max_size=4))
@settings(max_examples=examples(25), deadline=None)
def test_any_tree_with_large_leaves_is_copied_like_its_pickle(tree: Any) -> None:
    """Also if a leaf occurs several times; it is one object afterwards, too."""
    data = standard.dumps(tree, HIGHEST)
    payload = copied(parts_of(tree))
    assert as_bytes(payload, len(data)) == data
    assert described(unpack(payload, len(data))) == described(tree)
    assert standard.dumps(unpack(payload, len(data), take=True), HIGHEST) == standard.dumps(standard_copy(tree), HIGHEST)


def test_a_copy_is_made_when_it_is_sent_and_one_per_receiver() -> None:
    """Changes by the sender or by a receiver are not visible to others."""
    array = np.arange(DOUBLES * 1.0)
    payload, nbytes = pack(array)
    assert type(payload) is Pickled
    array[:] = 0
    first, second = unpack(payload, nbytes), unpack(payload, nbytes)
    first[:] = 1
    last = unpack(payload, nbytes, take=True)
    assert second.tolist() == last.tolist() == list(range(DOUBLES))
    assert not np.shares_memory(second, last)


def test_types_that_were_large_recently_are_tried_in_parts() -> None:
    """From the second object on; after several small ones no longer."""
    large, small = {"a": np.arange(DOUBLES * 1.0)}, {"a": 1}
    assert [type(pack(large)[0]) for _ in range(3)] == [bytes, Pickled, Pickled]
    assert {type(pack(small)[0]) for _ in range(objects._TRIES)} == {bytes}
    assert objects._large_types == {}
    assert [type(pack(each)[0]) for each in (large, small, large, small, large)] == [bytes, bytes, Pickled, bytes, Pickled]


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
def test_every_rank_has_a_separate_array(backend: Any) -> None:
    """By messages, by collectives, and by reductions with an operation that changes its operands."""

    def program(comm: Any) -> list[Any]:
        mine = np.full(DOUBLES, float(comm.rank))
        request = comm.isend(mine, (comm.rank + 1) % comm.size)
        mine[:] = -1
        got = [comm.recv(source=(comm.rank - 1) % comm.size)]
        request.wait()
        mine[:] = comm.rank
        got += [comm.bcast(mine, 1), *comm.allgather(mine), comm.scatter([mine + i for i in range(comm.size)], 0)]
        got += comm.alltoall([mine] * comm.size)
        got.append(comm.allreduce(mine, add_into))
        got.append(comm.allreduce({"a": mine}, lambda a, b: {"a": add_into(a["a"], b["a"])})["a"])
        found = [array[[0, -1]].tolist() for array in got]
        for array in got:
            array[:] = np.nan
        comm.Barrier()
        assert mine.tolist() == [float(comm.rank)] * DOUBLES
        return found

    def add_into(one: Any, other: Any) -> Any:
        one += other
        other[:] = np.nan
        return one

    returns = fakempi.run(program, 3, backend=backend).returns
    for rank in range(3):
        expected = [(rank - 1) % 3, 1, 0, 1, 2, rank, 0, 1, 2, 3, 3]
        assert returns[rank] == [[float(value)] * 2 for value in expected]


def exchange(comm: Any, plain: bool) -> Any:
    """Objects in several forms, optionally with the contents of their pickles."""
    if plain:
        MPI.pickle.__init__(standard.dumps, standard.loads)  # type: ignore[misc]
    mine, other = {"a": np.full(DOUBLES + comm.rank, 1.0)}, 1 - comm.rank
    for _ in range(2):
        comm.sendrecv(mine, other, source=other)
        comm.bcast(mine["a"])
        comm.gather(mine)
        comm.allreduce(mine["a"][:DOUBLES])
    status = MPI.Status()
    comm.sendrecv(mine["a"], other, source=other, status=status)
    return status.Get_count(MPI.BYTE), comm.Get_rank(), MPI.Wtime()


def test_modeled_time_messages_and_bytes_are_those_of_the_pickles() -> None:
    """No number depends on where the memory is."""
    separate, within = (fakempi.run(exchange, 2, plain, cost=COST) for plain in (False, True))
    assert (separate.time, separate.messages, separate.bytes, separate.returns) == (
        within.time, within.messages, within.bytes, within.returns,
    )  # fmt: skip


def test_custom_functions_get_and_return_whole_pickles() -> None:
    """Functions of the sender, of the receiver, or of both."""

    def program(comm: Any, who: list[int]) -> Any:
        calls: list[Any] = []

        def dumps(obj: Any) -> bytes:
            calls.append("dumps")
            return standard.dumps(obj, 4)

        def loads(data: Any) -> Any:
            calls.append((type(data), len(data)))
            return standard.loads(data)

        if comm.rank in who:
            MPI.pickle.__init__(dumps, loads)  # type: ignore[misc]
        got = comm.sendrecv(np.arange(DOUBLES * 1.0), 1 - comm.rank, source=1 - comm.rank)
        assert got.tolist() == list(range(DOUBLES))
        return calls

    sizes = [len(standard.dumps(np.arange(DOUBLES * 1.0), protocol)) for protocol in (HIGHEST, 4)]
    assert fakempi.run(program, 2, [0]).returns == [["dumps", (bytes, sizes[0])], []]
    assert fakempi.run(program, 2, [0, 1]).returns == [["dumps", (bytes, sizes[1])]] * 2


def test_a_buffer_gets_the_whole_pickle() -> None:
    """Received by Recv, or into mpi4py's `buf`."""

    def program(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.send(np.arange(DOUBLES * 1.0), 1) for _ in range(2)]
        rooms = [bytearray(LARGE + 1000), bytearray(LARGE + 1000)]
        comm.Recv([rooms[0], MPI.BYTE], 0)
        got = comm.irecv(rooms[1], 0).wait()
        return rooms, got.tolist()

    data = standard.dumps(np.arange(DOUBLES * 1.0), HIGHEST)
    rooms, got = fakempi.run(program, 2).returns[1]
    assert [bytes(room[: len(data)]) for room in rooms] == [data, data]
    assert got == list(range(DOUBLES))
