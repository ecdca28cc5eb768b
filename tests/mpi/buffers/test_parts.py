"""Large memory beside pickles: the same bytes and sizes as within them, and nobody's memory is another's."""

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
from fakempi.mpi.buffers.objects import in_a_row, pack, unpack
from fakempi.mpi.buffers.parts import LARGE, Pickled, copied, parts_of
from fakempi.mpi.buffers.payload import as_bytes

HIGHEST = standard.HIGHEST_PROTOCOL
COST = Hockney(t_s=2.0**-10, t_w=2.0**-30, eager_limit=4096)
DOUBLES = LARGE // 8


@pytest.fixture(autouse=True)
def nothing_was_large_lately() -> Iterator[None]:
    """Tests do not hang on each other."""
    objects._lately.clear()
    yield
    objects._lately.clear()


class Column:
    """Reduces itself to memory, as tables do."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __reduce_ex__(self, protocol: Any) -> Any:
        return rebuilt, (standard.PickleBuffer(self.values),)


def rebuilt(memory: Any) -> Column:
    """What a pickle of one calls."""
    return Column(memoryview(memory).cast("B"))


class Named(np.ndarray[Any, Any]):
    """A subclass, of which numpy copies the memory itself."""


def read_only(array: Any) -> Any:
    """The same, which cannot be changed."""
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
    "memory of its own": lambda: Column(bytearray(LARGE)),
    "memory of an array": lambda: Column(np.arange(DOUBLES * 1.0)),
    "read-only memory": lambda: Column(bytes(LARGE)),
    "PickleBuffer": lambda: standard.PickleBuffer(bytearray(LARGE)),
}


def plainly(obj: Any) -> Any:
    """As the standard library alone hands it over."""
    return standard.loads(standard.dumps(obj, HIGHEST))


def told(obj: Any) -> Any:
    """All there is to tell about an object, but where it is."""
    if isinstance(obj, np.ndarray) and obj.dtype.hasobject:
        return type(obj), [told(each) for each in obj.tolist()]
    if isinstance(obj, np.ndarray):
        order = obj.flags.c_contiguous, obj.flags.f_contiguous, obj.flags.writeable
        return type(obj), obj.dtype, obj.shape, order, obj.tobytes()
    if isinstance(obj, Column):
        return obj.values.readonly, obj.values.tobytes()
    if isinstance(obj, dict):
        return [(key, told(value)) for key, value in obj.items()]
    return (type(obj), [told(each) for each in obj]) if isinstance(obj, (list, tuple)) else (type(obj), obj)


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_parts_are_the_bytes_of_the_pickle_and_load_as_they_do(make: Callable[[], Any]) -> None:
    """Whatever is in it; and the size of the message is that of the pickle, if it is sent for the first time or again."""
    obj = make()
    data = standard.dumps(obj, HIGHEST)
    assert b"".join(parts_of(obj)) == data
    for _ in range(3):
        payload, nbytes = pack(obj)
        assert nbytes == len(data)
        assert as_bytes(payload, nbytes) == data
        assert told(unpack(payload, nbytes)) == told(unpack(payload, nbytes, take=True)) == told(plainly(obj))
    row, sizes = in_a_row([obj, 1, obj], None)
    assert row.tobytes() == data + standard.dumps(1, HIGHEST) + data
    assert sizes.tolist() == [len(data), 5, len(data)]


LEAVES = st.sampled_from(
    [*(MAKE[name]() for name in ("array", "read-only array", "bytearray", "bytes")), np.arange(4), 7, "x"]
)
TREES = st.recursive(LEAVES, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=3))


@given(st.lists(TREES, max_size=4))
@settings(max_examples=25, deadline=None)
def test_any_tree_with_large_leaves_is_handed_over_as_by_its_pickle(tree: Any) -> None:
    """Also where one leaf is there several times, which it is afterwards, too."""
    data = standard.dumps(tree, HIGHEST)
    payload = copied(parts_of(tree))
    assert as_bytes(payload, len(data)) == data
    assert told(unpack(payload, len(data))) == told(tree)
    assert standard.dumps(unpack(payload, len(data), take=True), HIGHEST) == standard.dumps(plainly(tree), HIGHEST)


def test_a_copy_is_made_when_it_is_sent_and_one_for_each_who_asks() -> None:
    """What the sender changes nobody sees; nor what one receiver changes, another."""
    array = np.arange(DOUBLES * 1.0)
    payload, nbytes = pack(array)
    assert type(payload) is Pickled
    array[:] = 0
    first, second = unpack(payload, nbytes), unpack(payload, nbytes)
    first[:] = 1
    last = unpack(payload, nbytes, take=True)
    assert second.tolist() == last.tolist() == list(range(DOUBLES))
    assert not np.shares_memory(second, last)


def test_types_that_were_large_lately_are_tried_in_parts() -> None:
    """From the second on; after some that were not large, no more."""
    large, small = {"a": np.arange(DOUBLES * 1.0)}, {"a": 1}
    assert [type(pack(large)[0]) for _ in range(3)] == [bytes, Pickled, Pickled]
    assert {type(pack(small)[0]) for _ in range(objects._CHANCES)} == {bytes}
    assert objects._lately == {}
    assert [type(pack(each)[0]) for each in (large, small, large, small, large)] == [bytes, bytes, Pickled, bytes, Pickled]


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
def test_every_rank_has_an_array_of_its_own(carrier: str) -> None:
    """By messages, by collectives, and by reductions with an operation that changes what it is given."""

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

    returns = fakempi.run(program, 3, carrier=carrier).returns
    for rank in range(3):
        expected = [(rank - 1) % 3, 1, 0, 1, 2, rank, 0, 1, 2, 3, 3]
        assert returns[rank] == [[float(value)] * 2 for value in expected]


def exchange(comm: Any, plain: bool) -> Any:
    """Objects in several ways; with what is in their pickles, if so wanted."""
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


def test_modelled_time_messages_and_bytes_are_those_of_the_pickles() -> None:
    """Where memory stays does not show in any number."""
    beside, within = (fakempi.run(exchange, 2, plain, cost=COST) for plain in (False, True))
    assert (beside.time, beside.messages, beside.bytes, beside.returns) == (
        within.time, within.messages, within.bytes, within.returns,
    )  # fmt: skip


def test_functions_of_the_program_get_and_give_whole_pickles() -> None:
    """Those of the sender, of the receiver, or of both."""

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
