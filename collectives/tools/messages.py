"""Send, receive and exchange blocks; an empty block is never sent.

Both sides of a transfer know its size, so both skip an empty one, as in Träff et al. (2008). Two processes that send to
each other use one `exchange`, so that no algorithm relies on buffering.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy import ndarray

from collectives.tools.protocol import Buffer, Comm, Request

# The message of a barrier: empty, but it still costs t_s.
TOKEN: Final[Any] = np.empty(0, np.uint8)


def send(comm: Comm, block: Buffer, dest: int, tag: int) -> None:
    """Send a block unless it is empty."""
    if not is_empty(block):
        comm.Send(block, dest, tag)


def receive(comm: Comm, block: Buffer, source: int, tag: int) -> None:
    """Receive a block unless it is empty."""
    if not is_empty(block):
        comm.Recv(block, source, tag)


def exchange(comm: Comm, outgoing: Buffer | None, dest: int, incoming: Buffer | None, source: int, tag: int) -> None:
    """Send one block and receive another at the same time; None or an empty block omits that half."""
    if type(outgoing) is ndarray and type(incoming) is ndarray and outgoing.size and incoming.size:  # the common case
        comm.Sendrecv(outgoing, dest, tag, incoming, source, tag)
        return
    sending, receiving = not is_empty(outgoing), not is_empty(incoming)
    if sending and receiving:
        comm.Sendrecv(outgoing, dest, tag, incoming, source, tag)
    elif sending:
        comm.Send(outgoing, dest, tag)
    elif receiving:
        comm.Recv(incoming, source, tag)


def wait_all(requests: Sequence[Request]) -> None:
    """Wait for all requests; an empty sequence is allowed."""
    if requests:
        type(requests[0]).Waitall(requests)


def two_streams(
    comm: Comm, outgoing: Sequence[tuple[int, Buffer]], incoming: Sequence[tuple[int, Buffer]], tag: int
) -> None:
    """Send blocks one after the other and, independently, receive blocks one after the other.

    Both are given as (partner, block), in order; at most one send and one receive are pending at a time.
    """
    sends = ((comm.Isend, block, dest) for dest, block in outgoing if not is_empty(block))
    receives = ((comm.Irecv, block, source) for source, block in incoming if not is_empty(block))
    streams = [sends, receives]
    pending: list[Request] = []
    for stream in list(streams):
        _begin_next(stream, streams, pending, tag)
    while len(pending) > 1:
        done = type(pending[0]).Waitany(pending)
        stream = streams.pop(done)
        del pending[done]
        streams.append(stream)
        _begin_next(stream, streams, pending, tag)
    while pending:
        pending.pop().Wait()
        _begin_next(streams[0], streams, pending, tag)


def _begin_next(stream: Any, streams: list[Any], pending: list[Request], tag: int) -> None:
    """Begin the stream's next message, or remove a finished stream."""
    following = next(stream, None)
    if following is None:
        streams.remove(stream)
    else:
        begin, block, partner = following
        pending.append(begin(block, partner, tag))


def is_empty(block: Any) -> bool:
    """Whether there is nothing to send: None, a buffer without elements, or an mpi4py buffer list with a count of 0.

    >>> [is_empty(block) for block in (None, TOKEN, [None, 0, "i"], [TOKEN, "i"], [b"abcd", (0, 1), "i"])]
    [True, True, True, True, True]
    >>> [is_empty(block) for block in (np.zeros(1), [np.zeros(1), "d"], [b"abcd", (1, 0), "i"], [b"abcd", 1, "i"])]
    [False, False, False, False]
    """
    if type(block) is ndarray:
        return not block.size
    if block is None:
        return True
    if not isinstance(block, (list, tuple)):
        return bool(getattr(block, "size", 1) == 0)
    count = block[1] if len(block) > 1 else None
    count = count[0] if isinstance(count, (list, tuple)) else count
    return int(count) == 0 if isinstance(count, (int, np.integer)) else is_empty(block[0])
