"""asyncio on every rank: each rank has its own event loops, which wait in modeled time.

A coroutine that waits for a message blocks the other coroutines of its rank, as a blocking call of mpi4py does, but not
other ranks. `asyncio.sleep` and time-outs advance the modeled clock of the rank, as `time.sleep` does. Other threads of
the rank may wake its event loop. An event loop that waits for files or sockets waits in real time, and lets other ranks run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.state_switching import StateSwitcher
from fakempi.extensions.threads.thread_state import running_loop_remover
from fakempi.extensions.threads.waiting import wait_for, wake_one
from fakempi.isolation.patches import Patches, RunningState
from fakempi.isolation.rank_state import RankState
from fakempi.mpi.base.environment import compute


class Coroutines:
    """Patches for asyncio. Threads that a rank has started use the unpatched behavior."""

    def __init__(self, running_state: RunningState, patches: Patches, switcher: StateSwitcher) -> None:
        self.running_state, self.patches, self.switcher = running_state, patches, switcher
        self.hooks = {"asyncio": self._events, "asyncio.base_events": self._base_events}

    def _events(self, asyncio: Any) -> None:
        events = asyncio.events  # patched when all of asyncio is loaded, which imports functions from this module
        set_running = events._set_running_loop

        remove = running_loop_remover(events, set_running)

        def set_running_loop(loop: Any) -> None:
            if loop is not None and current_task() is not None:
                self.switcher.add(remove)
                if hasattr(loop, "_selector") and not isinstance(loop._selector, Selector):
                    loop._selector = Selector(loop._selector)
                    loop._write_to_self = loop._selector.waking(loop._write_to_self)
            set_running(loop)

        self.patches.set(events, "_set_running_loop", set_running_loop)
        self.patches.set(events, "_event_loop_policy", EventLoopPolicy(events, self.running_state))

    def _base_events(self, module: Any) -> None:
        original = module.BaseEventLoop.time

        def time(loop: Any) -> float:
            task = current_task()
            return original(loop) if task is None else float(task.agenda.now)

        self.patches.set(module.BaseEventLoop, "time", time)


class EventLoopPolicy:
    """Event loop policy with one current event loop per rank, created on first use as in a main thread."""

    def __init__(self, events: Any, running_state: RunningState) -> None:
        self._before, self._running_state = events._event_loop_policy, running_state
        self._loops: dict[RankState, Any] = {}

    def _thread_policy(self) -> Any:
        if self._before is None:
            asyncio: Any = sys.modules["asyncio"]  # Python 3.14 has made the name private
            self._before = getattr(asyncio, "_DefaultEventLoopPolicy", None) or asyncio.DefaultEventLoopPolicy
            self._before = self._before()
        return self._before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._thread_policy(), name)

    def get_event_loop(self) -> Any:
        """Return the current event loop of the rank or thread."""
        state = self._running_state()
        if state is None:
            return self._thread_policy().get_event_loop()
        loop = self._loops[state] if state in self._loops else self._loops.setdefault(state, self.new_event_loop())
        if loop is None:
            raise RuntimeError("There is no current event loop in thread 'MainThread'.")
        return loop

    def set_event_loop(self, loop: Any) -> None:
        """Set the current event loop of the rank or thread; None removes it."""
        state = self._running_state()
        if state is None:
            self._thread_policy().set_event_loop(loop)
        else:
            self._loops[state] = loop

    def new_event_loop(self) -> Any:
        """Return a new event loop of the original policy."""
        return self._thread_policy().new_event_loop()


class Selector:
    """Selector that waits in modeled time if no files are registered."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def select(self, timeout: float | None = None) -> Any:
        """Return the ready files after at most `timeout` seconds; in modeled time if only the loop's pipe is registered."""
        task = current_task()
        if task is None or (timeout is not None and timeout <= 0):
            return self._real.select(timeout)
        if len(self._real.get_map()) > 1:
            ready = self._real.select(timeout)
            if not ready and timeout is not None:
                compute(timeout)  # timers of the event loop read the modeled clock
            return ready
        ready = self._real.select(0)
        if not ready:
            wait_for(task, self, timeout, lambda: bool(self._real.select(0)))
            ready = self._real.select(0)
        return ready

    def waking(self, write: Callable[[], None]) -> Callable[[], None]:
        """Return a function that writes to the loop's pipe, from another thread, and wakes the task that waits for it."""

        def write_and_wake() -> None:
            write()
            wake_one(self, current_task())

        return write_and_wake
