"""Parcels: objects in arrays, which algorithms copy, send and combine as they do numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import fakempi
from fakempi.mpi.buffers.objects import pack
from fakempi.mpi.collective.parcels import Combining, Courier, Parcel, one_parcel, sizes_first
from tests.mpi.collective.calls import run


def parcels(*objects: Any) -> Any:
    """An array of them."""
    array = np.empty(len(objects), object)
    for i, each in enumerate(objects):
        array[i] = Parcel(None, pack(each))
    return array


def contents(array: Any) -> list[Any]:
    """What is in them."""
    return [each.take() for each in array]


def test_each_copy_is_an_object_of_its_own() -> None:
    """What is done to one does not show in another."""
    parcel = Parcel(None, pack(["a"]))
    one, other = parcel.copy(), parcel.take()
    one.append("b")
    assert (one, other, parcel.copy()) == (["a", "b"], ["a"], ["a"])


def test_what_was_made_is_pickled_when_somebody_else_wants_it() -> None:
    """And is itself until then."""
    made = ["a"]
    parcel = Parcel(None, None, made)
    assert parcel.take() is made
    assert parcel.packed[1] == len(parcel.packed[0])
    assert parcel.take() == made
    assert parcel.take() is not made


def test_combining_keeps_the_left_operand() -> None:
    """Whatever the operation does to it; the right one becomes the result."""
    left, right = parcels(["a"], ["c"]), parcels(["b"], ["d"])
    Combining(lambda x, y: x.extend(y) or x, None).Reduce_local(left, right)
    assert (contents(left), contents(right)) == ([["a"], ["c"]], [["a", "b"], ["c", "d"]])


def test_several_elements_travel_in_one_message(carrier: str) -> None:
    """Blocking, and both ways at once."""

    def main(comm: Any) -> Any:
        courier, other, room, last = Courier(comm), 1 - comm.rank, parcels(None, None), one_parcel(None)
        if comm.rank:
            courier.Recv(room, other, 1)
        else:
            courier.Send(parcels("a", ["b"]), other, 1)
        courier.Sendrecv(parcels([comm.rank]), other, 2, last, other, 2)
        return contents(room), contents(last)

    result = fakempi.run(main, 2, carrier=carrier)
    assert result.returns == [([None, None], [[1]]), (["a", ["b"]], [[0]])]
    assert result.messages == 3


def test_requests_of_parcels_and_of_numbers_are_waited_for_together(carrier: str) -> None:
    """One, any, or all of them; a parcel is there when its request has ended."""

    def main(comm: Any) -> Any:
        courier, rank, p = Courier(comm), comm.rank, comm.size
        right, left, room, number = (rank + 1) % p, (rank - 1) % p, one_parcel(None), np.zeros(1)
        receives = [courier.Irecv(room, left, 1), courier.Irecv(number, left, 2)]
        sends = [courier.Isend(parcels({rank}), right, 1), courier.Isend(np.full(1, 7.0), right, 2)]
        for request in sends:
            request.Wait()
        while receives:
            del receives[type(receives[0]).Waitany(receives)]
        found = contents(room)
        requests = [courier.Irecv(room, left, 3), courier.Isend(parcels("x" * rank), right, 3)]
        type(requests[0]).Waitall(requests)
        return found, number.tolist(), contents(room)

    assert run(main, 3, carrier) == [([{left}], [7.0], ["x" * left]) for left in (2, 0, 1)]


def test_parcels_one_way_and_numbers_the_other() -> None:
    """At the same time."""

    def main(comm: Any) -> Any:
        courier, other = Courier(comm), 1 - comm.rank
        out, room = (parcels("a"), np.zeros(1)) if comm.rank else (np.full(1, 7.0), one_parcel(None))
        courier.Sendrecv(out, other, 0, room, other, 0)
        return room.tolist() if comm.rank else contents(room)

    assert run(main, 2) == [["a"], [7.0]]


def test_a_broadcast_tells_the_sizes_first() -> None:
    """By the same algorithm; what is no parcel goes as it is."""
    sent: list[tuple[str, int]] = []

    def bcast(comm: Any, buf: Any, *, root: int, tag: int) -> None:
        if comm.Get_rank() != root:
            comm.Recv(buf, root, tag)
            return
        sent.append((buf.dtype.kind, buf.size))
        for other in range(comm.Get_size()):
            if other != root:
                comm.Send(buf, other, tag)

    def main(comm: Any) -> Any:
        buf, number = parcels("ab", [1]) if comm.rank == 1 else parcels(None, None), np.full(1, float(comm.rank))
        for each in buf, number:
            sizes_first(bcast, None)(Courier(comm), each, root=1, tag=0)
        return contents(buf), number.tolist()

    assert run(main, 3) == [(["ab", [1]], [1.0])] * 3
    assert sent == [("i", 2), ("u", pack("ab")[1] + pack([1])[1]), ("f", 1)]
