"""The main program on workers: its functions are sought there by name, so each worker runs its text, as `__worker__`."""

from __future__ import annotations

import importlib.util
import os
import pkgutil
import sys
from collections.abc import Mapping
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from fakempi import MPI
from fakempi.mpi4py.futures.own import own
from fakempi.mpi4py.names import claim

MAIN_RUN_NAME = "__worker__"
"""The name of the main program on workers, and on the master another name of it."""


class Main(NamedTuple):
    """Where a main program is found: the module that was run, or the file."""

    name: str | None = None
    path: str | None = None


def main_program() -> Main:
    """That of the master, which from now on is known there by the name that it has on workers, too."""
    main = sys.modules["__main__"]
    claim(MAIN_RUN_NAME)
    sys.modules.setdefault(MAIN_RUN_NAME, main)
    return Main(getattr(main.__spec__, "name", None), getattr(main, "__file__", None))


def become(main: Main, given: Mapping[str, Any]) -> None:
    """On a worker: run a main program under another name, in a module that stays `__main__`. It begins with names given."""
    module = ModuleType(MAIN_RUN_NAME)
    vars(module).update(given, __name__=MAIN_RUN_NAME)
    claim(MAIN_RUN_NAME)
    sys.modules["__main__"] = sys.modules[MAIN_RUN_NAME] = module
    if main == Main():
        return
    mine = own()
    mine.importing = main.name or main.path
    try:
        exec(_code(main, module), vars(module))
    finally:
        mine.importing = None


def refuse_to_recur() -> None:
    """Whoever imports the main program must not spawn workers, which would import it, and spawn workers."""
    importing = own().importing
    if importing is not None:
        sys.stderr.write(
            f"mpi4py.futures: a worker that imports the main program, {importing}, is about to start workers itself. "
            "What starts workers belongs below: if __name__ == '__main__':\n"
        )
        MPI.COMM_WORLD.Abort(1)


def _code(main: Main, module: ModuleType) -> CodeType:
    """The text, compiled; the module is told where it is from."""
    if main.name:
        spec = importlib.util.find_spec(main.name)
    else:
        assert main.path is not None
        importer = pkgutil.get_importer(main.path)
        if importer is None:
            sys.path[0] = os.path.realpath(os.path.dirname(main.path))
            vars(module)["__file__"] = main.path
            with open(main.path, "rb") as file:
                return compile(file.read(), main.path, "exec", dont_inherit=True)
        sys.path[0] = main.path  # a folder or an archive, with a file __main__.py in it
        spec = importer.find_spec("__main__", None)
    loader: Any = getattr(spec, "loader", None)
    if spec is None or loader is None:
        raise ModuleNotFoundError(f"No module named {main.name or main.path!r}, which is the main program", name=main.name)
    vars(module).update(__spec__=spec, __file__=spec.origin, __package__=spec.parent, __loader__=loader)
    code: CodeType = loader.get_code(spec.name)
    return code
