"""A datatype that is freed while an operation uses it: the operation completes as if it were not freed (MPI 4.1, 5.1.9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI


def apart(count: int = 2, stride: int = 2) -> MPI.Datatype:
    """Doubles with one hole between two."""
    return MPI.DOUBLE.Create_vector(count, 1, stride).Commit()


def neighbors(comm: Any) -> tuple[int, int]:
    return (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size


def messages(comm: Any) -> Any:
    """Both sides."""
    right, left = neighbors(comm)
    there, kind = np.zeros(4), apart()
    requests = [comm.Irecv([there, 1, kind], left), comm.Issend([np.arange(4.0), 1, kind], right)]
    kind.Free()
    MPI.Request.Waitall(requests)
    return there


def one_call(comm: Any) -> Any:
    right, left = neighbors(comm)
    there, kind = np.zeros(4), apart()
    request = comm.Isendrecv([np.arange(4.0), 1, kind], right, 0, [there, 1, kind], left, 0)
    kind.Free()
    request.Wait()
    return there


def matched(comm: Any) -> Any:
    right, left = neighbors(comm)
    there, kind = np.zeros(4), apart()
    sent = comm.Isend(np.array([0.0, 2.0]), right)
    request = comm.Mprobe(left).Irecv([there, 1, kind])
    kind.Free()
    MPI.Request.Waitall([request, sent])
    return there


def persistent(comm: Any) -> Any:
    right, left = neighbors(comm)
    here, there, kind = np.zeros(4), np.zeros(4), apart()
    spec: list[Any] = [here, 1, kind]
    requests = [comm.Send_init(spec, right), comm.Recv_init([there, 1, kind], left)]
    spec[1:] = [4, MPI.DOUBLE]
    kind.Free()
    for _ in range(2):
        here[:] = np.arange(4.0)
        MPI.Prequest.Startall(requests)
        MPI.Request.Waitall(requests)
    for request in requests:
        request.Free()
    return there


def partitioned(comm: Any) -> Any:
    right, left = neighbors(comm)
    there, kind = np.zeros(4), MPI.DOUBLE.Create_resized(0, 16).Commit()
    send, receive = comm.Psend_init([np.arange(4.0), 1, kind], 2, right), comm.Precv_init([there, 1, kind], 2, left, 0)
    kind.Free()
    send.Start()
    receive.Start()
    send.Pready_range(0, 1)
    MPI.Request.Waitall([send, receive])
    send.Free()
    receive.Free()
    return there


def collective(comm: Any, prepared: bool = False) -> Any:
    there, kind = np.where(comm.rank == 0, np.arange(4.0), 0.0) * [1, 0, 1, 0], apart()
    request = comm.Bcast_init([there, 1, kind]) if prepared else comm.Ibcast([there, 1, kind])
    kind.Free()
    if prepared:
        request.Start()
    request.Wait()
    if prepared:
        request.Free()
    return there


def several_types(comm: Any) -> Any:
    size = comm.size
    there, kind = np.zeros(4 * size), apart()
    blocks = ([1] * size, [32 * i for i in range(size)]), [kind] * size
    request = comm.Ialltoallw([np.tile(np.arange(4.0), size), *blocks], [there, *blocks])
    kind.Free()
    request.Wait()
    return there[:4]


def one_sided(comm: Any) -> Any:
    right, _ = neighbors(comm)
    there, kind = np.zeros(4), apart()
    win = MPI.Win.Create(there, 8, comm=comm)
    win.Fence()
    win.Put([np.arange(4.0), 1, kind], right, (0, 1, kind))
    kind.Free()
    win.Fence()
    win.Free()
    return there


@pytest.mark.parametrize("strict", [False, True])
def test_operations_in_progress_keep_a_freed_type(strict: bool) -> None:
    """Of every kind, also those that are started after the type was freed; buffers were also accused of being in use."""
    programs: list[Callable[..., Any]] = [messages, one_call, matched, persistent, partitioned, collective]
    programs += [lambda comm: collective(comm, True), several_types, one_sided]
    for size in (1, 2, 3):
        for program in programs:
            for fused in ("auto", "never"):
                done = fakempi.run(program, size, strict=strict, fused=fused)
                assert [result.tolist() for result in done.returns] == [[0, 0, 2, 0]] * size, program
                assert done.findings == []


def test_a_view_of_a_file_keeps_freed_types(tmp_path: Path) -> None:
    """And so does an access in progress."""

    def main(comm: Any) -> Any:
        file = MPI.File.Open(comm, str(tmp_path / "data"), MPI.MODE_CREATE | MPI.MODE_RDWR)
        every, kind = apart(2, comm.size), apart()
        file.Set_view(8 * comm.rank, MPI.DOUBLE, every)
        every.Free()
        request = file.Iwrite_at(0, [np.arange(4.0) + comm.rank, 1, kind])
        kind.Free()
        request.Wait()
        file.Close()
        return np.fromfile(tmp_path / "data").tolist()

    assert fakempi.run(main, 2).returns == [[0, 1, 2, 3]] * 2


def test_a_freed_handle_is_null_and_other_handles_are_rejected() -> None:
    """An operation in progress does not make the handle usable again."""

    def main(comm: Any) -> None:
        there, kind = np.zeros(4), apart()
        other = MPI.Datatype(kind)
        request = comm.Irecv([there, 1, kind], comm.rank)
        kind.Free()
        assert kind == MPI.DATATYPE_NULL
        for freed in (kind, other):
            with pytest.raises(MPI.Exception, match="freed"):
                comm.Send([np.zeros(4), 1, freed], comm.rank)
        comm.Send(np.ones(2), comm.rank)
        request.Wait()

    fakempi.run(main, 2)
