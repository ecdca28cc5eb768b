"""Detect runs in which only daemon threads still run, for example a heartbeat every ten seconds.

Such a daemon always schedules its next turn, so the loop would never detect that no task can run. The run ends with a
livelock after a thousand turns of daemons in which no other task ran, no message was sent, and only daemons were scheduled.
This is a heuristic, as for polling: the next turn of a daemon could have changed something.
"""

from __future__ import annotations

from typing import Any

from fakempi.core.kernel.task import Task
from fakempi.extensions.threads.rank_threads import RankThread
from fakempi.extensions.threads.waiting import ThreadWait, waits_of
from fakempi.mpi.diagnostics.waits import diagnose

CHECK_INTERVAL = 1000
"""Turns of daemons between two checks."""


def count_turn(task: Any) -> None:
    """Count a turn of a daemon; at every `CHECK_INTERVAL`-th turn, end the run if only daemons still run."""
    loop = task.agenda
    waits = waits_of(loop)
    waits.daemon_turns += 1
    if waits.daemon_turns < CHECK_INTERVAL or loop.ending:
        return
    waits.daemon_turns = 0
    others = [other for other in loop.tasks.values() if not _is_daemon(other)]
    sent = sum(port.sent for port in task.owner.universe.network.out)
    seen = sent, [(other.number, other.since, other.polled_at) for other in others]
    if seen == waits.seen and others and not _others_are_booked(loop):
        loop.starved = True
        task.owner.universe.end(diagnose(task.owner.universe))
    waits.seen = seen


def _is_daemon(task: Any) -> bool:
    handle = getattr(task, "handle", None)
    return isinstance(handle, RankThread) and handle.daemon


def _others_are_booked(loop: Any) -> bool:
    """Return whether the agenda contains an entry of a task that is not a daemon."""
    rest = [*loop.due[loop.due_index :], *(item for at, items in loop.items_at.items() if at != loop.now for item in items)]
    return not all(_is_daemon(item if isinstance(item, Task) else _owner(item)) for item in [*rest, *loop.pollers])


def _owner(action: Any) -> Any:
    """Return the task to which an entry of the agenda belongs: for an alarm, the task that waits."""
    owner = getattr(action, "__self__", None)
    return owner.task if isinstance(owner, ThreadWait) else owner
