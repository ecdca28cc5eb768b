"""An annotated program as users write it. It type-checks with the same inferred types with `from mpi4py import MPI`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fakempi import MPI

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: object, kind: object) -> object:
        """At run time nothing is checked."""
        return value


Vector = NDArray[np.float64]


def exchange(comm: MPI.Intracomm, data: Vector) -> tuple[Vector, int]:
    """Pass an array around a ring; return what arrived, and from which rank."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    arrived, status = np.empty_like(data), MPI.Status()
    request = comm.Isend([data, MPI.DOUBLE], dest=right, tag=3)
    comm.Recv(arrived, source=left, tag=3, status=status)
    assert_type(request, MPI.Request)
    assert_type(request.Wait(), Literal[True])
    assert_type(status.source, int)
    assert_type(status.Get_count(MPI.DOUBLE), int)
    return arrived, status.source


def communicators(comm: MPI.Intracomm) -> None:
    """Create communicators in the usual ways."""
    assert_type(comm.rank, int)
    assert_type(comm.size, int)
    assert_type(comm.name, str)
    assert_type(comm.group, MPI.Group)
    assert_type(comm.group.size, int)
    assert_type(comm.Dup(), MPI.Intracomm)
    assert_type(comm.Clone(), MPI.Intracomm)
    assert_type(comm.Idup(), tuple[MPI.Intracomm, MPI.Request])
    half: MPI.Comm = comm.Split(color=comm.rank % 2, key=comm.rank)
    assert_type(half.Get_size(), int)
    grid = comm.Create_cart([comm.size], periods=[True], reorder=False)
    assert_type(grid, MPI.Cartcomm)
    assert_type(grid.Shift(0, 1), tuple[int, int])
    assert_type(grid.coords, list[int])
    assert_type(grid.Dup(), MPI.Cartcomm)
    comm.name = "world of the program"
    half.Free()


def collectives(comm: MPI.Intracomm) -> Any:
    """Reduce, gather and scan arrays and objects."""
    total = np.zeros(2)
    comm.Allreduce(np.ones(2), total, op=MPI.SUM)
    comm.Allreduce(MPI.IN_PLACE, [total, 2, MPI.DOUBLE])
    counts, displacements = [1] * comm.size, list(range(comm.size))
    comm.Allgatherv(np.ones(1), [np.zeros(comm.size), counts, displacements, MPI.DOUBLE])
    assert_type(comm.gather(comm.rank), list[Any] | None)
    assert_type(comm.allgather(comm.rank), list[Any])
    assert_type(comm.Ibarrier(), MPI.Request)
    MPI.Request.Waitall([comm.Ibcast(total), comm.Ibarrier()])
    op = MPI.Op.Create(lambda a, b, datatype: None, commute=True)
    assert_type(op, MPI.Op)
    op.Free()
    return comm.allreduce(comm.rank, op=MPI.MAX)


def memory_and_files(comm: MPI.Intracomm, path: str) -> bytes:
    """Use a window, a derived datatype and a file."""
    window = MPI.Win.Allocate(8, comm=comm)
    assert_type(window.tomemory(), MPI.buffer)
    assert_type(window.tomemory()[0], int)
    with_stride = MPI.INT.Create_vector(2, 1, 2).Commit()
    assert_type(with_stride.extent, int)
    with_stride.Free()
    window.Free()
    file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
    file.Write_at_all(comm.rank, bytearray([comm.rank]))
    assert_type(file.size, int)
    file.Close()
    return MPI.Get_processor_name().encode()


def guarded(comm: MPI.Comm) -> str:
    """Handle an error of MPI."""
    try:
        comm.Send(bytearray(1), dest=comm.Get_size() + 1)
    except MPI.Exception as error:
        assert_type(error.Get_error_class(), int)
        return error.error_string
    return ""
