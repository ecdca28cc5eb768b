"""Files in all schedules: the order of accesses to a shared pointer is explored, and limits are reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

ORDER = "the order in which ranks access the same bytes of a file is not explored"


def empty(comm: Any, path: Path) -> Any:
    """A file without contents."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Set_size(0)
    return file


def test_orders_of_writes_at_the_shared_pointer_are_explored(tmp_path: Path, backend: Any) -> None:
    """Two of three ranks are first where the program expects the third; a token replays it."""

    def main(comm: Any) -> None:
        file, found = empty(comm, tmp_path / "f"), np.zeros(3, "i4")
        file.Write_shared(np.array([comm.rank], "i4"))
        file.Sync()
        comm.Barrier()
        file.Sync()
        file.Read_at(0, found)
        file.Close()
        assert found[0] == 0, found

    found = fakempi.explore(main, 3, backend=backend)
    assert (found.runs, found.exhausted, found.verdict) == (12, True, "8 of 12 schedules fail")
    assert found.method == "fewest deviations first, no reduction because of shared file pointers"
    (failure,) = found.failures
    assert "'s Write_shared at test_files.py:29 accessed the shared file pointer before rank 0's" in failure.why
    with pytest.raises(fakempi.RankError, match="AssertionError"):
        fakempi.run(main, 3, schedule=failure.schedule)
    assert failure.passes is not None
    fakempi.run(main, 3, schedule=failure.passes)


def test_the_position_of_the_shared_pointer_depends_on_earlier_accesses(tmp_path: Path) -> None:
    """Both results occur."""

    def main(comm: Any) -> Any:
        file = empty(comm, tmp_path / "f")
        found = file.Write_shared(bytearray(8)) if comm.rank == 0 else file.Get_position_shared()
        file.Close()
        return found

    (failure,) = fakempi.explore(main, 2, compare="returns", buffering="zero").failures
    assert str(failure.error) == "rank 1 returns 0 in schedule z:1, but 8 in schedule z:0"


def both_at_one_place(comm: Any, path: Path) -> None:
    """One rank writes, one reads, without synchronization."""
    file = empty(comm, path)
    (file.Read_at if comm.rank else file.Write_at)(0, bytearray(4))
    file.Close()


def size_while_another_writes(comm: Any, path: Path) -> None:
    """While another rank writes."""
    file = empty(comm, path)
    _ = file.Get_size() if comm.rank else file.Write_at(0, bytearray(4))
    file.Close()


def written_by_all(comm: Any, path: Path) -> None:
    """To one place, in one call."""
    file = empty(comm, path)
    file.Write_at_all(0, bytearray(4))
    file.Close()


def opened_by_each(comm: Any, path: Path) -> None:
    """Opened by each rank, but the file is the same."""
    file = MPI.File.Open(MPI.COMM_SELF, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Write_at(0, bytearray(4))
    file.Close()


def one_after_the_other(comm: Any, path: Path) -> None:
    """As in the standard: sync, barrier, sync."""
    file = empty(comm, path)
    file.Write_at(4 * comm.rank, bytearray(4))
    file.Sync()
    comm.Barrier()
    file.Sync()
    file.Read_at(0, bytearray(8))
    file.Close()


def in_the_order_of_ranks(comm: Any, path: Path) -> None:
    """At the shared pointer, with a determined order."""
    file = empty(comm, path)
    file.Write_ordered(bytearray(4))
    file.Close()


@pytest.mark.parametrize("algorithms", [None, {"write_all": "two_phase"}])
@pytest.mark.parametrize("program", [both_at_one_place, size_while_another_writes, written_by_all, opened_by_each])
def test_an_order_that_is_not_explored_is_reported(program: Any, algorithms: Any, tmp_path: Path) -> None:
    """Such a search was once reported as exhausted. Two of these programs race, which is a finding."""
    found = fakempi.explore(program, 2, tmp_path / "f", algorithms=algorithms, strict=False)
    assert (found.exhausted, found.limits, found.failures) == (False, [ORDER], [])


@pytest.mark.parametrize("program", [one_after_the_other, in_the_order_of_ranks])
def test_a_search_without_open_orders_is_exhausted(program: Any, tmp_path: Path) -> None:
    """Writes to different places, and synchronized accesses."""
    assert fakempi.explore(program, 2, tmp_path / "f").verdict == "clean: all 2 schedules"
