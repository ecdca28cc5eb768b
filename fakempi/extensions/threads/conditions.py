"""`threading.Condition` while the methods of locks are replaced.

A condition stores the methods that its lock had when the condition was created. The class therefore gets data descriptors of
the same names, which take precedence over the attributes of an instance, and return the method that the lock has now.
"""

from __future__ import annotations

import threading
from types import BuiltinMethodType
from typing import Any


class LockMethod:
    """A method of a condition: the method that its lock has now, if the condition has stored a compiled method."""

    def __init__(self, name: str) -> None:
        self.name, self.before = name, vars(threading.Condition).get(name)

    def __get__(self, condition: Any, owner: Any = None) -> Any:
        if condition is None:
            return self.before
        kept = vars(condition).get(self.name)
        if kept is None:
            if self.before is None:
                raise AttributeError(f"{type(condition).__name__!r} object has no attribute {self.name!r}")
            return self.before.__get__(condition)
        return getattr(condition._lock, self.name) if kept.__class__ is BuiltinMethodType else kept

    def __set__(self, condition: Any, value: Any) -> None:
        vars(condition)[self.name] = value  # as without this descriptor

    def __delete__(self, condition: Any) -> None:
        del vars(condition)[self.name]


METHODS = {name: LockMethod(name) for name in ("acquire", "release", "_release_save", "_acquire_restore", "_is_owned")}
