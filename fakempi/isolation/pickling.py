"""Pickling in threads that serve pools of processes (`multiprocessing`, `concurrent.futures`).

Such a thread may run while any rank is running (extensions/threads/pool_threads.py). Pickle looks up functions
and classes by name in `sys.modules`, where it would find another rank's `__main__`. Here it looks in the modules of
the rank that started the thread.
"""

from __future__ import annotations

import functools
import importlib
import io
import os
import pickle
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from fakempi.extensions.threads.pool_threads import owner_here
from fakempi.isolation.patches import Patches
from fakempi.isolation.rank_state import RankState
from fakempi.mpi.base.current import outside

StateOf = Callable[[Any], "RankState | None"]


class Pickling:
    """Patches for `multiprocessing`; `state_of` returns the state of a process, `current` that of the running rank."""

    def __init__(self, state_of: StateOf, current: Callable[[], RankState], patches: Patches) -> None:
        self.state_of, self.current, self.patches = state_of, current, patches
        self.hooks = {"multiprocessing.reduction": self._reduction, "dill._dill": self._dill}

    def _reduction(self, module: Any) -> None:
        kind = module.ForkingPickler
        dumps, loads, modules_of = kind.dumps.__func__, kind.loads, self._modules

        class RankPickler(kind):  # type: ignore[misc, valid-type]  # the base class is an argument
            """Pickle functions and classes of private modules by name, looked up in the modules of their rank."""

            find: Callable[[str], ModuleType | None]

            def reducer_override(self, obj: Any) -> Any:
                if isinstance(obj, ModuleType):
                    own = self.find(obj.__name__) is obj
                    return (importlib.import_module, (obj.__name__,)) if own else NotImplemented
                if not isinstance(obj, FunctionType | type):
                    return NotImplemented
                where, parts = self.find(obj.__module__), obj.__qualname__.split(".")
                try:
                    named = functools.reduce(getattr, parts, where)
                except AttributeError:
                    return NotImplemented  # pickle then raises an error
                own = where is not None and named is obj
                return (functools.reduce, (getattr, parts, where)) if own else NotImplemented

        class RankUnpickler(pickle.Unpickler):
            """Find functions and classes in the private modules of a rank."""

            find: Callable[[str], ModuleType | None]

            def find_class(self, name: str, qualname: str) -> Any:
                if (name, qualname) == ("importlib", "import_module"):  # written by `RankPickler`
                    return lambda module: self.find(module) or importlib.import_module(module)
                where = self.find(name)
                if where is None:
                    return super().find_class(name, qualname)
                return functools.reduce(getattr, qualname.split("."), where)

        def dumps_here(cls: Any, obj: Any, protocol: Any = None) -> Any:
            find = modules_of()
            if find is None or cls is not kind:
                return dumps(cls, obj, protocol)
            buffer = io.BytesIO()
            pickler = RankPickler(buffer, protocol)
            pickler.find = find
            pickler.dump(obj)
            return buffer.getbuffer()

        def loads_here(data: Any, **options: Any) -> Any:
            find = modules_of()
            if find is None:
                return loads(data, **options)
            unpickler = RankUnpickler(io.BytesIO(data), **options)
            unpickler.find = find
            return unpickler.load()

        self.patches.set(kind, "dumps", classmethod(dumps_here))
        self.patches.set(kind, "loads", staticmethod(loads_here))

    def _dill(self, module: Any) -> None:
        """Make dill, with which multiprocess pickles, use the `__main__` of each rank instead of the one that imported it.

        With a function of another `__main__` it pickles all variables of that module, which fails for many objects.
        """
        modules_of, import_module = self._modules, module._import_module

        class Main(ModuleType):
            """The `__main__` of the running rank, or of the rank that started this thread."""

            @property
            def __dict__(self) -> dict[str, Any]:  # type: ignore[override]  # a property replaces the slot
                return vars(self._found())

            def __getattr__(self, name: str) -> Any:
                return getattr(self._found(), name)

            def _found(self) -> ModuleType:
                find = modules_of()
                return (find("__main__") if find is not None else None) or sys.modules["__main__"]

        @functools.wraps(import_module)
        def import_here(import_name: str, safe: bool = False) -> Any:
            find = modules_of()
            if find is not None:
                name, _, attribute = import_name.rpartition(".")
                if (found := find(import_name)) is not None:
                    return found
                if (found := find(name)) is not None and hasattr(found, attribute):
                    return getattr(found, attribute)
            return import_module(import_name, safe)

        find_class = module.Unpickler.find_class

        def find_class_here(unpickler: Any, name: str, qualname: str) -> Any:
            find = modules_of()
            where = None if find is None else find(name)
            if where is None:
                return find_class(unpickler, name, qualname)
            return functools.reduce(getattr, qualname.split("."), where)

        self.patches.set(module.Unpickler, "find_class", find_class_here)
        self.patches.set(module, "_main_module", Main("__main__"))
        self.patches.set(module, "_import_module", import_here)

    def _modules(self) -> Callable[[str], ModuleType | None] | None:
        """Return a lookup of private modules of the rank that started this thread; None if the thread runs as a task."""
        owner = owner_here()
        state = None if owner is None else self.state_of(owner)
        if state is None:
            return None

        def find(name: str) -> ModuleType | None:
            name = "__main__" if name == "__mp_main__" else name  # as spawned workers call the module
            if name not in state.private:
                return None
            module = state.modules.get(name)  # as of the last time that the rank ran
            return sys.modules.get(name) if module is None and self.current() is state else module

        return find


def follow_forks(state_of: StateOf, switch: Callable[[RankState], None], flush: Callable[[], None]) -> None:
    """In processes that such a thread forks: install the modules of the rank, which is also that of local MPI calls.

    `flush` is called before each fork.
    """

    def in_child() -> None:
        owner = owner_here()
        state = None if owner is None else state_of(owner)
        if state is not None:
            switch(state)
            outside.process = owner

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=flush, after_in_child=in_child)
