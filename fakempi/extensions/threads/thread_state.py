"""State that Python keeps per OS thread, but that must be separate for each rank: `threading.local`, the event loop.

Ranks on greenlets share an OS thread. Python finds the values of a `threading.local` by an entry in a dictionary of the
thread. If the program uses such objects, these entries are exchanged when a rank waits. This costs time only if the program
has a `threading.local` (program_scan.py), or creates one during the run. If a rank runs an event loop of asyncio, that loop
is removed while the rank waits.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from _thread import _local, get_ident
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any
from weakref import ref

from fakempi.core.hooks import Layer
from fakempi.core.import_hooks import ImportHooks
from fakempi.core.interpreter import is_tested
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.extensions.threads.program_scan import belongs_to_program
from fakempi.extensions.threads.state_switching import state_switcher
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import os_thread

_EVENTS = "asyncio.events"
_LOCAL_PREFIX = "thread.local."  # CPython stores each `threading.local` under this prefix and its address
_OURS = f"{_LOCAL_PREFIX}{hex(id(os_thread))}"  # the entry by which we find the loop

_get_dictionary = ctypes.pythonapi.PyThreadState_GetDict
_get_dictionary.restype = ctypes.py_object

_GONE = object()

Entries = list[tuple[dict[Any, Any], Any, Any]]
"""Values of locals, each with the dictionary that contained them, and their key there."""


class ByName:
    """Until Python 3.12, a thread has a dictionary of the values of all locals."""

    def __init__(self) -> None:
        self.dictionary: dict[Any, Any] = _get_dictionary()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self.dictionary))  # ctypes would release the borrowed reference

    def register(self, local: Any) -> None:
        """Do nothing: all locals are found."""

    def take(self) -> Entries:
        """Remove and return the values of this thread."""
        own = self.dictionary
        names = [name for name in own if isinstance(name, str) and name.startswith(_LOCAL_PREFIX) and name != _OURS]
        taken = [(own, name, own.pop(name, _GONE)) for name in names]  # the garbage collector may remove some meanwhile
        return [entry for entry in taken if entry[2] is not _GONE]


class ByObject:
    """From Python 3.13 on, a local has a dictionary of its values by thread. Only registered locals are found."""

    def __init__(self) -> None:
        values = vars(os_thread)
        self.key = next(key for key, value in _values_of(os_thread).items() if value is values)  # that of this thread
        self.known: dict[int, tuple[ref[Any], dict[Any, Any]]] = {}

    def register(self, local: Any) -> None:
        """Add a local that the program uses."""
        if id(local) not in self.known or self.known[id(local)][0]() is not local:
            self.known[id(local)] = ref(local), _values_of(local)

    def take(self) -> Entries:
        """Remove and return the values of this thread."""
        policy = getattr(sys.modules.get(_EVENTS), "_event_loop_policy", None)
        current = getattr(policy, "_local", None)
        if isinstance(current, _local):
            self.register(current)  # this local holds the current event loop of asyncio
        key = self.key
        return [(own, key, own.pop(key)) for _, own in list(self.known.values()) if key in own]


def _values_of(local: Any) -> dict[Any, Any]:
    values: dict[Any, Any] = [referent for referent in gc.get_referents(local) if type(referent) is dict][-1]
    return values


class ThreadState:
    """Exchanges the state of ranks whose tasks share this OS thread."""

    layer = Layer.RANK_STATE

    def __init__(self, loop: Loop) -> None:
        self.loop, self.thread = loop, get_ident()
        self.outside: Entries | None = None  # values of the caller of `run`; None until `exchange_locals`

    @cached_property
    def values(self) -> ByName | ByObject:
        """The values of locals in this thread."""
        return ByObject() if sys.version_info >= (3, 13) else ByName()

    def exchange_locals(self) -> None:
        """Give each rank its own values of `threading.local` objects from now on."""
        if self.outside is None:
            self.outside = self.values.take()
            self.loop.subscribe(self)
            state_switcher(self.loop).add(self._remove)

    def close(self) -> None:
        """Restore the values of the caller of `run`."""
        if self.outside is not None:
            self._replace(self.outside)
            self.loop.unsubscribe(self)

    def _replace(self, entries: Entries) -> None:
        self.values.take()
        for own, key, value in entries:
            own[key] = value

    def begin(self, proceed: Callable[[Task], bool], task: Task) -> bool:
        """Remove the values of the previous task before a new task begins."""
        if get_ident() == self.thread and not self.loop.ending:
            self.values.take()
        return proceed(task)

    def _remove(self) -> Callable[[], None] | None:
        return partial(self._replace, self.values.take()) if get_ident() == self.thread else None


_open: list[ThreadState] = []
"""The states of the active runs on greenlets; each run is in its own OS thread."""


def begin(loop: Loop, used: list[Any]) -> ThreadState | None:
    """Begin a run: on greenlets, exchange values of `threading.local` objects if the program uses any."""
    if not hasattr(loop.backend, "thread") or not is_tested():
        return None
    state = ThreadState(loop)
    _open.append(state)
    for local in used:
        state.values.register(local)
    if used:
        state.exchange_locals()
    return state


def end(state: ThreadState | None) -> None:
    """End a run."""
    if state is not None:
        _open.remove(state)
        state.close()


class RankLocal(_local):
    """Replaces `threading.local`: from the first one that the program creates, the ranks of the run exchange values."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        local = super().__new__(cls, *args, **kwargs)
        for state in _states():
            state.values.register(local)
            if belongs_to_program(frame_at(1).f_globals):
                state.exchange_locals()
        return local


# -- asyncio ---------------------------------------------------------------------------------------------------------


def running_loop_remover(events: Any, set_running: Callable[[Any], None]) -> Callable[[], Callable[[], None] | None]:
    """Return a function that removes a rank's running event loop, and its current task, which is the thread's since 3.14."""

    def remove() -> Callable[[], None] | None:
        running = events._get_running_loop()
        if running is None:
            return None
        tasks: Any = sys.modules["asyncio.tasks"]
        task = tasks.current_task(running)
        swap: Any = getattr(tasks, "_swap_current_task", _swap_nothing)
        if task is None:
            swap = _swap_nothing  # Python 3.12 raises if there is no current task
        swap(running, None)
        set_running(None)

        def restore_loop() -> None:
            set_running(running)
            swap(running, task)

        return restore_loop

    return remove


def _swap_nothing(loop: Any, task: Any) -> None:
    """Exchange no task."""


class Asyncio:
    """Changes asyncio: at once, or when a rank imports it."""

    def __init__(self) -> None:
        self.events: Any = None
        self.set_running: Any = None
        self.changed: Any = None
        self.hooks = ImportHooks()

    def change(self) -> None:
        """Change asyncio."""
        self.hooks.add(_EVENTS, self._change)

    def restore(self) -> None:
        """Undo the change, unless another one that is older has been undone before; asyncio may have imported ours."""
        for module in filter(None, (self.events, sys.modules.get("asyncio"))):
            if self.changed is not None and vars(module).get("_set_running_loop") is self.changed:
                module._set_running_loop = self.set_running
        self.events = self.set_running = self.changed = None
        self.hooks.close()

    def _change(self, events: Any) -> None:
        self.events, self.set_running = events, events._set_running_loop
        set_running = self.set_running
        remove = running_loop_remover(events, set_running)

        def set_running_loop(loop: Any) -> None:
            if loop is not None:
                for state in _states():
                    state.exchange_locals()  # one of them has the current event loop, which does not run yet
                    state_switcher(state.loop).add(remove)
            set_running(loop)

        events._set_running_loop = self.changed = set_running_loop


def _states() -> Iterator[ThreadState]:
    """Return the state of the run that is active in this OS thread."""
    return (state for state in list(_open) if state.thread == get_ident() and os_thread.loop is state.loop)


METHODS = {"local": RankLocal}
"""For the module `threading`."""
