"""Collective accesses: by an algorithm, if the run or the info selects one; in traces; and when they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

NO_BUFFER: Any = None  # accepted where nothing is transferred, as by mpi4py, whose stubs do not mention it

CREATE = MPI.MODE_RDWR | MPI.MODE_CREATE
COST = fakempi.Hockney(1e-6, 1e-9, files=fakempi.FileServer(1e-3, 1e-8, ports=2))
TWO_PHASE = {"write_all": "two_phase", "read_all": "two_phase"}
ALGORITHMS = pytest.mark.parametrize("algorithms", [None, TWO_PHASE], ids=["alone", "two_phase"])


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file that does not exist yet."""
    return str(tmp_path / "data")


def info(**hints: str) -> MPI.Info:
    """Return the info of a program."""
    made = MPI.Info.Create()
    made.update(hints)
    return made


def dealt_out(comm: MPI.Intracomm, path: str, hints: dict[str, str]) -> None:
    """Interleaved blocks of four bytes, written by all and read back."""
    said = info(**hints)
    file = MPI.File.Open(comm, path, CREATE, said)
    said.Free()
    block = MPI.BYTE.Create_contiguous(4)
    turn = block.Create_resized(0, 4 * comm.Get_size()).Commit()
    file.Set_view(4 * comm.Get_rank(), MPI.BYTE, turn)
    file.Write_all(np.full(32, comm.Get_rank(), np.uint8))
    file.Seek(0)
    again = np.zeros(32, np.uint8)
    file.Read_all(again)
    assert set(again.tolist()) == {comm.Get_rank()}
    file.Close()
    block.Free()
    turn.Free()


@pytest.mark.parametrize(
    ("algorithms", "hints", "by", "milliseconds"),
    [
        (None, {}, ["", ""], 32),  # 3 ranks with 8 runs each, two ranks at a time; the same to read
        (TWO_PHASE, {}, ["two_phase", "two_phase"], 2),  # one aggregator per port
        (TWO_PHASE, {"cb_nodes": "3"}, ["two_phase", "two_phase"], 4),
        (TWO_PHASE, {"cb_nodes": "1", "cb_buffer_size": "24"}, ["two_phase", "two_phase"], 8),
        (TWO_PHASE, {"cb_nodes": "many", "cb_buffer_size": "-1", "romio_cb_write": "so"}, ["two_phase", "two_phase"], 2),
        (TWO_PHASE, {"romio_cb_write": "disable"}, ["", "two_phase"], 17),
        (None, {"romio_cb_write": "enable", "romio_cb_read": "automatic"}, ["two_phase", ""], 17),
    ],
)
def test_hints_and_the_run_select_the_aggregators(
    path: str, algorithms: Any, hints: dict[str, str], by: list[str], milliseconds: int
) -> None:
    """Valid hints have an effect; invalid ones are ignored."""
    how: Any = {"cost": COST, "algorithms": algorithms, "trace": True, "strict": True}
    run: Any = fakempi.run(lambda comm: dealt_out(comm, path, hints), 3, **how)
    found = [(region.name, region.algorithm, region.nbytes) for region in run.trace.regions if region.rank == 1]
    assert [one for one in found if one[2]] == [("File.Write_all", by[0], 32), ("File.Read_all", by[1], 32)]
    assert {name for name, _, nbytes in found if not nbytes} >= {"File.Open", "File.Close"}
    assert round(run.time * 1e3) == milliseconds
    assert np.fromfile(path, np.uint8).tolist() == [rank for _ in range(8) for rank in range(3) for _ in range(4)]


@ALGORITHMS
@pytest.mark.parametrize("backend", ["greenlets", "threads"])
def test_the_shared_pointer_skips_the_data_of_each_rank(path: str, algorithms: Any, backend: Any) -> None:
    """Accesses are in the order of ranks, in one call or split, for any order of calls."""

    def main(comm: MPI.Intracomm) -> str:
        file, rank = MPI.File.Open(comm, path, CREATE), comm.Get_rank()
        fakempi.compute(3.0 - rank)
        file.Write_ordered(bytes([65 + rank]) * rank)
        file.Write_ordered_begin(bytes([97 + rank]))
        file.Write_ordered_end(NO_BUFFER)
        place = file.Get_position_shared()
        file.Seek_shared(1)
        found, status = bytearray(2), MPI.Status()
        file.Read_ordered_begin(found)
        file.Read_ordered_end(found, status)
        file.Close()
        return f"{place} {found.decode()} {status.Get_count(MPI.BYTE)}"

    run = fakempi.run(main, 3, cost=COST, algorithms=algorithms, backend=backend)
    assert Path(path).read_bytes() == b"BCCabc"
    assert run.returns == ["6 CC 2", "6 ab 2", "6 c\0 1"]


def test_several_accesses_may_be_pending_at_once(path: str) -> None:
    """By an algorithm, each in a separate task; they overlap with computing."""

    def main(comm: MPI.Intracomm) -> None:
        file, rank = MPI.File.Open(comm, path, CREATE), comm.Get_rank()
        requests = [file.Iwrite_at_all(6 * k + 2 * rank, bytes([10 * k + rank]) * 2) for k in range(3)]
        fakempi.compute(1.0)
        MPI.Request.Waitall(requests)
        file.Close()

    run = fakempi.run(main, 3, cost=COST, algorithms=TWO_PHASE)
    assert run.time == 1.0
    assert list(Path(path).read_bytes()) == [10 * k + rank for k in range(3) for rank in range(3) for _ in range(2)]


@ALGORITHMS
def test_a_full_disk_is_reported_on_all_ranks_and_none_blocks(algorithms: Any) -> None:
    """The error class is the same on the rank that failed and on the ranks whose data it accesses."""

    def main(comm: MPI.Intracomm) -> list[str]:
        file = MPI.File.Open(comm, "/dev/full", MPI.MODE_WRONLY)

        def in_two_halves() -> None:
            file.Write_at_all_begin(0, b"abc")
            file.Write_at_all_end(NO_BUFFER)

        calls: tuple[Callable[[], Any], ...] = (
            lambda: file.Write_all(b"abc"),
            lambda: file.Write_ordered(b"abc"),
            in_two_halves,
            lambda: file.Iwrite_all(b"abc").Wait(),
        )
        messages = []
        for call in calls:
            with pytest.raises(MPI.Exception) as caught:
                call()
            assert caught.value.Get_error_class() == MPI.ERR_NO_SPACE
            messages.append(str(caught.value))
            comm.Barrier()
        file.Close()
        return messages

    zero, one = fakempi.run(main, 2, algorithms=algorithms).returns
    assert zero[0] == "Write_all on rank 0: /dev/full: no space left on device."
    for_it = "the access failed on another rank, the aggregator for this one"
    other = for_it if algorithms else "no space left on device"
    assert one[0] == f"Write_all on rank 1: /dev/full: {other}."
    assert one[3].endswith(f"on rank 1: /dev/full: {other}.")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda comm, path: MPI.File.Open(comm, f"{path}{comm.rank}", CREATE), r"filename is \S+0 and \S+1 on different"),
        (lambda comm, path: MPI.File.Open(comm, path, CREATE, info(cb_nodes=str(comm.rank + 1))),
         "the info's cb_nodes is 1 and 2 on different ranks"),
        (lambda comm, path: MPI.File.Open(comm, path, CREATE).Set_info(info(romio_cb_read=["", "enable"][comm.rank])),
         "the info's romio_cb_read is nothing and enable on different ranks"),
        (lambda comm, path: MPI.File.Open(comm, path, CREATE).Set_view(0, MPI.INT if comm.rank else MPI.DOUBLE),
         "the etype's size is 4 and 8 on different ranks"),
        (lambda comm, path: MPI.File.Open(comm, f"{path}/in/vain", CREATE), "/in/vain: no such file or directory"),
        (lambda comm, path: MPI.File.Open(comm, "/", MPI.MODE_RDWR), "/: is a directory"),
    ],
)  # fmt: skip
def test_ranks_that_open_a_file_in_different_ways_are_reported(path: str, wrong: Any, words: str) -> None:
    """So is a rank that opens a file that cannot be opened."""
    with pytest.raises(fakempi.RankError, match=words):
        fakempi.run(lambda comm: wrong(comm, path), 2)


def test_an_algorithm_that_does_not_fit_is_rejected(path: str) -> None:
    """As with other operations; hints are less strict."""
    with pytest.raises(fakempi.RankError, match=r"two_phase was requested, but aggregators = 9 is not between 1 and p = 2"):
        fakempi.run(lambda comm: dealt_out(comm, path, {}), 2, algorithms={"write_all": ("two_phase", {"aggregators": 9})})
    with pytest.raises(MPI.Exception, match="write_all: there is no algorithm 'three_phase'; there is two_phase"):
        fakempi.run(lambda comm: dealt_out(comm, path, {}), 2, algorithms={"write_all": "three_phase"})
    fakempi.run(lambda comm: dealt_out(comm, path, {"cb_nodes": "9"}), 2, algorithms=TWO_PHASE)


def test_accesses_of_a_single_rank_are_in_traces(path: str) -> None:
    """With their bytes, and the duration of the server; so are the calls that wait for all ranks."""

    def main(comm: MPI.Intracomm) -> None:
        file = MPI.File.Open(comm, path, CREATE)
        file.Write_at(100 * comm.Get_rank(), bytes(100))
        file.Close()

    run: Any = fakempi.run(main, 3, cost=fakempi.Hockney(files=fakempi.FileServer(1, 0)), trace=True)
    found = sorted((region.name, region.nbytes, region.start, region.end) for region in run.trace.regions)
    assert found == [
        *(("File.Close", 0, start, 3) for start in (1, 2, 3)),
        *[("File.Open", 0, 0, 0)] * 3,
        *(("File.Write_at", 100, 0, end) for end in (1, 2, 3)),
    ]
    assert {f"File.{run.trace.calls[region.call].name}" == region.name for region in run.trace.regions} == {True}
