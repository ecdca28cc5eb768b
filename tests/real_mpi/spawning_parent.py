"""A program that spawns; rank 0 prints the results as JSON. For mpiexec and for the emulator. Not a test itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mpi4py import MPI

CHILD = str(Path(__file__).with_name("spawning_child.py"))


def spawned(comm: MPI.Intracomm) -> list[Any]:
    """Both groups merged, and split."""
    codes: list[int] = []
    children = comm.Spawn(sys.executable, [CHILD, "merge", "two words"], 3, root=comm.size - 1, errcodes=codes)
    merged = children.Merge(False)
    facts = merged.gather((merged.rank, "parent", comm.rank, children.size, children.remote_size))
    halves: Any = children.Split(children.rank % 2)
    sizes = comm.gather(None if halves == MPI.COMM_NULL else (halves.size, halves.remote_size))
    children.Disconnect()
    return [codes, facts, sizes]


def several(comm: MPI.Intracomm) -> list[Any]:
    """Two programs in one world, and messages between them."""
    codes: list[list[int]] = []
    commands = [sys.executable] * 2
    children = comm.Spawn_multiple(commands, [[CHILD, "tell", "a"], [CHILD, "tell", "b"]], [1, 2], errcodes=codes)
    received = [children.recv(source=rank) for rank in range(3)] if comm.rank == 0 else []
    children.Disconnect()
    return [codes, received]


def connected(comm: MPI.Intracomm) -> list[Any]:
    """Children that connect to a port of their parents, twice."""
    port = MPI.Open_port() if comm.rank == 0 else ""
    children = comm.Spawn(sys.executable, [CHILD, "connect"], 2)
    children.bcast(port, MPI.ROOT if comm.rank == 0 else MPI.PROC_NULL)
    found = []
    for _ in range(2):
        inter = comm.Accept(port)
        found.append((inter.size, inter.remote_size, inter.recv(source=1) if comm.rank == 0 else None))
        inter.Disconnect()
    if comm.rank == 0:
        MPI.Close_port(port)
    children.Disconnect()
    return found


def main() -> None:
    """Run all parts."""
    comm = MPI.COMM_WORLD
    assert MPI.Comm.Get_parent() == MPI.COMM_NULL
    found = [spawned(comm), several(comm), connected(comm)]
    if comm.rank == 0:
        print(json.dumps(found), flush=True)


main()
