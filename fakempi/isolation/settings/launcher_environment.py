"""Variables of a launcher in `os.environ` of each rank of one process.

Every rank has other values from the start, and to exchange them at each switch would take as long as a message. They are
exchanged when something needs the environment: a use of `os.environ`, and the start of another program. C code that calls
`getenv` therefore gets the values of the rank that needed them last.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from fakempi.isolation.rank_state import RankState

Patch = Callable[[Any, str, Any], None]
STARTS = ("system", "fork", "forkpty", "execv")
"""Functions of `os` after which another program has the environment."""

_Environ: Any = type(os.environ)


class LauncherVariables:
    """The variables of all ranks: encoded names and values, None for a variable that is not set."""

    def __init__(self, running_state: Callable[[], RankState | None]) -> None:
        self.running_state = running_state
        self.by_state: dict[RankState, Mapping[Any, Any]] = {}
        self.read: dict[RankState, Callable[[], Mapping[str, str | None]]] = {}  # for ranks that have not used them
        self.outside: dict[Any, Any] = {}  # the values outside ranks
        self.installed: RankState | None = None
        self.data: dict[Any, Any] = {}  # the contents of `os.environ`

    def patch(self, patch: Patch) -> None:
        """Exchange the variables when the environment is used."""
        self.data = vars(os.environ)["_data"]
        _Environ._data = property(self._contents)
        for name in STARTS:
            if hasattr(os, name):
                patch(os, name, self._exchanging(getattr(os, name)))
        patch(subprocess.Popen, "__init__", self._exchanging(subprocess.Popen.__init__))

    def add(self, state: RankState, read: Callable[[], Mapping[str, str | None]]) -> None:
        """Set the variables of a rank that starts; `read` returns them when they are first used."""
        self.read[state] = read

    def _values(self, state: RankState) -> Mapping[Any, Any]:
        read = self.read.pop(state, None)
        if read is not None:
            encode, encode_value = os.environ.encodekey, os.environ.encodevalue
            values = {encode(name): None if value is None else encode_value(value) for name, value in read().items()}
            for name in values:
                self.outside.setdefault(name, self.data.get(name))
            self.by_state[state] = values
        return self.outside | dict(self.by_state.get(state, ()))

    def remove(self, state: RankState) -> None:
        """Forget the variables of a rank that has ended."""
        self.by_state.pop(state, None)
        self.read.pop(state, None)

    def exchange(self) -> None:
        """Install the variables of the running rank, except those that it has changed."""
        state = self.running_state()
        if state is self.installed:
            return
        self.installed = state  # first, because `read` uses the environment
        changed = state.variables.changed if state is not None and state.variables is not None else {}
        values = self.outside if state is None else self._values(state)
        for name, value in values.items():
            if name not in changed:
                self._set(name, value)

    def close(self) -> None:
        """Restore the variables at the end of the run."""
        if "_data" in vars(_Environ):
            del _Environ._data
        for name, value in self.outside.items():
            self._set(name, value)
        self.by_state, self.read, self.outside, self.installed, self.data = {}, {}, {}, None, {}

    def _set(self, name: Any, value: Any) -> None:
        if value == self.data.get(name):
            return
        if value is None:
            os.unsetenv(name)
            del self.data[name]
        else:
            os.putenv(name, value)
            self.data[name] = value

    def _contents(self, environ: Any) -> Any:
        data = vars(environ)["_data"]
        if data is self.data:
            self.exchange()
        return data

    def _exchanging(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: Any, **named: Any) -> Any:
            self.exchange()
            return original(*args, **named)

        return call
