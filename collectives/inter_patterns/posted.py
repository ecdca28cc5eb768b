"""Schedules of algorithms on a communicator that is composed of others (`union`) or `Unbuffered`.

Such a communicator has no Sendrecv: a process posts a receive and a send, and waits for both. The times are the same; the
order in which processes continue at one time may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.schedule import Combining, Posted, Preposted, Round, Rounds, Served, Streams


class SynchronouslyPosted(Posted):
    """A round whose messages are not buffered."""

    synchronous = True


class SynchronouslyServed(Served):
    """A phase whose messages are not buffered."""

    synchronous = True


def posted(plan: Rounds | None, *, synchronous: bool = False) -> Rounds | None:
    """The schedule with `Posted` rounds; `synchronous` on an `Unbuffered` communicator.

    >>> from collectives.catalogue.schedule import Transfer
    >>> list(posted([[Transfer(0, 1, 5)]]))
    [[Transfer(source=0, dest=1, nbytes=5, combined=0, start=0, first_part=0)]]
    """
    return None if plan is None else _posted(plan, synchronous)


def _posted(plan: Rounds, synchronous: bool) -> Iterator[Round]:
    for transfers in plan:
        if isinstance(transfers, Served):
            yield SynchronouslyServed(transfers) if synchronous else transfers
        elif isinstance(transfers, (Streams, Preposted, Combining)):
            yield transfers
        else:
            yield SynchronouslyPosted(transfers) if synchronous else Posted(transfers)
