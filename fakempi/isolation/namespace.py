"""Interpreter state of each rank: installed while the rank runs, removed when another rank runs.

The loop switches to a task by calling the task's `resume`. At the hook point `make_resume`, `RankNamespaces` wraps this
function: before the switch, the state of the previous rank is removed and the state of the next rank is installed. For a new
task, the hook point `begin` does the same. Every run ends with `unwind`, which restores the interpreter. A run without
scripts has no such wrappers.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any

from fakempi.core.hooks import Layer
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_OTHER
from fakempi.extensions.threads import module_locks
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.rank_threads import RankThread
from fakempi.extensions.threads.state_switching import StateSwitcher, state_switcher
from fakempi.isolation import mpi4py_modules
from fakempi.isolation.coroutines import Coroutines
from fakempi.isolation.debugging import Debugging
from fakempi.isolation.finders import Finders
from fakempi.isolation.imports import Finder
from fakempi.isolation.mpi4py.private_modules import registry
from fakempi.isolation.os_exec import patch_exec
from fakempi.isolation.os_exit import patch_exit, reason_against_exec
from fakempi.isolation.output import LineStream, StandardInput, finish_output
from fakempi.isolation.patches import Patches, patch
from fakempi.isolation.pickling import Pickling, follow_forks
from fakempi.isolation.process_state import ProcessState
from fakempi.isolation.rank_state import RankState, exchange, exchange_settings, share_sys, unshare_sys
from fakempi.isolation.settings.exchange import Attribute, Settings, is_emulator
from fakempi.isolation.settings.launcher_environment import LauncherVariables
from fakempi.isolation.settings.library_settings import LibrarySettings, in_turn
from fakempi.isolation.settings.module_attributes import ModuleAttributes
from fakempi.isolation.settings.module_table import ModuleTable, is_for_program
from fakempi.isolation.settings.packages.installing import PackageSettings
from fakempi.isolation.settings.signals import Signals
from fakempi.isolation.shadowed_modules import ShadowedModules
from fakempi.isolation.sockets import Sockets, poll_outside
from fakempi.isolation.tracked_names import TrackedNames
from fakempi.mpi.base.current import os_thread


class RankNamespaces:
    """The states of all ranks of the active run. There is one instance, because there is one interpreter."""

    layer = Layer.ISOLATION

    def __init__(self) -> None:
        self.loop: Loop | None = None
        self.states: dict[Any, RankState] = {}  # by process
        self.outside = RankState(-1, "", ())  # the state for code outside of scripts
        self.current = self.outside
        self.directories: set[str] = set()  # directories of scripts
        self.finder = Finder(self.running_state)
        self.modules: dict[str, Any] = {}  # the emulated mpi4py, by name
        self.hidden: dict[str, Any] | None = None  # the installed mpi4py, while it is removed
        self.patches = Patches()
        self.names = ShadowedModules(self.outside_ranks)
        self.switcher: StateSwitcher
        self.launcher_variables = LauncherVariables(self.running_state)
        self.process_state = ProcessState(self.running_or_spawned, self.all_states)
        self.settings = Settings(self.running_state, self.all_states)
        self.attributes = ModuleAttributes(self.settings)
        self.signals: Signals
        self.meta_path: list[Any] = []
        self.replaced: set[str] = set()  # shared modules that a program has replaced on one rank
        self.importers: set[RankState] = set()  # the ranks that have imported mpi4py; `outside`: a shared package has
        self.module_table = ModuleTable(
            sys.modules, self._make_own, lambda: set(self.current.private), self._is_not_imported
        )

    def all_states(self) -> Iterable[RankState]:
        """Return the state outside ranks, followed by those of all ranks."""
        return self.outside, *self.states.values()

    def running_state(self) -> RankState | None:
        """Return the state of the running rank; None outside ranks, or if the rank does not run a script."""
        return None if self.current is self.outside else self.current

    def running_or_spawned(self) -> RankState | None:
        """Return the state of the running rank, or `outside` if the rank does not run a script; None outside ranks."""
        task = current_task()
        spawned = task is not None and task.owner not in self.states
        return self.outside if spawned and self.current is self.outside else self.running_state()

    def main_thread_state(self) -> RankState | None:
        """Return the state of the running rank in its main thread; None in other threads of the rank and outside ranks."""
        task = current_task()
        return None if task is None or isinstance(task.handle, RankThread) else self.running_state()

    def _lock_key(self, name: str) -> Any:
        """Return the key of a module's import lock: private modules have one lock per rank."""
        state = self.running_state()
        return name if state is None or (name not in state.private and self.finder.is_shared(name)) else (name, state)

    def open(self, loop: Loop, seed: int) -> None:
        """Patch the interpreter for a run, when its first rank starts."""
        if self.loop is loop:
            return
        if self.loop is not None and not self.loop.ending:
            text = "program: this Python process already runs scripts of another run; start this one after it has ended."
            raise MPIError(ERR_OTHER, text)
        self._close()
        self._open(loop, seed)

    def enter(self, process: Any, state: RankState, directory: str, text: bytes) -> None:
        """Install the state of a rank that starts. `text` is the source of its program, empty if unknown."""
        self.states[process] = state
        self.process_state.begin(state)
        self.settings.begin(state)
        for name in self.replaced:
            state.adopt(name, self.outside.modules[name])
        if not self.directories:
            before, self.outside.path = self.outside.path, state.path  # search where ranks will search
            try:
                self.finder.scan_program(text)
                self.outside.private |= self.finder.hide() | {"__main__"}
            finally:
                self.outside.path = before
        else:
            self.finder.scan_program(text)
        if directory not in self.directories:
            self.directories.add(directory)
            self.names.add_directory(directory, self.patches)
            self.outside.private |= self.names.hidden()
        self._switch(state)
        sys.modules.update(self.modules)  # another rank may have deleted them
        if process.meter is not None:
            process.meter.start()  # do not charge the emulator's setup to the rank

    def leave(self, process: Any) -> None:
        """Remove the state of a rank that ends."""
        state = self.states.pop(process)
        try:
            finish_output(state)
        finally:
            self.launcher_variables.remove(state)
            self._switch(self.outside)

    @contextmanager
    def outside_ranks(self) -> Iterator[None]:
        """Remove the state of the running rank during an import by the emulator; do nothing in a thread outside the run."""
        interrupted = self.outside if os_thread.loop is None else self.current
        if interrupted is self.outside:
            yield
            return
        self._switch(self.outside)
        try:
            yield
        finally:
            self.outside.private |= self.names.hidden()
            self._switch(interrupted)

    def _switch(self, state: RankState) -> None:
        if self.current is not state:
            exchange(self.current, state)
            self.current = state

    def make_resume(
        self, proceed: Callable[..., Callable[[], Any]], task: Task, switch: Callable[[], Any]
    ) -> Callable[[], Any]:
        """Return a function that exchanges the state of ranks before a task is resumed."""
        resume, owner, state_of, outside = proceed(task, switch), task.owner, self.states.get, self.outside
        modules, logs, followed = sys.modules, vars(logging), self.settings.followed

        def switch_and_resume() -> Any:
            previous, state = self.current, state_of(owner, outside)
            if previous is not state:
                main = state.main
                if main is not None and modules.get("__main__", previous) is previous.main:
                    modules["__main__"], logs["root"] = main, state.root  # `exchange` inlined for the most frequent case
                    if followed:
                        exchange_settings(previous, state)
                else:
                    exchange(previous, state)
                self.current = state
            return resume()

        return switch_and_resume

    def begin(self, proceed: Callable[[Task], bool], task: Task) -> bool:
        """Install the state of the rank of a new task."""
        self._switch(self.states.get(task.owner, self.outside))
        return proceed(task)

    def _show_prompt(self) -> None:
        """Write the rank's incomplete line before it reads from a terminal, so that the user sees the prompt."""
        state = self.running_state()
        if state is not None and self.input.isatty():
            self.out.show(state)

    def flush(self) -> None:
        """Flush the real streams before a rank forks: the new process would write what ranks have written there."""
        if self.loop is not None:
            for stream in (self.out, self.err):
                with suppress(Exception):  # it may be closed, or its reader has gone
                    stream.real.flush()

    def unwind(self, proceed: Callable[[], None]) -> None:
        """Restore the interpreter at the end of the run."""
        try:
            proceed()
        finally:
            self._close()

    def _open(self, loop: Loop, seed: int) -> None:
        """Patch the interpreter. Subscribe to `unwind` before the first patch, because Ctrl-C may arrive at any point."""
        self.directories, self.hidden, self.patches = set(), None, Patches()
        self.names, self.switcher = ShadowedModules(self.outside_ranks), state_switcher(loop)
        self.current = self.outside = RankState(-1, "", ())
        self.signals = Signals(self.settings, self.running_state, self.main_thread_state)
        self.input = StandardInput(sys.stdin, self._show_prompt, self.running_state)
        self.out, self.err = LineStream(sys.stdout, self.running_state), LineStream(sys.stderr, self.running_state)
        self.loop = loop
        loop.subscribe(self)
        share_sys(lambda: self.current, self.attributes.before_change, self._view_of_modules_for)
        sys.stdout, sys.stderr = self.out, self.err  # threads of ranks may print at any time
        _renew_resume_functions(loop)
        self.patches.set(sys, "__stdout__", self.out)  # programs that have replaced `sys.stdout` restore it from this
        self.patches.set(sys, "__stderr__", self.err)
        patch(self.patches, self.running_state, seed)
        self.process_state.patch(self.patches.set)
        self.launcher_variables.patch(self.patches.set)
        patch_exit(self.patches, self.running_state, self.leave)
        patch_exec(self.patches.set, reason_against_exec())
        self.signals.patch(self.patches)
        self.patches.set(registry, "make_private", self._make_private)
        self._patch_optional_modules()
        self.finder.is_shadowed, self.finder.on_code = self.names.shadowed.__contains__, self.attributes.follow_builtins
        module_locks.names.key = self._lock_key
        follow = partial(self.settings.follow, Attribute(vars(sys), "meta_path"))
        self.meta_path, sys.meta_path = sys.meta_path, Finders(sys.meta_path, self.finder, self.running_state, follow)
        self.hidden = _pop_modules("mpi4py")
        self.modules = self.modules or mpi4py_modules.make(self.running_state, self._on_handle, self._on_import)
        sys.modules.update(self.modules)
        self.attributes.open()

    def _make_private(self, name: str) -> None:
        self.current.private.add(name)

    def _view_of_modules_for(self, frame: FrameType) -> Any:
        state = self.running_state()
        return None if state is None or not is_for_program(state, frame) else self.module_table

    def _make_own(self, name: str) -> None:
        """Make a module private to the running rank, which is about to set or delete it; other ranks keep the shared one."""
        if name not in self.current.private:
            shared = sys.modules.get(name)
            if shared is not None:
                self.replaced.add(name)
                for state in self.all_states():
                    if state is not self.current and name not in state.private:
                        state.adopt(name, shared)
            self.current.private.add(name)

    def _on_import(self, frame: FrameType) -> None:
        state = self.running_state()
        if state is not None and not is_emulator(state, frame):
            self.importers.add(state if state.owns(frame.f_globals) else self.outside)

    def _is_not_imported(self, name: str) -> bool:
        """Return whether the module is one of the emulated mpi4py, and the running rank has not imported mpi4py."""
        is_emulated = self.modules.get(name, self) is sys.modules.get(name)
        return is_emulated and self.importers.isdisjoint((self.current, self.outside))

    def _on_handle(self, frame: FrameType) -> None:
        self.finder.shared_checks.on_handle(frame)

    def _patch_optional_modules(self) -> None:
        """Patch optional modules: now if they are loaded, otherwise when a rank imports them."""
        coroutines = Coroutines(self.main_thread_state, self.patches, self.switcher)
        debugging = Debugging(self.main_thread_state, self.patches, self.switcher, (self.input, self.out))
        pickling = Pickling(self.states.get, lambda: self.current, self.patches)
        has_own_threads = not hasattr(self.switcher.loop.backend, "thread")
        library = LibrarySettings(self.settings, self.patches, self.main_thread_state, has_own_threads)
        library.patch()
        packages = PackageSettings(library, self.patches, has_own_threads)
        others = Sockets(self.patches.set, _let_others_run).hooks, TrackedNames(self.running_state, self.patches).hooks
        for hooks in (coroutines.hooks, debugging.hooks, pickling.hooks, library.hooks, packages.hooks, *others):
            for name, change in hooks.items():
                self.finder.hooks[name] = in_turn(self.finder.hooks.get(name), change)
        for name, change in self.finder.hooks.items():
            if name in sys.modules:
                change(sys.modules[name])

    def _close(self) -> None:
        if self.loop is None:
            return
        self.attributes.close()
        self._switch(self.outside)
        self.process_state.close()
        self.launcher_variables.close()
        self.signals.close()
        self.settings.close()
        for name, stream in (("stdout", self.out), ("stderr", self.err)):
            if getattr(sys, name) is stream:
                setattr(sys, name, stream.real)
        if self.hidden is not None:
            self.modules.update(_pop_modules("mpi4py"))
            sys.modules.update(self.hidden)
        if isinstance(sys.meta_path, Finders):
            self.meta_path[:] = sys.meta_path.remaining()
            sys.meta_path = self.meta_path
        self.finder.forget()
        module_locks.names.key = str
        self.switcher.forget()
        self.input.end()
        self.patches.undo()
        unshare_sys(self.outside)
        self.loop.unsubscribe(self)
        _renew_resume_functions(self.loop)
        self._forget()

    def _forget(self) -> None:
        """Drop what belongs to the run, which has ended: nothing in this object keeps it alive."""
        self.states.clear()
        self.loop = self.hidden = None
        self.directories, self.patches, self.names = set(), Patches(), ShadowedModules(self.outside_ranks)
        self.replaced.clear()
        self.importers.clear()
        self.current = self.outside = RankState(-1, "", ())
        del self.switcher, self.input, self.out, self.err, self.signals


def _renew_resume_functions(loop: Loop) -> None:
    """Call the hook `make_resume` again for all tasks."""
    for task in loop.tasks.values():
        loop.set_switch(task, task.switch)


def _let_others_run() -> bool | None:
    """Let other ranks run while one waits outside MPI; return whether one makes progress, None if the caller is no rank."""
    task = current_task()
    return None if task is None else poll_outside(task.agenda)


def _pop_modules(package: str) -> dict[str, Any]:
    """Remove the modules of a package from `sys.modules` and return them."""
    names = [name for name in sys.modules if name.startswith(package) and name.partition(".")[0] == package]
    return {name: sys.modules.pop(name) for name in names}


NAMESPACES = RankNamespaces()
follow_forks(NAMESPACES.states.get, NAMESPACES._switch, NAMESPACES.flush)
