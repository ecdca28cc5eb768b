"""Daemons that go on for ever while nobody else can: a monitor that looks every ten seconds, a heartbeat.

For them time always moves on, so the loop would never find that nothing else can happen. After a thousand turns of daemons
in which nobody else has moved, no message was sent, and nothing but daemons is booked, the run is over: a livelock. As with
polling, it is a guess that nothing is to be expected of them.
"""

from __future__ import annotations

from typing import Any

from fakempi.kernel.task import Task
from fakempi.mpi.evidence.waits import diagnose
from fakempi.threads.guests import Guest
from fakempi.threads.waiting import Wait, desk_of

PATIENCE = 1000
"""Turns of daemons between two looks."""


def turn(task: Any) -> None:
    """A daemon has the baton again."""
    loop = task.agenda
    desk = desk_of(loop)
    desk.turns += 1
    if desk.turns < PATIENCE or loop.ending:
        return
    desk.turns = 0
    others = [one for one in loop.tasks.values() if not _is_daemon(one)]
    sent = sum(port.sent for port in task.owner.universe.wire.out)
    seen = sent, [(one.number, one.since, one.polled_at) for one in others]
    if seen == desk.seen and others and not _may_go_on(loop):
        loop.starved = True
        task.owner.universe.end(diagnose(task.owner.universe))
    desk.seen = seen


def _is_daemon(task: Any) -> bool:
    handle = getattr(task, "handle", None)
    return isinstance(handle, Guest) and handle.daemon


def _may_go_on(loop: Any) -> bool:
    """Whether anything is booked that is not a daemon's."""
    rest = [*loop.today[loop.taken :], *(item for at, items in loop.lists.items() if at != loop.now for item in items)]
    return not all(_is_daemon(item if isinstance(item, Task) else _whose(item)) for item in [*rest, *loop.pollers])


def _whose(action: Any) -> Any:
    """Whose alarm it is; nothing if it is none."""
    owner = getattr(action, "__self__", None)
    return owner.task if isinstance(owner, Wait) else owner
