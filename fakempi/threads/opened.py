"""Greenlets that are open to guests: the OS thread that they share sleeps while a guest has the baton."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from greenlet import getcurrent

from fakempi.kernel.greenlets import Greenlets
from fakempi.kernel.loop import Ended, Loop
from fakempi.kernel.task import Task
from fakempi.kernel.threads import throw
from fakempi.mpi.base.frames import current_frames
from fakempi.threads.raw import acquire, allocate_lock, get_ident, release


class Opened(Greenlets):
    """A carrier becomes one of these when the first guest comes."""

    loop: Loop
    driver: Any  # the lock on which the shared thread sleeps
    wanted: Callable[[], Any] | None  # what it is to do when it wakes
    crash: BaseException | None

    def prepare(self, loop: Loop, task: Task) -> None:
        """As ever, but guests may come that way, too."""
        super().prepare(loop, task)
        task.resume = self.way_to(task.resume)

    def way_to(self, resume: Callable[[], Any]) -> Callable[[], Any]:
        """How to resume a greenlet from any thread."""
        return partial(self._into_greenlet, resume)

    def into_guest(self, resume: Callable[[], Any]) -> Any:
        """Resume a guest; the thread of greenlets has nothing to do until it gets the baton back."""
        resume()
        return self._sleep() if get_ident() == self.thread else None

    def to_hub(self) -> None:
        """From any thread."""
        crash, self.crash = self.crash, None
        switch = partial(self.hub.switch, None) if crash is None else partial(self.hub.throw, crash)
        self._into_greenlet(switch)

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Where waiting tasks stand; one of the greenlets may be that in which their thread sleeps."""
        frames = current_frames()
        found: dict[Task, Any] = {}
        for task in tasks:
            if hasattr(task.handle, "ident"):
                found[task] = frames.get(task.handle.ident)
            elif task.handle is not None:
                found[task] = task.handle.gr_frame or frames.get(self.thread)
        return found

    def _into_greenlet(self, resume: Callable[[], Any]) -> Any:
        if get_ident() == self.thread:
            return resume()
        self.wanted = resume
        release(self.driver)
        return None

    def _sleep(self) -> Any:
        try:
            # A signal that another thread gets does not wake this one. The lock is taken also if somebody has been faster.
            while not acquire(self.driver, True, 1) or self.wanted is None:
                pass
        except BaseException as error:  # a signal handler of the program's own: a guest has the baton
            self.loop.stop()
            while self.wanted is None:
                running = self.loop.running
                if not acquire(self.driver, True, 0.5) and running is not None and running.number in self.loop.tasks:
                    throw(Ended, running.handle.ident)  # it has not come to its end yet
            self.wanted = None
            mine = next((task for task in self.loop.tasks.values() if task.handle is getcurrent()), None)
            if mine is not None:  # this is why the run ends, also if the rank catches it
                mine.owner.universe.decide(error)
            self.loop.running = mine
            raise
        wanted, self.wanted = self.wanted, None
        return wanted()


def opened(loop: Loop) -> Opened:
    """A loop's carrier, which is now open to guests."""
    carrier: Any = loop.carrier
    if not isinstance(carrier, Opened):
        carrier.__class__ = Opened
        carrier.loop, carrier.driver, carrier.wanted, carrier.crash = loop, allocate_lock(), None, None
        acquire(carrier.driver)
        for task in loop.tasks.values():
            task.resume = carrier.way_to(task.resume)
    return carrier  # type: ignore[no-any-return]
