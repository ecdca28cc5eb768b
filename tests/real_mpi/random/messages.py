"""Random messages between pairs of ranks: every mode of sending, receiving and completing, with wildcards and PROC_NULL.

No result depends on timing: what a wildcard could match is one message, and every receive of a phase is posted before
its sends if the send is ready.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from tests.real_mpi.random.observing import Op, Program, attempt, count_of, elements_of

RANKS = 3
SENDS = (
    "Isend",
    "Issend",
    "Ibsend",
    "Irsend",
    "Send_init",
    "Ssend_init",
    "Bsend_init",
    "Rsend_init",
    "Send",
    "Bsend",
    "Rsend",
    "isend",
)
RECEIVES = ("Irecv", "Irecv", "Recv_init", "Recv", "Mprobe", "Improbe", "Mprobe Irecv", "Probe", "Iprobe", "cancel")
COMPLETIONS = ("Wait", "Test", "Waitall", "Waitany", "Waitsome", "Testall", "Testany", "Testsome", "Get_status")
TYPES = {"INT32_T": "i4", "DOUBLE": "f8", "UINT8_T": "u1", "INT_INT": "2i4", "SHORT_INT": "V8"}


def program(seed: int) -> Program:
    """One to four phases."""
    rng = Random(f"messages {seed}")
    ranks = rng.randint(1 if rng.random() < 0.15 else 2, RANKS)
    return {"ranks": ranks, "ops": [_phase(rng, ranks) for _ in range(rng.randint(1, 4))]}


def _phase(rng: Random, ranks: int) -> Op:
    messages = []
    for number in range(rng.randint(1, 5)):
        source, target = rng.randrange(ranks), rng.randrange(ranks)
        count = rng.choice((0, 1, 2, 3, 5, 100))
        messages.append(
            {
                "source": source,
                "target": target,
                "tag": number,
                "type": rng.choice(list(TYPES)),
                "count": count,
                "room": count + rng.choice((0, 0, 1, 4)),
                "strided": rng.random() < 0.2,
                "send": rng.choice(SENDS),
                "receive": rng.choice(RECEIVES),
                "any source": rng.random() < 0.4,
                "seed": rng.randrange(100),
            }
        )
    return {
        "op": "phase",
        "messages": messages,
        "done": [rng.choice(COMPLETIONS) for _ in range(ranks)],
        "rounds": rng.randint(1, 2),
        "null": rng.choice(("", "", "Recv", "Irecv", "Probe", "Mprobe", "Improbe", "Iprobe", "Sendrecv", "Send")),
        "replace": rng.random() < 0.2,
    }


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """The data and statuses of each phase."""
    found = []
    MPI.Attach_buffer(bytearray(200_000))
    for op in program["ops"]:
        found.append([_phase_on(MPI, comm, op, rank), _null(MPI, comm, op), _replace(MPI, comm, op, rank)])
        comm.Barrier()
    MPI.Detach_buffer()
    return found


def _status(MPI: Any, status: Any, datatype: Any) -> list[Any]:
    source, tag = status.Get_source(), status.Get_tag()
    return [
        "ANY" if source == MPI.ANY_SOURCE else "NULL" if source == MPI.PROC_NULL else source,
        "ANY" if tag == MPI.ANY_TAG else tag,
        count_of(MPI, status, datatype),
        elements_of(MPI, status, datatype),
        count_of(MPI, status, MPI.BYTE),
        count_of(MPI, status, MPI.INT64_T),
        elements_of(MPI, status, MPI.INT64_T),
        status.Is_cancelled(),
    ]


class Sent:
    """A message on its sender: the buffer with its datatype."""

    def __init__(self, MPI: Any, message: Op, room: int) -> None:
        dtype = np.dtype(TYPES[message["type"]])
        self.size = dtype.itemsize
        self.basic = getattr(MPI, message["type"])
        self.bytes = np.zeros(2 * room * self.size + 16, "u1")
        self.datatype = self.basic
        if message["strided"]:
            self.datatype = self.basic.Create_vector(1, 1, 1).Create_resized(0, 2 * self.size).Commit()
        self.step = 2 * self.size if message["strided"] else self.size
        self.room = room
        self.spec = [self.bytes, room, self.datatype]

    def fill(self, seed: int) -> None:
        self.bytes[:] = (np.arange(len(self.bytes)) * 7 + seed) % 251

    def values(self) -> str:
        """The bytes of the elements, without those between the two members of SHORT_INT."""
        keep = [0, 1, 2, 3, 4, 5] if self.basic.Get_size() < self.size else list(range(self.size))
        return bytes(int(self.bytes[at * self.step + k]) for at in range(self.room) for k in keep).hex()

    def free(self) -> None:
        if self.datatype is not self.basic:
            self.datatype.Free()


def _phase_on(MPI: Any, comm: Any, op: Op, rank: int) -> Any:
    """Receives are posted, then a barrier, then sends; blocking receives come last."""
    found: list[Any] = []
    mine = [each for each in op["messages"] if each["source"] == rank]
    theirs = [each for each in op["messages"] if each["target"] == rank]
    sent = [Sent(MPI, each, each["count"]) for each in mine]
    received = [Sent(MPI, each, each["room"]) for each in theirs]
    ready = [_ready(each) for each in theirs]
    starts = [
        comm.Recv_init(into.spec, _source(MPI, each), each["tag"]) if _posted(each) == "Recv_init" else None
        for each, into in zip(theirs, received, strict=True)
    ]
    sends = [_send_init(comm, each, one) for each, one in zip(mine, sent, strict=True)]
    for round_number in range(op["rounds"]):
        for each, one in zip(mine, sent, strict=True):
            one.fill(each["seed"] + round_number)
        for into in received:
            into.bytes[:] = 0xEE
        requests: list[Any] = []
        about: list[Any] = []
        for each, into, start, early in zip(theirs, received, starts, ready, strict=True):
            if not early:
                continue
            if start is not None:
                start.Start()
            requests.append(start or comm.Irecv(into.spec, _source(MPI, each), each["tag"]))
            about.append(into)
        comm.Barrier()
        pending = []
        for each, one, init in zip(mine, sent, sends, strict=True):
            pending.append(_send(MPI, comm, each, one, init))
        for each, into, early in zip(theirs, received, ready, strict=True):
            if not early:
                found.append(_receive(MPI, comm, each, into))
        found.append(_complete(MPI, op["done"][rank], requests, about))
        MPI.Request.Waitall([each for each in pending if each is not None])
        found += [into.values() for each, into in zip(theirs, received, strict=True) if each["send"] != "isend"]
    for request in (*starts, *sends):
        if request is not None:
            request.Free()
    for each in (*sent, *received):
        each.free()
    return found


def _source(MPI: Any, message: Op) -> int:
    return int(MPI.ANY_SOURCE if message["any source"] else message["source"])


def _ready(message: Op) -> bool:
    """Whether the receive is posted before the sends."""
    return _posted(message) in ("Irecv", "Recv_init")


def _posted(message: Op) -> str:
    """Ready sends and blocking sends need a posted receive."""
    if message["send"] == "isend":
        return "recv"
    if message["send"] in ("Irsend", "Rsend", "Rsend_init", "Send") and message["receive"] != "Recv_init":
        return "Irecv"
    return str(message["receive"])


def _send_init(comm: Any, message: Op, sent: Sent) -> Any:
    if message["send"].endswith("init"):
        return getattr(comm, message["send"])(sent.spec, message["target"], message["tag"])
    return None


def _send(MPI: Any, comm: Any, message: Op, sent: Sent, init: Any) -> Any:
    name, target, tag = message["send"], message["target"], message["tag"]
    if init is not None:
        init.Start()
        return init
    if name == "isend":
        return comm.isend([message["seed"], "text", message["count"]], target, tag)
    return getattr(comm, name)(sent.spec, target, tag)


def _receive(MPI: Any, comm: Any, message: Op, into: Sent) -> Any:
    status, source, tag, how = MPI.Status(), _source(MPI, message), message["tag"], _posted(message)
    if how == "recv":
        return [comm.recv(source=source, tag=tag, status=status), status.Get_source(), status.Get_tag()]
    if how in ("Recv", "cancel"):
        if how == "cancel":  # another receive, which no message matches
            request = comm.Irecv(np.zeros(1, "i4"), message["source"], 999)
            request.Cancel()
            request.Wait(status)
            if not status.Is_cancelled():
                return "not cancelled"
        comm.Recv(into.spec, source, tag, status)
        return _status(MPI, status, into.datatype)
    if how in ("Probe", "Iprobe"):
        before = MPI.Status()
        if how == "Probe":
            comm.Probe(source, tag, before)
        else:
            while not comm.Iprobe(source, tag, before):
                pass
        comm.Recv(into.spec, before.Get_source(), before.Get_tag(), status)
        return [_status(MPI, before, into.datatype), _status(MPI, status, into.datatype)]
    before = MPI.Status()
    message_handle = None
    while message_handle is None:
        message_handle = comm.Improbe(source, tag, before) if how == "Improbe" else comm.Mprobe(source, tag, before)
    if how == "Mprobe Irecv":
        message_handle.Irecv(into.spec).Wait(status)
    else:
        message_handle.Recv(into.spec, status)
    return [_status(MPI, before, into.datatype), _status(MPI, status, into.datatype), message_handle == MPI.MESSAGE_NULL]


def _complete(MPI: Any, how: str, requests: list[Any], about: list[Sent]) -> Any:
    """Complete all; the observations are in the order of the requests."""
    statuses = [MPI.Status() for _ in requests]
    extra: list[Any] = []
    if how in ("Wait", "Test", "Get_status"):
        for request, status in zip(requests, statuses, strict=True):
            while how == "Get_status" and not request.Get_status(status):
                pass
            while how == "Test" and not request.Test(status):
                pass
            if how != "Test":
                request.Wait(MPI.Status() if how == "Get_status" else status)
    elif how == "Waitall":
        MPI.Request.Waitall(requests, statuses)
    elif how == "Testall":
        while not MPI.Request.Testall(requests, statuses):
            pass
    elif how in ("Waitany", "Testany"):
        for _ in requests:
            status, flag, index = MPI.Status(), False, 0
            while not flag:
                index, flag = (
                    (MPI.Request.Waitany(requests, status), True)
                    if how == "Waitany"
                    else MPI.Request.Testany(requests, status)
                )
            statuses[index] = status
        last = MPI.Status()
        index, flag = (
            (MPI.Request.Waitany(requests, last), True) if how == "Waitany" else MPI.Request.Testany(requests, last)
        )
        extra = [index == MPI.UNDEFINED, flag, _status(MPI, last, MPI.BYTE)]
    else:
        left = len(requests)
        while left:
            some = [MPI.Status() for _ in requests]
            done = getattr(MPI.Request, how)(requests, some) or []
            for number, index in enumerate(done):
                statuses[index] = some[number]
            left -= len(done)
        extra = [getattr(MPI.Request, how)(requests, [MPI.Status() for _ in requests])]
    nulls = [each == MPI.REQUEST_NULL for each in requests]
    return [[_status(MPI, one, into.datatype) for one, into in zip(statuses, about, strict=True)], nulls, extra]


def _null(MPI: Any, comm: Any, op: Op) -> Any:
    """Calls with PROC_NULL."""
    kind, status, null = op["null"], MPI.Status(), MPI.PROC_NULL
    buffer = np.full(3, 7, "i4")
    if not kind:
        return None
    if kind == "Recv":
        comm.Recv(buffer, null, 3, status)
    elif kind == "Irecv":
        comm.Irecv(buffer, null, 3).Wait(status)
    elif kind == "Recv_init":
        request = comm.Recv_init(buffer, null, 3)
        request.Start()
        request.Wait(status)
        request.Free()
    elif kind == "Probe":
        comm.Probe(null, 3, status)
    elif kind == "Iprobe":
        return [comm.Iprobe(null, 3, status), _status(MPI, status, MPI.INT)]
    elif kind in ("Mprobe", "Improbe"):
        message = getattr(comm, kind)(null, 3, status)
        first = [message == MPI.MESSAGE_NO_PROC, _status(MPI, status, MPI.INT)]
        message.Recv(buffer, status)
        return [first, message == MPI.MESSAGE_NULL, _status(MPI, status, MPI.INT), buffer.tolist()]
    elif kind == "Sendrecv":
        comm.Sendrecv(buffer, null, 3, np.zeros(1, "i4"), null, 4, status)
    else:
        return attempt(MPI, lambda: comm.Send(buffer, null, 3))
    return [_status(MPI, status, MPI.INT), buffer.tolist()]


def _replace(MPI: Any, comm: Any, op: Op, rank: int) -> Any:
    """A shift in place."""
    if not op["replace"]:
        return None
    size, status = comm.Get_size(), MPI.Status()
    buffer = np.arange(4, dtype="i4") + 10 * rank
    comm.Sendrecv_replace(buffer, (rank + 1) % size, 5, (rank - 1) % size, 5, status)
    return [buffer.tolist(), _status(MPI, status, MPI.INT)]
