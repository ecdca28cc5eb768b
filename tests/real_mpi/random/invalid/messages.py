"""Point-to-point calls with invalid arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.real_mpi.random.invalid.scene import Scene

SENDS = ("Send", "Ssend", "Rsend", "Isend", "Issend", "Irsend", "Send_init", "Ssend_init", "Rsend_init", "Bsend_init")
RECEIVES = ("Recv", "Irecv", "Recv_init")
PROBES = ("Probe", "Iprobe", "Mprobe", "Improbe")


def _send(s: Scene, buffer: Any, dest: int, tag: int = 3, names: tuple[str, ...] = SENDS) -> Any:
    """Any send; its request is not started or completes."""
    return _ended(s, getattr(s.comm, s.pick(*names))(buffer, dest, tag))


def _receive(s: Scene, buffer: Any, source: int, tag: int = 3) -> Any:
    return _ended(s, getattr(s.comm, s.pick(*RECEIVES))(buffer, source, tag))


def _ended(s: Scene, request: Any) -> Any:
    if isinstance(request, s.MPI.Prequest):
        request.Free()
    elif request is not None:
        request.Wait()
    return "accepted"


def _truncated(s: Scene) -> Any:
    """A message to itself that is longer than the buffer; the status of an error is not defined except for its class."""
    MPI, status = s.MPI, s.MPI.Status()
    longer = s.pick(2, 5, 8)
    sent = s.comm.Isend(s.ints[:longer], s.rank, 3)
    how = s.pick("Recv", "Irecv", "Mrecv", "Imrecv", "Sendrecv", "Recv_init")
    into = np.zeros(longer - s.pick(1, 2), "i4")
    try:
        if how == "Recv":
            s.comm.Recv(into, s.rank, 3, status)
        elif how == "Irecv":
            s.comm.Irecv(into, s.pick(s.rank, MPI.ANY_SOURCE), 3).Wait(status)
        elif how == "Recv_init":
            request = s.keep(s.comm.Recv_init(into, s.rank, 3))
            request.Start()
            request.Wait(status)
        elif how == "Mrecv":
            s.comm.Mprobe(s.rank, 3).Recv(into, status)
        elif how == "Imrecv":
            s.comm.Mprobe(s.rank, 3).Irecv(into).Wait(status)
        else:
            s.comm.Sendrecv(s.ints[:0], MPI.PROC_NULL, 0, into, s.rank, 3, status)
    finally:
        sent.Wait()
    return "accepted"


def _truncated_list(s: Scene) -> Any:
    """ERR_IN_STATUS, with the class of each request in its status."""
    MPI = s.MPI
    wrong = s.pick(0, 1, 2)
    sends = [s.comm.Isend(s.ints[:4], s.rank, tag) for tag in range(3)]
    buffers = [np.zeros(2 if tag == wrong else 4, "i4") for tag in range(3)]
    receives = [s.comm.Irecv(buffer, s.rank, tag) for tag, buffer in enumerate(buffers)]
    MPI.Request.Waitall(sends)
    statuses = [MPI.Status() for _ in receives]
    try:
        MPI.Request.Waitall(receives, statuses)
    except MPI.Exception as error:
        classes = [MPI.Get_error_class(each.Get_error()) for each in statuses]
        return [error.Get_error_class() == MPI.ERR_IN_STATUS, [each == MPI.ERR_TRUNCATE for each in classes]]
    return "accepted"


def _double_start(s: Scene) -> Any:
    """Starting an active request is erroneous; one that is not persistent cannot be started."""
    request = s.comm.Irecv(s.ints, s.MPI.PROC_NULL)
    try:
        s.MPI.Prequest.Start(request)
    finally:
        request.Wait()


def _bsend(s: Scene) -> Any:
    """A buffer that is missing or too small."""
    MPI = s.MPI
    size = s.pick(0, 10, 100)
    if size:
        MPI.Attach_buffer(bytearray(size + MPI.BSEND_OVERHEAD))
    try:
        data = np.zeros(size // 4 + s.pick(100, 500), "i4")
        if s.pick(True, False):
            s.comm.Bsend(data, s.rank, 3)
        else:
            s.comm.Ibsend(data, s.rank, 3).Wait()
    finally:
        if size:
            MPI.Detach_buffer()


def _attach_twice(s: Scene) -> Any:
    MPI = s.MPI
    MPI.Attach_buffer(bytearray(1000))
    try:
        MPI.Attach_buffer(bytearray(1000))
    finally:
        MPI.Detach_buffer()


def _message(s: Scene, receive: str, buffer: Any) -> Any:
    sent = s.comm.Isend(s.ints[:2], s.rank, 1)
    message = s.comm.Mprobe(s.rank, 1)
    try:
        return getattr(message, receive)(buffer)
    finally:
        if message != s.MPI.MESSAGE_NULL:
            message.Recv(s.more)
        sent.Wait()


def _beyond(s: Scene) -> Any:
    """The largest tag is at most that of a C int."""
    tag = s.comm.Get_attr(s.MPI.TAG_UB) + 1
    return _send(s, s.ints, s.rank, tag if tag < 2**31 else s.bad_tag())


CASES: dict[str, Callable[[Scene], Any]] = {
    "send: rank": lambda s: _send(s, s.ints, s.bad_rank()),
    "send: ANY_SOURCE": lambda s: _send(s, s.ints, s.MPI.ANY_SOURCE),
    "send: tag": lambda s: _send(s, s.ints, s.rank, s.bad_tag(), SENDS),
    "send: tag beyond TAG_UB": _beyond,
    "send: count": lambda s: _send(s, [s.ints, s.pick(-1, -5), s.MPI.INT], s.pick(s.rank, s.MPI.PROC_NULL)),
    "send: datatype null": lambda s: _send(s, [s.ints, 2, s.MPI.DATATYPE_NULL], s.rank),
    "send: datatype not committed": lambda s: _send(s, [s.ints, 1, s.keep(s.MPI.INT.Create_contiguous(2))], s.rank),
    "send to PROC_NULL: tag": lambda s: _send(s, s.ints, s.MPI.PROC_NULL, s.bad_tag()),
    "send on null": lambda s: getattr(s.MPI.Comm(), s.pick(*SENDS, *RECEIVES))(s.ints, 0),
    "probe on null": lambda s: getattr(s.MPI.Comm(), s.pick(*PROBES))(),
    "Bsend: rank": lambda s: _send(s, s.ints, s.bad_rank(), 3, ("Bsend", "Ibsend", "Bsend_init")),
    "Bsend: tag": lambda s: _send(s, s.ints, s.rank, s.bad_tag(), ("Bsend", "Ibsend", "Bsend_init")),
    "Bsend: buffer": _bsend,
    "Attach_buffer twice": _attach_twice,
    "object send: rank": lambda s: getattr(s.comm, s.pick("send", "isend", "ssend", "issend"))([1], s.bad_rank(), 3),
    "object send: tag": lambda s: getattr(s.comm, s.pick("send", "isend", "ssend", "issend"))([1], s.rank, s.bad_tag()),
    "object receive: rank": lambda s: getattr(s.comm, s.pick("recv", "irecv", "mprobe", "iprobe"))(
        source=s.bad_rank(), tag=3
    ),
    "object receive: tag": lambda s: getattr(s.comm, s.pick("recv", "irecv", "probe", "improbe"))(
        source=s.rank, tag=s.bad_tag(True)
    ),
    "receive: rank": lambda s: _receive(s, s.ints, s.bad_rank()),
    "receive: tag": lambda s: _receive(s, s.ints, s.rank, s.bad_tag(True)),
    "receive from PROC_NULL: tag": lambda s: _receive(s, s.ints, s.MPI.PROC_NULL, s.bad_tag(True)),
    "receive: count": lambda s: _receive(s, [s.ints, s.pick(-1, -5), s.MPI.INT], s.pick(s.rank, s.MPI.PROC_NULL)),
    "receive: datatype null": lambda s: _receive(s, [s.ints, 2, s.MPI.DATATYPE_NULL], s.rank),
    "receive: datatype not committed": lambda s: _receive(s, [s.ints, 1, s.keep(s.MPI.INT.Create_contiguous(2))], s.rank),
    "receive: truncated": _truncated,
    "receives of a list: truncated": _truncated_list,
    "Sendrecv: rank": lambda s: s.comm.Sendrecv(
        s.ints[:4], *(s.pick((s.bad_rank(), 3), (s.MPI.PROC_NULL, s.bad_tag()))), s.ints[4:], s.MPI.PROC_NULL, 3
    ),
    "Sendrecv: source": lambda s: s.comm.Sendrecv(
        s.ints[:4], s.MPI.PROC_NULL, 3, s.ints[4:], *(s.pick((s.bad_rank(), 3), (s.MPI.PROC_NULL, s.bad_tag(True))))
    ),
    "Sendrecv_replace": lambda s: s.comm.Sendrecv_replace(
        s.ints, *s.pick((s.bad_rank(), 3, s.MPI.PROC_NULL, 3), (s.MPI.PROC_NULL, s.bad_tag(), s.MPI.PROC_NULL, 3))
    ),
    "Isendrecv": lambda s: s.comm.Isendrecv(s.ints[:4], s.bad_rank(), 3, s.ints[4:], s.MPI.PROC_NULL, 3).Wait(),
    "probe: rank": lambda s: getattr(s.comm, s.pick(*PROBES))(s.bad_rank(), 3),
    "probe: tag": lambda s: getattr(s.comm, s.pick(*PROBES))(s.pick(s.rank, s.MPI.ANY_SOURCE), s.bad_tag(True)),
    "message null": lambda s: getattr(s.MPI.Message(), s.pick("Recv", "Irecv"))(s.ints),
    "message: count": lambda s: _message(s, s.pick("Recv", "Irecv"), [s.ints, -1, s.MPI.INT]),
    "Start of a nonblocking request": _double_start,
    "Start of null": lambda s: s.MPI.Prequest().Start(),
    "Wait of null": lambda s: getattr(s.MPI.Request(), s.pick("Wait", "Test"))(),
    "Free of null request": lambda s: s.MPI.Request().Free(),
    "Cancel of null": lambda s: s.MPI.Request().Cancel(),
    "Get_status of null": lambda s: s.MPI.Request().Get_status(),
    "Psend_init: partitions": lambda s: s.comm.Psend_init(s.ints, s.pick(-1, -3), s.rank, 3),
    "Psend_init: rank": lambda s: s.comm.Psend_init(s.ints, 2, s.pick(s.bad_rank(), s.MPI.ANY_SOURCE), 3),
    "Psend_init: tag": lambda s: s.comm.Psend_init(s.ints, 2, s.rank, s.bad_tag()),
    "Precv_init: rank": lambda s: s.comm.Precv_init(s.ints, 2, s.pick(s.bad_rank(), s.MPI.ANY_SOURCE), 3),
    "Precv_init: tag": lambda s: s.comm.Precv_init(s.ints, 2, s.rank, s.bad_tag()),
}
