"""File pointers after each read call, also beyond the end of the file; and files that are left open."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.files import storage

BLOCKING = ("Read", "Read_all")
BEGINNING = ("Iread", "Iread_all", "Read_all_begin")
SHARED = ("Read_shared", "Iread_shared", "Read_ordered", "Read_ordered_begin")


def read(file: Any, call: str, buf: Any) -> tuple[int, int]:
    """Make a call; return the pointer of this rank when the first half has returned, and the bytes read."""
    status = MPI.Status()
    if call.startswith("I"):
        request = getattr(file, call)(buf)
        at = file.Get_position()
        request.Wait(status)
    elif call.endswith("_begin"):
        getattr(file, call)(buf)
        at = file.Get_position()
        getattr(file, call.replace("_begin", "_end"))(buf, status)
    else:
        getattr(file, call)(buf, status)
        at = file.Get_position()
    assert at == file.Get_position()
    return at, status.Get_count(MPI.BYTE)


@pytest.mark.parametrize("algorithms", [None, {"read_all": "two_phase"}])
def test_pointers_after_reads_up_to_the_end_and_beyond(tmp_path: Path, algorithms: Any) -> None:
    """A blocking call moves its pointer by the bytes read, a nonblocking one by the bytes requested (MPI 4.1, 14.4.1)."""
    path = tmp_path / "five"
    path.write_bytes(np.arange(5, dtype="i4").tobytes())

    def main(comm: Any, call: str, view: str, requests: list[int]) -> Any:
        file = MPI.File.Open(comm, str(path), MPI.MODE_RDONLY)
        every_other = MPI.INT.Create_resized(0, 8).Commit()
        if view != "bytes":
            file.Set_view(0, MPI.INT, MPI.INT if view == "integers" else every_other)
        found = [read(file, call, np.zeros(count, "i4")) for count in requests]
        shared = file.Get_position_shared()
        file.Close()
        every_other.Free()
        return found, shared

    for view, there in (("bytes", 5), ("integers", 5), ("every other", 3)):
        unit = 4 if view == "bytes" else 1
        for requests in ([5], [3, 4], [4, 4, 2], [9, 0, 1]):
            for call in (*BLOCKING, *BEGINNING, *SHARED):
                run = fakempi.run(main, 1, call, view, requests, algorithms=algorithms)
                ((found, shared),) = run.returns
                at, expected = 0, []
                for count in requests:
                    got = max(0, min(count, there - at))
                    at += got if call in BLOCKING else count
                    expected.append((0 if call in SHARED else at * unit, 4 * got))
                assert found == expected, (view, requests, call)
                assert shared == (at * unit if call in SHARED else 0)


def is_open(descriptor: int) -> bool:
    """Whether the operating system has it open."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("end", ["returns", "fails", "waits", "dies", "keeps"])
def test_a_run_closes_files_that_are_left_open(tmp_path: Path, end: str, backend: Any) -> None:
    """The run closes it even if a reference to the file remains; a closed file is not closed twice."""
    descriptors: list[Any] = []
    kept: list[Any] = []

    def main(comm: Any) -> Any:
        files: list[Any] = [
            MPI.File.Open(comm, str(tmp_path / name), MPI.MODE_CREATE | MPI.MODE_RDWR) for name in ("left", "closed", "own")
        ]
        descriptors.extend(file._part.opened.storage.file for file in files)
        files[1].Close()
        if end == "fails":
            raise KeyError("on purpose")
        if end == "waits":
            comm.recv()
        if end == "dies" and comm.rank:
            fakempi.die()
        if end == "keeps":
            kept.extend(files)

    try:
        fakempi.run(main, 2, backend=backend)
    except fakempi.RunError as error:
        assert end in ("fails", "waits", "dies")
        kept.append(error)
    assert len(descriptors) in (3, 6)
    assert not any(map(is_open, descriptors))
    if end == "keeps":
        with pytest.raises(MPI.Exception):
            kept[0].Write(np.zeros(1))


def test_an_unreferenced_file_outside_a_run_is_closed(tmp_path: Path) -> None:
    """The descriptor is closed when the last reference is gone."""
    file: Any = MPI.File.Open(MPI.COMM_SELF, str(tmp_path / "forgotten"), MPI.MODE_CREATE | MPI.MODE_RDWR)
    descriptor = file._part.opened.storage.file
    assert is_open(descriptor)
    del file
    gc.collect()
    assert not is_open(descriptor)


def test_files_work_on_systems_without_pread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    monkeypatch.setattr(storage, "read_at", storage.seek_and_read)
    monkeypatch.setattr(storage, "write_at", storage.seek_and_write)

    def main(comm: Any) -> Any:
        file = MPI.File.Open(comm, str(tmp_path / "data"), MPI.MODE_CREATE | MPI.MODE_RDWR)
        file.Write_at_all(8 * comm.rank, np.full(1, comm.rank, "i8"))
        found = np.zeros(comm.size, "i8")
        file.Read_at_all(0, found)
        file.Close()
        return found.tolist()

    assert fakempi.run(main, 3).returns == [[0, 1, 2]] * 3


@pytest.mark.parametrize("amode", [MPI.MODE_RDWR, MPI.MODE_RDWR | MPI.MODE_APPEND])
def test_the_pointer_after_open_ignores_writes_of_other_ranks(tmp_path: Path, amode: int) -> None:
    """Found by random comparison with MPICH: one rank wrote at the shared pointer before another had returned from Open."""
    (tmp_path / "file").write_bytes(b"x" * 10)

    def main(comm: MPI.Intracomm, writer: int) -> int:
        file = MPI.File.Open(comm, tmp_path / "file", amode)
        if comm.rank == writer:
            file.Write_shared(np.zeros(2, "i4"))
        at = file.Get_position()
        file.Close()
        return at

    for writer in range(3):
        size = (tmp_path / "file").stat().st_size
        assert fakempi.run(main, 3, writer).returns == [size if amode & MPI.MODE_APPEND else 0] * 3


def test_types_of_a_view_are_handles_that_a_program_frees(tmp_path: Path) -> None:
    """They outlive the type that was passed to Set_view, and freeing them does not free that one."""

    def main(comm: MPI.Intracomm) -> list[int]:
        file = MPI.File.Open(comm, tmp_path / "file", MPI.MODE_RDWR | MPI.MODE_CREATE)
        pair = MPI.INT.Create_contiguous(2).Commit()
        file.Set_view(0, MPI.INT, pair)
        first = file.Get_view()[2]
        first.Free()
        found = [pair.Get_size()]
        pair.Free()
        second = file.Get_view()[2]
        found.append(second.Get_size())
        second.Free()
        found.append(file.Get_byte_offset(3))
        file.Close()
        return found

    run = fakempi.run(main, 2)
    assert run.returns == [[8, 8, 12]] * 2
    assert run.findings == []
