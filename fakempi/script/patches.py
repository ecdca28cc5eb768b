"""Functions of the standard library and of numpy that mean something else while a script runs.

Each patch replaces attributes of a module for as long as a script runs, and leaves everything as it was for whoever is not
running one. Code that took the original before, such as a package that did `from random import random`, keeps that.
"""

from __future__ import annotations

import atexit
import functools
import logging
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.environment import compute
from fakempi.script.clocks import patch_clocks
from fakempi.script.place import Place

Who = Callable[[], "Place | None"]


class Patches:
    """Attributes that are replaced, and what was there before."""

    def __init__(self) -> None:
        self.before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute."""
        self.before.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back."""
        while self.before:
            owner, name, value = self.before.pop()
            setattr(owner, name, value)


def patch(patches: Patches, who: Who, seed: int) -> None:
    """Patch everything."""
    patches.set(logging.Logger, "manager", _Managers(logging.Logger.manager))
    _sleep(patches)
    patch_clocks(patches.set)
    _exits(patches, who)
    _chance(patches, who, random, random._inst, "random", lambda number: random.Random(f"{seed}:{number}"))
    shared = np.random.mtrand._rand
    for module in (np.random, np.random.mtrand):
        _chance(patches, who, module, shared, "numpy", lambda number: np.random.RandomState([seed % 2**32, number]))


def new_root() -> logging.RootLogger:
    """The root of a rank's loggers, with a manager of its own."""
    root = logging.RootLogger(logging.WARNING)
    vars(root).update(root=root, manager=logging.Manager(root))  # which the class has for all
    return root


class _Managers(logging.Manager):
    """Finds loggers below the running rank's root, which is in its place in the module `logging`."""

    __slots__ = ("before",)  # and not in the dictionary, which it shares with that manager

    def __init__(self, before: logging.Manager) -> None:
        self.__dict__ = vars(before)
        self.before = before

    def getLogger(self, name: str) -> logging.Logger:
        """The running rank's logger of that name."""
        manager = logging.root.manager
        return (self.before if manager is self else manager).getLogger(name)


def _sleep(patches: Patches) -> None:
    """A rank that sleeps lets its own clock run, and nobody waits."""
    original = time.sleep

    @functools.wraps(original)
    def sleep(seconds: float, /) -> None:
        if current_process() is None:
            original(seconds)
        elif seconds < 0:
            raise ValueError("sleep length must be non-negative")
        else:
            compute(seconds)

    patches.set(time, "sleep", sleep)


def _exits(patches: Patches, who: Who) -> None:
    """What a rank's own modules register is called at the rank's end, as are functions of theirs, whoever registers them.

    All else that shared packages register is called when Python ends: what it closes, other ranks may use.
    """
    register: Any = atexit.register
    unregister = atexit.unregister

    @functools.wraps(register)
    def register_here(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        place = who()
        if place is None or not (place.owns(sys._getframe(1).f_globals) or _module_of(func) in place.own):
            register(func, *args, **kwargs)
            return func
        place.exits.append((func, args, kwargs))
        return func

    @functools.wraps(unregister)
    def unregister_here(func: Callable[..., Any], /) -> None:
        place = who()
        if place is not None:
            place.exits[:] = [entry for entry in place.exits if entry[0] != func]
        if place is None or not place.owns(sys._getframe(1).f_globals):
            unregister(func)

    patches.set(atexit, "register", register_here)
    patches.set(atexit, "unregister", unregister_here)


def _module_of(function: Any) -> Any:
    """The name of the module that a function is from."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__module__", None)


def _chance(
    patches: Patches, who: Who, module: Any, shared: Any, kind: str, make: Callable[[int], Any]
) -> None:
    """Functions of one hidden generator become functions of the running rank's own."""
    names = [name for name, value in vars(module).items() if getattr(value, "__self__", None) is shared]
    if module is not random and "seed" not in names:
        names.append("seed")  # a function of its own since numpy 1.24
    for name in names:
        patches.set(module, name, _of_rank(getattr(module, name), name, who, kind, make))


def _of_rank(original: Any, name: str, who: Who, kind: str, make: Callable[[int], Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def of_rank(*args: Any, **kwargs: Any) -> Any:
        place = who()
        if place is None:
            return original(*args, **kwargs)
        generator = place.generators.get(kind)
        if generator is None:
            generator = place.generators[kind] = make(place.number)
        return getattr(generator, name)(*args, **kwargs)

    return of_rank
