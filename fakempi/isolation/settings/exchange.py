"""Settings of the process that a rank has changed: attributes of shared modules, and values behind functions such as umask.

A setting is exchanged only after a rank has changed it for the first time in the run. From then on, a switch between two
ranks stores the value of the first one, and installs that of the second one. The value is read at the switch, so changes
that are made by other functions or by compiled code count as well. Until then, settings add the test of an empty
dictionary to a switch: 0.01 us. The first setting that is exchanged adds 0.9 us, each other attribute 0.3 us, and umask,
which takes three system calls, 1.4 us.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from types import FrameType
from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.isolation.rank_state import RankState

MISSING: Any = object()
"""The value of an attribute that does not exist."""


class ProcessSetting(ABC):
    """One value that the whole process has; settings with the same key are the same.

    `fresh` is the value of a new process, if ranks have to begin with it.
    """

    __slots__ = ("fresh", "key")

    def __init__(self, key: Hashable, fresh: Any = MISSING) -> None:
        self.key, self.fresh = key, fresh

    @abstractmethod
    def read(self) -> Any:
        """Return the present value."""

    @abstractmethod
    def write(self, value: Any) -> None:
        """Replace the value."""

    def is_same(self, one: Any, other: Any) -> bool:
        """Return whether there is nothing to replace."""
        return bool(one == other)

    def before_change(self, outside: Any) -> None:
        """Replace a container of all ranks by a copy, because the running rank is about to change it."""
        value = self.read()
        if isinstance(value, dict | list | set) and value is outside:
            self.write(value.copy())

    def after_change(self) -> None:  # noqa: B027  # nothing to do for a value that is read at each switch
        """Take note of a change by the running rank."""


class Attribute(ProcessSetting):
    """An entry of the namespace of a module or of an object."""

    __slots__ = ("name", "namespace")

    def __init__(self, namespace: dict[str, Any], name: str, fresh: Any = MISSING) -> None:
        super().__init__((id(namespace), name), fresh)  # the address of an object that this one keeps alive
        self.namespace, self.name = namespace, name

    def read(self) -> Any:
        """Return the value, or `MISSING`."""
        return self.namespace.get(self.name, MISSING)

    def write(self, value: Any) -> None:
        """Set or delete the entry."""
        if value is MISSING:
            self.namespace.pop(self.name, None)
        else:
            self.namespace[self.name] = value

    def is_same(self, one: Any, other: Any) -> bool:
        """Return whether both are one object, since it may change later."""
        return one is other


class AllNames(ProcessSetting):
    """All entries of a namespace, for a program that may write to the dictionary itself."""

    __slots__ = ("namespace",)

    def __init__(self, namespace: dict[str, Any]) -> None:
        super().__init__(id(namespace))  # the address of an object that this one keeps alive
        self.namespace = namespace

    def read(self) -> dict[str, Any]:
        """Return a copy."""
        return dict(self.namespace)

    def write(self, value: dict[str, Any]) -> None:
        """Restore the entries of a copy; those that are unchanged are not touched, since Python caches them."""
        for name in self.namespace.keys() - value.keys():
            del self.namespace[name]
        for name, entry in value.items():
            if self.namespace.get(name, MISSING) is not entry:
                self.namespace[name] = entry

    def is_same(self, one: dict[str, Any], other: dict[str, Any]) -> bool:
        """Return whether both have the same names and objects."""
        return one.keys() == other.keys() and all(entry is other[name] for name, entry in one.items())


class Value(ProcessSetting):
    """A value that one function returns and another one sets."""

    __slots__ = ("get", "set")

    def __init__(self, name: Hashable, get: Callable[[], Any], set: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self.get, self.set = get, set

    def read(self) -> Any:
        """Call the function that returns the value."""
        return self.get()

    def write(self, value: Any) -> None:
        """Call the function that sets the value."""
        self.set(value)


class ClassAttribute(ProcessSetting):
    """An attribute of a class."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: type, name: str) -> None:
        super().__init__((owner, name))
        self.owner, self.name = owner, name

    def read(self) -> Any:
        """Return the value, or `MISSING`."""
        return vars(self.owner).get(self.name, MISSING)

    def write(self, value: Any) -> None:
        """Set or delete the attribute."""
        if value is MISSING:
            delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, value)

    def is_same(self, one: Any, other: Any) -> bool:
        """Return whether both are one object, since it may change later."""
        return one is other


class Settings:
    """The settings that are exchanged in the active run; `states` returns the state outside ranks, then those of ranks."""

    def __init__(self, running_state: Callable[[], RankState | None], states: Callable[[], Iterable[RankState]]) -> None:
        self.running_state, self.states = running_state, states
        self.followed: dict[Hashable, ProcessSetting] = {}

    def running_rank(self) -> RankState | None:
        """Return the state of the rank that runs in this OS thread and has a script; else None."""
        return None if current_task() is None else self.running_state()

    def begin(self, state: RankState) -> None:
        """Give a rank that starts its first values of the settings that are exchanged."""
        outside = next(iter(self.states())).settings or {}
        for setting in outside:
            self._begin(state, setting, outside[setting])

    def follow(self, setting: ProcessSetting) -> ProcessSetting:
        """Give each rank its own value of a setting from now on; return the setting, or the equal one that is followed."""
        key = setting.key
        if key not in self.followed:
            self.followed[key], before = setting, setting.read()
            outside, *ranks = self.states()
            outside.settings = {**(outside.settings or {}), setting: before}
            for state in ranks:
                self._begin(state, setting, before)
            if setting.fresh is not MISSING:
                setting.write(setting.fresh)
        return self.followed[key]

    def outside(self, setting: ProcessSetting) -> Any:
        """Return the value outside ranks of a setting that is followed."""
        return (next(iter(self.states())).settings or {}).get(setting)

    def _begin(self, state: RankState, setting: ProcessSetting, outside: Any) -> None:
        """Give a rank its first value of a setting."""
        state.settings = {**(state.settings or {}), setting: outside if setting.fresh is MISSING else setting.fresh}

    def change_for_all(self, setting: ProcessSetting, change: Callable[[], Any]) -> Any:
        """Change a value for the running rank and for those that have the same; return what `change` returns."""
        known = self.followed.get(setting.key)
        if known is None:
            return change()
        before = known.read()
        try:
            result = change()
        finally:
            known.after_change()
        after = known.read()
        for state in self.states():
            if state.settings is not None and known.is_same(state.settings[known], before):
                state.settings[known] = after
        return result

    def change_for_rank(self, settings: Iterable[ProcessSetting], change: Callable[[], Any]) -> Any:
        """Change values for the running rank; return what `change` returns."""
        followed = [self.follow(setting) for setting in settings]
        for setting in followed:
            setting.before_change(self.outside(setting))
        try:
            return change()
        finally:
            for setting in followed:
                setting.after_change()

    def close(self) -> None:
        """Forget all settings at the end of the run; those outside ranks have been restored."""
        for state in self.states():
            state.settings = None
        self.followed.clear()


def is_emulator(state: RankState, frame: FrameType) -> bool:
    """Return whether a call is made by fakempi itself, not by a script that has a module of this name."""
    where = str(frame.f_globals.get("__name__"))
    return where.startswith("fakempi.") and where not in state.private


def executes_shared_module(state: RankState, frame: FrameType | None) -> bool:
    """Return whether a call is part of the import of a shared module.

    Only one rank executes such a module, so what the module changes is changed for all ranks.
    """
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return not state.owns(frame.f_globals)
        frame = frame.f_back
    return False
