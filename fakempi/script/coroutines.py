"""asyncio on every rank: each has its own event loops, one of which may run, and they wait in modelled time.

A coroutine that waits for a message lets other ranks run, and no other coroutine of its own rank: as with a blocking call of
mpi4py. `asyncio.sleep` and time-outs let the rank's clock run, as `time.sleep` does. Other threads of the rank may wake its
loop. Who waits for files or sockets waits for them, and everybody with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.current import here
from fakempi.script.patches import Patches, Who
from fakempi.script.place import Place
from fakempi.script.turns import Turns
from fakempi.threads.here import task_here
from fakempi.threads.waiting import wait_for, wake_one


class Coroutines:
    """What asyncio finds while scripts run. A thread that a rank has started has loops as any thread has."""

    def __init__(self, rank: Who, patches: Patches, turns: Turns) -> None:
        self.rank, self.patches, self.turns = rank, patches, turns
        self.hooks = {"asyncio.events": self._events, "asyncio.base_events": self._base_events}

    def _events(self, events: Any) -> None:
        set_running = events._set_running_loop

        def put_away() -> Callable[[], None] | None:
            """The running loop, and the task that it is in: since Python 3.14 that is the thread's, too."""
            running = events._get_running_loop()
            if running is None:
                return None
            tasks: Any = sys.modules["asyncio.tasks"]
            task = tasks.current_task(running)
            swap: Any = getattr(tasks, "_swap_current_task", _nothing)
            if task is None:
                swap = _nothing  # Python 3.12 cannot take away what is not there
            swap(running, None)
            set_running(None)

            def lay_out() -> None:
                set_running(running)
                swap(running, task)

            return lay_out

        def set_running_loop(loop: Any) -> None:
            if loop is not None and task_here() is not None:
                self.turns.keep(put_away)
                if hasattr(loop, "_selector") and not isinstance(loop._selector, Selector):
                    loop._selector = Selector(loop._selector)
                    loop._write_to_self = loop._selector.waking(loop._write_to_self)
            set_running(loop)

        self.patches.set(events, "_set_running_loop", set_running_loop)
        self.patches.set(events, "_event_loop_policy", Policy(events, self.rank))

    def _base_events(self, module: Any) -> None:
        original = module.BaseEventLoop.time

        def time(loop: Any) -> float:
            return original(loop) if task_here() is None else float(here.loop.now)

        self.patches.set(module.BaseEventLoop, "time", time)


def _nothing(loop: Any, task: Any) -> None:
    """In place of exchanging a task."""


class Policy:
    """Says which event loop is the current one: each rank's own, made when it first asks as in a main thread."""

    def __init__(self, events: Any, rank: Who) -> None:
        self._before, self._rank = events._event_loop_policy, rank
        self._loops: dict[Place, Any] = {}

    def _of_threads(self) -> Any:
        if self._before is None:
            asyncio: Any = sys.modules["asyncio"]  # where it has lost its public name in Python 3.14
            self._before = getattr(asyncio, "_DefaultEventLoopPolicy", None) or asyncio.DefaultEventLoopPolicy
            self._before = self._before()
        return self._before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of_threads(), name)

    def get_event_loop(self) -> Any:
        """The current one."""
        place = self._rank()
        if place is None:
            return self._of_threads().get_event_loop()
        loop = self._loops[place] if place in self._loops else self._loops.setdefault(place, self.new_event_loop())
        if loop is None:
            raise RuntimeError("There is no current event loop in thread 'MainThread'.")
        return loop

    def set_event_loop(self, loop: Any) -> None:
        """Make it the current one, or none."""
        place = self._rank()
        if place is None:
            self._of_threads().set_event_loop(loop)
        else:
            self._loops[place] = loop

    def new_event_loop(self) -> Any:
        """As ever."""
        return self._of_threads().new_event_loop()


class Selector:
    """Waits for files, or, where there are none, in modelled time."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def select(self, timeout: float | None = None) -> Any:
        """What is ready, after so many seconds at most. If there is only the loop's own pipe, others run meanwhile."""
        task = task_here()
        if task is None or len(self._real.get_map()) > 1 or (timeout is not None and timeout <= 0):
            return self._real.select(timeout)
        ready = self._real.select(0)
        if not ready:
            wait_for(task, self, timeout, lambda: bool(self._real.select(0)))
            ready = self._real.select(0)
        return ready

    def waking(self, write: Callable[[], None]) -> Callable[[], None]:
        """What writes to the loop's own pipe, from another thread of the rank: whoever waits there looks again."""

        def write_and_wake() -> None:
            write()
            wake_one(self, task_here())

        return write_and_wake
