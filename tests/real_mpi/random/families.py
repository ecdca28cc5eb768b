"""The families of random programs. Each is a module with `program(seed)`, `perform(MPI, comm, program, rank)` and RANKS."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tests.real_mpi.random.observing import Program

FAMILIES = (
    "datatypes", "reductions", "collectives", "neighborhoods", "files", "windows", "partitions", "communicators", "messages",
    "errors",
)  # fmt: skip


def module(family: str) -> Any:
    """The module of a family."""
    return import_module(f"tests.real_mpi.random.{family}")


def programs(family: str, count: int, seed: int) -> list[Program]:
    """The first programs from a seed on, as they come out of JSON."""
    make = module(family).program
    return [json.loads(json.dumps(make(seed + number))) for number in range(count)]


def perform_all(
    MPI: Any, world: Any, family: str, todo: Sequence[Program], report: Callable[[Any], None] = lambda seen: None
) -> list[Any]:
    """The observations of this rank in each program; None if the program has fewer ranks."""
    perform, rank = module(family).perform, world.Get_rank()
    comms = {size: world.Split(rank < size, rank) for size in range(1, world.Get_size() + 1)}
    found = []
    for each in todo:
        seen = perform(MPI, comms[each["ranks"]], each, rank) if rank < each["ranks"] else None
        report(seen)
        found.append(seen)
    for comm in comms.values():
        comm.Free()
    return found
