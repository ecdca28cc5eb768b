"""Attributes that a rank sets on shared modules: `builtins.print = ...`, `socket.socket = ...`, `tempfile.tempdir = ...`.

Each rank sees its own values, also through functions of shared modules, because the dictionary of the module is changed at
a switch. A copy of the module for each rank would not do that: functions of the module read their own globals, and shared
packages call the shared `builtins`.

The first assignment is noticed by `ModuleType.__setattr__` and `__delattr__`, which are replaced during a run. To read an
attribute takes no longer: this would need a subclass of `ModuleType`, whose attributes Python 3.11 finds in 46
instead of 14 ns. The type stores a pointer to its C function, too, so the pointer is replaced by that of a class that
defines `__setattr__` in Python. If the pointers are not where the tested versions of CPython have them, nothing is
replaced, and attributes are shared.

Not noticed: attributes of objects of subclasses of `ModuleType`, which some packages put into `sys.modules`; and
assignments to the dictionary (`vars(module)["name"] = ...`), except that programs which name `__builtins__` or both
`builtins` and a way to its dictionary get all names of `builtins` exchanged.
"""

from __future__ import annotations

import builtins
import ctypes
import re
import sys
from types import CodeType, FrameType, ModuleType
from typing import Any

from fakempi.core.interpreter import is_tested
from fakempi.extensions.threads.types import Patch
from fakempi.isolation.packages.dependency_scan import STDLIB_NAMES
from fakempi.isolation.rank_state import STORED, RankState
from fakempi.isolation.settings.exchange import AllNames, Attribute, Settings, executes_shared_module, is_emulator
from fakempi.mpi.base.call_site import cached_by_code, frame_at

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_OFFSET = 19 * _POINTER  # of tp_setattro in a type object with the global interpreter lock
_set, _delete = ModuleType.__setattr__, ModuleType.__delattr__
_WORD = re.compile(r"\w+")
_EXECUTING = ("importlib._bootstrap", "importlib._bootstrap_external", "importlib")
_PATCHING = STDLIB_NAMES | {"_pytest"}
"""Packages that set attributes on behalf of their caller, such as `unittest.mock`."""


class _Written(ModuleType):
    """A class whose C function calls the `__setattr__` that it finds."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)


def _pointer(kind: type) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(id(kind) + _OFFSET)


def _is_supported() -> bool:
    if not is_tested():
        return False  # the fields may be elsewhere
    generic = ctypes.cast(ctypes.pythonapi.PyObject_GenericSetAttr, ctypes.c_void_p).value
    return _pointer(object).value == _pointer(ModuleType).value == generic != _pointer(_Written).value


class ModuleAttributes:
    """Notices assignments while a run is active."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.patch: Patch | None = None

    def open(self) -> None:
        """Replace the functions of `ModuleType`."""
        if not _is_supported():
            return

        def set_attribute(module: ModuleType, name: str, value: Any) -> None:
            self.before_change(module, name, value, frame_at(1))
            _set(module, name, value)

        def delete_attribute(module: ModuleType, name: str) -> None:
            self.before_change(module, name, None, frame_at(1))
            _delete(module, name)

        self.patch = Patch(ModuleType, {"__setattr__": set_attribute, "__delattr__": delete_attribute}, may_add=True)
        self.patch.change()
        _pointer(ModuleType).value = _pointer(_Written).value

    def close(self) -> None:
        """Restore the functions of `ModuleType`."""
        if self.patch is not None:
            _pointer(ModuleType).value = _pointer(object).value
            self.patch.restore()
            self.patch = None

    def before_change(self, module: ModuleType, name: str, value: Any, frame: FrameType) -> None:
        """Exchange an attribute from now on if a rank is about to change it for itself."""
        state = self.settings.running_rank() if type(module) is ModuleType or module is sys else None
        if state is None or not _is_shared(state, module, name, value) or self._is_internal(state, module, frame):
            return
        setting = Attribute(vars(module), name)
        if executes_shared_module(state, frame):
            self._change_for_all(setting, value)
        else:
            self.settings.follow(setting)

    def _is_internal(self, state: RankState, module: ModuleType, frame: FrameType) -> bool:
        """Return whether the assignment is not the program's."""
        where = str(frame.f_globals.get("__name__"))
        if where in state.private:
            return False
        if is_emulator(state, frame) or where in _EXECUTING:
            return True
        return _top(module.__name__) not in STDLIB_NAMES and not _is_for_program(state, frame)  # a package caches a value

    def _change_for_all(self, setting: Attribute, value: Any) -> None:
        known = self.settings.followed.get(setting.key)
        if known is not None:
            before = known.read()
            for state in self.settings.states():
                if state.settings is not None and state.settings[known] is before:
                    state.settings[known] = value

    def follow_builtins(self, code: CodeType) -> None:
        """Exchange all names of `builtins` if the code of a program may write to the dictionary."""
        if may_write_builtins(code):
            self.settings.follow(AllNames(vars(builtins)))


def _is_shared(state: RankState, module: ModuleType, name: str, value: Any) -> bool:
    """Return whether other ranks have the same module, and the attribute is not set by its import."""
    if module is sys:
        return name not in (*STORED, "argv", "path", "modules")
    if module is builtins:
        return True
    own = vars(module).get("__name__")
    if getattr(vars(module).get("__spec__"), "_initializing", False):  # by a loader of the program
        return False
    if own in state.private or sys.modules.get(str(own)) is not module or (name[:2] == name[-2:] == "__"):
        return False
    return not (isinstance(value, ModuleType) and sys.modules.get(f"{own}.{name}") is value)


def _is_for_program(state: RankState, frame: FrameType | None) -> bool:
    """Return whether the program assigns, itself or through one of `_PATCHING`."""
    while frame is not None and _top(str(frame.f_globals.get("__name__"))) in _PATCHING:
        if state.owns(frame.f_globals):
            return True
        frame = frame.f_back
    return frame is not None and state.owns(frame.f_globals)


def _top(name: str) -> str:
    return name.partition(".")[0]


@cached_by_code
def may_write_builtins(code: CodeType) -> bool:
    """Return whether code names `__builtins__`, or `builtins` and its dictionary, also in text that it may execute."""
    names = _names_of(code)
    return "__builtins__" in names or ("builtins" in names and not names.isdisjoint(("vars", "__dict__")))


def _names_of(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_of(constant)
        elif isinstance(constant, str) and "builtins" in constant:
            names.update(_WORD.findall(constant))
        elif constant == "__dict__":  # of getattr
            names.add(constant)
    return names
