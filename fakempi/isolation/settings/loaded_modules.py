"""Modules that a program puts into `sys.modules` itself: each rank has its own.

`sys.modules` is a dictionary of C code, so nothing notices an assignment. The names are known before: they are constants in
the code of the program (`sys.modules["config"] = module`), or those of modules that the program makes from a file.
"""

from __future__ import annotations

import dis
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import CodeType, FrameType
from typing import Any

from fakempi.isolation.patches import Patches
from fakempi.isolation.settings.exchange import Attribute, Settings
from fakempi.mpi.base.call_site import frame_at

REACH = 6
"""Instructions after `sys.modules` that may contain the name and the change. If they name a package by mistake,
each rank loads that package."""

CHANGES = ("setdefault", "update", "pop", "setitem", "dict")
"""Functions that change the dictionary: its methods, `monkeypatch.setitem` and `mock.patch.dict`."""


class LoadedModules:
    """Patches for `importlib`; `is_installed` returns whether all ranks share what is loaded from a file."""

    def __init__(self, settings: Settings, is_installed: Callable[[str], bool]) -> None:
        self.settings, self.is_installed = settings, is_installed

    def patch(self, patches: Patches) -> None:
        """Patch the functions that make a module from a file."""
        make = importlib.util.module_from_spec
        loader = importlib.machinery.SourceFileLoader.__mro__[1]
        load = loader.load_module  # type: ignore[attr-defined]  # of the private base class

        @wraps(make)
        def module_from_spec(spec: Any) -> Any:
            self._follow_file(frame_at(1), spec.name, str(spec.origin))
            return make(spec)

        @wraps(load)
        def load_module(self_: Any, name: str | None = None) -> Any:
            self._follow_file(frame_at(1), self_.name, self_.path)
            return load(self_, name)

        patches.set(importlib.util, "module_from_spec", module_from_spec)
        patches.set(loader, "load_module", load_module)

    def _follow_file(self, caller: FrameType, name: str, path: str) -> None:
        state = self.settings.running_rank()
        if state is not None and state.owns(caller.f_globals) and not self.is_installed(path):
            self._follow(name)

    def _follow(self, name: str) -> None:
        state = self.settings.running_rank()
        if state is not None and name not in state.private:
            self.settings.follow(Attribute(vars(sys)["modules"], name))

    def follow_code(self, code: CodeType) -> None:
        """Follow the names that code of the program sets or removes."""
        for name in changed_names(code):
            self._follow(name)


def changed_names(code: CodeType) -> Iterator[str]:
    """Return the constant names that code sets or removes in `sys.modules`."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from changed_names(constant)
    if "modules" not in code.co_names and "sys.modules" not in code.co_consts:
        return
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    for index, step in enumerate(steps):
        if step.argval not in ("modules", "sys.modules"):
            continue
        near = steps[max(index - 2, 0) : index + REACH]
        if any(each.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") or each.argval in CHANGES for each in near):
            for each in steps[index + 1 : index + REACH]:
                values = each.argval if isinstance(each.argval, tuple) else (each.argval,)
                if each.opname.startswith("LOAD_CONST") or each.opname == "KW_NAMES":
                    yield from (value for value in values if isinstance(value, str))
