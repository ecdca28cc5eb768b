"""Integers that do not fit in C's types overflow in every call, as in mpi4py under MPICH.

An `int` has 32 bits; counts, displacements, addresses and offsets of files have 64. `Comm.Split` is an exception: colors
and keys may be any values here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

Call = Callable[[Any, Any], Any]
BLOCK, DEFAULT = MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_DFLT_DARG

INTS: dict[str, Call] = {
    "order of a subarray": lambda comm, v: MPI.INT.Create_subarray([1], [1], [0], order=v),
    "size of a darray": lambda comm, v: MPI.INT.Create_darray(v, 0, [1], [BLOCK], [DEFAULT], [1]),
    "rank of a darray": lambda comm, v: MPI.INT.Create_darray(1, v, [1], [BLOCK], [DEFAULT], [1]),
    "distribution of a darray": lambda comm, v: MPI.INT.Create_darray(1, 0, [1], [v], [DEFAULT], [1]),
    "argument of a darray": lambda comm, v: MPI.INT.Create_darray(1, 0, [1], [BLOCK], [v], [1]),
    "grid of a darray": lambda comm, v: MPI.INT.Create_darray(1, 0, [1], [BLOCK], [DEFAULT], [v]),
    "digits": lambda comm, v: MPI.Datatype.Create_f90_integer(v),
    "exponent": lambda comm, v: MPI.Datatype.Create_f90_real(1, v),
    "type class": lambda comm, v: MPI.Datatype.Match_size(v, 4),
    "size of a type": lambda comm, v: MPI.Datatype.Match_size(MPI.TYPECLASS_INTEGER, v),
    "key of a communicator": lambda comm, v: comm.Get_attr(v),
    "key of a type": lambda comm, v: MPI.INT.Dup().Set_attr(v, 1),
    "key to free": lambda comm, v: MPI.Win.Free_keyval(v),
    "number of a handle": lambda comm, v: MPI.Comm.f2py(v),
    "integer of a handle": lambda comm, v: MPI.Group.fromint(v),
    "source of a status": lambda comm, v: MPI.Status().Set_source(v),
    "Fortran status": lambda comm, v: MPI.Status.f2py([v] * MPI.F_STATUS_SIZE),
    "number of partitions": lambda comm, v: comm.Psend_init(bytes(8), v, MPI.PROC_NULL),
    "source of partitions": lambda comm, v: comm.Precv_init(bytearray(8), 1, v, 0),
    "first of a range": lambda comm, v: comm.Get_group().Range_incl([(v, 0, 1)]),
    "stride of a range": lambda comm, v: comm.Get_group().Range_excl([(0, 0, v)]),
    "number of a key": lambda comm, v: MPI.Info.Create().Get_nthkey(v),
    "type of a split": lambda comm, v: comm.Split_type(v),
    "error code": lambda comm, v: comm.Call_errhandler(v),
    "error code of an exception": lambda comm, v: MPI.Exception(v),
    "class of an error code": lambda comm, v: MPI.Get_error_class(v),
    "class to remove": lambda comm, v: MPI.Remove_error_class(v),
    "code to describe": lambda comm, v: MPI.Add_error_string(v, "text"),
    "failures": lambda comm, v: comm.Ack_failed(v),
    "flag": lambda comm, v: comm.Agree(v),
    "dimension": lambda comm, v: comm.Create_cart([v]),
    "index of a graph": lambda comm, v: comm.Create_graph([v], [0]),
    "edge of a graph": lambda comm, v: comm.Create_graph([1], [v]),
    "weight": lambda comm, v: comm.Create_dist_graph([0], [1], [0], [v]),
    "weight of a neighbor": lambda comm, v: comm.Create_dist_graph_adjacent([0], [0], [v], [1]),
    "local leader": lambda comm, v: comm.Create_intercomm(v, comm, 0),
    "processes to spawn": lambda comm, v: comm.Spawn("program.py", maxprocs=v),
    "root of Connect": lambda comm, v: comm.Connect("port", root=v),
    "coordinate": lambda comm, v: comm.Create_cart([1], periods=[True]).Get_cart_rank([v]),
    "direction": lambda comm, v: comm.Create_cart([1]).Shift(v, 1),
    "steps": lambda comm, v: comm.Create_cart([1]).Shift(0, v),
    "type of a lock": lambda comm, v: MPI.Win.Allocate(8, comm=comm).Lock(0, v),
    "mode of a file": lambda comm, v: MPI.File.Open(comm, "no such file", v),
    "nodes": lambda comm, v: MPI.Compute_dims(v, 2),
    "number of dimensions": lambda comm, v: MPI.Compute_dims(4, v),
    "level of threads": lambda comm, v: MPI.Init_thread(v),
    "level of control": lambda comm, v: MPI.Pcontrol(v),
    "process set": lambda comm, v: MPI.Session.Init().Get_nth_pset(v),
}
"""Arguments that are an int in C."""

COUNTS: dict[str, Call] = {
    "count": lambda comm, v: MPI.INT.Create_contiguous(v),
    "stride": lambda comm, v: MPI.INT.Create_hvector(1, 1, v),
    "block length": lambda comm, v: MPI.INT.Create_indexed([v], [0]),
    "displacement": lambda comm, v: MPI.Datatype.Create_struct([1], [v], [MPI.INT]),
    "size of an array": lambda comm, v: MPI.INT.Create_subarray([v], [1], [0]),
    "extent": lambda comm, v: MPI.INT.Create_resized(0, v),
    "position": lambda comm, v: MPI.INT.Pack(bytes(4), bytearray(8), v, comm),
    "elements to pack": lambda comm, v: MPI.INT.Pack_size(v, comm),
    "elements of a status": lambda comm, v: MPI.Status().Set_elements(MPI.INT, v),
    "elements to send": lambda comm, v: comm.Send([bytes(8), v, MPI.BYTE], 0),
    "first element to send": lambda comm, v: comm.Send([bytes(8), (1, v), MPI.BYTE], 0),
    "counts of Gatherv": lambda comm, v: comm.Gatherv(bytes(8), [bytearray(8), [v], None, MPI.BYTE], 0),
    "displacements of Alltoallv": lambda comm, v: comm.Alltoallv([bytes(8), [8], [v], MPI.BYTE], bytearray(8)),
    "counts of Alltoallw": lambda comm, v: comm.Alltoallw(
        [bytes(8), [v], [0], [MPI.BYTE]], [bytearray(8), [8], [0], [MPI.BYTE]]
    ),
    "counts of Reduce_scatter": lambda comm, v: comm.Reduce_scatter(np.zeros(1), np.zeros(1), [v]),
    "size of a window": lambda comm, v: MPI.Win.Allocate(v, comm=comm),
    "unit of a window": lambda comm, v: MPI.Win.Allocate(8, v, comm=comm),
    "target": lambda comm, v: MPI.Win.Allocate(8, comm=comm).Put(bytes(8), 0, v),
    "target without a process": lambda comm, v: MPI.Win.Allocate(8, comm=comm).Put(bytes(8), MPI.PROC_NULL, v),
    "target of an element": lambda comm, v: MPI.Win.Allocate(8, comm=comm).Fetch_and_op(
        np.zeros(1), np.zeros(1), MPI.PROC_NULL, v
    ),
    "elements at the target": lambda comm, v: MPI.Win.Allocate(8, comm=comm).Rget(bytearray(8), 0, [0, v]),
    "address": lambda comm, v: MPI.Aint_add(v, 1),
    "bytes": lambda comm, v: MPI.Alloc_mem(v),
    "bytes of a buffer": lambda comm, v: MPI.buffer.allocate(v),
    "bytes at an address": lambda comm, v: MPI.buffer.fromaddress(0, v),
}
"""Arguments that have 64 bits in C: MPI_Count and MPI_Aint."""


def overflows(call: Call, values: tuple[int, ...]) -> None:
    """Check that each value overflows on one rank."""

    def main(comm: Any) -> None:
        for value in values:
            with pytest.raises(OverflowError):
                call(comm, value)

    fakempi.run(main, 1)


@pytest.mark.parametrize("name", INTS)
def test_an_int_has_32_bits(name: str) -> None:
    """Larger and smaller values overflow, before the call does anything else."""
    overflows(INTS[name], (2**31, -(2**31) - 1, 2**64))


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_has_64_bits(name: str) -> None:
    """Larger and smaller values overflow."""
    overflows(COUNTS[name], (2**63, -(2**63) - 1, 2**64))


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_that_fits_does_not_overflow(name: str) -> None:
    """It may be too large for the memory."""

    def main(comm: Any) -> None:
        try:
            COUNTS[name](comm, 2**62)
        except OverflowError as error:
            pytest.fail(f"2**62 fits: {error}")
        except (MPI.Exception, MemoryError, ValueError):
            pass

    fakempi.run(main, 1)


@pytest.mark.parametrize("call", ["Set_size", "Preallocate", "Seek", "Seek_shared", "Get_byte_offset", "Set_view"])
def test_an_offset_of_a_file_has_64_bits(call: str, tmp_path: Path) -> None:
    """Larger and smaller values overflow."""

    def main(comm: Any) -> None:
        file = MPI.File.Open(comm, str(tmp_path / "file"), MPI.MODE_CREATE | MPI.MODE_RDWR)
        for value in (2**63, -(2**63) - 1):
            with pytest.raises(OverflowError):
                getattr(file, call)(value)
        file.Close()

    fakempi.run(main, 1)


def test_a_target_without_a_process_is_checked() -> None:
    """As in MPICH, also its displacement and its count, while any origin is ignored."""

    def main(comm: Any) -> None:
        window: Any = MPI.Win.Allocate(8, comm=comm)
        target: Any
        for target, error_class in ((-1, MPI.ERR_DISP), ([0, -1], MPI.ERR_COUNT)):
            with pytest.raises(MPI.Exception) as caught:
                window.Put(None, MPI.PROC_NULL, target)
            assert caught.value.Get_error_class() == error_class
        for target in ([None], [0, None]):
            with pytest.raises(TypeError):
                window.Put(None, MPI.PROC_NULL, target)
        with pytest.raises(KeyError):
            window.Put(None, MPI.PROC_NULL, [0, 1, None])
        window.Put(None, MPI.PROC_NULL, [0, 1, "d"])

    fakempi.run(main, 1)
