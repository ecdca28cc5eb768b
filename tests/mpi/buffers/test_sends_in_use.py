"""`check_buffers="sends"`, which `fakempi run` uses: a send buffer that changes before its send is complete is reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.apps.cli import main
from fakempi.errors import MPIValueError
from fakempi.extensions.buffer_checks import sends
from tests.helpers.loops import for_each
from tests.mpi.buffers import test_in_use as programs
from tests.mpi.buffers.test_in_use import EARLY, LATE, findings_of, place

SENDS = [
    programs.send, programs.send_of_a_bytearray, programs.row_of_a_matrix, programs.column_of_a_matrix,
    programs.persistent_send, programs.both_at_once, programs.buffered_send, programs.reduction, programs.all_to_all,
    programs.persistent_collective, programs.neighbors, programs.status_tested_before,
]  # fmt: skip
"""These programs change a buffer that is sent; the others of `test_in_use` change one that is received."""


@for_each("program", programs.PROGRAMS)
def test_only_changes_of_send_buffers_are_reported(program: programs.Program, backend: Any) -> None:
    """With the line that starts the operation, and the line at which the change is noticed."""
    found = findings_of(program, 2, EARLY, backend=backend, check_buffers="sends")
    if program in SENDS:
        where = programs.send_of if program is programs.send_of_a_bytearray else program
        (finding,) = found
        assert (finding.kind, finding.ranks, finding.place) == ("buffer-in-use", (0,), place(where, "start"))
        assert f" at {place(where, 'wait')} completed the " in finding.sentence
    else:
        assert not found
    for options in ({}, {"cost": fakempi.Hockney(eager_limit=0)}, {"strict": True}):
        assert not findings_of(program, 2, LATE, backend=backend, check_buffers="sends", **options)


def test_the_finding_names_the_peer_and_what_to_do() -> None:
    """Both lines are in it, too."""
    (finding,) = findings_of(programs.send, 2, EARLY, check_buffers="sends")
    start, wait = place(programs.send, "start"), place(programs.send, "wait")
    assert str(finding) == (
        f"buffer-in-use: rank 0: Isend at {start}: its buffer was written to before Wait at {wait} completed the send to "
        "rank 1; write to it after that call, or to another buffer"
    )


def exchange(comm: Any, rounds: int, nbytes: int, changed: int) -> None:
    """Send a buffer in each round, and change it too early in one of them."""
    mine, other, peer = np.zeros(nbytes, "u1"), np.zeros(nbytes, "u1"), 1 - comm.rank
    for number in range(1, rounds + 1):
        requests = [comm.Irecv(other, peer), comm.Isend([mine, MPI.BYTE], peer)]
        if number == changed and comm.rank == 0:
            mine[-1] += 1
        MPI.Request.Waitall(requests)
        mine[:] = number % 100


def test_the_first_operations_of_a_line_and_some_later_ones_are_checked() -> None:
    """Each changes the buffer in one round, and in no round."""
    for changed in (1, sends.FIRST, sends.EVERY):
        assert findings_of(exchange, 2, sends.EVERY, 8, changed, check_buffers="sends"), changed
    for changed in (0, sends.FIRST + 1, sends.EVERY - 1):
        assert not findings_of(exchange, 2, sends.EVERY, 8, changed, check_buffers="sends"), changed


def test_beyond_the_limits_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """In size, and in the number of ranks."""
    assert findings_of(exchange, 2, 1, sends.MAX_BYTES, 1, check_buffers="sends")
    assert not findings_of(exchange, 2, 1, sends.MAX_BYTES + 1, 1, check_buffers="sends")
    monkeypatch.setattr(sends, "MAX_RANKS", 1)
    assert not findings_of(exchange, 2, 1, 8, 1, check_buffers="sends")


def legal(comm: Any) -> None:
    """Uses of a send buffer that MPI allows, and buffers that have no contents."""
    b, c, peer = np.arange(4.0), np.zeros(4), 1 - comm.rank
    freed = comm.Isend(b, peer)
    comm.Recv(c, peer)
    freed.Free()
    comm.Barrier()
    b[:] = 1  # rank 1 has received it
    nothing = (fakempi.phantom(1000), np.zeros(0), [None, 0, MPI.INT])
    for buffer in nothing:
        MPI.Request.Waitall([comm.Irecv(buffer, peer), comm.Isend(buffer, peer)])
    first = comm.Isend(b, peer)
    second = comm.Isend(b, peer)  # both read it
    assert b.sum() == 4
    comm.Recv(c, peer)
    comm.Recv(c, peer)
    MPI.Request.Waitall([first, second])
    b[:] = 2
    comm.Isend(b, MPI.PROC_NULL)
    b[:] = np.nan
    r = MPI.Request(comm.Isend(b, peer))
    comm.Recv(c, peer)
    r.Wait()
    b[:] = 3
    r = comm.Iallgather(MPI.IN_PLACE, np.zeros(2))  # the call changes what it sends
    s = comm.Isendrecv_replace(c, peer, source=peer)
    MPI.Request.Waitall([r, s])


def test_what_mpi_allows_is_not_reported(backend: Any) -> None:
    """With small messages buffered, and with none."""
    for limit in (0, 65536):
        assert not findings_of(legal, 2, backend=backend, check_buffers="sends", cost=fakempi.Hockney(eager_limit=limit))


def test_a_strict_run_fails() -> None:
    """If only sends are to be checked."""
    with pytest.raises(fakempi.FindingsError, match="completed the send to rank 1"):
        fakempi.run(programs.send, 2, EARLY, strict=True, check_buffers="sends")
    with pytest.raises(MPIValueError, match="check_buffers must be True, False, None or 'sends', not 'all'"):
        fakempi.run(programs.send, 2, EARLY, check_buffers="all")  # type: ignore[arg-type]


SCRIPT = """import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
b = np.zeros(4)
if comm.rank == 0:
    request = comm.Isend(b, 1)
    b[0] = 1
    request.Wait()
else:
    comm.Recv(b, 0)
"""


def test_fakempi_run_checks_sends(backend: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is that of the script."""
    assert main(["run", "-n", "2", "--backend", backend, "-c", SCRIPT]) == 0
    errors = capsys.readouterr().err
    assert "buffer-in-use: rank 0: Isend at <string>:6: its buffer was written to before Wait at <string>:8" in errors
    assert main(["run", "-n", "2", "--backend", backend, "-c", SCRIPT.replace("b[0] = 1", "b.sum()")]) == 0
    assert capsys.readouterr().err == ""
