"""Whose turn it is: what belongs to one rank is in the interpreter while that rank has the baton, and put away otherwise.

The kernel has no hook for this. It hands a task the baton by calling the task's `resume`, which the carriers set and which
is looked up each time, so the stage puts a step of its own before it: put away what is the last rank's, lay out the next
one's. Tasks that begin, such as nonblocking collectives in the background, pass `Loop.begin`, where they get that step too.
Every run ends with `Loop.unwind`, after which all of it is undone. A run without scripts has none of this.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.errors import MPIError
from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task
from fakempi.mpi.base.current import here
from fakempi.script import stand_in
from fakempi.script.coroutines import Coroutines
from fakempi.script.debugging import Debugging
from fakempi.script.finders import Finders
from fakempi.script.imports import Finder, lock_by_rank
from fakempi.script.leaving import patch_exit
from fakempi.script.names import Names
from fakempi.script.output import Input, Lines
from fakempi.script.patches import Patches, patch
from fakempi.script.place import Place, exchange, share_sys, unshare_sys
from fakempi.script.sockets import Sockets
from fakempi.script.turns import Turns
from fakempi.threads.guests import Guest
from fakempi.threads.here import task_here


class Stage:
    """There is one, since there is one interpreter: the ranks of one run at a time play on it."""

    def __init__(self) -> None:
        self.loop: Loop | None = None
        self.places: dict[Any, Place] = {}  # process -> its place
        self.outside = Place(-1, "", ())  # whoever runs no script
        self.at = self.outside
        self.hooked: dict[Task, Callable[[], Any]] = {}  # what their `resume` was
        self.folders: set[str] = set()  # in which scripts lie
        self.finder = Finder(self.who)
        self.modules: dict[str, Any] = {}  # mpi4py's names
        self.hidden: dict[str, Any] = {}  # what was there under those names
        self.patches = Patches()
        self.unlock: Callable[[], None] = lambda: None
        self.names = Names(self.aside)
        self.turns: Turns
        self.meta_path: list[Any] = []

    def who(self) -> Place | None:
        """The place of the rank that has the baton, None if it runs no script."""
        return None if self.at is self.outside else self.at

    def rank(self) -> Place | None:
        """As `who`, but a thread that a rank has started is nobody's: it has what any thread has."""
        task = task_here()
        return None if task is None or isinstance(task.handle, Guest) else self.who()

    def open(self, loop: Loop, seed: int) -> None:
        """Before a rank enters: the first of a run finds the interpreter as it was, and changes it for all."""
        if self.loop is loop:
            return
        if self.loop is not None and not self.loop.ending:
            raise MPIError(ERR_OTHER, "program: scripts of another run are going on in this Python process.")
        self._close()
        self._open(loop, seed)

    def enter(self, process: Any, place: Place, folder: str) -> None:
        """A rank's first step: from now on it has its own things."""
        self.places[process] = place
        if not self.folders:
            self.outside.own |= self.finder.hide() | {"__main__"}
        if folder not in self.folders:
            self.folders.add(folder)
            self.names.take(folder, self.patches)
            self.outside.own |= self.names.hidden()
        self._switch(place)
        if process.meter is not None:
            process.meter.start()  # what it has counted until now was our own work

    def leave(self, process: Any) -> None:
        """A rank's last step."""
        place = self.places.pop(process)
        self.out.finish(place)
        self.err.finish(place)
        self._switch(self.outside)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While something is imported that no rank has to do with. Threads that a rank has started change nothing."""
        at = self.outside if here.loop is None else self.at
        if at is self.outside:
            yield
            return
        self._switch(self.outside)
        try:
            yield
        finally:
            self.outside.own |= self.names.hidden()
            self._switch(at)

    def _switch(self, to: Place) -> None:
        if self.at is not to:
            exchange(self.at, to)
            self.at = to

    def _hook(self, task: Task) -> None:
        resume, owner, place_of, outside = task.resume, task.owner, self.places.get, self.outside
        modules, logs = sys.modules, vars(logging)

        def switch_and_resume() -> Any:
            at, to = self.at, place_of(owner, outside)
            if at is not to:
                main = to.main
                if main is not None and modules.get("__main__", at) is at.main:
                    modules["__main__"], logs["root"] = main, to.root  # what `exchange` does for most, without a call
                else:
                    exchange(at, to)
                self.at = to
            return resume()

        self.hooked[task] = resume
        task.resume = switch_and_resume

    def _begin(self, task: Task) -> bool:
        """A task's first step: it was started by a carrier, which has set its `resume`."""
        self._hook(task)
        self._switch(self.places.get(task.owner, self.outside))
        try:
            assert self.loop is not None
            return Loop.begin(self.loop, task)
        finally:
            self.hooked.pop(task, None)

    def _ask(self) -> None:
        """A rank is about to read from standard input, where on a terminal somebody looks at what it has written."""
        place = self.who()
        if place is not None and self.input.isatty():
            self.out.show(place)

    def _unwind(self) -> None:
        """The end of the run: once all ranks have ended, everything is as it was before."""
        assert self.loop is not None
        try:
            Loop.unwind(self.loop)
        finally:
            self._close()

    def _open(self, loop: Loop, seed: int) -> None:
        """Change the interpreter. Ctrl-C may come at any point: first of all, see to it that everything is undone."""
        self.folders, self.hidden, self.patches, self.unlock = set(), {}, Patches(), lambda: None
        self.names, self.turns = Names(self.aside), Turns(loop)
        self.at = self.outside = Place(-1, "", ())
        self.input = Input(sys.stdin, self._ask, self.who)
        self.out, self.err = Lines(sys.stdout, self.who), Lines(sys.stderr, self.who)
        self.loop = loop
        loop.begin, loop.unwind = self._begin, self._unwind  # type: ignore[method-assign]
        share_sys(lambda: self.at)
        sys.stdout, sys.stderr = self.out, self.err  # for threads of ranks, which may print at any time
        for task in loop.tasks.values():
            if task.handle is not None:
                self._hook(task)
        patch(self.patches, self.who, seed)
        patch_exit(self.patches, self.who, self.leave)
        self._follow()
        self.unlock = lock_by_rank(self.who)
        self.meta_path, sys.meta_path = sys.meta_path, Finders(sys.meta_path, self.finder, self.who)
        self.hidden = _take("mpi4py")
        self.modules = self.modules or stand_in.make(self.who)
        sys.modules.update(self.modules)

    def _follow(self) -> None:
        """Change modules that are loaded only by some: now, or when they are."""
        coroutines = Coroutines(self.rank, self.patches, self.turns)
        debugging = Debugging(self.rank, self.patches, self.turns, (self.input, self.out))
        self.finder.hooks = {**coroutines.hooks, **debugging.hooks, **Sockets(self.patches).hooks}
        for name, change in self.finder.hooks.items():
            if name in sys.modules:
                change(sys.modules[name])

    def _close(self) -> None:
        if self.loop is None:
            return
        self._switch(self.outside)
        for name, stream in (("stdout", self.out), ("stderr", self.err)):
            if getattr(sys, name) is stream:
                setattr(sys, name, stream.real)
        self.modules.update(_take("mpi4py"))
        sys.modules.update(self.hidden)
        if isinstance(sys.meta_path, Finders):
            self.meta_path[:] = sys.meta_path.left()
            sys.meta_path = self.meta_path
        self.finder.forget()
        self.unlock()
        self.turns.forget()
        self.patches.undo()
        unshare_sys(self.outside)
        for name in ("begin", "unwind"):
            vars(self.loop).pop(name, None)
        for task, resume in self.hooked.items():
            task.resume = resume
        self.hooked.clear()
        self.places.clear()
        self.loop = None


def _take(package: str) -> dict[str, Any]:
    """Take a package's modules out of `sys.modules`."""
    names = [name for name in sys.modules if name.partition(".")[0] == package]
    return {name: sys.modules.pop(name) for name in names}


STAGE = Stage()
