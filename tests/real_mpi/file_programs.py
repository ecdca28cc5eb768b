"""Programs on shared files, for the emulator and a real MPI."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tests.real_mpi.programs import outcome, program


@contextmanager
def shared_file(comm: Any, MPI: Any, amode: int = 0) -> Iterator[Any]:
    """A new file that all ranks have open; it is deleted afterwards."""
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
    """Make all writes visible to all ranks."""
    file.Sync()
    comm.Barrier()
    file.Sync()


@program
def files_side_by_side(comm: Any, MPI: Any) -> Any:
    """One block per rank, and the neighbor's block read back; more is requested than exists."""
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
    """The shared pointer advances by the data of each rank, in rank order, for any sizes."""
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
    """Requests, and split collective calls."""
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
    """Sizes, and error classes."""
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
    """Open and delete fail."""
    name = os.path.join(tempfile.gettempdir(), "there-is-no-such-file")
    return outcome(MPI, lambda: MPI.File.Open(comm, name, MPI.MODE_RDONLY)), outcome(MPI, lambda: MPI.File.Delete(name))


@program
def files_in_the_portable_form(comm: Any, MPI: Any) -> Any:
    """external32, through views with holes: the bytes of the file, and the data read back."""
    with shared_file(comm, MPI) as file:
        turns = MPI.DOUBLE.Create_resized(0, 8 * comm.size).Commit()
        file.Set_view(8 * comm.rank, MPI.DOUBLE, turns, "external32")
        mine, again, status = np.arange(3.0) + 10 * comm.rank, np.zeros(3), MPI.Status()
        file.Write_at(0, mine)
        settled(comm, file)
        file.Read_at(0, again, status)
        extent, place = file.Get_type_extent(MPI.DOUBLE), file.Get_byte_offset(2)
        file.Set_view(0, MPI.BYTE)
        everything = bytearray(24 * comm.size)
        file.Read_at(0, everything)
        turns.Free()
        return again.tolist(), status.Get_count(MPI.DOUBLE), extent, place, list(everything)


@program
def files_in_the_portable_form_without_holes(comm: Any, MPI: Any) -> Any:
    """external32 of several types, one rank after the other."""
    found = []
    for datatype, letter in ((MPI.INT16_T, "i2"), (MPI.INT32_T, "i4"), (MPI.FLOAT, "f4"), (MPI.DOUBLE, "f8")):
        with shared_file(comm, MPI) as file:
            size = np.dtype(letter).itemsize
            file.Set_view(3 * size * comm.rank, datatype, datatype, "external32")
            file.Write_all((np.arange(3) + comm.rank).astype(letter))
            settled(comm, file)
            again = np.zeros(3, letter)
            file.Read_at(0, again)
            file.Set_view(0, MPI.BYTE)
            everything = bytearray(3 * size * comm.size)
            file.Read_at(0, everything)
            found.append((again.tolist(), list(everything)))
    return found


@program
def files_through_many_filetypes(comm: Any, MPI: Any) -> Any:
    """Views of each constructor: positions of etypes, and the final contents of the file."""
    made = [
        MPI.INT32_T.Create_contiguous(2),
        MPI.INT32_T.Create_vector(2, 1, 3),
        MPI.INT32_T.Create_hvector(2, 1, 12),
        MPI.INT32_T.Create_indexed([1, 2], [1, 4]),
        MPI.INT32_T.Create_hindexed([2, 1], [4, 20]),
        MPI.INT32_T.Create_indexed_block(2, [0, 3]),
        MPI.INT32_T.Create_subarray([3, 4], [2, 2], [1, 1]),
        MPI.INT32_T.Create_vector(2, 1, 2).Create_resized(0, 24),
        MPI.Datatype.Create_struct([1, 1], [4, 12], [MPI.INT32_T, MPI.INT32_T]),
    ]
    found = []
    for filetype in made:
        filetype.Commit()
        with shared_file(comm, MPI) as file:
            file.Set_view(4, MPI.INT32_T, filetype)
            places = [file.Get_byte_offset(k) for k in range(7)]
            if comm.rank == 0:
                file.Write_at(1, np.arange(5, dtype="i4") + 1)
            settled(comm, file)
            again, status = np.full(6, -1, "i4"), MPI.Status()
            file.Read(again, status)
            at = file.Get_position()
            file.Seek(0, MPI.SEEK_END)
            end = file.Get_position()
            count = status.Get_count(MPI.INT32_T)
            size = file.Get_size()
            found.append((places, again.tolist(), count, at, end, size))
        filetype.Free()
    return found


@program
def files_in_two_phases(comm: Any, MPI: Any) -> Any:
    """The bundled algorithm, the same code on both: interleaved blocks, some ranks without data, small windows."""
    from collectives import find

    write, read = find("write_all", "two_phase").run, find("read_all", "two_phase").run
    found = []
    for aggregators, buffer_bytes in ((1, 1 << 20), (min(2, comm.size), 16), (comm.size, 5)):
        with shared_file(comm, MPI) as file:
            blocks = 0 if comm.rank == 1 else 4
            runs = [(3 * (k * comm.size + comm.rank), 3) for k in range(blocks)]
            mine = np.arange(3 * blocks, dtype=np.uint8) + 50 * comm.rank
            write(comm, file, runs, mine, aggregators=aggregators, buffer_bytes=buffer_bytes)
            settled(comm, file)
            again = np.zeros_like(mine)
            read(comm, file, runs, again, aggregators=aggregators, buffer_bytes=buffer_bytes)
            everything = bytearray(file.Get_size())
            file.Read_at(0, everything)
            found.append((again.tolist() == mine.tolist(), list(everything)))
    return found


@program
def files_of_nothing(comm: Any, MPI: Any) -> Any:
    """Empty accesses of all kinds, and reads beyond the end."""
    with shared_file(comm, MPI) as file:
        nothing, status = bytearray(), MPI.Status()
        counts = []
        for name in ("", "_all", "_shared", "_ordered"):
            getattr(file, f"Write{name}")(nothing, status)
            getattr(file, f"Read{name}")(nothing, status)
            counts.append(status.Get_count(MPI.BYTE))
        file.Iwrite_at(7, nothing).Wait(status)
        counts.append(status.Get_count(MPI.BYTE))
        beyond = bytearray(b"abc")
        file.Read_at(100, beyond, status)
        counts.append(status.Get_count(MPI.BYTE))
        return counts, bytes(beyond).decode(), file.Get_size(), file.Get_position(), file.Get_position_shared()


@program
def files_and_wrong_calls(comm: Any, MPI: Any) -> Any:
    """Error classes: of modes, of arguments, and of null handles."""
    found = []
    for amode in (MPI.MODE_RDONLY | MPI.MODE_CREATE, MPI.MODE_RDWR | MPI.MODE_SEQUENTIAL, MPI.MODE_RDONLY | MPI.MODE_WRONLY):
        name = os.path.join(tempfile.gettempdir(), "there-is-no-such-file")
        found.append(outcome(MPI, partial(MPI.File.Open, comm, name, amode)))
    with shared_file(comm, MPI, MPI.MODE_WRONLY | MPI.MODE_CREATE) as file:
        found.append(outcome(MPI, lambda: file.Read(bytearray(1))))
        found.append(outcome(MPI, lambda: file.Write_at(-1, b"x")))
        found.append(outcome(MPI, lambda: file.Seek(-1)))
        found.append(outcome(MPI, lambda: file.Set_view(0, MPI.BYTE, MPI.BYTE, "mine")))
        found.append(outcome(MPI, lambda: file.Write_all_end(b"")))
    found.append(outcome(MPI, lambda: MPI.File().Get_size()))
    return found
