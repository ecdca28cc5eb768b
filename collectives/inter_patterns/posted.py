"""Schedules of algorithms on a communicator that is composed of others (`union`) or `Unbuffered`.

Such a communicator has no Sendrecv: a process posts a receive and a send, and waits for both. The times are the same; the
order in which processes continue at one time may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.schedule import Combining, LinearPhase, NonblockingRound, PrepostedRound, Round, Rounds, Streams


class SynchronousRound(NonblockingRound):
    """A round whose messages are not buffered."""

    synchronous = True


class SynchronousLinearPhase(LinearPhase):
    """A phase whose messages are not buffered."""

    synchronous = True


def posted(schedule: Rounds | None, *, synchronous: bool = False) -> Rounds | None:
    """The schedule with `NonblockingRound`s; `synchronous` on an `Unbuffered` communicator.

    >>> from collectives.catalogue.schedule import Transfer
    >>> list(posted([[Transfer(0, 1, 5)]]))
    [[Transfer(source=0, dest=1, nbytes=5, combined=0, start=0, first_part=0)]]
    """
    return None if schedule is None else _posted(schedule, synchronous)


def _posted(schedule: Rounds, synchronous: bool) -> Iterator[Round]:
    for transfers in schedule:
        if isinstance(transfers, LinearPhase):
            yield SynchronousLinearPhase(transfers) if synchronous else transfers
        elif isinstance(transfers, (Streams, PrepostedRound, Combining)):
            yield transfers
        else:
            yield SynchronousRound(transfers) if synchronous else NonblockingRound(transfers)
