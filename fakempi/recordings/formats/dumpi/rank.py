"""The events of one rank in a DUMPI trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fakempi.recordings.events import ANY, PROC_NULL
from fakempi.recordings.formats.dumpi.communicators import CREATE, PARENT, RankComms, Slot
from fakempi.recordings.formats.dumpi.records import WRONG, DumpiFile, MessageStatus, Record
from fakempi.recordings.formats.dumpi.sizes import sizes
from fakempi.recordings.recording import RecordingBuilder

POLL = 20e-6
"""Seconds between two tests or probes below which they are a polling loop, as in our own recorder."""

MODES = {"Send": "standard", "Rsend": "standard", "Bsend": "buffered", "Ssend": "synchronous"}
LOCAL_NAMES = """
Init Init_thread Finalize Initialized Finalized Wtime Wtick Probe Iprobe Cancel Test_cancelled Abort Pcontrol Address
Dims_create Cart_coords Cart_rank Cart_shift Cart_get Cart_map Cartdim_get Graph_get Graph_map Graph_neighbors
Graph_neighbors_count Graphdims_get Topo_test Pack Pack_size Unpack Pack_external Pack_external_size Unpack_external
Is_thread_main Query_thread Request_get_status Alloc_mem Free_mem Comm_free Op_create Op_free Comm_size Comm_rank Comm_group
Comm_compare Comm_test_inter Comm_remote_size Comm_remote_group
"""
LOCAL = frozenset(LOCAL_NAMES.split())
COMPLETING = {
    "Wait": ("", False), "Waitall": ("all", False), "Waitany": ("any", False), "Waitsome": ("some", False),
    "Test": ("", True), "Testall": ("all", True), "Testany": ("any", True), "Testsome": ("some", False),
}  # fmt: skip
"""Calls that complete requests: which ones of an array, and whether the last field but one is a flag of success."""

LOCAL_BEGINNINGS = (
    "Get_", "Type_", "Group_", "Info_", "Attr_", "Keyval_", "Errhandler_", "Error_", "Buffer_", "Status_", "Add_error",
    "Comm_get_", "Comm_set_", "Comm_create_", "Comm_free_", "Comm_delete_", "Comm_call_",
)  # fmt: skip
"""Calls, and beginnings of their names, without an effect in a replay."""


class RankRecords:
    """Writes the events of one rank."""

    def __init__(self, file: DumpiFile, comms: RankComms, builder: RecordingBuilder, null: Sequence[int]) -> None:
        self.file, self.comms, self.builder = file, comms, builder
        self.writer = builder.rank(comms.rank)
        self.clock: float | None = None
        self.begin: float | None = None
        self.wraps = 0.0
        self.polled = False
        self.no_source = PROC_NULL if -1 in null else ANY
        self.persistent: dict[int, Callable[[], None]] = {}
        self.noncommutative = set[int]()

    def write(self, record: Record, slots: dict[int, Slot]) -> None:
        """Write the event of a record; `slots` are the communicators at this place in the trace."""
        self.slots = slots
        if record.name.startswith("Function_"):
            return
        seconds = self._times(record)
        try:
            done = self._call(record.name, record.values, seconds)
        except WRONG:
            self.file.reject(record.offset, f"MPI_{record.name} has arguments that no call has.")
        if not done and record.name not in LOCAL and not record.name.startswith(LOCAL_BEGINNINGS):
            self.builder.leave_out(f"MPI_{record.name}")

    @property
    def seconds(self) -> float:
        """The time between the first and the last call."""
        return 0.0 if self.clock is None or self.begin is None else self.clock - self.begin

    def _times(self, record: Record) -> float:
        """Add the computing time before a call, and return its duration. Seconds have 16 bits, and start again."""
        if record.start is None or record.end is None:
            return 0.0
        start = record.start + self.wraps
        if self.clock is not None and start < self.clock - 32768:
            self.wraps += 65536
            start += 65536
        end = record.end + self.wraps
        if end < start - 32768:
            self.wraps += 65536
            end += 65536
        if self.clock is None:
            self.clock = self.begin = start
        poll = record.name in ("Test", "Testall", "Testany", "Testsome", "Iprobe")
        gap = max(start - self.clock, 0.0)
        if not (poll and self.polled and gap < POLL):
            self.writer.compute(gap)
        self.clock, self.polled = max(end, self.clock), poll
        return max(end - start, 0.0)

    # -- parts of calls --------------------------------------------------------------------------------------------------

    def _comm(self, number: int) -> int:
        """Return the index of a communicator; -1 if its members are unknown."""
        slot = self.slots.get(number)
        return -1 if slot is None or slot.index is None else slot.index

    def _element(self, datatype: int) -> int:
        return self.file.sizes[datatype]

    def _dest(self, dest: int) -> int:
        return dest if dest >= 0 else PROC_NULL

    def _source(self, source: int, statuses: Sequence[MessageStatus] = ()) -> int:
        """Return a source. -1 is any source, and also no process if the library of the trace has this value for it."""
        if source == -1 and statuses:
            return self._dest(statuses[0].source)
        return source if source >= 0 else self.no_source if source == -1 else PROC_NULL

    def _tag(self, tag: int, statuses: Sequence[MessageStatus] = ()) -> int:
        if tag < 0 and statuses and statuses[0].tag is not None and statuses[0].source >= 0:
            return statuses[0].tag
        return tag if tag >= 0 else ANY

    def _lost(self, name: str) -> bool:
        self.builder.leave_out(f"MPI_{name} on a communicator whose members are unknown")
        return True

    # -- calls -----------------------------------------------------------------------------------------------------------

    def _call(self, name: str, values: list[Any], seconds: float) -> bool:
        """Write the event of a call; returns whether it is one that a recording can express."""
        blocking = name.removeprefix("I").capitalize() if name.startswith("I") else name
        if name in MODES or (blocking in MODES and name.startswith("I")):
            return self._send(name, MODES[blocking], values, seconds)
        if name in ("Recv", "Irecv"):
            return self._receive(name, values, seconds)
        if name.endswith("_init"):
            return self._persistent(name, values)
        if name in ("Sendrecv", "Sendrecv_replace"):
            return self._sendrecv(name, values, seconds)
        if name in CREATE:
            return self._create(name, values, seconds)
        if name in COMPLETING:
            self._complete(name, values, seconds)
            return True
        if name in ("Start", "Startall"):
            self._start([values[0]] if name == "Start" else values[1])
            return True
        if name == "Request_free":
            self.persistent.pop(values[0], None)
            return True
        if name == "Op_create" and not values[0]:
            self.noncommutative.add(values[1])
        return self._collective(name, values, seconds)

    def _send(self, name: str, mode: str, values: list[Any], seconds: float) -> bool:
        count, datatype, dest, tag, number = values[:5]
        comm = self._comm(number)
        if comm < 0:
            return self._lost(name)
        request = values[5] if len(values) > 5 else None
        self.writer.send(
            self._dest(dest), max(tag, 0), count * self._element(datatype), comm, request=request, mode=mode, seconds=seconds
        )
        return True

    def _receive(self, name: str, values: list[Any], seconds: float) -> bool:
        count, datatype, source, tag, number = values[:5]
        comm = self._comm(number)
        if comm < 0:
            return self._lost(name)
        statuses, request = (values[5], None) if name == "Recv" else ((), values[5])
        self.writer.receive(
            self._source(source, statuses), self._tag(tag, statuses), count * self._element(datatype), comm, request=request,
            seconds=seconds,
        )  # fmt: skip
        return True

    def _sendrecv(self, name: str, values: list[Any], seconds: float) -> bool:
        count, datatype, dest, sendtag = values[:4]
        sent = received = count * self._element(datatype)
        rest = values[4:]
        if name == "Sendrecv":
            received = rest[0] * self._element(rest[1])
            rest = rest[2:]
        source, recvtag, number, statuses = rest
        comm = self._comm(number)
        if comm < 0:
            return self._lost(name)
        self.writer.sendrecv(
            self._dest(dest), max(sendtag, 0), sent, self._source(source, statuses), self._tag(recvtag, statuses), received,
            comm, seconds=seconds,
        )  # fmt: skip
        return True

    def _persistent(self, name: str, values: list[Any]) -> bool:
        kind, slots = name[:-5], dict(self.slots)

        def start() -> None:
            now, self.slots = self.slots, slots
            if kind == "Recv":
                self._receive("Irecv", values, 0.0)
            else:
                self._send(kind, MODES[kind], values, 0.0)
            self.slots = now

        self.persistent[values[5]] = start
        return True

    def _create(self, name: str, values: list[Any], seconds: float) -> bool:
        comm = self._comm(values[PARENT[name]])
        if comm < 0:
            return self._lost(name)
        self.writer.collective("create", comm, seconds=seconds)
        return True

    def _collective(self, name: str, values: list[Any], seconds: float) -> bool:
        found = sizes(name, values, self._element)
        if found is None:
            return False
        comm = self._comm(found.comm)
        if comm < 0:
            return self._lost(name)
        operation = "alltoallv" if name == "Alltoallw" else name.lower()
        self.writer.collective(
            operation, comm, found.nbytes, root=found.root, counts=found.counts, itemsize=max(found.itemsize, 1),
            commutative=found.op not in self.noncommutative, seconds=seconds,
        )  # fmt: skip
        return True

    # -- requests --------------------------------------------------------------------------------------------------------

    def _complete(self, name: str, values: list[Any], seconds: float) -> None:
        """Write the requests that a wait or a successful test has completed; the statuses are its last field."""
        which, has_flag = COMPLETING[name]
        if has_flag and not values[-2]:
            return
        requests: Sequence[int] = values[1] if which else [values[0]]
        if which == "any":
            requests = requests[values[2] : values[2] + 1] if values[2] >= 0 else []
        elif which == "some":
            requests = [requests[index] for index in values[3]]
        if not requests and which != "all":
            return
        statuses: Sequence[MessageStatus] = values[-1]
        for request, status in zip(requests, statuses, strict=False):
            if status.source >= 0:
                self.writer.matched(request, status.source, ANY if status.tag is None else status.tag)
        self.writer.wait(requests, seconds=seconds)

    def _start(self, requests: Sequence[int]) -> None:
        for request in requests:
            start = self.persistent.get(request)
            if start is None:
                self.builder.leave_out("MPI_Start of an unknown request")
            else:
                start()
