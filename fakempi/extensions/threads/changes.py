"""The changes of Python's standard library for threads of ranks, made when a run needs them.

In every run three functions of `threading` and one of importlib are replaced, since nothing else announces the event:
`Thread.start` (a rank starts a thread), `_make_invoke_excepthook` and `_newname` (called for new `Thread` objects), and
`_get_module_lock` (module_locks.py). All are functions in Python, and one test is added to each.

All other changes, those of the lock types among them, are made when one of these happens, and undone when no run is active:

* The program can use threads or locks (program_scan.py): when its run begins, or when a rank has imported such a module.
* A rank starts a thread in any other way, for example in an installed package.
* The program names a package of greenlets: only `greenlet.switch` is changed (program_greenlets.py).

Nanoseconds of `lock.acquire(); lock.release()` on Python 3.11, on a busy machine: 129 outside of runs; in runs of programs
without threads 127 in a rank and 126 in other OS threads; in runs of programs with threads 7,000 and 1,100.

Not covered: an installed package that does not name mpi4py or fakempi holds a lock while it calls the program, that call
waits in MPI, another rank needs the same lock, and the program itself names none of the modules of `THREADS`. The OS thread
then blocks until `run(timeout=)` ends the run. An RLock on greenlets is acquired instead, as if each rank had its own.

On a free-threaded Python without the global interpreter lock, and on a version of Python that has not been tested, only
asyncio is changed, if at all, and starting a thread on a rank raises an error.
"""

from __future__ import annotations

import _thread
import os
import queue
import threading
from collections.abc import Iterable
from types import CodeType
from typing import Any

from fakempi.core.interpreter import is_tested, warn_if_untested
from fakempi.core.kernel.loop import Loop
from fakempi.extensions.threads import (
    conditions,
    locks,
    module_locks,
    pools,
    program_greenlets,
    queues,
    starting,
    state_switching,
    thread_state,
    waiting,
)
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.forked import Forked, open_pipe, watch_pipe, write_to_pipe
from fakempi.extensions.threads.program_scan import GREENLETS, THREADS, ProgramFacts, facts_of, scan
from fakempi.extensions.threads.raw import acquire, allocate_lock, get_ident, release
from fakempi.extensions.threads.types import Patch
from fakempi.extensions.threads.unmanaged import check_callers, has_unmanaged_threads
from fakempi.mpi.base.current import current_process, os_thread, outside

_starts = {name: getattr(starting, name) for name in ("start_new_thread", "start_joinable_thread")}
_private = {f"_{name}": function for name, function in _starts.items()}
_clocks = {"_time": pools.clock, "_set_sentinel": starting.set_sentinel}
_on_demand: dict[Any, dict[str, Any]] = {
    **locks.METHODS,
    **queues.METHODS,
    threading.Thread: {"__init__": starting.initialize},
    _thread: _starts,
    threading: {**_clocks, **_private, **thread_state.METHODS},
    queue: {"time": pools.clock},
}


class Changes:
    """All changes, and whether they are made; `lock` guards them, since several runs may begin and end at once."""

    def __init__(self) -> None:
        self.lock = allocate_lock()

        def start(thread: threading.Thread) -> None:
            starting.start(self.require, thread)

        starts = Patch(threading.Thread, {"start": start})
        hook = Patch(threading, {"_make_invoke_excepthook": starting.make_invoke_excepthook, "_newname": starting.new_name})
        self.in_every_run = [starts, hook, *(Patch(owner, names) for owner, names in module_locks.METHODS.items())]
        self.on_demand: list[Patch | thread_state.Asyncio] = [
            thread_state.Asyncio(),
            Patch(threading.Condition, conditions.METHODS, may_add=True),
            *(Patch(owner, names) for owner, names in _on_demand.items()),
        ]
        self.is_made = False
        self.switches: Patch | None = None  # while the patch is applied

    def require(self, task: Any = None) -> None:
        """Make the changes that only some programs need, unless they have already been made; `task` may hold locks."""
        if self.is_made or not starting.has_gil():
            return
        acquire(self.lock)
        try:
            if not self.is_made:
                starting.Originals.initialize = threading.Thread.__init__
                for changed in self.on_demand if is_tested() else self.on_demand[:1]:
                    changed.change()
                self.is_made = True
                if task is not None:
                    locks.record_acquired_earlier(task)
        finally:
            release(self.lock)

    def require_switches(self) -> None:
        """Change `greenlet.switch`, unless it has already been changed."""
        acquire(self.lock)
        try:
            if self.switches is None and is_tested() and (switches := program_greenlets.switches()) is not None:
                switches.change()
                self.switches = switches
        finally:
            release(self.lock)

    def begin_run(self) -> None:
        """Count a run that begins; if no other run is in progress, make the changes that every run needs."""
        acquire(self.lock)
        try:
            outside.runs += 1
            if outside.runs == 1:
                starting.Originals.start = threading.Thread.start
                for changed in self.in_every_run:
                    changed.change()
        finally:
            release(self.lock)

    def end_run(self) -> None:
        """Count a run that ends; if no other run is in progress, undo all changes."""
        acquire(self.lock)
        try:
            outside.runs -= 1
            if outside.runs == 0:
                self.restore()
        finally:
            release(self.lock)

    def restore(self) -> None:
        """Undo all changes."""
        for changed in self.in_every_run:
            changed.restore()
        if self.switches is not None:
            self.switches.restore()
            self.switches = None
        if self.is_made:
            self.is_made = False
            pools.undo()
            for other in self.on_demand:
                other.restore()


CHANGES = Changes()


class ThreadsAsTasks:
    """While this is active, threads of ranks are tasks of the loop, and wait for each other in the loop.

    This and the other contexts of a run are classes: entering and leaving a generator takes 4 microseconds.
    """

    def __init__(self, loop: Loop, main: Any, args: Iterable[Any]) -> None:
        self.loop, self.main, self.args = loop, main, args
        self.state: thread_state.ThreadState | None = None

    def __enter__(self) -> None:
        loop = self.loop
        warn_if_untested()
        facts = scan(self.main, self.args)
        if len(threading._active) > 1 and has_unmanaged_threads():  # type: ignore[attr-defined]  # private in threading, absent from typeshed
            check_callers(loop)
        waiting.waits_of(loop).hub = get_ident()
        CHANGES.begin_run()
        try:
            _follow(facts)
            used = [local for reference in facts.locals if (local := reference()) is not None]
            self.state = thread_state.begin(loop, used)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        loop = self.loop
        thread_state.end(self.state)
        state_switching.forget(loop)
        CHANGES.end_run()
        waiting.forget(loop)
        module_locks.forget(loop)


def _follow(facts: ProgramFacts, task: Any = None) -> None:
    """Make the changes that a program needs, given the modules that it names; `task` may hold locks."""
    if facts.names & THREADS:
        CHANGES.require(task)
    if facts.names & GREENLETS:
        CHANGES.require_switches()


def follow_code(code: CodeType) -> None:
    """Make the changes that the code needs; a rank is about to execute it."""
    facts = ProgramFacts()
    facts.add_code(code)
    _follow(facts)


def _follow_import(name: str) -> None:
    """Make the changes that a module needs; a rank has imported it."""
    task = current_task()
    facts = None if task is None else facts_of(name)
    if facts is not None:
        _follow(facts, task)


module_locks.names.imported = _follow_import


def _in_child() -> None:
    """Undo all changes in a process that a rank has forked: it is outside of the run, but knows its rank."""
    process = current_process()
    if process is not None:
        outside.process = process
        Forked(process.loop)
        write_to_pipe(process)
    os_thread.loop = None
    if outside.runs:
        outside.runs = 0
        CHANGES.restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=open_pipe, after_in_parent=watch_pipe, after_in_child=_in_child)
