"""How programs call collectives: on which communicator, and blocking, nonblocking or persistent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

Scope = list[Any]
MODES = ("", "", "", "I", "I", "init")


def random_scope(rng: Random, ranks: int, inter: float = 0.2) -> Scope:
    """["world"], ["split", color by rank, key by rank], or ["inter", size of the first group]."""
    if ranks > 1 and rng.random() < inter:
        return ["inter", rng.randint(1, ranks - 1)]
    if rng.random() < 0.2:
        keys = list(range(ranks))
        rng.shuffle(keys)
        return ["split", [rng.randint(0, 1) for _ in keys], keys]
    return ["world"]


def members(scope: Scope, ranks: int, rank: int) -> tuple[list[int], list[int]]:
    """Ranks of the communicator's own group and of the group that a rank exchanges with, in their order."""
    members = list(range(ranks))
    if scope[0] == "inter":
        groups = members[: scope[1]], members[scope[1] :]
        return groups if rank < scope[1] else (groups[1], groups[0])
    if scope[0] == "split":
        members = sorted((each for each in members if scope[1][each] == scope[1][rank]), key=lambda each: scope[2][each])
    return members, members


@contextmanager
def communicator(MPI: Any, comm: Any, scope: Scope) -> Iterator[Any]:
    """The communicator of a scope; it is freed in the end."""
    rank = comm.Get_rank()
    if scope[0] == "world":
        yield comm
        return
    if scope[0] == "split":
        made = comm.Split(scope[1][rank], scope[2][rank])
        yield made
        made.Free()
        return
    first = rank < scope[1]
    local = comm.Split(first, rank)
    made = local.Create_intercomm(0, comm, scope[1] if first else 0, 77)
    yield made
    made.Free()
    local.Free()


def call(comm: Any, name: str, mode: str, *args: Any, **kwargs: Any) -> None:
    """Call a collective and complete it; a persistent one is started twice."""
    if mode == "":
        getattr(comm, name)(*args, **kwargs)
    elif mode == "I":
        getattr(comm, f"I{name.lower()}")(*args, **kwargs).Wait()
    else:
        request = getattr(comm, f"{name}_init")(*args, **kwargs)
        for _ in range(2):
            request.Start()
            request.Wait()
        request.Free()
