"""Names that programs look for in mpi4py's module of this name, though they are nobody's business."""

from __future__ import annotations

from typing import Any

from fakempi.mpi4py.futures.failures import RemoteTraceback
from fakempi.mpi4py.futures.main_program import MAIN_RUN_NAME
from fakempi.mpi4py.futures.own import check_threads, own
from fakempi.mpi4py.futures.split import comm_split

__all__ = ["MAIN_RUN_NAME", "RemoteTraceback", "comm_split", "serialized", "setup_mpi_threads"]

setup_mpi_threads = check_threads


class _Serialized:
    """Whether one thread at a time may call MPI: its `lock` is the running rank's, None if any may at any time."""

    @property
    def lock(self) -> Any:
        return own().lock

    @lock.setter
    def lock(self, lock: Any) -> None:
        own().lock = lock


serialized = _Serialized()


def __getattr__(name: str) -> Any:
    """`SharedPool`: the running rank's, None without `-m mpi4py.futures`."""
    if name == "SharedPool":
        return own().shared
    raise AttributeError(f"module 'mpi4py.futures._core' has no attribute {name!r}")
