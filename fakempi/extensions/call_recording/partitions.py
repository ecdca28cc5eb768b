"""Partitioned messages: each partition of the send is a message on the channel's own context, and its tag is its number.

They are recorded as the emulator sends them. A real MPI does not show how it sends partitions, so its recorder counts
Psend_init and Precv_init as calls that a replay cannot execute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakempi.extensions.call_recording.rank import RankOfRun
from fakempi.extensions.recorder.table import COMM, REQUEST, maker_of
from fakempi.extensions.recorder.wrapper import Describe, Lines, Maker, in_sequence, nothing, recorded
from fakempi.mpi.partitions.channel import PartitionedReceive, PartitionedSend


def _number(rank: RankOfRun, operation: Any) -> int:
    """Return the number of the communicator with the two processes of a channel."""
    side = operation.channel.side
    return rank.communicators.of_context(side.context.number, side.members)


def _started(rank: Any, request: Any, name: str) -> list[tuple[str, str]]:
    """Return the lines of a started request; a receive expects as many messages as the send has partitions."""
    operation = getattr(request, "_partitioned", None)
    if operation is None:
        return [rank.requests.restart(request) or ("other", f"Prequest.{name}")]
    rank.requests.forget(request)
    if not isinstance(operation, PartitionedReceive) or operation.channel is None:
        return []
    parts = operation.channel.parts
    if parts is None:  # the sender has not called Psend_init yet
        parts = operation.partitions
        rank.expected.append((operation.channel, parts))
    comm = _number(rank, operation)
    return [("recv", f"{comm} 0 {part} 0 {rank.requests.add(request)}") for part in range(parts)]


def _start(rank: Any) -> Describe:
    return lambda request, result: _started(rank, request, "Start")


def _startall(rank: Any) -> Describe:
    def lines(kind: Any, result: Any, requests: Any) -> Lines:
        return [line for request in requests for line in _started(rank, request, "Startall")]

    return lines


def _ready(rank: Any) -> Describe:
    """Partitions are ready: those that the call has sent."""

    def lines(request: Any, result: Any, *args: Any, **keywords: Any) -> Lines:
        operation = request._partitioned
        if not isinstance(operation, PartitionedSend) or operation.channel is None:
            return ()
        comm, dest = _number(rank, operation), len(operation.channel.side.members) - 1
        sent = len(rank.requests.numbers(request))
        return [
            ("send", f"S {comm} {dest} {part} {envelope.nbytes} {rank.requests.add(request)}")
            for part, envelope in list(operation.envelopes.items())[sent:]
        ]

    return lines


_INIT: Maker = recorded(nothing)
_READY: Maker = recorded(_ready)

OF_RUN: Mapping[str, Mapping[str, Maker]] = {
    COMM: {"Psend_init": _INIT, "Precv_init": _INIT},
    REQUEST: {
        "Pready": _READY, "Pready_range": _READY, "Pready_list": _READY, "Parrived": _INIT,
        "Start": recorded(_start), "Startall": recorded(_startall, in_sequence),
    },
}  # fmt: skip
"""Class -> method -> maker of the wrapper, for calls that are recorded in another way than those of a real MPI."""


def maker_in_run(kind: str, name: str) -> Maker | None:
    """Return the maker of the wrapper of a method; None if the method is not recorded."""
    return OF_RUN.get(kind, {}).get(name) or maker_of(kind, name)
