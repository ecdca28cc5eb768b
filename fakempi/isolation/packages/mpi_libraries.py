"""Compiled modules that call an MPI library, which cannot reach the ranks of the run. Processes of ranks import this."""

from __future__ import annotations

from contextlib import suppress
from mmap import ACCESS_READ, mmap


def reject_mpi_library(name: str, path: str) -> None:
    """Raise ImportError if the file of a compiled module contains a call of an MPI library."""
    calls_mpi = False
    with suppress(OSError, ValueError), open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        calls_mpi = content.find(b"MPI_Comm_rank") >= 0
    if calls_mpi:
        raise ImportError(
            f"{name} is compiled for an MPI library, which cannot communicate with the ranks of this run. "
            f"If the module works without MPI, load it with the option --share {name.partition('.')[0]}",
            name=name, path=path,
        )  # fmt: skip
