"""Greenlets and rank threads in one run: the OS thread of the greenlets sleeps while a rank thread runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from greenlet import getcurrent

from fakempi.core.kernel.greenlets import Greenlets
from fakempi.core.kernel.loop import Ended, Loop
from fakempi.core.kernel.task import Task
from fakempi.core.kernel.threads import throw
from fakempi.extensions.threads.raw import acquire, allocate_lock, get_ident, release
from fakempi.mpi.base.frames import current_frames


class MixedBackend:
    """Passes turns between the OS thread of the greenlets and rank threads; it is the `gate` of the greenlets backend."""

    def __init__(self, loop: Loop, greenlets: Greenlets) -> None:
        self.loop, self.hub, self.thread = loop, greenlets.hub, greenlets.thread
        self.awake = allocate_lock()  # released when the thread of the greenlets has to continue
        acquire(self.awake)
        self.next_switch: Callable[[], Any] | None = None  # the function that the thread of the greenlets calls next
        self.crash: BaseException | None = None

    def from_anywhere(self, switch: Callable[[], Any]) -> Callable[[], Any]:
        """Return a function that switches to a greenlet from any OS thread."""
        return partial(self._into_greenlet, switch)

    def into_thread(self, resume: Callable[[], Any]) -> Any:
        """Resume a rank thread. If the OS thread of the greenlets calls this, it sleeps until a greenlet is resumed."""
        resume()
        return self._sleep() if get_ident() == self.thread else None

    def to_hub(self) -> None:
        """Switch to the hub from any OS thread."""
        crash, self.crash = self.crash, None
        self._into_greenlet(partial(self.hub.switch, None) if crash is None else partial(self.hub.throw, crash))

    def frames(self) -> Callable[[Task], Any]:
        """Return a function that returns the current frame of a waiting task."""
        frames = current_frames()

        def frame_of(task: Task) -> Any:
            if hasattr(task.handle, "ident"):
                return frames.get(task.handle.ident)
            return task.handle.gr_frame or frames.get(self.thread)  # the shared thread may sleep in this greenlet

        return frame_of

    def _into_greenlet(self, switch: Callable[[], Any]) -> Any:
        if get_ident() == self.thread:
            return switch()
        self.next_switch = switch
        release(self.awake)
        return None

    def _sleep(self) -> Any:
        try:
            # With a time limit, since a signal that another thread receives does not wake this one. `next_switch` may
            # already be set while the lock is still held.
            while not acquire(self.awake, True, 1) or self.next_switch is None:
                pass
        except BaseException as error:  # raised by a signal handler of the program, while a rank thread runs
            self.loop.stop()
            while self.next_switch is None:
                running = self.loop.running
                if not acquire(self.awake, True, 0.5) and running is not None and running.number in self.loop.tasks:
                    throw(Ended, running.handle.ident)  # the rank thread has not ended yet
            self.next_switch = None
            mine = next((task for task in self.loop.tasks.values() if task.handle is getcurrent()), None)
            if mine is not None:  # the run ends for this reason, even if the rank catches the exception
                mine.owner.universe.decide(error)
            self.loop.running = mine
            raise
        switch, self.next_switch = self.next_switch, None
        return switch()


def mixed(loop: Loop) -> MixedBackend:
    """Return the `MixedBackend` of a loop on greenlets; create it for the first rank thread."""
    greenlets: Any = loop.backend
    if greenlets.gate is None:
        greenlets.gate = MixedBackend(loop, greenlets)
        for task in loop.tasks.values():
            loop.set_switch(task, greenlets.gate.from_anywhere(task.switch))
    return greenlets.gate  # type: ignore[no-any-return]  # an attribute of a module that is imported as Any
