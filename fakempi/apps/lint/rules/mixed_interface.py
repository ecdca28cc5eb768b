"""A message of `Send` that `recv` receives, or one of `send` that `Recv` receives.

`send` and `recv` transfer pickled objects, `Send` and `Recv` transfer buffers. If the two are mixed, the receiver fails
to unpickle the message, or finds a pickle in its buffer.

Wrong:

    import numpy as np
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        comm.Send(np.zeros(3), dest=1)
    elif comm.rank == 1:
        x = comm.recv(source=0)  # FM203

Right:

    import numpy as np
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    if comm.rank == 0:
        comm.Send(np.zeros(3), dest=1)
    elif comm.rank == 1:
        x = np.empty(3)
        comm.Recv(x, source=0)

Fix: use calls in upper case on both sides, or in lower case on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fakempi.apps.lint.analysis import mpi_calls
from fakempi.apps.lint.analysis.events import BranchEvents, Event, MpiCall, PathEnd, Repetition
from fakempi.apps.lint.analysis.file_analysis import FileAnalysis
from fakempi.apps.lint.findings import LintFinding, finding
from fakempi.apps.lint.rules import paths

CODE = "FM203"
TITLE = "a message of a buffer that is received as an object, or the reverse"
SIZE = 4
ANY_TAG = "any"


class RankMessage(NamedTuple):
    """A call of one rank: its peer and tag, or None if they are not known."""

    call: MpiCall
    rank: int
    peer: Any
    tag: Any


def check(analysis: FileAnalysis) -> Iterator[LintFinding]:
    """Yield the findings of this rule."""
    for function in analysis.functions:
        messages: list[RankMessage] = []
        if all(_collect(function.events, rank, messages) is not None for rank in range(SIZE)):
            yield from _compared(messages)


def _collect(events: Sequence[Event], rank: int, messages: list[RankMessage]) -> bool | None:
    """Collect the messages of a rank; None if a condition around one is not known, False if the path ends."""
    for event in events:
        if isinstance(event, MpiCall) and event.operation in mpi_calls.SENDS | mpi_calls.RECEIVES:
            sends = event.operation in mpi_calls.SENDS
            peer, tag = event.argument(1, "dest" if sends else "source")[1], event.argument(2, "tag")[1]
            any_tag = 0 if sends else ANY_TAG
            messages.append(RankMessage(event, rank, _known(peer, rank), any_tag if tag is None else _known(tag, rank)))
        elif isinstance(event, BranchEvents):
            holds = _known(event.value, rank)
            if holds is None:
                if _has_messages([event]):
                    return None
                continue
            result = _collect(event.body if holds else event.orelse, rank, messages)
            if not result:
                return result
        elif isinstance(event, PathEnd):
            return False
        elif (_has_messages([event]) and not isinstance(event, Repetition)) or (
            isinstance(event, Repetition) and _collect(event.body, rank, messages) is None
        ):
            return None
    return True


def _known(value: Any, rank: int) -> Any:
    return None if value is None or value.formula is None else value.formula.at(rank, SIZE)


def _has_messages(events: Sequence[Event]) -> bool:
    return any(
        (isinstance(event, MpiCall) and event.operation in mpi_calls.MESSAGES)
        or any(map(_has_messages, paths.inside(event)))
        for event in events
    )


def _compared(messages: list[RankMessage]) -> Iterator[LintFinding]:
    sends = [each for each in messages if each.call.operation in mpi_calls.SENDS]
    receives = [each for each in messages if each.call.operation not in mpi_calls.SENDS]
    if any(each.peer is None or each.tag is None for each in sends):
        return
    for receive in receives:
        if receive.peer is None or receive.tag is None:
            continue
        matching = [
            each for each in sends
            if (each.rank, each.peer) == (receive.peer, receive.rank) and receive.tag in (each.tag, ANY_TAG)
            and each.call.ids == receive.call.ids
        ]  # fmt: skip
        buffers = {each.call.operation[0].isupper() for each in matching}
        if buffers == {not receive.call.operation[0].isupper()}:
            send, call = matching[0].call, receive.call
            want = call.operation.lower() if send.operation[0].islower() else call.operation.capitalize()
            yield finding(
                CODE, call.node,
                f"rank {receive.rank} calls {call.operation} for the message that rank {receive.peer} sends with"
                f" {send.operation} (line {send.node.lineno}): one of them is a buffer, the other a pickled object", (),
                f"call {want} here, or {'send' if send.operation[0].isupper() else 'Send'} on rank {receive.peer}",
            )  # fmt: skip
