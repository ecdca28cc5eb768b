"""What the ranks of a test share, since they are in one process: told of a failure, if ranks have changed it.

Under mpiexec each process has its own. A list that is a fixture, or a global of the test module, grows here by what every
rank appends. Looked at are containers, arrays and plain objects; not what lies deeper in them.
"""

from __future__ import annotations

from collections import deque
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

LARGE = 1 << 20
"""Bytes above which an array is not looked at."""

MANY = 100_000
"""Items above which a container is not looked at."""

ADVICE = "(a fixture that asks for comm is made on each rank; with --mpi-isolation=module all are, and modules too)"
_NOT_DATA = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def _picture(value: Any) -> Any:
    """What can be compared with a later picture of the same object; None if it does not change or is not looked at."""
    try:
        return _seen(value, True)
    except Exception:  # of somebody's own `__getattr__` or `__len__`, which is not our business
        return None


def _seen(value: Any, deeper: bool) -> Any:
    if isinstance(value, (list, deque, dict, set, bytearray)) and len(value) > MANY:
        return None
    if isinstance(value, (list, deque)):
        return list(map(id, value)), list(value)  # which also keeps them, or their places in memory would be others'
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


class Shared:
    """Objects by the name that the failure text gives them, and how each looked before the ranks ran."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.before = {name: _picture(value) for name, value in values.items()}
        self.sizes = {name: _size(value) for name, value in values.items()}

    def changed(self, ranks: int) -> str:
        """Lines on what is no longer as it was; empty if all is."""
        lines = []
        for name, before in self.before.items():
            value = self.values[name]
            if before is not None and ranks > 1 and (_picture(value) or (None,))[0] != before[0]:
                sizes = self.sizes[name], _size(value)
                grown = f": {sizes[0]} before, {sizes[1]} after" if sizes[0] != sizes[1] else ""
                lines.append(f"{name} is one {type(value).__name__} for all {ranks} ranks, which have changed it{grown}")
        return "\n".join([*lines, *[ADVICE] * bool(lines)])


def _size(value: Any) -> str:
    try:
        return f"{len(value)} item{'s' * (len(value) != 1)}"
    except TypeError:
        return ""


def of_test(function: Any, instance: Any, arguments: dict[str, Any]) -> Shared:
    """What a test's ranks share: its fixtures, its instance and class, and the globals of its module."""
    values = {f"fixture {name!r}": value for name, value in arguments.items()}
    if instance is not None:
        values.update({f"self.{name}": value for name, value in vars(instance).items()})
        kind = type(instance)
        values.update({f"{kind.__name__}.{name}": value for name, value in vars(kind).items() if name[:2] != "__"})
    for name, value in getattr(function, "__globals__", {}).items():
        if type(value) in (list, dict, set, deque, bytearray) and name[:2] != "__":
            values[f"global {name}"] = value
    return Shared(values)
