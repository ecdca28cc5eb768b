"""The check of plain runs: send buffers that change between a nonblocking send and its completion.

The buffer is copied when the operation starts, and compared when the program learns that it is complete. A copy takes less
time than a checksum of any kind up to 32 KiB, and finds every change; but it costs up to a third of the message. So
not all operations are checked: of each line of the program and each rank the first `FIRST`, then each `EVERY`-th.
`benchmarks/send_buffers.py` measures the cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.extensions.buffer_checks.use import payloads_of
from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.base.waiting import AllOf, Completion
from fakempi.mpi.buffers.payload import describe
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.regions import contents, root_of
from fakempi.mpi.buffers.span import Payload, Span

MAX_BYTES = 1 << 15
"""Operations that send more are not checked."""

MAX_RANKS = 64
"""Runs of more ranks are not checked."""

FIRST, EVERY = 4, 256


class SendChecks:
    """The send buffers of one process."""

    __slots__ = ("process",)

    def __init__(self, process: Process) -> None:
        self.process = process

    def of(self, operation: Any, buffer: Any) -> SentBuffers | None:
        """Begin to watch the buffers that an operation sends, if it is one of those that are checked."""
        if operation.__class__ is PostedReceive:
            return None
        call_site = operation.call_site
        number = call_site.sends = call_site.sends + 1
        return None if number > FIRST and number % EVERY else self._watch(operation, buffer)

    def _watch(self, operation: Any, buffer: Any) -> SentBuffers | None:
        payloads = [one for one in _sent(operation, buffer) if one is not None and one.nbytes and type(one) is not Phantom]
        if not payloads or sum(payload.nbytes for payload in payloads) > MAX_BYTES:
            return None
        return SentBuffers(self.process, operation, payloads)


class SentBuffers:
    """The buffers that one operation sends, and their contents when it was started."""

    __slots__ = ("call_site", "payloads", "peers", "process", "saved")

    def __init__(self, process: Process, operation: Any, payloads: list[Any]) -> None:
        self.process, self.call_site = process, operation.call_site
        first = operation.operations[0] if operation.__class__ is AllOf else operation
        self.peers = [first.box.owner] if first.__class__ is Envelope else []
        self.payloads, self.saved = payloads, [contents(payload) for payload in payloads]

    def end(self) -> None:
        """Report a change: the program learns that the operation is complete."""
        payloads, self.payloads = self.payloads, []
        if payloads and any(contents(payload) != saved for payload, saved in zip(payloads, self.saved, strict=True)):
            call, place = call_and_place()
            what = "the send to {others}" if self.peers else "the operation"
            self.process.universe.report(
                "buffer-in-use",
                self.process.number,
                f"its buffer was written to before {call} at {place} completed {what}; write to it after that call, or to "
                "another buffer",
                self.peers,
                call=self.call_site.call,
                place=self.call_site.place,
                wrong_data=True,
            )

    def drop(self) -> None:
        """Stop watching: the program will not learn when the operation is complete."""
        self.payloads = []


def _sent(operation: Any, buffer: Any) -> Iterable[Payload | None]:
    """Return the payloads that an operation reads until it is complete."""
    kind = operation.__class__
    if kind is Envelope:
        return (describe(buffer)[0],)
    if kind is AllOf:  # a send and a receive; without a buffer, the send is of a copy
        sends = operation.operations[0].__class__ is Envelope and buffer[0] is not None
        return (describe(buffer[0])[0],) if sends else ()
    if kind is not Completion or hasattr(operation.why, "partitions"):
        return ()  # to PROC_NULL, or partitions, which may be written to until Pready
    if operation.why is None:  # a buffered send
        return (describe(buffer)[0],)
    reads, writes = (payloads_of(buffers) for buffers in getattr(buffer, "uses", ((), ())))
    results = {_root(payload) for payload in writes}  # with IN_PLACE the call itself writes to what it sends
    return [payload for payload in reads if _root(payload) not in results]


def _root(payload: Payload | None) -> int:
    """Return the address of the object that owns the memory of a payload."""
    return id(root_of(payload.memory if type(payload) is Span else payload))


def register(universe: Universe, nprocs: int) -> None:
    """Check the send buffers of a run, unless it has too many ranks."""
    if nprocs <= MAX_RANKS:
        universe.send_checks = SendChecks
