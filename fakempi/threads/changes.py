"""What is changed in Python while runs go on, of which there may be several at once: the last to end puts it back."""

from __future__ import annotations

import _thread
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.kernel.loop import Loop
from fakempi.mpi.base.current import here, outside
from fakempi.threads import conditions, locks, pools, queues, starting
from fakempi.threads.foreign import look_around, watch
from fakempi.threads.own_greenlets import OwnGreenlets
from fakempi.threads.raw import acquire, allocate_lock, release
from fakempi.threads.types import Changed
from fakempi.threads.waiting import forget

_starts = {name: getattr(starting, name) for name in ("start_new_thread", "start_joinable_thread")}
_private = {f"_{name}": function for name, function in _starts.items()}
_changes: dict[Any, dict[str, Any]] = {
    **locks.METHODS,
    **queues.METHODS,
    threading.Condition: conditions.METHODS,
    _thread: _starts,
    threading: {"_time": pools.clock, "_set_sentinel": starting.set_sentinel, **_private},
    queue: {"time": pools.clock},
}
_of_threads = Changed(threading.Thread, {"__init__": starting.initialize, "start": starting.start})
_others = [Changed(owner, names) for owner, names in _changes.items()]
_changed: list[Changed | OwnGreenlets] = [_of_threads, OwnGreenlets(watch), *_others]

_lock = allocate_lock()


@contextmanager
def among_threads(loop: Loop) -> Iterator[None]:
    """While this goes on, threads of ranks take part in the loop, and so does whatever they wait for."""
    look_around(loop)
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        forget(loop)


def _count(more: int) -> None:
    acquire(_lock)
    try:
        outside.runs += more
        if outside.runs == 1 and more == 1:
            for one in _changed:
                one.change()
            starting.before.update(_of_threads.before)
        elif outside.runs == 0:
            _restore()
    finally:
        release(_lock)


def _restore() -> None:
    pools.undo()
    for one in _changed:
        one.restore()


def _in_child() -> None:
    """A process that a rank has forked is outside of the run."""
    here.loop = None
    if outside.runs:
        outside.runs = 0
        _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
