"""Replacements for functions of the standard library and of numpy while a script runs.

Each patch replaces attributes of a module. Code outside ranks still gets the original behavior. A module that bound the
original function before the run (`from random import random`) keeps using that function.
"""

from __future__ import annotations

import atexit
import functools
import logging
import random
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from fakempi.errors.tracebacks import hide_frames
from fakempi.isolation.clocks import LikeBuiltin, patch_clocks
from fakempi.isolation.packages.dependency_scan import scan
from fakempi.isolation.rank_state import RankState
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.environment import compute

RunningState = Callable[[], "RankState | None"]
"""Returns the state of the running rank; None if no rank is running."""

MakeGenerator = Callable[[int, int], Any]
"""Makes the random generator of a rank, from the run's seed and the number of the rank."""


class Patches:
    """Replaced attributes and their original values."""

    def __init__(self) -> None:
        self.before: list[tuple[Any, str, Any]] = []
        self.at_undo: list[Callable[[], Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Replace an attribute."""
        previous = vars(owner).get(name) if isinstance(owner, type) else None  # the function, not a bound method
        self.before.append((owner, name, getattr(owner, name) if previous is None else previous))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Restore all original values, in reverse order of replacement."""
        while self.at_undo:
            self.at_undo.pop()()
        while self.before:
            owner, name, value = self.before.pop()
            setattr(owner, name, value)


def patch(patches: Patches, running_state: RunningState, seed: int) -> None:
    """Apply all patches of this module."""
    patches.set(logging.Logger, "manager", _RankLoggers(logging.Logger.manager))
    hide_frames(patches.set)
    patch_clocks(patches.set, compute, lambda: current_process() is not None)
    _patch_atexit(patches, running_state)

    _patch_random_functions(patches, running_state, random, random._inst, _python_generator, seed)
    shared = np.random.mtrand._rand
    for module in (np.random, np.random.mtrand):
        _patch_random_functions(patches, running_state, module, shared, _numpy_generator, seed)
    patches.set(random, "_inst", _rank_object(random._inst, running_state, _python_generator, seed))
    patches.set(np.random.mtrand, "_rand", _rank_object(shared, running_state, _numpy_generator, seed))


def _python_generator(seed: int, number: int) -> random.Random:
    return random.Random(f"{seed}:{number}")


def _numpy_generator(seed: int, number: int) -> np.random.RandomState:
    return np.random.RandomState([seed % 2**32, number])


def new_root() -> logging.RootLogger:
    """Return a root logger for a rank, with its own manager."""
    root = logging.RootLogger(logging.WARNING)
    vars(root).update(root=root, manager=logging.Manager(root))  # instance attributes override those of the class
    return root


class _RankLoggers(logging.Manager):
    """A manager that passes each request to the manager of `logging.root`, the root logger of the running rank."""

    __slots__ = ("before",)  # a slot, because `__dict__` is shared with the original manager

    def __init__(self, before: logging.Manager) -> None:
        self.__dict__ = vars(before)
        self.before = before

    def getLogger(self, name: str) -> logging.Logger:
        """Return the running rank's logger of that name."""
        manager = logging.root.manager
        return (self.before if manager is self else manager).getLogger(name)


def _patch_atexit(patches: Patches, running_state: RunningState) -> None:
    """Call exit functions at the exit of a rank if a private module registers or defines them.

    The same holds for those that a rank registers by calling a function of a shared module that imports mpi4py, such as a
    message that makes other ranks end. All other functions, which shared packages register, are called when Python exits:
    they may close resources that other ranks still use.
    """
    register: Any = atexit.register
    unregister = atexit.unregister

    @functools.wraps(register)
    def register_for_rank(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        state, caller = running_state(), frame_at(1)
        is_own = state is not None and (state.owns(caller.f_globals) or _module_of(func) in state.private)
        if state is None or not (is_own or _is_call_with_mpi4py(caller, state)):
            register(func, *args, **kwargs)
            return func
        state.exit_functions.append((func, args, kwargs))
        return func

    @functools.wraps(unregister)
    def unregister_for_rank(func: Callable[..., Any], /) -> None:
        state = running_state()
        if state is not None:
            state.exit_functions[:] = [entry for entry in state.exit_functions if entry[0] != func]
        if state is None or not state.owns(frame_at(1).f_globals):
            unregister(func)

    patches.set(atexit, "register", register_for_rank)
    patches.set(atexit, "unregister", unregister_for_rank)


def _is_call_with_mpi4py(caller: FrameType, state: RankState) -> bool:
    """Return whether code of the rank has called a function of a shared module that imports mpi4py, outside of an import."""
    found = scan(caller.f_code.co_filename, caller.f_globals.get("__package__") or "")
    if all(name.partition(".")[0] != "mpi4py" for name in found.at_module_level + found.in_functions):
        return False
    frame: FrameType | None = caller
    while frame is not None and not state.owns(frame.f_globals):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return False  # one rank executes the import for all
        frame = frame.f_back
    return frame is not None


def _module_of(function: Any) -> Any:
    """Return the name of the module that defines a function."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__module__", None)


def _patch_random_functions(
    patches: Patches, running_state: RunningState, module: Any, shared: Any, make: MakeGenerator, seed: int
) -> None:
    """Make the functions of a module-level generator use the generator of the running rank."""
    names = [name for name, value in vars(module).items() if getattr(value, "__self__", None) is shared]
    if module is not random and "seed" not in names:
        names.append("seed")  # a plain function since numpy 1.24
    for name in names:
        patches.set(module, name, _with_rank_generator(getattr(module, name), name, running_state, make, seed))


@functools.lru_cache(maxsize=1024)  # a run replaces 120 functions, and the next run the same ones
def _with_rank_generator(
    original: Any, name: str, running_state: RunningState, make: MakeGenerator, seed: int
) -> Callable[..., Any]:
    def call_of_rank(*args: Any, **kwargs: Any) -> Any:
        state = running_state()
        if state is None:
            return original(*args, **kwargs)
        return getattr(_generator(state, make, seed), name)(*args, **kwargs)

    return LikeBuiltin(call_of_rank, original)


def _generator(state: RankState, make: MakeGenerator, seed: int) -> Any:
    generator = state.generators.get(make)
    if generator is None:
        generator = state.generators[make] = make(seed, state.number)
    return generator


def _rank_object(shared: Any, running_state: RunningState, make: MakeGenerator, seed: int) -> Any:
    """Return a generator whose attributes are those of the running rank's; scipy, sklearn and networkx use the object."""

    class RankGenerator(type(shared)):  # type: ignore[misc]  # the class is known at run time only
        def __getattribute__(self, name: str) -> Any:
            state = running_state()
            return getattr(shared if state is None else _generator(state, make, seed), name)

    return RankGenerator.__new__(RankGenerator)  # `__init__` would seed the shared generator
