"""Arrays of pickled objects, which algorithms copy, send and combine like numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import fakempi
from fakempi.mpi.buffers.objects import pack
from fakempi.mpi.collective.object_arrays import ElementComm, ObjectOp, PickledElement, bcast_elements, one_element
from tests.helpers.runs import run


def parcels(*objects: Any) -> Any:
    """An array of parcels."""
    array = np.empty(len(objects), object)
    for i, each in enumerate(objects):
        array[i] = PickledElement(None, pack(each))
    return array


def contents(array: Any) -> list[Any]:
    """Return the objects in an array."""
    return [each.take() for each in array]


def test_each_copy_is_a_separate_object() -> None:
    """Copies are independent."""
    parcel = PickledElement(None, pack(["a"]))
    one, other = parcel.copy(), parcel.take()
    one.append("b")
    assert (one, other, parcel.copy()) == (["a", "b"], ["a"], ["a"])


def test_a_result_is_pickled_only_when_it_is_sent() -> None:
    """Until then it stays an object."""
    made = ["a"]
    parcel = PickledElement(None, None, made)
    assert parcel.take() is made
    pickled: Any = parcel.packed[0]
    assert parcel.packed[1] == len(pickled)
    assert parcel.take() == made
    assert parcel.take() is not made


def test_combining_keeps_the_left_operand() -> None:
    """For any operation; the right operand becomes the result."""
    left, right = parcels(["a"], ["c"]), parcels(["b"], ["d"])
    ObjectOp(lambda x, y: x.extend(y) or x, None).Reduce_local(left, right)
    assert (contents(left), contents(right)) == ([["a"], ["c"]], [["a", "b"], ["c", "d"]])


def test_several_elements_are_sent_in_one_message(backend: Any) -> None:
    """Blocking, and in both directions at once."""

    def main(comm: Any) -> Any:
        element_comm, other, room, last = ElementComm(comm), 1 - comm.rank, parcels(None, None), one_element(None)
        if comm.rank:
            element_comm.Recv(room, other, 1)
        else:
            element_comm.Send(parcels("a", ["b"]), other, 1)
        element_comm.Sendrecv(parcels([comm.rank]), other, 2, last, other, 2)
        return contents(room), contents(last)

    result = fakempi.run(main, 2, backend=backend)
    assert result.returns == [([None, None], [[1]]), (["a", ["b"]], [[0]])]
    assert result.messages == 3


def test_requests_of_objects_and_of_numbers_are_completed_together(backend: Any) -> None:
    """One, any, or all of them; a parcel is available when its request has completed."""

    def main(comm: Any) -> Any:
        element_comm, rank, p = ElementComm(comm), comm.rank, comm.size
        right, left, room, number = (rank + 1) % p, (rank - 1) % p, one_element(None), np.zeros(1)
        receives = [element_comm.Irecv(room, left, 1), element_comm.Irecv(number, left, 2)]
        sends = [element_comm.Isend(parcels({rank}), right, 1), element_comm.Isend(np.full(1, 7.0), right, 2)]
        for request in sends:
            request.Wait()
        while receives:
            del receives[type(receives[0]).Waitany(receives)]
        found = contents(room)
        requests = [element_comm.Irecv(room, left, 3), element_comm.Isend(parcels("x" * rank), right, 3)]
        type(requests[0]).Waitall(requests)
        return found, number.tolist(), contents(room)

    assert run(main, 3, backend) == [([{left}], [7.0], ["x" * left]) for left in (2, 0, 1)]


def test_objects_in_one_direction_and_numbers_in_the_other() -> None:
    """At the same time."""

    def main(comm: Any) -> Any:
        element_comm, other = ElementComm(comm), 1 - comm.rank
        out, room = (parcels("a"), np.zeros(1)) if comm.rank else (np.full(1, 7.0), one_element(None))
        element_comm.Sendrecv(out, other, 0, room, other, 0)
        return room.tolist() if comm.rank else contents(room)

    assert run(main, 2) == [["a"], [7.0]]


def test_a_broadcast_sends_the_sizes_first() -> None:
    """By the same algorithm; other arrays are sent directly."""
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
            bcast_elements(bcast, None)(ElementComm(comm), each, root=1, tag=0)
        return contents(buf), number.tolist()

    assert run(main, 3) == [(["ab", [1]], [1.0])] * 3
    assert sent == [("i", 2), ("u", pack("ab")[1] + pack([1])[1]), ("f", 1)]
