"""Files in all schedules: who comes first to a shared pointer is tried; what is not tried is told."""

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


def test_who_writes_first_at_the_shared_pointer_is_tried(tmp_path: Path, carrier: str) -> None:
    """Two of three ranks are first where the third should be; and a token shows it again."""

    def main(comm: Any) -> None:
        file, found = empty(comm, tmp_path / "f"), np.zeros(3, "i4")
        file.Write_shared(np.array([comm.rank], "i4"))
        file.Sync()
        comm.Barrier()
        file.Sync()
        file.Read_at(0, found)
        file.Close()
        assert found[0] == 0, found

    found = fakempi.explore(main, 3, carrier=carrier)
    assert (found.runs, found.exhausted, found.verdict) == (12, True, "8 of 12 schedules fail")
    assert found.method == "fewest deviations first, nothing left out because of shared file pointers"
    (failure,) = found.failures
    assert "'s Write_shared at test_files.py:29 came to the shared pointer before rank 0's" in failure.why
    with pytest.raises(fakempi.RankError, match="AssertionError"):
        fakempi.run(main, 3, decisions=failure.decisions)
    assert failure.passes is not None
    fakempi.run(main, 3, decisions=failure.passes)


def test_where_the_shared_pointer_is_hangs_on_who_was_there(tmp_path: Path) -> None:
    """Both answers come up."""

    def main(comm: Any) -> Any:
        file = empty(comm, tmp_path / "f")
        found = file.Write_shared(bytearray(8)) if comm.rank == 0 else file.Get_position_shared()
        file.Close()
        return found

    (failure,) = fakempi.explore(main, 2, compare="returns", buffering="zero").failures
    assert str(failure.error) == "rank 1 returns 0 in schedule z:1, and 8 in z:0"


def both_at_one_place(comm: Any, path: Path) -> None:
    """One writes, one reads, whenever they like."""
    file = empty(comm, path)
    (file.Read_at if comm.rank else file.Write_at)(0, bytearray(4))
    file.Close()


def asked_for_its_size(comm: Any, path: Path) -> None:
    """While another writes."""
    file = empty(comm, path)
    _ = file.Get_size() if comm.rank else file.Write_at(0, bytearray(4))
    file.Close()


def written_by_all(comm: Any, path: Path) -> None:
    """To one place, in one call."""
    file = empty(comm, path)
    file.Write_at_all(0, bytearray(4))
    file.Close()


def opened_by_each(comm: Any, path: Path) -> None:
    """For itself, but it is one file."""
    file = MPI.File.Open(MPI.COMM_SELF, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Write_at(0, bytearray(4))
    file.Close()


def one_after_the_other(comm: Any, path: Path) -> None:
    """As the standard says it: sync, barrier, sync."""
    file = empty(comm, path)
    file.Write_at(4 * comm.rank, bytearray(4))
    file.Sync()
    comm.Barrier()
    file.Sync()
    file.Read_at(0, bytearray(8))
    file.Close()


def in_the_order_of_ranks(comm: Any, path: Path) -> None:
    """At the shared pointer, and it is not open who is first."""
    file = empty(comm, path)
    file.Write_ordered(bytearray(4))
    file.Close()


@pytest.mark.parametrize("algorithms", [None, {"write_all": "two_phase"}])
@pytest.mark.parametrize("program", [both_at_one_place, asked_for_its_size, written_by_all, opened_by_each])
def test_an_order_that_is_not_tried_is_told(program: Any, algorithms: Any, tmp_path: Path) -> None:
    """Such a search was said to be exhausted."""
    found = fakempi.explore(program, 2, tmp_path / "f", algorithms=algorithms)
    assert (found.exhausted, found.limits, found.failures) == (False, [ORDER], [])


@pytest.mark.parametrize("program", [one_after_the_other, in_the_order_of_ranks])
def test_where_no_order_is_open_all_is_seen(program: Any, tmp_path: Path) -> None:
    """Writes to other places, and what is synchronized."""
    assert fakempi.explore(program, 2, tmp_path / "f").verdict == "clean: all 2 schedules"
