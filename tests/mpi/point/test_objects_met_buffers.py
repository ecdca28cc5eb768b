"""An object that is received as a buffer, or a buffer as an object, is reported as such, whatever the calls and sizes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

Call = Callable[[Any, Any], Any]


def _started(request: Any) -> None:
    request.Start()
    request.Wait()


SENDS: dict[str, Call] = {
    "send": lambda comm, obj: comm.send(obj, 1),
    "isend": lambda comm, obj: comm.isend(obj, 1).wait(),
    "ssend": lambda comm, obj: comm.ssend(obj, 1),
    "sendrecv": lambda comm, obj: comm.sendrecv(obj, 1, source=MPI.PROC_NULL),
}
RECEIVES: dict[str, Call] = {
    "Recv": lambda comm, buf: comm.Recv(buf, 0),
    "Irecv": lambda comm, buf: comm.Irecv(buf, 0).Wait(),
    "Sendrecv": lambda comm, buf: comm.Sendrecv(np.zeros(1), MPI.PROC_NULL, 0, buf, 0),
    "Sendrecv_replace": lambda comm, buf: comm.Sendrecv_replace(buf, MPI.PROC_NULL, 0, 0),
    "Probe, Recv": lambda comm, buf: (comm.Probe(0), comm.Recv(buf, 0)),
    "Mprobe, Recv": lambda comm, buf: comm.Mprobe(0).Recv(buf),
    "Recv_init": lambda comm, buf: _started(comm.Recv_init(buf, 0)),
    "Waitall": lambda comm, buf: MPI.Request.Waitall([comm.Irecv(buf, 0)]),
}
BUFFER_SENDS: dict[str, Call] = {
    "Send": lambda comm, buf: comm.Send(buf, 1),
    "Isend": lambda comm, buf: comm.Isend(buf, 1).Wait(),
}
OBJECT_RECEIVES: dict[str, Call] = {
    "recv": lambda comm, _: comm.recv(source=0),
    "irecv": lambda comm, _: comm.irecv(source=0).wait(),
    "sendrecv": lambda comm, _: comm.sendrecv(0, MPI.PROC_NULL, source=0),
    "mprobe, recv": lambda comm, _: comm.mprobe(0).recv(),
}


def outcome(send: Callable[[Any], Any], receive: Callable[[Any], Any], **options: Any) -> tuple[list[Any], str]:
    """The findings of a run of two ranks, and the message of its error."""
    try:
        return fakempi.run(lambda comm: (receive if comm.Get_rank() else send)(comm), 2, **options).findings, ""
    except fakempi.RunError as error:
        return list(error.findings), str(error)


@pytest.mark.parametrize("strict", [False, True])
def test_an_object_received_as_a_buffer_is_reported_whether_it_fits_or_not(strict: bool) -> None:
    """If the pickle is longer than the buffer, the truncation error has the reason, too."""
    for (send, one), (receive, two), obj in product(SENDS.items(), RECEIVES.items(), (1, list(range(100)))):
        sender, receiver = (lambda comm: one(comm, obj)), (lambda comm: two(comm, np.zeros(4)))  # noqa: B023
        (finding,), words = outcome(sender, receiver, strict=strict)
        assert finding.kind == "pickle-met-buffer", (send, receive)
        assert f"sent an object by {send} at test_objects_met_buffers.py:" in finding.sentence
        assert finding.place.startswith("test_objects_met_buffers.py:")
        if not strict and obj != 1:
            assert "message truncated" in words
            assert "The message is a pickled Python object" in words


@pytest.mark.parametrize("strict", [False, True])
def test_a_buffer_received_as_an_object_is_reported(strict: bool) -> None:
    """Bytes may be a pickle; otherwise they are reported."""
    buffers = np.full(1, 7.0), np.full(40, 7.0), np.zeros(5, np.uint8), bytearray(b"abc")
    for one, two, buffer in product(BUFFER_SENDS.values(), OBJECT_RECEIVES.values(), buffers):
        (finding,), _ = outcome(lambda comm: one(comm, buffer), lambda comm: two(comm, None), strict=strict)  # noqa: B023
        assert finding.kind == "pickle-met-buffer"
        assert finding.sentence.startswith("takes an object, but rank 0 sent ")
        assert finding.place.startswith("test_objects_met_buffers.py:")


def test_bytes_that_are_a_pickle_may_be_received_as_an_object_and_the_reverse() -> None:
    """Such programs do so on purpose."""
    pickle = MPI.pickle.dumps([1, 2])
    assert outcome(lambda comm: comm.Send(pickle, 1), lambda comm: comm.recv(source=0)) == ([], "")
    assert outcome(lambda comm: comm.send([1, 2], 1), lambda comm: comm.Recv(bytearray(100), 0)) == ([], "")


def test_collective_calls_of_both_kinds_are_reported() -> None:
    """In either order."""
    calls: dict[str, Callable[[Any], Any]] = {
        "bcast": lambda comm: comm.bcast(1),
        "Bcast": lambda comm: comm.Bcast(np.zeros(1)),
        "gather": lambda comm: comm.gather(1),
        "Gather": lambda comm: comm.Gather(np.zeros(1), np.zeros(2)),
        "allreduce": lambda comm: comm.allreduce(1),
        "Allreduce": lambda comm: comm.Allreduce(np.zeros(1), np.zeros(1)),
        "alltoall": lambda comm: comm.alltoall([1, 2]),
        "Alltoall": lambda comm: comm.Alltoall(np.zeros(2), np.zeros(2)),
    }
    for name, call in calls.items():
        other = name.swapcase()[0] + name[1:]
        (finding,), words = outcome(call, calls[other])
        assert (finding.kind, finding.ranks, finding.call) == ("pickle-met-buffer", (1,), other)
        assert f"this rank calls {other} at test_objects_met_buffers.py:" in words
        assert "all ranks must call the same method" in words


def test_a_receive_of_another_thread_is_named() -> None:
    """The rank's main task is elsewhere."""

    def receive(comm: MPI.Comm) -> None:
        thread = threading.Thread(target=lambda: comm.Recv(np.zeros(8, np.int32), 0))
        thread.start()
        thread.join()

    def send(comm: MPI.Comm) -> None:
        fakempi.compute(1)
        comm.Send(np.zeros(4), 1)

    (finding,), _ = outcome(send, receive)
    assert (finding.kind, finding.call) == ("datatype-mismatch", "Recv")
    assert finding.place == f"test_objects_met_buffers.py:{receive.__code__.co_firstlineno + 1}"


def test_a_wrong_argument_of_a_class_names_the_class() -> None:
    """Not the package."""
    kinds = MPI.Comm, MPI.Request, MPI.Status, MPI.Datatype, MPI.Op, MPI.Group, MPI.Win, MPI.File, MPI.Message, MPI.Info
    for kind in kinds:
        with pytest.raises(fakempi.RankError, match=rf"MPITypeError: {kind.__name__} on rank 0: .*test_objects_met_buffers"):
            fakempi.run(lambda comm: kind(5), 1)  # type: ignore[arg-type]  # noqa: B023


def test_explore_names_the_operation_that_uses_an_array() -> None:
    """As in a strict run."""

    def main(comm: MPI.Comm) -> None:
        array = np.zeros(1)
        if comm.Get_rank() == 0:
            request = comm.Isend(array, 1)
            array[0] = 1
            request.Wait()
        else:
            comm.Recv(array, 0)

    (failure,) = fakempi.explore(main, 2).failures
    assert isinstance(failure.error, fakempi.FindingsError)
    (finding,) = failure.error.findings
    assert (finding.kind, finding.call) == ("buffer-in-use", "array[0] = 1")
    assert "the buffer of Isend at test_objects_met_buffers.py:" in finding.sentence
