"""The main program on workers. Pickle looks up its functions by name, so each worker executes it, as `__worker__`."""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import sys
from collections.abc import Mapping
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.rank_data import rank_data
from fakempi.isolation.mpi4py.private_modules import make_private

MAIN_RUN_NAME = "__worker__"
"""The module name of the main program on workers, and its second name on the master."""


class Main(NamedTuple):
    """The module name or the file of a main program."""

    name: str | None = None
    path: str | None = None


def main_program() -> Main:
    """Return the main program of the master, and register it under the name that it has on workers."""
    main = sys.modules["__main__"]
    make_private(MAIN_RUN_NAME)
    sys.modules.setdefault(MAIN_RUN_NAME, main)
    return Main(getattr(main.__spec__, "name", None), getattr(main, "__file__", None))


def run_main_program(main: Main, initial_globals: Mapping[str, Any]) -> None:
    """Execute a main program on a worker, in a module that becomes `__main__`. `initial_globals` are set first."""
    module = ModuleType(MAIN_RUN_NAME)
    vars(module).update(initial_globals, __name__=MAIN_RUN_NAME)
    make_private(MAIN_RUN_NAME)
    sys.modules["__main__"] = sys.modules[MAIN_RUN_NAME] = module
    if main == Main():
        return
    data = rank_data()
    data.importing = main.name or main.path
    try:
        exec(_code(main, module), vars(module))
    finally:
        data.importing = None


def reject_nested_spawn() -> None:
    """Abort if a worker starts workers while it imports the main program, because these would do the same."""
    importing = rank_data().importing
    if importing is not None:
        sys.stderr.write(
            f"mpi4py.futures: a worker that imports the main program, {importing}, is about to start workers itself. "
            "Put the code that starts workers below: if __name__ == '__main__':\n"
        )
        MPI.COMM_WORLD.Abort(1)


def _code(main: Main, module: ModuleType) -> CodeType:
    """Return the code of a main program, and set the import attributes of the module."""
    if main.name:
        spec = importlib.util.find_spec(main.name)
    else:
        assert main.path is not None
        importer = pkgutil.get_importer(main.path)
        if importer is None:
            sys.path[0] = os.path.realpath(os.path.dirname(main.path))
            module.__file__ = main.path
            with open(main.path, "rb") as file:
                return compile(file.read(), main.path, "exec", dont_inherit=True)
        sys.path[0] = main.path  # a directory or a zip archive that contains __main__.py
        spec = importer.find_spec("__main__", None)
    loader: Any = getattr(spec, "loader", None)
    if spec is None or loader is None:
        raise ModuleNotFoundError(f"No module named {main.name or main.path!r}, which is the main program", name=main.name)
    module.__spec__, module.__file__, module.__package__, module.__loader__ = spec, spec.origin, spec.parent, loader
    code: CodeType = loader.get_code(spec.name)
    return code
