"""Programs on files that ranks share, for the emulator and a real MPI."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.real_mpi.programs import outcome, program


@contextmanager
def shared_file(comm: Any, MPI: Any, amode: int = 0) -> Iterator[Any]:
    """A new file that all ranks have open; it goes when they are done."""
    name = None
    if comm.rank == 0:
        handle, name = tempfile.mkstemp()
        os.close(handle)
    name = comm.bcast(name)
    file = MPI.File.Open(comm, name, amode or MPI.MODE_RDWR | MPI.MODE_CREATE)
    yield file
    file.Close()
    comm.Barrier()
    if comm.rank == 0:
        MPI.File.Delete(name)


def settled(comm: Any, file: Any) -> None:
    """What all have written is there for all."""
    file.Sync()
    comm.Barrier()
    file.Sync()


@program
def files_side_by_side(comm: Any, MPI: Any) -> Any:
    """Blocks of a rank each, and the neighbour's read back; more is asked for than there is."""
    with shared_file(comm, MPI) as file:
        file.Set_view(0, MPI.INT32_T)
        file.Write_at_all(3 * comm.rank, np.full(3, comm.rank, "i4"))
        settled(comm, file)
        found, status = np.full(5, -1, "i4"), MPI.Status()
        file.Read_at(3 * ((comm.rank + 1) % comm.size), found, status)
        return found.tolist(), status.Get_count(MPI.INT32_T), file.Get_size(), file.Get_byte_offset(7)


@program
def files_dealt_out(comm: Any, MPI: Any) -> Any:
    """A view with holes on each rank; positions and the end count etypes."""
    with shared_file(comm, MPI) as file:
        block = MPI.INT32_T.Create_vector(2, 2, 2 * comm.size)
        turns = block.Create_resized(0, 16 * comm.size).Commit()
        file.Set_view(8 * comm.rank, MPI.INT32_T, turns)
        file.Write_all(np.arange(8, dtype="i4") + 100 * comm.rank)
        position = file.Get_position()
        settled(comm, file)
        file.Seek(-3, MPI.SEEK_CUR)
        some = np.empty(2, "i4")
        file.Read(some)
        file.Set_view(0, MPI.INT32_T)
        everything = np.empty(8 * comm.size, "i4")
        file.Read_all(everything)
        block.Free()
        turns.Free()
        return position, some.tolist(), everything.tolist()


@program
def files_in_order(comm: Any, MPI: Any) -> Any:
    """The shared pointer passes over what ranks have, in their order, whatever each has."""
    with shared_file(comm, MPI) as file:
        file.Write_ordered(bytes([65 + comm.rank]) * (comm.rank + 1))
        place = file.Get_position_shared()
        settled(comm, file)
        file.Seek_shared(0)
        found = bytearray(comm.rank + 1)
        file.Read_ordered(found)
        return place, found.decode()


@program
def files_nonblocking_and_split(comm: Any, MPI: Any) -> Any:
    """Requests, and calls in two halves."""
    with shared_file(comm, MPI) as file:
        mine, status = np.full(4, comm.rank + 0.5), MPI.Status()
        file.Set_view(32 * comm.rank, MPI.DOUBLE)
        file.Iwrite(mine).Wait(status)
        written = status.Get_count(MPI.DOUBLE)
        settled(comm, file)
        found = np.zeros(4)
        file.Read_at_all_begin(0, found)
        file.Read_at_all_end(found, status)
        return written, found.tolist(), status.Get_count(MPI.DOUBLE)


@program
def files_sizes_and_errors(comm: Any, MPI: Any) -> Any:
    """Sizes, and the classes of what goes wrong."""
    with shared_file(comm, MPI) as file:
        file.Set_size(10)
        sizes = [file.Get_size()]
        file.Preallocate(20)
        sizes.append(file.Get_size())
        file.Set_atomicity(True)
        same_mode = file.Get_amode() == MPI.MODE_RDWR | MPI.MODE_CREATE
        return sizes, file.Get_atomicity(), same_mode, file.Get_type_extent(MPI.INT)


@program
def files_that_are_not_there(comm: Any, MPI: Any) -> Any:
    """Opened and deleted in vain."""
    name = os.path.join(tempfile.gettempdir(), "there-is-no-such-file")
    return outcome(MPI, lambda: MPI.File.Open(comm, name, MPI.MODE_RDONLY)), outcome(MPI, lambda: MPI.File.Delete(name))
