"""Detection of objects that the ranks of a test share and have changed, for the report of a failure.

Ranks are in one process; under mpiexec each process has its own objects. If a list is a fixture or a global of the test
module or of the package under test, every rank appends its items to the same list. Containers, arrays and plain objects are
compared, without nested objects.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from fakempi.apps.testing import alias
from fakempi.errors.plurals import counted
from fakempi.isolation.imports import loaded_from

LARGE = 1 << 20
"""Arrays with more bytes are not compared."""

MANY = 100_000
"""Containers with more items are not compared."""

OF_PROCESS = ("caplog", "monkeypatch", "recwarn", "tmp_path", "tmpdir")
"""Fixtures that a process has, and that the ranks of a test share."""

ADVICE = "(fixtures that use comm are created on each rank; with --mpi-isolation=module all fixtures of the project are)"
_NOT_DATA = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def _snapshot(value: Any) -> Any:
    """Return a value to compare with a later one of the same object; None if it cannot change or is not compared."""
    try:
        return _seen(value, True)
    except Exception:  # a user-defined `__getattr__` or `__len__` may raise anything
        return None


def _seen(value: Any, deeper: bool) -> Any:
    if isinstance(value, (list, deque, dict, set, bytearray)) and len(value) > MANY:
        return None
    if isinstance(value, (list, deque)):
        return list(map(id, value)), list(value)  # the second list keeps the items alive, so that ids stay unique
    if isinstance(value, dict):
        return {key: id(item) for key, item in value.items()}, list(value.values())
    if isinstance(value, set):
        return set(value), None
    if isinstance(value, bytearray):
        return bytes(value), None
    if isinstance(getattr(value, "nbytes", None), int) and hasattr(value, "tobytes"):
        return (value.tobytes(), None) if value.nbytes <= LARGE else None
    if deeper and type(getattr(value, "__dict__", None)) is dict and not isinstance(value, _NOT_DATA):
        inside = {name: (_seen(item, False) or (id(item), item)) for name, item in vars(value).items()}
        return {name: first for name, (first, _) in inside.items()}, inside
    return None


class SharedByTest:
    """The shared objects by name, and their state before the ranks ran."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.before = {name: _snapshot(value) for name, value in values.items()}
        self.sizes = {name: _size(value) for name, value in values.items()}
        self.of_process = [name for name in OF_PROCESS if f"fixture {name!r}" in values]

    def changed(self, ranks: int) -> str:
        """Return a report of objects that have changed; empty if there are none."""
        lines = []
        for name, before in self.before.items():
            value = self.values[name]
            if before is not None and ranks > 1 and (_snapshot(value) or (None,))[0] != before[0]:
                sizes = self.sizes[name], _size(value)
                grown = f": {sizes[0]} before, {sizes[1]} after" if sizes[0] != sizes[1] else ""
                lines.append(f"{name} is one {type(value).__name__} shared by all {ranks} ranks, which changed it{grown}")
        if self.of_process and ranks > 1:
            verb = "is a fixture" if len(self.of_process) == 1 else "are fixtures"
            lines.append(f"{', '.join(self.of_process)} {verb} of the process, which all {ranks} ranks share")
        return "\n".join([*lines, *[ADVICE] * bool(lines)])


def _size(value: Any) -> str:
    try:
        return counted(len(value), "item")
    except TypeError:
        return ""


def shared_by_test(function: Any, instance: Any, arguments: dict[str, Any], directory: str) -> SharedByTest:
    """Return the objects that a test's ranks share: fixtures, the instance and class, and globals of modules.

    The modules are the test module, those below `directory`, and packages that import the emulator's mpi4py.
    """
    values = {f"fixture {name!r}": value for name, value in arguments.items()}
    values["os.environ"] = vars(os.environ)["_data"]
    if instance is not None:
        values.update({f"self.{name}": value for name, value in vars(instance).items()})
        kind = type(instance)
        values.update({f"{kind.__name__}.{name}": value for name, value in vars(kind).items() if name[:2] != "__"})
    names = getattr(function, "__globals__", {})
    values.update(_containers("global ", names))
    seen = set(map(id, values.values()))
    for module in _modules_of_project(directory):
        if vars(module) is not names:
            more = _containers(f"global {module.__name__}.", vars(module))
            values.update({name: value for name, value in more.items() if id(value) not in seen})
            seen.update(map(id, more.values()))
    return SharedByTest(values)


def _containers(prefix: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the containers among the globals of a module."""
    return {
        f"{prefix}{name}": value
        for name, value in list(names.items())
        if type(value) in (list, dict, set, deque, bytearray) and name[:2] != "__"
    }


def _modules_of_project(directory: str) -> list[ModuleType]:
    """Return the loaded modules of the project, and of packages in which a module binds the emulator's MPI."""
    project = loaded_from(directory)
    loaded = [(name, module) for name, module in list(sys.modules.items()) if type(module) is ModuleType]
    users = {name.partition(".")[0] for name, module in loaded if alias.emulates(vars(module).get("MPI"))}
    users -= {"fakempi", "collectives", "mpi4py"}
    return [module for name, module in loaded if name in project or name.partition(".")[0] in users]
