"""Functions of the standard library and of numpy that mean something else while a script runs.

Each patch replaces attributes of a module for as long as a script runs, and leaves everything as it was for whoever is not
running one. Code that took the original before, such as a package that did `from random import random`, keeps that.
"""

from __future__ import annotations

import atexit
import functools
import logging
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from fakempi.errors import Left
from fakempi.mpi.base.current import current_process, here
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
    _threads(patches, who)
    _exits(patches, who)
    _leaving(patches)
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


def _threads(patches: Patches, who: Who) -> None:
    """A thread that a rank starts is that rank's: its lines are, and the rank waits for it at its end."""
    original, initialize = threading.Thread.start, threading.Thread.__init__

    @functools.wraps(initialize)
    def init(self: threading.Thread, *args: Any, daemon: bool | None = None, **kwargs: Any) -> None:
        if daemon is None and who() is not None and here.loop is not None:
            daemon = False  # as in a main thread; a rank may run in one that nobody waits for
        initialize(self, *args, daemon=daemon, **kwargs)

    @functools.wraps(original)
    def start(self: threading.Thread) -> None:
        place = who()
        if place is not None and here.loop is not None and not self.name.startswith("task "):
            place.threads.append(self)
            self._fakempi_place = place  # type: ignore[attr-defined]
        original(self)

    patches.set(threading.Thread, "__init__", init)
    patches.set(threading.Thread, "start", start)


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


def _leaving(patches: Patches) -> None:
    """`os._exit` ends a rank. As mpiexec does, it ends the others with it, unless the rank has finalized MPI."""
    original, pid = os._exit, os.getpid()

    @functools.wraps(original)
    def leave(status: int) -> NoReturn:
        process = current_process()
        if process is None or os.getpid() != pid:  # or a child that a rank has forked
            original(status)
        error = Left(status)
        if not process.finalized:
            process.universe.fail(process, error)
        raise error

    patches.set(os, "_exit", leave)


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
