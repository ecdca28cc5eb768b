"""Random calls with invalid arguments: which of them raise, and errors of which class.

Each operation is one case of the tables in the package `invalid`: a call with arguments of which some are chosen at
random, the same on all ranks. A case states only what MPI decides: see docs/conformance.md for those that it leaves open.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from tests.real_mpi.random.invalid import CASES
from tests.real_mpi.random.invalid.known import reason
from tests.real_mpi.random.invalid.scene import Scene
from tests.real_mpi.random.observing import Program, attempt

RANKS = 3
ERRONEOUS = True
"""Findings are expected."""


def program(seed: int) -> Program:
    """Three to ten cases."""
    rng = Random(f"errors {seed}")
    ops = [{"op": rng.choice(list(CASES)), "seed": rng.randrange(1000)} for _ in range(rng.randint(3, 10))]
    return {"ranks": rng.randint(1 if rng.random() < 0.1 else 2, RANKS), "ops": ops}


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """For each operation the result of the call or the class of its error."""
    found = []
    for op in program["ops"]:
        with Scene(MPI, comm, Random(op["seed"])) as scene:
            found.append(attempt(MPI, partial(_plain, MPI, scene, CASES[op["op"]])))
        comm.Barrier()
    return found


def explain(program: Program, index: int, real: Any, emulated: Any) -> str | None:
    """Differences that docs/conformance.md lists."""
    return reason(program["ops"][index]["op"], real, emulated)


def _plain(MPI: Any, scene: Scene, case: Any) -> Any:
    """The result, if it can be compared; for a handle the name of its class."""
    result = case(scene)
    if result is None or isinstance(result, (int, str, bool, float)):
        return result
    if isinstance(result, (list, tuple)):
        return [each if isinstance(each, (int, str, bool, float, list, tuple)) else type(each).__name__ for each in result]
    return scene.keep(result) and type(result).__name__
