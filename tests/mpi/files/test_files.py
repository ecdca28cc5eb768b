"""Files that ranks share: modes, pointers, views, collective calls, errors, and the modeled time of a file server."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI

CREATE = MPI.MODE_RDWR | MPI.MODE_CREATE
BACKENDS = pytest.mark.parametrize("backend", ["greenlets", "threads"])


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file that does not exist yet."""
    return str(tmp_path / "data")


def opened(path: str, work: Callable[[MPI.Intracomm, MPI.File], Any], amode: int = CREATE) -> Any:
    """A program that opens the file, uses it, and closes it."""

    def main(comm: MPI.Intracomm) -> Any:
        file = MPI.File.Open(comm, path, amode)
        found = work(comm, file)
        file.Close()
        assert not file
        return found

    return main


@BACKENDS
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("way", ["at", "own", "shared_ordered", "nonblocking", "split"])
def test_ranks_write_adjacent_blocks_and_read_those_of_their_neighbors(path: str, way: str, size: int, backend: Any) -> None:
    """By every call."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> list[int]:
        rank, status = comm.Get_rank(), MPI.Status()
        file.Set_view(0, MPI.INT32_T)
        mine, other = np.full(3, rank, "i4"), np.empty(3, "i4")
        at = 3 * ((rank + 1) % comm.Get_size())
        if way == "at":
            file.Write_at_all(3 * rank, mine)
            file.Read_at_all(at, other, status)
        elif way == "own":
            file.Seek(3 * rank)
            file.Write_all(mine)
            assert file.Get_position() == 3 * rank + 3
            file.Seek(at - 3 * rank - 3, MPI.SEEK_CUR)
            file.Read_all(other, status)
        elif way == "shared_ordered":
            file.Write_ordered(mine)
            assert file.Get_position_shared() == 3 * comm.Get_size()
            file.Read_at_all(at, other, status)
        elif way == "nonblocking":
            file.Iwrite_at_all(3 * rank, mine).Wait()
            comm.Barrier()
            file.Iread_at(at, other).Wait(status)
        else:
            file.Write_at_all_begin(3 * rank, mine)
            file.Write_at_all_end(mine)
            file.Read_at_all_begin(at, other)
            file.Read_at_all_end(other, status)
        assert status.Get_count(MPI.INT32_T) == 3
        return other.tolist()

    expected = [[(rank + 1) % size] * 3 for rank in range(size)]
    assert fakempi.run(opened(path, work), size, backend=backend).returns == expected
    assert np.fromfile(path, "i4").tolist() == [rank for rank in range(size) for _ in range(3)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4), st.sampled_from(["native", "external32"]))
def test_interleaved_data_is_read_back(tmp_path: Path, size: int, block: int, blocks: int, datarep: str) -> None:
    """A strided view of each rank; in the portable representation, without strides."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> None:
        rank = comm.Get_rank()
        mine = np.arange(block * blocks) + 1000.0 * rank
        if datarep == "native":
            turns = MPI.DOUBLE.Create_contiguous(block).Create_resized(0, 8 * block * size).Commit()
            file.Set_view(8 * block * rank, MPI.DOUBLE, turns)
        else:
            file.Set_view(8 * block * blocks * rank, MPI.DOUBLE, MPI.DOUBLE, datarep)
        file.Write_all(mine)
        file.Seek(0)
        again = np.empty_like(mine)
        file.Read_all(again)
        assert (again == mine).all()

    path = str(tmp_path / "turns")
    fakempi.run(opened(path, work, CREATE | MPI.MODE_DELETE_ON_CLOSE), size)
    assert not Path(path).exists()


def test_reads_end_at_the_end_of_the_file(path: str) -> None:
    """The status has the count, and the rest of the buffer is unchanged."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> None:
        file.Write_at(0, b"abcde")
        buffer, status = bytearray(b"........"), MPI.Status()
        file.Read(buffer, status)
        assert (bytes(buffer), status.Get_count(MPI.BYTE), file.Get_position()) == (b"abcde...", 5, 5)
        file.Seek(-2, MPI.SEEK_END)
        file.Read([buffer, 2])
        assert bytes(buffer) == b"decde..."

    fakempi.run(opened(path, work), 1)


def test_sizes_and_modes(path: str) -> None:
    """A file grows, is truncated, and is appended to."""

    def first(comm: MPI.Intracomm, file: MPI.File) -> None:
        file.Set_size(10)
        file.Preallocate(4)
        assert file.Get_size() == 10
        file.Preallocate(20)
        assert file.size == 20
        file.Set_size(3)
        assert (file.amode, file.group_size, file.Get_byte_offset(7)) == (CREATE, comm.Get_size(), 7)
        file.Set_atomicity(True)
        assert file.atomicity

    def then(comm: MPI.Intracomm, file: MPI.File) -> None:
        assert (file.Get_position(), file.Get_position_shared()) == (3, 3)
        file.Write_ordered(bytes([65 + comm.Get_rank()]))

    fakempi.run(opened(path, first), 2)
    fakempi.run(opened(path, then, MPI.MODE_WRONLY | MPI.MODE_APPEND), 2)
    assert Path(path).read_bytes() == b"\0\0\0AB"


@BACKENDS
@pytest.mark.parametrize(
    ("amode", "words"),
    [
        (MPI.MODE_RDONLY, "data: no such file or directory"),
        (MPI.MODE_RDONLY | MPI.MODE_CREATE, "MODE_RDONLY cannot be combined with MODE_CREATE"),
        (MPI.MODE_CREATE, "exactly one of MODE_RDONLY, MODE_WRONLY and MODE_RDWR, got none of them"),
        (MPI.MODE_RDWR | MPI.MODE_SEQUENTIAL, "MODE_RDWR cannot be combined with MODE_SEQUENTIAL"),
    ],
)
def test_a_file_that_cannot_be_opened_is_an_error_on_all_ranks(path: str, amode: int, words: str, backend: Any) -> None:
    """Each can catch it and continue."""

    def main(comm: MPI.Intracomm) -> str:
        with pytest.raises(MPI.Exception, match=words) as error:
            MPI.File.Open(comm, path, amode)
        comm.Barrier()
        return str(error.value)

    assert len(fakempi.run(main, 3, backend=backend).returns) == 3


def test_accesses_that_the_mode_forbids_are_rejected(path: str) -> None:
    """By name."""

    def reading(comm: MPI.Intracomm, file: MPI.File) -> None:
        with pytest.raises(MPI.Exception, match="was opened with MODE_RDONLY"):
            file.Write(b"x")

    def writing(comm: MPI.Intracomm, file: MPI.File) -> None:
        with pytest.raises(MPI.Exception, match="was opened with MODE_WRONLY"):
            file.Read(bytearray(1))
        with pytest.raises(MPI.Exception, match="only the shared pointer can be used"):
            file.Write(b"x")
        file.Write_shared(b"x")

    fakempi.run(opened(path, writing, MPI.MODE_WRONLY | MPI.MODE_CREATE | MPI.MODE_SEQUENTIAL), 1)
    fakempi.run(opened(path, reading, MPI.MODE_RDONLY), 1)


def test_a_sequential_file_has_no_random_access(path: str, backend: Any) -> None:
    """Its size is not set, its shared pointer not moved or read, and its view begins at the current position."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> int:
        calls: tuple[Callable[[], object], ...] = (
            lambda: file.Set_size(8),
            lambda: file.Preallocate(8),
            lambda: file.Seek_shared(0),
            lambda: file.Get_position_shared(),
            lambda: file.Get_byte_offset(0),
            lambda: file.Seek(0),
            lambda: file.Get_position(),
            lambda: file.Write_at(0, b"x"),
        )
        for call in calls:
            with pytest.raises(MPI.Exception, match="opened with MODE_SEQUENTIAL") as error:
                call()
            assert error.value.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION
        with pytest.raises(MPI.Exception, match="disp must be DISPLACEMENT_CURRENT") as error:
            file.Set_view(0, MPI.INT32_T)
        assert error.value.Get_error_class() == MPI.ERR_ARG
        file.Set_view(MPI.DISPLACEMENT_CURRENT, MPI.INT32_T)
        file.Write_ordered(b"abcd")
        return file.Get_size()

    mode = MPI.MODE_WRONLY | MPI.MODE_CREATE | MPI.MODE_SEQUENTIAL
    assert fakempi.run(opened(path, work, mode), 2, backend=backend).returns[1] == 8


def test_a_filetype_that_is_null_is_not_replaced_by_the_etype(path: str) -> None:
    """None is; DATATYPE_NULL is an error for both, and the view stays as it was."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> list[int]:
        file.Set_view(4, MPI.INT32_T, None)
        for etype, filetype in ((MPI.INT32_T, MPI.DATATYPE_NULL), (MPI.DATATYPE_NULL, MPI.INT32_T)):
            with pytest.raises(MPI.Exception, match="DATATYPE_NULL") as error:
                file.Set_view(0, etype, filetype)
            assert error.value.Get_error_class() == MPI.ERR_TYPE
        displacement, one, other, _ = file.Get_view()
        return [displacement, one.Get_size(), other.Get_size()]

    assert fakempi.run(opened(path, work), 2).returns == [[4, 4, 4]] * 2


def test_wrong_use_is_reported(path: str) -> None:
    """With the numbers that clash."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> None:
        file.Set_view(0, MPI.INT32_T)
        wrongs: tuple[tuple[Callable[[], None], str], ...] = (
            (lambda: file.Write(b"abc"), "3 bytes are not a multiple of the etype's 4 bytes"),
            (lambda: file.Write_at(-1, b"abcd"), "offset -1 is negative"),
            (lambda: file.Seek(-1), "offset -1 from SEEK_SET results in -1, which is negative"),
            (lambda: file.Seek(0, 77), "whence is 77"),
            (lambda: file.Read_all_end(bytearray(4)), "Read_all_begin has not been called."),
            (lambda: file.Write(fakempi.phantom(4)), "a phantom of 4 bytes has no contents"),
        )
        for wrong, words in wrongs:
            with pytest.raises(MPI.Exception, match=words):
                wrong()

    fakempi.run(opened(path, work), 1)


def test_ranks_that_disagree_are_reported(path: str) -> None:
    """On the size, and on the call."""

    def sizes(comm: MPI.Intracomm, file: MPI.File) -> None:
        file.Set_size(comm.Get_rank())

    def calls(comm: MPI.Intracomm, file: MPI.File) -> None:
        file.Sync() if comm.Get_rank() else file.Read_all(bytearray(1))

    with pytest.raises(fakempi.RankError, match="size is 0 and 1 on different ranks"):
        fakempi.run(opened(path, sizes), 2)
    with pytest.raises(fakempi.RankError, match="all ranks must make the same collective calls in the same order"):
        fakempi.run(opened(path, calls), 2)


def test_a_rank_that_never_closes_its_file_causes_a_deadlock(path: str) -> None:
    """The report names it."""

    def main(comm: MPI.Intracomm) -> None:
        file = MPI.File.Open(comm, path, CREATE)
        if comm.Get_rank():
            file.Close()

    with pytest.raises(fakempi.DeadlockError, match=r"Close\(waits for rank 0\)"):
        fakempi.run(main, 3)


@given(st.integers(1, 6), st.integers(0, 40), st.integers(1, 3), st.integers(1, 4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_accesses_queue_at_the_file_server(tmp_path: Path, size: int, nbytes: int, ports: int, runs: int) -> None:
    """k runs of n bytes in total take k t_s + n t_w, with at most as many at a time as the server has ports: exactly."""
    t_s: Any = Fraction(1, 3)
    t_w: Any = Fraction(1, 7)
    cost = fakempi.ZeroCost()
    cost.files = fakempi.FileServer(t_s, t_w, ports)

    def work(comm: MPI.Intracomm, file: MPI.File) -> Any:
        rank = comm.Get_rank()
        far = MPI.BYTE.Create_contiguous(nbytes or 1).Create_resized(0, 1000).Commit()
        file.Set_view(100 * rank, MPI.BYTE, far)
        file.Write(bytes(nbytes * runs))
        return comm._loop.now

    took = runs * t_s + nbytes * runs * t_w if nbytes else 0
    ends = fakempi.run(opened(str(tmp_path / "server"), work), size, cost=cost).returns
    assert sorted(ends) == [took * (rank // ports + 1) for rank in range(size)]


def test_an_empty_access_does_not_queue(path: str) -> None:
    """However busy the server is."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> Any:
        request = file.Iwrite(bytes(10))
        file.Write(b"")
        now = comm._loop.now
        request.Wait()
        return now, comm._loop.now

    assert fakempi.run(opened(path, work), 1, cost="zero_cost:files.t_s=1,files.t_w=0").returns == [(0, 1)]


def test_a_read_may_overlap_with_computing(path: str) -> None:
    """If it is nonblocking."""

    def work(comm: MPI.Intracomm, file: MPI.File) -> float:
        request = file.Iwrite(bytes(100))
        fakempi.compute(3.0)
        request.Wait()
        return MPI.Wtime()

    cost = "zero_cost:files.t_s=1,files.t_w=0.01"
    assert fakempi.run(opened(path, work), 1, cost=cost).returns == [3.0]
    assert fakempi.run(opened(path, lambda comm, file: file.Write(bytes(100))), 1, cost=cost).time == 2.0
