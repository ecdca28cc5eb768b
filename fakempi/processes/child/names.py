"""Public names of fakempi that work in another way in a child, or that need the emulator, which is in the parent."""

from __future__ import annotations

import sys
from contextlib import ContextDecorator
from types import ModuleType
from typing import Any, NoReturn

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_UNSUPPORTED_OPERATION

SENTENCE = (
    "{name} does not work in the process of a rank (--processes, mpi(processes=True)), because the emulator is in another "
    "process. Call it in a separate program, or on ranks of one process."
)


class ChildRegion(ContextDecorator):
    """A named part of the program in the trace."""

    def __init__(self, names: Any, name: str) -> None:
        self.names, self.name = names, str(name)

    def _recreate_cm(self) -> ChildRegion:
        return ChildRegion(self.names, self.name)

    def __enter__(self) -> None:
        self.number = self.names["begin_region"](self.name)

    def __exit__(self, *error: object) -> None:
        self.names["end_region"](self.number)


class NoEmulator(ModuleType):
    """A public module whose functions need the emulator."""

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return _no_emulator(f"{self.__name__}.{name}")


def replace(public: dict[str, Any], api: dict[str, Any]) -> None:
    """Replace public names of fakempi by functions of this process; `api` has the functions of the parent."""
    for name in ("compute", "die"):
        public[name] = api.pop(name)
    calls = {name: api.pop(name) for name in ("begin_region", "end_region")}

    def region(name: str) -> ChildRegion:
        """Name a part of the program in the trace. Without a trace this has no effect."""
        return ChildRegion(calls, name)

    public["region"] = region
    public["result"] = result
    for name in ("run", "explore"):
        public[name] = _no_emulator(f"fakempi.{name}")
    compare = f"{public['__name__']}.compare"
    public["compare"] = sys.modules[compare] = NoEmulator(compare)


def result(name: str, value: Any, *, tolerance: float | None = None) -> None:
    """Do nothing: `--compare across` needs ranks in one process."""


def reject_import(name: str) -> NoReturn:
    """Reject the import of a module that is part of the emulator."""
    if name[:2] == "__":
        raise AttributeError(name)
    raise ImportError(SENTENCE.format(name="this module of fakempi"))


def _no_emulator(name: str) -> Any:
    def function(*args: object, **kwargs: object) -> NoReturn:
        raise MPIError(ERR_UNSUPPORTED_OPERATION, SENTENCE.format(name=name))

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"Raise an error. {SENTENCE.format(name=name)}"
    return function
