"""Execute the steps of a rank that has several processors or several network interfaces.

A step waits until its cpu is free. A cpu executes its steps in the order in which their dependencies allow them to start. It
is busy while it computes or combines. Sends and receives occupy it for no time, but a busy cpu starts none of them, and it
finds out about the end of a message only when it is free. A message leaves through the nic of its send, and arrives through
the nic of its receive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

from collectives.schedules.matching import Event, Matching
from collectives.schedules.running.executor import Executor, Observer
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Step
from collectives.tools.protocol import Comm, Request

Interfaces = tuple[int, int]
"""The nics of the send and of the receive of a message."""


class RankUnits(Protocol):
    """The cpus and nics of a rank, as the emulator models them."""

    def comm(self, interfaces: Interfaces) -> Comm:
        """Return a communicator whose messages use these nics."""

    def compute(self, seconds: float) -> Request:
        """Return a request that completes after some modeled time."""

    def seconds_to_combine(self, nbytes: int) -> float:
        """Return the modeled time that a cpu takes to combine operands."""


def has_units(schedule: Schedule) -> bool:
    """Whether a rank uses several cpus or nics."""
    return any(
        len({step.cpu for step in steps}) > 1 or len({step.nic for step in steps if step.kind in ("send", "recv")}) > 1
        for steps in schedule.steps
    )


def interfaces_of(schedule: Schedule, matching: Matching) -> dict[Event, Interfaces]:
    """Return the nics of each message, by its send and by its receive."""
    steps = schedule.steps
    found = {
        (rank, index): (step.nic, step.nic) for rank, index, step in schedule if step.kind in ("send", "recv")
    }  # also of steps without a partner
    for send, receive in matching.pairs:
        found[send] = found[receive] = steps[send[0]][send[1]].nic, steps[receive[0]][receive[1]].nic
    return found


class UnitsExecutor(Executor):
    """The execution of one rank's steps on its cpus. Buffers have no contents."""

    def __init__(
        self,
        schedule: Schedule,
        comm: Comm,
        buffers: Mapping[str, Any],
        machine: RankUnits,
        interfaces: Mapping[Event, Interfaces],
        observer: Observer | None = None,
    ) -> None:
        super().__init__(schedule, comm, buffers, None, observer=observer)
        self._machine, self._interfaces = machine, interfaces
        # By busy cpu: steps that could start (False) or end (True) otherwise.
        self._waiting_for: dict[int, deque[tuple[int, bool]]] = {}

    def _start(self, index: int) -> None:
        step = self._steps[index]
        if (waiting := self._waiting_for.get(step.cpu)) is not None:
            waiting.append((index, False))
            return
        if step.kind in ("send", "recv"):
            self._comm = self._machine.comm(self._interfaces[self._rank, index])
        super()._start(index)

    def _local(self, index: int, step: Step) -> None:
        combined = self._machine.seconds_to_combine(step.nbytes) if step.kind == "reduce" else 0
        if seconds := step.seconds + combined:
            self._waiting_for[step.cpu] = deque()
            self._requests.append(self._machine.compute(seconds))
            self._pending.append(index)
        else:
            self._end(index)

    def _end(self, index: int) -> None:
        step = self._steps[index]
        waiting = self._waiting_for.get(step.cpu)
        if step.kind in ("send", "recv"):
            if waiting is not None:
                waiting.append((index, True))
                return
        elif waiting is not None:
            del self._waiting_for[step.cpu]
            ended = [other for other, ends in waiting if ends]
            self._ready.extend(other for other, ends in waiting if not ends)
            for other in ended:
                super()._end(other)
        super()._end(index)
