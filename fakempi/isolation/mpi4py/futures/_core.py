"""Names of mpi4py's private module `mpi4py.futures._core` that programs use."""

from __future__ import annotations

from typing import Any

from fakempi.isolation.mpi4py.futures.main_program import MAIN_RUN_NAME
from fakempi.isolation.mpi4py.futures.rank_data import check_threads, rank_data
from fakempi.isolation.mpi4py.futures.remote_errors import RemoteTraceback
from fakempi.isolation.mpi4py.futures.split import comm_split

__all__ = ["MAIN_RUN_NAME", "RemoteTraceback", "comm_split", "serialized", "setup_mpi_threads"]

setup_mpi_threads = check_threads


class _Serialized:
    """Serialization of MPI calls: `lock` is the lock of the running rank, None with THREAD_MULTIPLE."""

    @property
    def lock(self) -> Any:
        return rank_data().lock

    @lock.setter
    def lock(self, lock: Any) -> None:
        rank_data().lock = lock


serialized = _Serialized()


def __getattr__(name: str) -> Any:
    """Return `SharedPool` of the running rank, None without `-m mpi4py.futures`."""
    if name == "SharedPool":
        return rank_data().shared
    raise AttributeError(f"module 'mpi4py.futures._core' has no attribute {name!r}")
