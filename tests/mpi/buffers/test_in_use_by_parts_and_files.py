"""Memory in use by partitioned operations, each part for a time of its own, and by accesses to files."""

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


def found(main: Program, *args: Any, **options: Any) -> list[fakempi.Finding]:
    """What a run of two ranks finds about memory in use."""
    try:
        return fakempi.run(main, 2, *args, **options).findings
    except fakempi.FindingsError as error:
        return list(error.findings)


def parts_sent(comm: Any, early: bool) -> None:
    """A part is the program's until Pready; of the others it is all the time."""
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
    """A part is the program's once Parrived has said so."""
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
    """How it is cut is not known when the receive is started; both may cut it differently, round after round."""
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
def test_each_part_is_in_use_for_a_time_of_its_own(program: Program, strict: bool, carrier: str) -> None:
    """Strict runs failed on every partitioned operation, inside of us."""
    options = {"strict": True} if strict else {"buffers": True}
    (one,) = found(program, True, carrier=carrier, **options)
    assert (one.kind, one.ranks, one.call, one.place) == ("buffer-in-use", (0,), "Start", place(program, "start"))
    assert one.sentence == f"its buffer was written to before Wait at {place(program, 'wait')} said that it is over"
    assert not found(program, False, carrier=carrier, **options)
    assert not found(program, False, carrier=carrier, cost=fakempi.Hockney(eager_limit=0), **options)


def accesses(comm: Any, path: Path, early: str) -> None:
    """All that has a request, and what all ranks come to."""
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    b = np.full(4, comm.rank, "i4")
    request = file.Iwrite_at(16 * comm.rank, b)  # write
    if early == "write":
        b[0] = 7
    request.Wait()
    b[0] = comm.rank
    file.Iwrite_at_all(16 * comm.rank, b).Wait()
    file.Iwrite_all(b).Wait()
    request = file.Iread_at_all(0, b)  # read
    if early == "read":
        b[0] = 7
    request.Wait()
    b[0] = 8
    file.Iread_shared(b).Wait()
    file.Close()


@pytest.mark.parametrize("algorithms", [None, {"write_all": "two_phase", "read_all": "two_phase"}])
def test_buffers_of_files_are_in_use_until_wait(tmp_path: Path, algorithms: Any, carrier: str) -> None:
    """Strict runs failed where all ranks come to a nonblocking access, and saw nothing of the others."""
    options = {"carrier": carrier, "algorithms": algorithms}
    for kind in ("write",) if algorithms else ("write", "read"):
        (one,) = found(accesses, tmp_path / "f", kind, buffers=True, **options)
        assert (one.kind, one.ranks, one.place) == ("buffer-in-use", (0, 1), place(accesses, kind))
        (one,) = found(accesses, tmp_path / "f", kind, strict=True, **options)
        assert (one.kind, one.call) == ("buffer-in-use", "b[0] = 7")
    assert not found(accesses, tmp_path / "f", "", buffers=True, **options)
    assert not found(accesses, tmp_path / "f", "", strict=True, **options)
