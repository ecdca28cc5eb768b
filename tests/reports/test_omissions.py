"""One rank omits a call for an operation that the other one completes properly: for every operation with a request.

Rank 0 omits it: no `Wait`, `Free` in its place, no `Start`, a persistent request that is not freed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

Begin = Callable[[Any], Any]
"""Starts an operation on a communicator of two ranks, and returns the request; None on a rank that needs none."""


def items(count: int = 2) -> Any:
    """A buffer."""
    return np.zeros(count, "i4")


def vector() -> Any:
    """A buffer of one item for each of two ranks."""
    return [items(), [1, 1], [0, 1], MPI.INT]


def typed() -> Any:
    """The same for the calls with a datatype for each rank."""
    return [items(), [1, 1], [0, 4], [MPI.INT, MPI.INT]]


def sending(call: str, *more: Any) -> Begin:
    """Rank 0 sends, rank 1 receives at once."""

    def begin(comm: Any) -> Any:
        is_object = call.islower()
        if comm.rank == 0:
            comm.Barrier()  # for Rsend, whose receive must be posted
            return getattr(comm, call)(1 if is_object else items(), 1, *more)
        request = comm.irecv(source=0) if is_object else comm.Irecv(items(), 0)
        comm.Barrier()
        request.wait()
        return None

    return begin


def receiving(call: str, *more: Any) -> Begin:
    """Rank 0 receives, rank 1 sends."""

    def begin(comm: Any) -> Any:
        if comm.rank == 1:
            comm.send(1, 0) if call.islower() else comm.Send(items(), 0)
            return None
        if call in ("Imrecv", "imrecv"):
            message = comm.Mprobe(source=1) if call == "Imrecv" else comm.mprobe(source=1)
            return message.Irecv(items()) if call == "Imrecv" else message.irecv()
        return comm.irecv(source=1) if call.islower() else getattr(comm, call)(items(), 1, *more)

    return begin


def exchanging(comm: Any) -> Any:
    """Both send and receive."""
    return comm.Isendrecv(items(), 1 - comm.rank, 0, items(), 1 - comm.rank, 0)


def replacing(comm: Any) -> Any:
    """Both send and receive in one buffer."""
    return comm.Isendrecv_replace(items(), 1 - comm.rank, 0, 1 - comm.rank, 0)


MESSAGES: dict[str, Begin] = {
    **{call: sending(call) for call in ("Isend", "Issend", "Irsend", "isend", "issend")},
    **{call: receiving(call) for call in ("Irecv", "irecv", "Imrecv", "imrecv")},
    "Isendrecv": exchanging,
    "Isendrecv_replace": replacing,
}

ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "barrier": lambda: (),
    "bcast": lambda: (items(),),
    "gather": lambda: (items(1), items()),
    "gatherv": lambda: (items(1), vector()),
    "scatter": lambda: (items(), items(1)),
    "scatterv": lambda: (vector(), items(1)),
    "allgather": lambda: (items(1), items()),
    "allgatherv": lambda: (items(1), vector()),
    "alltoall": lambda: (items(), items()),
    "alltoallv": lambda: (vector(), vector()),
    "alltoallw": lambda: (typed(), typed()),
    "reduce": lambda: (items(), items()),
    "allreduce": lambda: (items(), items()),
    "reduce_scatter_block": lambda: (items(), items(1)),
    "reduce_scatter": lambda: (items(), items(1), [1, 1]),
    "scan": lambda: (items(), items()),
    "exscan": lambda: (items(), items()),
    "neighbor_allgather": lambda: (items(1), items()),
    "neighbor_allgatherv": lambda: (items(1), vector()),
    "neighbor_alltoall": lambda: (items(), items()),
    "neighbor_alltoallv": lambda: (vector(), vector()),
    "neighbor_alltoallw": lambda: (typed(), typed()),
}


def together(name: str, persistent: bool) -> Begin:
    """A collective call."""
    call = f"{name.capitalize()}_init" if persistent else f"I{name}"

    def begin(comm: Any) -> Any:
        if name.startswith("neighbor"):
            comm = comm.Create_dist_graph_adjacent([0, 1], [0, 1])
            CREATED.append(comm)
        return getattr(comm, call)(*ARGUMENTS[name]())

    return begin


CREATED: list[Any] = []
"""Communicators with a topology, which the test frees."""

COLLECTIVES = {f"I{name}": together(name, False) for name in ARGUMENTS}
PERSISTENT_COLLECTIVES = {f"{name.capitalize()}_init": together(name, True) for name in ARGUMENTS}
PERSISTENT_MESSAGES: dict[str, Begin] = {
    **{call: sending(call) for call in ("Send_init", "Ssend_init", "Rsend_init")},
    "Recv_init": receiving("Recv_init"),
}


def partitioned(sends: bool) -> Begin:
    """Rank 0 sends, or receives, in two partitions; rank 1 has the other end."""

    def begin(comm: Any) -> Any:
        if (comm.rank == 0) is sends:
            return comm.Psend_init(items(), 2, 1 - comm.rank, 0)
        return comm.Precv_init(items(), 2, 1 - comm.rank, 0)

    return begin


PARTITIONED = {"Psend_init": partitioned(True), "Precv_init": partitioned(False)}


def started(request: Any, sends: bool = False) -> Any:
    """An active persistent request."""
    request.Start()
    if sends:
        request.Pready_range(0, 1)
    return request


def findings(main: Callable[[Any], None], **options: Any) -> list[tuple[str, tuple[int, ...], str]]:
    """Kind, ranks and call of each finding; for a run that fails, its error first."""
    CREATED.clear()
    try:
        found = fakempi.run(main, 2, **options).findings
    except fakempi.RunError as error:
        return [(type(error).__name__, (), ""), *((one.kind, one.ranks, one.call) for one in error.findings)]
    return [(one.kind, one.ranks, one.call) for one in found]


def request_of(comm: Any, name: str, begin: Begin) -> Any:
    """The request of a rank, started if it is persistent."""
    request = begin(comm)
    if name.endswith("_init") and request is not None:
        started(request, sends=name in PARTITIONED and (comm.rank == 0) is (name == "Psend_init"))
    return request


ALL = MESSAGES | COLLECTIVES | PERSISTENT_MESSAGES | PERSISTENT_COLLECTIVES | PARTITIONED


def test_a_missing_wait_on_one_rank() -> None:
    """For every operation: it is found on that rank only, at the call that started it."""
    wrong = {}
    for name, begin in ALL.items():

        def main(comm: Any, name: str = name, begin: Begin = begin) -> None:
            request = request_of(comm, name, begin)
            if comm.rank == 1 and request is not None:
                request.wait()

        call = "Start" if name.endswith("_init") else {"Imrecv": "Irecv", "imrecv": "irecv"}.get(name, name)
        if (found := findings(main)) != [("missing-wait", (0,), call)]:
            wrong[name] = found
    assert wrong == {}


def test_an_active_request_that_is_freed_on_one_rank() -> None:
    """MPI forbids it for collective calls. For messages it is a note."""
    wrong = {}
    for name, begin in ALL.items():

        def main(comm: Any, name: str = name, begin: Begin = begin) -> None:
            request = request_of(comm, name, begin)
            if comm.rank == 1 and request is not None:
                request.wait()
            elif request is not None:
                request.Free()

        expected = "missing-wait" if name in COLLECTIVES | PERSISTENT_COLLECTIVES else "request-freed"
        if [one[:2] for one in findings(main)] != [(expected, (0,))]:
            wrong[name] = findings(main)
    assert wrong == {}


def test_a_missing_start_on_one_rank() -> None:
    """The other rank waits for it: a deadlock.

    If it does not wait either, missing-start, and missing-wait on the other rank.
    """
    wrong = {}
    for name, begin in (PERSISTENT_MESSAGES | PERSISTENT_COLLECTIVES | PARTITIONED).items():

        def main(comm: Any, waits: bool, name: str = name, begin: Begin = begin) -> None:
            request: Any = begin(comm) if comm.rank == 0 or name not in PERSISTENT_MESSAGES else None
            if comm.rank == 0:
                if name in ("Send_init", "Ssend_init", "Rsend_init"):
                    return
                request.Wait()  # no data
            elif name in PERSISTENT_MESSAGES:
                comm.Barrier() if "Recv" not in name else None
            else:
                started(request, sends=name == "Precv_init")
                if waits:
                    request.Wait()

        found = findings(lambda comm: main(comm, False))
        if ("missing-start", (0,), name) not in found:
            wrong[name] = found
        if name in PARTITIONED | PERSISTENT_COLLECTIVES:
            ended = findings(lambda comm: main(comm, True))
            kinds = {kind for kind, *_ in ended}
            if not kinds & {"DeadlockError", "collective-unfinished", "missing-start", "message-lost"}:
                wrong[f"{name}, awaited"] = ended
    assert wrong == {}


def test_a_persistent_request_that_is_not_freed_on_one_rank() -> None:
    """Reported in strict runs."""
    wrong = {}
    for name, begin in (PERSISTENT_MESSAGES | PERSISTENT_COLLECTIVES | PARTITIONED).items():

        def main(comm: Any, name: str = name, begin: Begin = begin) -> None:
            request = request_of(comm, name, begin)
            if request is not None:
                request.Wait()
                if comm.rank == 1:
                    request.Free()

        found = [one for one in findings(main, strict=True) if one[0] not in ("FindingsError", "communicator-leak")]
        if found != [("request-leak", (0,), name)]:
            wrong[name] = found
    assert wrong == {}


def test_a_nonblocking_collective_that_one_rank_never_calls() -> None:
    """The other rank does not wait for it, or blocks."""
    wrong = {}
    for name in (one for one in COLLECTIVES if "neighbor" not in one):

        def main(comm: Any, waits: bool, begin: Begin = COLLECTIVES[name]) -> None:
            if comm.rank == 1:
                request = begin(comm)
                if waits:
                    request.Wait()

        found = {kind for kind, *_ in findings(lambda comm: main(comm, False))}
        ends = {kind for kind, *_ in findings(lambda comm: main(comm, True))}
        if not found & {"collective-unfinished", "missing-wait"} or not ends & {"DeadlockError", "collective-unfinished"}:
            wrong[name] = found, ends
    assert wrong == {}


@pytest.mark.parametrize("call", ["Rput", "Rget", "Raccumulate", "Rget_accumulate"])
def test_requests_of_windows(call: str) -> None:
    """Unlock completes the operation, but the request still needs a wait. Freeing it is forbidden."""

    def main(comm: Any, free: bool) -> None:
        win = MPI.Win.Allocate(8, 4, comm=comm)
        win.Lock_all()
        if comm.rank == 0:
            buffers = (items(), items()) if call == "Rget_accumulate" else (items(),)
            request = getattr(win, call)(*buffers, 1)
            if free:
                request.Free()
        win.Unlock_all()
        win.Free()

    for free in (False, True):
        assert findings(partial(main, free=free)) == [("missing-wait", (0,), call)]


@pytest.mark.parametrize("call", ["Iwrite_at", "Iread_at", "Iwrite_at_all", "Iread_at_all"])
def test_requests_of_files(call: str, tmp_path: Path) -> None:
    """Of independent and of collective accesses."""

    def main(comm: Any) -> None:
        file = MPI.File.Open(comm, str(tmp_path / "data"), MPI.MODE_RDWR | MPI.MODE_CREATE)
        if comm.rank == 0 or call.endswith("all"):
            request = getattr(file, call)(0, items())
            if comm.rank == 1:
                request.Wait()
        file.Close()

    assert findings(main) == [("missing-wait", (0,), call)]


def test_a_freed_send_is_correct_if_an_answer_arrives() -> None:
    """The standard's example: a reply, or a barrier, shows that the message was received."""

    def reply(comm: Any) -> None:
        if comm.rank == 0:
            comm.Isend(items(), 1).Free()
            comm.recv(source=1)
        else:
            comm.Recv(items(), 0)
            comm.send(None, 0)

    def barrier(comm: Any) -> None:
        if comm.rank == 0:
            comm.Isend(items(), 1).Free()
        else:
            comm.Recv(items(), 0)
        comm.Barrier()

    def looked_at(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.Issend(items(), 1)
            while not request.Get_status():
                pass
            request.Free()
        else:
            comm.Recv(items(), 0)

    for main in (reply, barrier, looked_at):
        assert findings(main) == []
