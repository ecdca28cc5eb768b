"""What is changed in Python while runs go on, of which there may be several at once: the last to end puts it back."""

from __future__ import annotations

import _thread
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.kernel.loop import Loop
from fakempi.mpi.base.current import outside
from fakempi.threads import conditions, locks, pools, queues, starting
from fakempi.threads.foreign import look_around
from fakempi.threads.pools import clock
from fakempi.threads.types import Changed
from fakempi.threads.waiting import forget

_types = [Changed(kind, methods) for kind, methods in {**locks.METHODS, **queues.METHODS}.items()]

_lock = _thread.allocate_lock()
_acquire, _release = type(_lock).acquire, type(_lock).release


def _attributes() -> list[tuple[Any, str, Any]]:
    found: list[tuple[Any, str, Any]] = [
        (threading, "_time", clock), (queue, "time", clock),
        (threading.Thread, "__init__", starting.initialize), (threading.Thread, "start", starting.start),
    ]  # fmt: skip
    for name in ("start_new_thread", "start_joinable_thread"):
        function = getattr(starting, name)
        found += [(owner, key, function) for owner, key in ((_thread, name), (threading, f"_{name}")) if hasattr(owner, key)]
    if hasattr(threading, "_set_sentinel"):
        found.append((threading, "_set_sentinel", starting.set_sentinel))
    return found + [(threading.Condition, name, method) for name, method in conditions.METHODS.items()]


_before: list[tuple[Any, str, Any]] = []


@contextmanager
def among_threads(loop: Loop) -> Iterator[None]:
    """While this goes on, threads of ranks take part in the loop, and so does whatever they wait for."""
    look_around(loop)
    _acquire(_lock)
    try:
        outside.runs += 1
        if outside.runs == 1:
            for owner, name, value in _attributes():
                _before.append((owner, name, getattr(owner, name)))
                setattr(owner, name, value)
            for one in _types:
                one.change()
    finally:
        _release(_lock)
    try:
        yield
    finally:
        _acquire(_lock)
        try:
            outside.runs -= 1
            if outside.runs == 0:
                for one in _types:
                    one.restore()
                pools.undo()
                while _before:
                    owner, name, value = _before.pop()
                    setattr(owner, name, value)
        finally:
            _release(_lock)
        forget(loop)
