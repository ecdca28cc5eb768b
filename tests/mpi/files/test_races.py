"""Accesses of several ranks to the same bytes of a file are reported, unless they are ordered or both only read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import fakempi
from fakempi import MPI

MODE = MPI.MODE_CREATE | MPI.MODE_RDWR


def races(main: Callable[[Any, Any], Any], path: Path, ranks: int = 3, **options: Any) -> list[fakempi.Finding]:
    """Return the findings of ranks that open a file, access it, and close it."""

    def program(comm: MPI.Intracomm) -> None:
        file = MPI.File.Open(comm, str(path), MODE)
        main(comm, file)
        file.Close()

    path.write_bytes(bytes(64))
    return [found for found in fakempi.run(program, ranks, **options).findings if found.kind == "file-race"]


def bytes_of_rank(comm: Any) -> bytes:
    """Four bytes that only this rank writes."""
    return bytes([comm.Get_rank() + 1] * 4)


def test_overlapping_writes_are_reported_with_both_lines(tmp_path: Path) -> None:
    """And with the ranks."""

    def main(comm: Any, file: Any) -> None:
        file.Write_at(2 * comm.Get_rank(), bytes_of_rank(comm))

    (found,) = races(main, tmp_path / "data", 2)
    line = main.__code__.co_firstlineno + 1
    assert (found.ranks, found.call, found.place) == ((0,), "Write_at", f"test_races.py:{line}")
    words = f"writes bytes of a file that rank 1 has written by Write_at at test_races.py:{line}, with no Sync in between"
    assert found.sentence == words


WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "a write and a read": lambda comm, file: (
        file.Read_at(0, bytearray(4)) if comm.Get_rank() else file.Write_at(0, bytes_of_rank(comm))
    ),
    "a read and a write": lambda comm, file: (
        file.Write_at(0, bytes_of_rank(comm)) if comm.Get_rank() == 2 else file.Read_at(0, bytearray(4))
    ),
    "collective": lambda comm, file: file.Write_at_all(0, bytes_of_rank(comm)),
    "nonblocking": lambda comm, file: file.Iwrite_at(0, bytes_of_rank(comm)).Wait(),
    "only a barrier in between": lambda comm, file: (
        file.Write_at(4 * comm.Get_rank(), bytes_of_rank(comm)), comm.Barrier(), file.Read_at(0, bytearray(12))
    ),
}  # fmt: skip
RIGHT: dict[str, Callable[[Any, Any], Any]] = {
    "other bytes": lambda comm, file: file.Write_at(4 * comm.Get_rank(), bytes_of_rank(comm)),
    "reads only": lambda comm, file: file.Read_at(0, bytearray(4)),
    "the same bytes": lambda comm, file: file.Write_at(0, b"same"),
    "atomic": lambda comm, file: (file.Set_atomicity(True), file.Write_at(0, bytes_of_rank(comm))),
    "shared pointer": lambda comm, file: file.Write_shared(bytes_of_rank(comm)),
    "in order of ranks": lambda comm, file: file.Write_ordered(bytes_of_rank(comm)),
    "one rank": lambda comm, file: comm.Get_rank() or (file.Write_at(0, bytes_of_rank(comm)), file.Read_at(0, bytearray(4))),
    "synchronized": lambda comm, file: (
        file.Write_at(4 * comm.Get_rank(), bytes_of_rank(comm)),
        file.Sync(), comm.Barrier(), file.Sync(), file.Read_at(0, bytearray(12)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("algorithms", [None, {"write_all": "two_phase"}], ids=["alone", "two_phase"])
def test_wrong_programs_are_reported_and_correct_ones_are_not(algorithms: Any, tmp_path: Path) -> None:
    """For any calls."""
    for name, main in WRONG.items():
        assert races(main, tmp_path / "data", algorithms=algorithms), name
    for name, main in RIGHT.items():
        assert not races(main, tmp_path / "data", algorithms=algorithms), name


def test_files_that_are_opened_separately_race_until_one_is_closed(tmp_path: Path) -> None:
    """Rank 0 opens, writes and closes the file before the others open it, or keeps it open."""
    for keep in (False, True):

        def main(comm: MPI.Intracomm, keep: bool = keep) -> None:
            file = MPI.FILE_NULL
            if comm.Get_rank() == 0:
                file = MPI.File.Open(MPI.COMM_SELF, str(tmp_path / "data"), MODE)
                file.Write_at(0, b"abcd")
                if not keep:
                    file.Close()
            comm.Barrier()
            other = MPI.File.Open(comm, str(tmp_path / "data"), MPI.MODE_RDONLY)
            other.Read_at(0, bytearray(4))
            other.Close()
            if keep and comm.Get_rank() == 0:
                file.Close()

        assert [found.kind for found in fakempi.run(main, 2).findings] == ["file-race"] * keep


def test_random_accesses_are_reported_if_and_only_if_two_ranks_race(tmp_path: Path) -> None:
    """Compared with a check of all pairs."""
    seen = set()
    for seed in range(60):
        random = Random(seed)
        steps = [
            [(random.choice("rrw"), random.randrange(40), random.randint(0, 6)) for _ in range(random.randint(0, 3))]
            for _ in range(3)
        ]

        def main(comm: Any, file: Any, steps: Any = steps) -> None:
            for what, start, length in steps[comm.Get_rank()]:
                if what == "r":
                    file.Read_at(start, bytearray(length))
                else:
                    file.Write_at(start, bytes([comm.Get_rank() + 1] * length))

        pairs = [(one, two) for i in range(3) for j in range(i) for one in steps[i] for two in steps[j]]
        expected = any(
            "w" in (one[0], two[0]) and max(one[1], two[1]) < min(one[1] + one[2], two[1] + two[2]) for one, two in pairs
        )
        assert bool(races(main, tmp_path / "data")) == expected, seed
        seen.add(expected)
    assert seen == {False, True}
