"""Per-rank state of the operating system process: working directory and environment variables. Not file descriptors.

This costs nothing until a rank changes one of them. From then on, a switch between two ranks with different values changes
those of the process. Functions that scripts spawn share one directory and one set of variables, those of the state outside
scripts. Directories are held open, so that a rank may stay in one that is renamed or deleted. Functions that a module
bound before the run (`from os import chdir`) change the directory of all ranks. A rank that redirects standard output or
standard error by `os.dup2` does so for all ranks, which is reported once.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any

from fakempi.errors.paths import short_path
from fakempi.extensions.threads.current import current_task
from fakempi.isolation.rank_state import RankState
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import current_process

Patch = Callable[[Any, str, Any], None]
_chdir, _fchdir, _getcwd = os.chdir, getattr(os, "fchdir", None), os.getcwd
STREAMS = {1: "standard output", 2: "standard error"}


class Directory:
    """The current directory of the process, to be restored later."""

    def __init__(self) -> None:
        self.path = self.file = None
        with suppress(OSError):
            self.path = _getcwd()
        if _fchdir is not None:
            with suppress(OSError):
                self.file = os.open(".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))

    def enter(self) -> None:
        """Make this the working directory; no effect if it no longer exists and was not held open."""
        with suppress(OSError):
            if self.file is not None and _fchdir is not None:
                _fchdir(self.file)
            elif self.path is not None:
                _chdir(self.path)

    def close(self) -> None:
        """Close the file descriptor of the directory."""
        if self.file is not None:
            os.close(self.file)
            self.file = None


class Variables:
    """Environment variables that a rank has set or deleted, encoded; `base` has the original values."""

    def __init__(self, base: dict[Any, Any]) -> None:
        self.base = base
        self.changed: dict[Any, Any] = {}  # None: deleted

    def replace(self, before: Variables) -> None:
        """Replace the variables of another rank by those of this rank."""
        if self.changed == before.changed:
            return
        data: dict[Any, Any] = os.environ._data  # type: ignore[attr-defined]  # private in os, absent from typeshed
        for name in {*self.changed, *before.changed}:
            value = self.changed.get(name, self.base[name])
            if value == data.get(name):
                continue
            if value is None:
                os.unsetenv(name)
                del data[name]
            else:
                os.putenv(name, value)
                data[name] = value


class ProcessState:
    """Tracks changes by ranks; `states` returns the state outside ranks, followed by those of all ranks.

    `running_state` returns the state of the running rank, that outside ranks for a function that was spawned, else None.
    """

    def __init__(self, running_state: Callable[[], RankState | None], states: Callable[[], Iterable[RankState]]) -> None:
        self.running_state, self.states = running_state, states
        self.directories: list[Directory] = []
        self.initial: Directory | None = None  # the directory before the first change
        self.base: dict[Any, Any] | None = None  # original variables, once a rank has set one
        self.redirection_reported = False

    def patch(self, patch: Patch) -> None:
        """Patch functions of `os`."""
        for name in ("chdir", "fchdir"):
            if hasattr(os, name):
                patch(os, name, self._changing(getattr(os, name)))
        patch(os, "dup2", self._redirecting(os.dup2))
        kind = type(os.environ)
        patch(kind, "__setitem__", self._setting(kind.__setitem__))
        patch(kind, "__delitem__", self._setting(kind.__delitem__))

    def begin(self, state: RankState) -> None:
        """Give a rank that starts the directory and variables that the run started with."""
        state.directory = self.initial
        if self.base is not None:
            state.variables = Variables(self.base)

    def close(self) -> None:
        """Restore the directory and variables at the end of the run, and forget those of ranks."""
        outside = next(iter(self.states()))
        if self.initial is not outside.directory and self.initial is not None:
            self.initial.enter()
        if self.base is not None:
            Variables(self.base).replace(outside.variables)
        self.initial = None
        for directory in self.directories:
            directory.close()
        self.directories.clear()
        self.base, self.redirection_reported = None, False

    def _running_rank(self) -> RankState | None:
        return None if current_task() is None else self.running_state()

    def _open_current(self) -> Directory:
        self.directories.append(Directory())
        return self.directories[-1]

    def _changing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def change(*args: Any, **kwargs: Any) -> None:
            state = self._running_rank()
            if state is None:
                original(*args, **kwargs)
                return
            before = state.directory or self._open_current()
            original(*args, **kwargs)
            if self.initial is None:
                self.initial = before
                for rank_state in self.states():
                    rank_state.directory, rank_state.main = before, None
            elif state.directory is not self.initial:
                self.directories.remove(state.directory)
                state.directory.close()
            state.directory = self._open_current()

        return change

    def _redirecting(self, original: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(original)
        def dup2(fd: int, fd2: int, inheritable: bool = True) -> int:
            if fd2 in STREAMS and fd != fd2 and not self.redirection_reported and self._running_rank() is not None:
                # Report before the redirection, which may also redirect the report.
                self._report_redirection(STREAMS[fd2], frame_at(1))
            return original(fd, fd2, inheritable)

        return dup2

    def _report_redirection(self, stream: str, frame: FrameType) -> None:
        """Report that a rank redirects a stream that all ranks share.

        Nothing is reported if there is only one rank, or if pytest redirects the stream, since pytest restores it.
        """
        process = current_process()
        if process is None or process.universe.started < 2 or str(frame.f_globals.get("__name__")).startswith("_pytest."):
            return
        self.redirection_reported = True
        place = f"{short_path(frame.f_code.co_filename)}:{frame.f_lineno}"
        sys.stderr.write(
            f"fakempi: {process.name} redirects {stream} by os.dup2 ({place}) for all ranks, which share it, "
            "until it is restored. fakempi run --processes gives each rank a process.\n"
        )
        sys.stderr.flush()

    def _setting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def change(environ: Any, name: Any, *value: Any) -> None:
            state = self._running_rank() if environ._data is os.environ._data else None  # type: ignore[attr-defined]  # private in os, absent from typeshed
            if state is None:
                original(environ, name, *value)
                return
            before = None if not isinstance(name, str | bytes) else environ._data.get(environ.encodekey(name))
            original(environ, name, *value)
            key = environ.encodekey(name)
            if self.base is None:
                self.base = {}
                for rank_state in self.states():
                    rank_state.variables, rank_state.main = Variables(self.base), None
            self.base.setdefault(key, before)
            assert state.variables is not None
            state.variables.changed[key] = environ._data.get(key)

        return change
