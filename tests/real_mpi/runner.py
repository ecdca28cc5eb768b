"""Runs all programs under mpiexec and prints, as JSON, what each returned on each rank. Not a test itself.

`mpiexec -n 3 python runner.py` runs them in one start of MPI. A program that raises returns its error as a string.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ABSENT = 77  # exit status that means: no MPI here


def load(name: str) -> ModuleType:
    """A module beside this one, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(value: Any) -> Any:
    """What comes back of a value that went through JSON."""
    return json.loads(json.dumps(value))


def results(world: Any, MPI: Any) -> dict[str, Any]:
    """What every program returns on this rank, each on a communicator of its own."""
    found = {}
    for name, program in load("programs").PROGRAMS.items():
        comm = world.Dup()
        try:
            found[name] = plain(program(comm, MPI))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
        comm.Free()
    return found


def main() -> None:
    """On rank 0 everybody's results come together."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # not installed, or no MPI library for it
        sys.exit(ABSENT)
    world = MPI.COMM_WORLD
    mine = results(world, MPI)
    if world.rank:
        world.send(mine, 0)
    else:
        sys.stdout.write(json.dumps([mine, *(world.recv(source=rank) for rank in range(1, world.size))]))


if __name__ == "__main__":
    main()
