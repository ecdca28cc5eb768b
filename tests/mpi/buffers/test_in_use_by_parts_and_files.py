"""Memory in use by partitioned operations, each partition for a separate time, and by file accesses."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

Program = Callable[..., Any]


def place(program: Program, mark: str) -> str:
    """The file and line of a comment."""
    lines, first = inspect.getsourcelines(program)
    (line,) = [first + i for i, text in enumerate(lines) if text.rstrip().endswith(f"# {mark}")]
    return f"{Path(__file__).name}:{line}"


def findings_of(main: Program, *args: Any, **options: Any) -> list[fakempi.Finding]:
    """The findings of a run of two ranks about memory in use."""
    try:
        return fakempi.run(main, 2, *args, **options).findings
    except fakempi.FindingsError as error:
        return list(error.findings)


def parts_sent(comm: Any, early: bool) -> None:
    """A partition may be written until Pready; other partitions are unaffected."""
    b = np.zeros(4)
    if comm.rank == 1:
        request = comm.Precv_init(b, 2, 0, 0)
        request.Start()
        request.Wait()
        assert early or b.tolist() == [1, 1, 2, 2]
    else:
        request = comm.Psend_init(b, 2, 1)
        request.Start()  # start
        b[:2] = 1
        request.Pready(0)
        b[2:] = 2
        if early:
            b[1] = 7
        request.Pready(1)
        request.Wait()  # wait
        b[:] = 3
    request.Free()


def parts_received(comm: Any, early: bool) -> None:
    """A partition may be used after a successful Parrived."""
    b = np.zeros(4)
    if comm.rank == 1:
        request = comm.Psend_init(b, 2, 0)
        request.Start()
        request.Pready(1)
        comm.Barrier()
        comm.Barrier()
        request.Pready(0)
        request.Wait()
    else:
        request = comm.Precv_init(b, 2, 1, 0)
        request.Start()  # start
        comm.Barrier()
        while not request.Parrived(1):
            pass
        b[2:] = 5
        if early:
            b[1] = 5
        comm.Barrier()
        request.Wait()  # wait
    request.Free()


def received_before_the_send_is_known(comm: Any, early: bool) -> None:
    """The partitioning is not known when the receive is started; both sides may partition differently in each round."""
    b = np.zeros(6)
    if comm.rank == 1:
        comm.Barrier()
        request = comm.Psend_init(b, 3, 0)
        for _ in range(2):
            request.Start()
            request.Pready_range(0, 2)
            request.Wait()
    else:
        request = comm.Precv_init(b, 2, 1, 0)
        for i in range(2):
            request.Start()  # start
            if i == 0:
                comm.Barrier()
            while not request.Parrived(0):
                pass
            if early and i == 1:
                b[5] = 5
            request.Wait()  # wait
            b[:] = 6
    request.Free()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("program", [parts_sent, parts_received, received_before_the_send_is_known])
def test_each_partition_is_in_use_for_a_separate_time(program: Program, strict: bool, backend: Any) -> None:
    """Strict runs once failed on every partitioned operation with an internal error."""
    options = {"strict": True} if strict else {"check_buffers": True}
    (one,) = findings_of(program, True, backend=backend, **options)
    assert (one.kind, one.ranks, one.call, one.place) == ("buffer-in-use", (0,), "Start", place(program, "start"))
    assert one.sentence == f"its buffer was written to before Wait at {place(program, 'wait')} completed the operation"
    assert not findings_of(program, False, backend=backend, **options)
    assert not findings_of(program, False, backend=backend, cost=fakempi.Hockney(eager_limit=0), **options)


def accesses(comm: Any, path: Path, early: str) -> None:
    """All accesses with a request, and collective accesses."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    b = np.full(4, comm.rank, "i4")
    request = file.Iwrite_at(16 * comm.rank, b)  # write
    if early == "write":
        b[0] = 7
    request.Wait()
    b[0] = comm.rank
    file.Iwrite_at_all(16 * comm.rank, b).Wait()
    file.Seek(16 * comm.rank)
    file.Iwrite_all(b).Wait()
    file.Sync()
    request = file.Iread_at_all(0, b)  # read
    if early == "read":
        b[0] = 7
    request.Wait()
    b[0] = 8
    file.Iread_shared(b).Wait()
    file.Close()


@pytest.mark.parametrize("algorithms", [None, {"write_all": "two_phase", "read_all": "two_phase"}])
def test_buffers_of_files_are_in_use_until_wait(tmp_path: Path, algorithms: Any, backend: Any) -> None:
    """Strict runs once failed for nonblocking collective accesses, and did not check the others."""
    options = {"backend": backend, "algorithms": algorithms}
    for kind in ("write",) if algorithms else ("write", "read"):
        (one,) = findings_of(accesses, tmp_path / "f", kind, check_buffers=True, **options)
        assert (one.kind, one.ranks, one.place) == ("buffer-in-use", (0, 1), place(accesses, kind))
        (one,) = findings_of(accesses, tmp_path / "f", kind, strict=True, **options)
        assert (one.kind, one.call) == ("buffer-in-use", "b[0] = 7")
    assert not findings_of(accesses, tmp_path / "f", "", check_buffers=True, **options)
    assert not findings_of(accesses, tmp_path / "f", "", strict=True, **options)
