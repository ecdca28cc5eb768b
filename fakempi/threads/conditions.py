"""Conditions that were made before a run: they keep their lock's methods, as these were then.

So before a condition is used in a run it is given the methods that its lock has now.
"""

from __future__ import annotations

import threading
from types import BuiltinMethodType
from typing import Any

_enter, _wait, _notify = threading.Condition.__enter__, threading.Condition.wait, threading.Condition.notify


def _refresh(condition: Any) -> None:
    own = vars(condition)
    if own.get("acquire").__class__ is BuiltinMethodType:
        for name in ("acquire", "release", "_release_save", "_acquire_restore", "_is_owned"):
            if own.get(name).__class__ is BuiltinMethodType:
                own[name] = getattr(condition._lock, name)


def enter(condition: Any) -> Any:
    """`with condition:`."""
    _refresh(condition)
    return _enter(condition)


def wait(condition: Any, timeout: float | None = None) -> bool:
    """`Condition.wait`."""
    _refresh(condition)
    return _wait(condition, timeout)


def notify(condition: Any, n: int = 1) -> None:
    """`Condition.notify`."""
    _refresh(condition)
    _notify(condition, n)


METHODS = {"__enter__": enter, "wait": wait, "notify": notify}
