"""Point-to-point communication of Python objects: every form, and isolation as by a real network."""

from __future__ import annotations

import json
import pickle
import re
from collections import namedtuple
from dataclasses import dataclass, field
from linecache import getline
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.helpers.runs import run

SENDS = ["send", "ssend", "bsend", "isend", "issend", "ibsend"]
Pair = namedtuple("Pair", "first second")


@dataclass
class Box:
    """A user-defined class."""

    name: str
    things: list[Any] = field(default_factory=list)


class Loud(int):
    """A subclass of int with an attribute."""

    note: str = ""


def ship(comm: Any, call: str, thing: Any, dest: int, tag: int = 0) -> None:
    """Send in some mode, and complete the send."""
    request = getattr(comm, call)(thing, dest, tag)
    if request is not None:
        assert request.wait() is None


# -- contents ------------------------------------------------------------------------------------------------------


@for_each("receive", ["recv", "irecv", "mprobe"])
@for_each("call", SENDS)
def test_every_mode_delivers(backend: Any, call: str, receive: str) -> None:
    """For any receive call."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
            ship(comm, call, {"a": [1, 2.5, "x"]}, 1, 3)
            return None
        if receive == "recv":
            return comm.recv(source=0, tag=3)
        if receive == "irecv":
            return comm.irecv(source=0, tag=3).wait()
        return comm.mprobe(0, 3).recv()

    assert run(main, 2, backend)[1] == {"a": [1, 2.5, "x"]}


THINGS = [
    None, True, 0, -1, 255, 2**31, -(2**63), 2**4000, 1.5, float("inf"), 1j, "", "text", "\udcff", b"", b"bytes" * 99,
    (), (1,), (1, 2.0, None, True), (1, (2, [3])), [], [[1], [2]], {}, {"k": (1, 2)}, {1, 2}, frozenset([3]), range(4),
    Pair(1, [2]), Box("b", [1]), slice(1, 2), int, len, Ellipsis, NotImplemented,
]  # fmt: skip


@for_each("thing", THINGS)
def test_objects_of_all_types_arrive_unchanged(thing: Any) -> None:
    """Equal, and of the same type."""

    def main(comm: Any) -> Any:
        return comm.sendrecv(thing, 0, source=0)

    (received,) = run(main, 1)
    assert received == thing
    assert type(received) is type(thing)


def test_attributes_of_a_subclass_arrive() -> None:
    """An int with an attribute is not sent as a plain int."""

    def main(comm: Any) -> Any:
        sent = Loud(5)
        sent.note = "!"
        received = comm.sendrecv(sent, 0, source=0)
        return type(received) is Loud, received + 1, received.note

    assert run(main, 1) == [(True, 6, "!")]


def test_arrays_can_be_sent_as_objects() -> None:
    """For any layout."""

    def main(comm: Any) -> Any:
        received = comm.sendrecv(np.arange(6).reshape(2, 3)[:, ::2], 0, source=0)
        return received.tolist(), received.dtype == np.arange(1).dtype

    assert run(main, 1) == [([[0, 2], [3, 5]], True)]


def test_predefined_communicators_can_be_sent() -> None:
    """They refer to the receiver's."""

    def main(comm: Any) -> Any:
        other = 1 - comm.rank
        world, nothing, integer = comm.sendrecv((MPI.COMM_WORLD, MPI.COMM_NULL, MPI.INT), other, source=other)
        return world is comm, nothing is MPI.COMM_NULL, integer is MPI.INT

    assert run(main, 2) == [(True, True, True)] * 2


# -- isolation -----------------------------------------------------------------------------------------------------


@for_each("call", SENDS)
@for_each("filling", [0, 100_000])
def test_later_changes_of_a_sender_are_not_received(backend: Any, call: str, filling: int) -> None:
    """Not even between the start of a send and its completion, since it is pickled at the start."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            MPI.Attach_buffer(MPI.BUFFER_AUTOMATIC)
            thing: Any = {"list": [1, 2], "box": Box("b"), "filling": b"." * filling}
            request = getattr(comm, call)(thing, 1)
            thing["list"].append(3)
            thing["box"].things.append("late")
            if request is not None:
                request.wait()
            return None
        received = comm.recv()
        return received["list"], received["box"]

    assert run(main, 2, backend)[1] == ([1, 2], Box("b"))


def test_changes_of_a_receiver_are_not_visible_to_the_sender(backend: Any) -> None:
    """To another receiver of the same object neither."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            thing = [[0], {"k": [1]}]
            for dest in (1, 2):
                comm.send(thing, dest)
            for source in (1, 2):
                comm.recv(source=source)
            return thing
        received = comm.recv(source=0)
        received[0].append(comm.rank)
        received[1]["k"].clear()
        comm.send(None, 0)
        return received

    assert run(main, 3, backend) == [[[0], {"k": [1]}], [[0, 1], {"k": []}], [[0, 2], {"k": []}]]


def test_a_message_to_the_same_rank_is_a_copy() -> None:
    """For all mutable objects, including tuples that contain them."""

    def main(comm: Any) -> Any:
        sent: Any = ([], 1)
        received = comm.sendrecv(sent, 0, source=0)
        received[0].append(2)
        return sent, received

    assert run(main, 1) == [(([], 1), ([2], 1))]


def test_two_references_to_one_object_stay_one_object() -> None:
    """Inside a message; between messages they are two."""

    def main(comm: Any) -> Any:
        shared: list[int] = []
        one, two = comm.sendrecv((shared, shared), 0, source=0)
        other = comm.sendrecv(shared, 0, source=0)
        return one is two, one is other, one is shared

    assert run(main, 1) == [(True, False, False)]


# -- statuses, sizes, PROC_NULL ------------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [None, 7, 3.5, "text" * 100, (1, 2), [1, 2], {"a": b"x"}], ids=repr)
def test_the_size_of_a_message_is_that_of_the_pickle(thing: Any) -> None:
    """As in mpi4py, even if nothing was pickled here."""

    def main(comm: Any) -> Any:
        status = MPI.Status()
        comm.isend(thing, 0, 6)
        comm.probe(status=status)
        probed = status.source, status.tag, status.count
        comm.recv(status=status)
        return probed, (status.source, status.tag, status.count)

    size = len(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL))
    assert run(main, 1) == [((0, 6, size), (0, 6, size))]


def test_objects_to_and_from_proc_null() -> None:
    """None is received, at once."""

    def main(comm: Any) -> Any:
        for call in SENDS:
            ship(comm, call, [1], MPI.PROC_NULL)
        status = MPI.Status()
        received = [
            comm.recv(source=MPI.PROC_NULL, status=status),
            comm.irecv(source=MPI.PROC_NULL).wait(),
            comm.sendrecv(1, MPI.PROC_NULL, source=MPI.PROC_NULL),
            comm.mprobe(MPI.PROC_NULL).recv(),
        ]
        return received, status.source == MPI.PROC_NULL, status.tag, status.count, MPI.Wtime()

    assert run(main, 1) == [([None] * 4, True, MPI.ANY_TAG, 0, 0.0)]


@pytest.mark.parametrize("receive", ["recv", "irecv"])
def test_an_empty_buffer_is_received_as_none(receive: str) -> None:
    """As in mpi4py."""

    def main(comm: Any) -> Any:
        comm.Isend(b"", 0)
        return comm.recv() if receive == "recv" else comm.irecv().wait()

    assert run(main, 1) == [None]


def test_a_buffer_that_holds_a_pickle_is_received_as_the_object() -> None:
    """An object can be received as the bytes of its pickle, too."""

    def main(comm: Any) -> Any:
        comm.Isend(np.frombuffer(MPI.pickle.dumps([1, 2]), "u1"), 0)
        thing = comm.recv()
        comm.isend((3, 4), 0)
        raw, status = bytearray(100), MPI.Status()
        comm.Recv(raw, status=status)
        return thing, pickle.loads(raw[: status.count])

    assert run(main, 1) == [([1, 2], (3, 4))]


def test_the_pickle_is_in_the_passed_buffer() -> None:
    """mpi4py advises against a buffer, and warns, except in irecv, where nothing else is possible."""

    def main(comm: Any) -> Any:
        buffers: list[Any] = [bytearray(100), bytearray(100), np.zeros(25, "i4")]
        for letter in "abc":
            comm.isend([letter], 0)
        with pytest.warns(UserWarning, match=r"^'buf' is deprecated: an object is received without a buffer\.$"):
            received = [comm.recv(buffers[0])]
        received.append(comm.irecv(buffers[1], 0).wait())
        with pytest.warns(UserWarning, match=r"^'recvbuf' is deprecated: an object is received without a buffer\.$"):
            received.append(comm.sendrecv("d", 0, 0, buffers[2], 0))
        with pytest.warns(UserWarning, match="deprecated"):
            received.append([comm.recv(1 << 16)])
        return received, [pickle.loads(bytes(memoryview(buffer))) for buffer in buffers]

    assert run(main, 1) == [([["a"], ["b"], ["c"], ["d"]], [["a"], ["b"], ["c"]])]


def test_the_warning_about_a_buffer_has_the_line_of_the_program() -> None:
    """Also if a function of fakempi makes the call for the program."""
    namespace: dict[str, Any] = {"__name__": "fakempi.example"}
    exec("def receive(comm):\n    return comm.recv(100)", namespace)

    def main(comm: Any) -> list[tuple[str, str]]:
        found = []
        for receive in (lambda comm: comm.recv(100), namespace["receive"]):  # recv by the program, or by fakempi
            comm.isend("a", 0)
            with pytest.warns(UserWarning, match="deprecated") as caught:
                receive(comm)  # this line
            found += [(one.filename, getline(one.filename, one.lineno).partition("# ")[2].strip()) for one in caught]
        return found

    assert run(main, 1) == [[(__file__, "recv by the program, or by fakempi"), (__file__, "this line")]]


@pytest.mark.filterwarnings("ignore:'buf' is deprecated")
@pytest.mark.parametrize("room", [bytearray(8), 8])
def test_an_object_that_does_not_fit_the_buffer_raises(room: Any) -> None:
    """For any receive call."""

    def main(comm: Any) -> None:
        words = r"message truncated, 100 bytes arrived from rank 0 \(tag 0\) but the buffer holds 8\.$"
        for receive in ("recv", "irecv"):
            comm.Isend(bytes(100), 0)
            with pytest.raises(MPI.Exception, match=words):
                comm.recv(room) if receive == "recv" else comm.irecv(room).wait()

    run(main, 1)


def test_large_objects_arrive_by_irecv_without_a_buffer() -> None:
    """mpi4py would truncate them at 32 KiB."""

    def main(comm: Any) -> int:
        request = comm.irecv(source=0)
        comm.isend(b"." * 100_000, 0)
        return len(request.wait())

    assert run(main, 1) == [100_000]


# -- other picklers ------------------------------------------------------------------------------------------------


def test_a_rank_can_choose_its_pickler(backend: Any) -> None:
    """For itself only: other ranks must be able to load its messages."""

    def main(comm: Any) -> Any:
        if comm.rank < 2:
            MPI.pickle.__init__(lambda thing: json.dumps(thing).encode(), json.loads)  # type: ignore[misc]
        other = comm.rank ^ 1
        return comm.sendrecv((1, [2]), other, source=other), comm.recv(source=MPI.PROC_NULL)

    assert run(main, 4, backend) == [([1, [2]], None)] * 2 + [((1, [2]), None)] * 2


# -- errors --------------------------------------------------------------------------------------------------------


def test_an_object_that_cannot_be_pickled_is_not_sent() -> None:
    """The error is pickle's, and no message was sent."""

    def main(comm: Any) -> Any:
        with pytest.raises((AttributeError, pickle.PicklingError)):
            comm.send(lambda: 0, 0)
        return comm.iprobe()

    outcome = fakempi.run(main, 1)
    assert (outcome.returns, outcome.messages) == ([False], 0)


@pytest.mark.parametrize("call", [*SENDS, "sendrecv"])
def test_invalid_destinations_and_tags(call: str) -> None:
    """With the same messages as for buffers."""

    def main(comm: Any) -> None:
        for arguments, words, code in (
            ((7, 3), "dest 3 is not in 0..0: the communicator has 1 rank.", MPI.ERR_RANK),
            ((7, 0, -4), "tag -4 is not in 0..2147483647.", MPI.ERR_TAG),
        ):
            with pytest.raises(MPI.Exception, match=f"^{call} on rank 0: {re.escape(words)}$") as caught:
                getattr(comm, call)(*arguments)
            assert caught.value.Get_error_class() == code

    run(main, 1)


@pytest.mark.parametrize("call", ["recv", "irecv", "probe", "iprobe", "mprobe", "improbe"])
def test_invalid_sources_and_tags(call: str) -> None:
    """The call has the name in the program."""

    def main(comm: Any) -> None:
        for arguments, words, code in (
            ({"source": 3}, "source 3 is not in 0..0: the communicator has 1 rank.", MPI.ERR_RANK),
            ({"tag": -4}, "tag -4 is not ANY_TAG (-1), and not in 0..2147483647.", MPI.ERR_TAG),
        ):
            with pytest.raises(MPI.Exception, match=f"^{call} on rank 0: {re.escape(words)}$") as caught:
                getattr(comm, call)(**arguments)
            assert caught.value.Get_error_class() == code

    run(main, 1)


def test_a_sendrecv_that_cannot_send_leaves_no_receive_behind() -> None:
    """It would take the next message."""

    def main(comm: Any) -> Any:
        with pytest.raises(MPI.Exception, match="dest 5 is not in"):
            comm.sendrecv(1, 5, source=0)
        return comm.sendrecv(2, 0, source=0)

    assert run(main, 1) == [2]


def test_a_phantom_cannot_be_received_as_an_object() -> None:
    """The message says so."""

    def main(comm: Any) -> None:
        comm.Isend(fakempi.phantom(5), 0)
        with pytest.raises(MPI.Exception, match=r"^recv on rank 0: a phantom of 5 bytes arrived: it has no contents\.$"):
            comm.recv()

    run(main, 1)
