"""The events of one rank in a trace of liballprof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fakempi.errors.recordings import RecordingError
from fakempi.recordings.events import ANY, PROC_NULL
from fakempi.recordings.formats.allprof.handles import RankHandles
from fakempi.recordings.formats.allprof.lines import COMM_AT, CREATIONS, LOCAL, POLLS, WRONG, comm_at, nbytes, reject
from fakempi.recordings.formats.allprof.sizes import sizes
from fakempi.recordings.formats.files import ByteProgress
from fakempi.recordings.recording import RecordingBuilder

MPICH_WORLD = "1140850688"
"""The handle of MPI_COMM_WORLD in MPICH, where ANY_SOURCE is -2 and PROC_NULL is -1; in Open MPI, it is the reverse."""

POLL_US = 20
"""Time between two tests or probes below which it is that of a polling loop, as in our own recorder."""


class RankLines:
    """Writes the events of one rank."""

    def __init__(self, path: Path, handles: RankHandles, builder: RecordingBuilder) -> None:
        self.path, self.handles, self.builder = path, handles, builder
        self.writer = builder.rank(handles.rank)
        self.clock: float | None = None
        self.seconds = 0.0
        self.polled = False
        self.commutative = True
        self.stride = 8
        self.open: dict[int, None] = {}  # addresses of requests, the oldest first
        self.persistent: dict[int, Callable[[], None]] = {}
        mpich = any(use.handle == MPICH_WORLD for use in handles.uses)
        self.peers = {-2: ANY, -1: PROC_NULL} if mpich else {-1: ANY, -2: PROC_NULL}

    def read(self, counter: ByteProgress) -> None:
        """Read all lines; RecordingError at the first wrong one."""
        number, ended = 0, False
        for number, line in counter.lines(self.path):
            if line.startswith(b"#") or not line.strip():
                continue
            fields = line.decode("ascii", "replace").rstrip("\n").split(":")
            if not line.endswith(b"\n") or len(fields) < 3 or not fields[0].startswith(("MPI_", "NBC_")):
                reject(self.path, number, line)
            try:
                self._line(fields)
            except WRONG:
                reject(self.path, number, line)
            ended = fields[0] == "MPI_Finalize"
        if not ended:
            raise RecordingError("the trace ends without MPI_Finalize: it is cut off.", self.path, line=number)

    def _line(self, fields: list[str]) -> None:
        name = fields[0]
        start = self.clock if fields[1] == "-" else float(fields[1])
        end = start if fields[-1] == "-" else float(fields[-1])
        poll = name in POLLS
        duration = 0.0
        if self.clock is not None and start is not None and end is not None:
            gap, duration = start - self.clock, end - start
            if not (gap >= 0 and duration >= 0):
                raise ValueError
            if not (poll and self.polled and gap < POLL_US):
                self.writer.compute(gap * 1e-6)
            self.seconds += (gap + duration) * 1e-6
        self.clock, self.polled = end, poll
        if not self._call(name[4:], fields, duration * 1e-6) and not LOCAL.fullmatch(name) and name not in CREATIONS:
            self.builder.leave_out(name)
        if name == "MPI_Op_create" and int(fields[3]) == 0:
            self.commutative = False

    def _call(self, name: str, fields: list[str], seconds: float) -> bool:
        """Write the event of a call; returns whether it is one that a recording can express."""
        at = comm_at(fields)
        comm = 0
        if at is not None:
            found = self.handles.found.get(fields[at].partition(",")[0])
            if found is None:
                self.builder.leave_out(f"MPI_{name} on a communicator whose members are unknown")
                return True
            comm = found
        if name in _POINT:
            _POINT[name](self, fields, comm, seconds)
        elif name in _COMPLETION:
            return _COMPLETION[name](self, fields, seconds)
        elif f"MPI_{name}" in CREATIONS:
            self.writer.collective("create", comm, seconds=seconds)
        elif at is not None and name not in ("Comm_rank", "Comm_size"):
            return self._collective(name, fields, comm, seconds)
        else:
            return False
        return True

    # -- messages --------------------------------------------------------------------------------------------------------

    def _message(self, fields: list[str], first: int = 3) -> tuple[int, int, int]:
        """Return bytes, peer and tag from count, datatype, peer and tag."""
        size = nbytes(fields[first], fields[first + 1])
        return size, self._peer(fields[first + 2]), self._tag(fields[first + 3])

    def _peer(self, word: str) -> int:
        rank = int(word)
        return self.peers.get(rank, rank)

    def _tag(self, word: str) -> int:
        tag = int(word)
        return ANY if tag == -1 else tag

    def _request(self, word: str) -> int:
        """Return the key of a new request, which is the address of its variable."""
        address = int(word)
        self.open.pop(address, None)
        self.open[address] = None
        return address

    def _send(self, fields: list[str], comm: int, seconds: float, mode: str = "standard", request: bool = False) -> None:
        nbytes, peer, tag = self._message(fields)
        key = self._request(fields[8]) if request else None
        self.writer.send(peer, max(tag, 0), nbytes, comm, request=key, mode=mode, seconds=seconds)

    def _receive(self, fields: list[str], comm: int, seconds: float, request: bool = False) -> None:
        nbytes, peer, tag = self._message(fields)
        key = self._request(fields[8]) if request else None
        self.writer.receive(peer, tag, nbytes, comm, request=key, seconds=seconds)

    def _sendrecv(self, fields: list[str], comm: int, seconds: float) -> None:
        sent, dest, tag = self._message(fields)
        if fields[0].endswith("_replace"):
            received, source, recvtag = sent, self._peer(fields[7]), self._tag(fields[8])
        else:
            received, source, recvtag = self._message(fields, 8)
        self.writer.sendrecv(dest, max(tag, 0), sent, source, recvtag, received, comm, seconds=seconds)

    def _persistent(self, fields: list[str], comm: int, seconds: float, mode: str = "") -> None:
        address, copy = int(fields[8]), list(fields)
        if mode:
            self.persistent[address] = lambda: self._send(copy, comm, 0.0, mode, request=True)
        else:
            self.persistent[address] = lambda: self._receive(copy, comm, 0.0, request=True)

    # -- requests --------------------------------------------------------------------------------------------------------

    def _array(self, count: str, address: str) -> list[int]:
        """Return the addresses of the open requests in an array: they are 4 or 8 bytes apart."""
        number, first = int(count), int(address)
        if number < 0:
            raise ValueError
        found: dict[int, list[int]] = {}
        for stride in (self.stride, 12 - self.stride):
            places = range(first, first + stride * number, stride)
            if number <= len(self.open):
                found[stride] = [each for each in places if each in self.open]
            else:
                found[stride] = [each for each in self.open if each in places]
        best = max(found, key=lambda stride: len(found[stride]))  # the last one, if equal
        if len(found[best]) > 1:
            self.stride = best
        return found[best]

    def _complete(self, addresses: list[int], seconds: float) -> bool:
        for address in addresses:
            self.open.pop(address, None)
        self.writer.wait(addresses, seconds=seconds)
        return True

    def _wait(self, fields: list[str], seconds: float) -> bool:
        return self._complete([int(fields[2])], seconds)

    def _waitall(self, fields: list[str], seconds: float) -> bool:
        return self._complete(self._array(fields[2], fields[3]), seconds)

    def _wait_oldest(self, fields: list[str], seconds: float) -> bool:
        """Waitany and Waitsome: the trace does not contain which requests were completed."""
        self.builder.leave_out(f"{fields[0]}: which requests it completed (taken for the oldest)")
        among = set(self._array(fields[2], fields[3]))
        return self._complete([next(each for each in self.open if each in among)] if among else [], seconds)

    def _poll(self, fields: list[str], seconds: float) -> bool:
        return False  # counted: its result is not in the trace

    def _free(self, fields: list[str], seconds: float) -> bool:
        self.open.pop(int(fields[2]), None)
        self.persistent.pop(int(fields[2]), None)
        return True

    def _start(self, fields: list[str], seconds: float) -> bool:
        start = self.persistent.get(int(fields[2]))
        if start is not None:
            start()
        return start is not None

    def _startall(self, fields: list[str], seconds: float) -> bool:
        number, first = int(fields[2]), int(fields[3])
        for stride in (8, 4):
            places = range(first, first + stride * number, stride)
            if number >= 0 and all(each in self.persistent for each in places):
                for each in places:
                    self.persistent[each]()
                return True
        return False

    # -- collective calls ------------------------------------------------------------------------------------------------

    def _collective(self, name: str, fields: list[str], comm: int, seconds: float) -> bool:
        """Write a collective call; a nonblocking one has a request as its last argument."""
        at = comm_at(fields)
        assert at is not None
        nonblocking = name not in COMM_AT
        operation = name[1:] if nonblocking else name.lower()
        _, rank, size = fields[at].split(",")
        found = sizes(operation, fields, int(rank), int(size), nonblocking)
        if found is None:
            return False
        block, counts, itemsize, root, op = found
        commutative = self.commutative or 1 <= op <= 12
        request = self._request(fields[-2]) if nonblocking else None
        self.writer.collective(
            operation, comm, block, root=root, counts=counts, itemsize=max(itemsize, 1), commutative=commutative,
            request=request, seconds=seconds,
        )  # fmt: skip
        return True


def _with_mode(mode: str, request: bool) -> Callable[[RankLines, list[str], int, float], None]:
    return lambda reader, fields, comm, seconds: reader._send(fields, comm, seconds, mode, request)


def _prepared(mode: str) -> Callable[[RankLines, list[str], int, float], None]:
    return lambda reader, fields, comm, seconds: reader._persistent(fields, comm, seconds, mode)


_MODES = {"send": "standard", "rsend": "standard", "bsend": "buffered", "ssend": "synchronous"}
_POINT: dict[str, Callable[[RankLines, list[str], int, float], None]] = {
    **{name.capitalize(): _with_mode(mode, False) for name, mode in _MODES.items()},
    **{f"I{name}": _with_mode(mode, True) for name, mode in _MODES.items()},
    **{f"{name.capitalize()}_init": _prepared(mode) for name, mode in _MODES.items()},
    "Recv": lambda reader, fields, comm, seconds: reader._receive(fields, comm, seconds),
    "Irecv": lambda reader, fields, comm, seconds: reader._receive(fields, comm, seconds, request=True),
    "Recv_init": _prepared(""), "Sendrecv": RankLines._sendrecv, "Sendrecv_replace": RankLines._sendrecv,
}  # fmt: skip
_COMPLETION: dict[str, Callable[[RankLines, list[str], float], bool]] = {
    "Wait": RankLines._wait, "Waitall": RankLines._waitall, "Waitany": RankLines._wait_oldest,
    "Waitsome": RankLines._wait_oldest, "Request_free": RankLines._free, "Start": RankLines._start,
    "Startall": RankLines._startall, **dict.fromkeys((name[4:] for name in POLLS), RankLines._poll),
}  # fmt: skip
