"""Pack and Unpack: native and portable, and what they refuse."""

from __future__ import annotations

import array
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fakempi.error_classes import ERR_CONVERSION, ERR_COUNT, ERR_TRUNCATE
from fakempi.errors import MPIError
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype

COMM = object()  # packing asks for a communicator and does nothing with it


def test_pack_appends_and_unpack_reads_on() -> None:
    """The position is handed from call to call."""
    room = bytearray(40)
    columns = MPI.INT.Create_vector(2, 1, 3).Create_resized(0, 24).Commit()
    matrix = np.arange(12, dtype="i4")
    position = MPI.DOUBLE.Pack(array.array("d", [1.5]), room, 0, COMM)
    position = columns.Pack(matrix, room, position, COMM)
    assert position == 8 + MPI.INT.Pack_size(4, COMM)
    number, back = np.zeros(1), np.zeros(12, "i4")
    position = MPI.DOUBLE.Unpack(room, 0, number, COMM)
    assert columns.Unpack(room, position, back, COMM) == 24
    assert (number[0], back.tolist()) == (1.5, [0, 0, 0, 3, 0, 0, 6, 0, 0, 9, 0, 0])


def test_memory_in_fortran_order_is_taken_as_it_lies() -> None:
    """Contiguous is contiguous."""
    room = bytearray(24)
    MPI.INT.Pack(np.arange(6, dtype="i4").reshape(2, 3).T, room, 0, COMM)
    assert np.frombuffer(room, "i4").tolist() == [0, 1, 2, 3, 4, 5]
    assert MPI.INT.Pack(memoryview(b""), room, 0, COMM) == 0


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda b: MPI.INT.Pack(bytes(8), b, 4, COMM), ValueError, "Pack: 8 bytes at position 4 go beyond the 10"),
        (lambda b: MPI.INT.Pack(bytes(8), b, -1, COMM), ValueError, "Pack: position -1 is negative"),
        (lambda b: MPI.INT.Pack(bytes(8), bytes(8), 0, COMM), BufferError, "Pack: outbuf is read-only"),
        (lambda b: MPI.INT.Pack([b, 1], b, 0, COMM), TypeError, "Pack: inbuf is list, which has no bytes to offer"),
        (lambda b: MPI.INT.Pack(np.zeros(8)[::2], b, 0, COMM), BufferError, "Pack: inbuf is not contiguous"),
        (lambda b: MPI.INT.Pack(np.array([None]), b, 0, COMM), TypeError, "Pack: inbuf holds Python objects"),
        (lambda b: MPI.INT.Pack(bytes(8), b, 0, None), TypeError, "Pack: comm is None"),
        (lambda b: MPI.INT.Pack(bytes(8), b, 0, ()), ValueError, "Pack: comm is COMM_NULL"),
        (lambda b: MPI.INT.Unpack(b, 8, bytearray(4), COMM), ValueError, "Unpack: 4 bytes at position 8 go beyond"),
        (lambda b: MPI.INT.Create_vector(2, 1, 2).Pack(b, b, 0, COMM), MPIError, "Pack: .* is not committed"),
        (lambda b: MPI.INT.Pack_size(-1, COMM), ValueError, "Pack_size: count is -1, less than 0"),
        (lambda b: MPI.INT.Pack_external("native", b, b, 0), ValueError, "Pack_external: 'native' is not"),
    ],
)
def test_packing_says_what_does_not_fit(call: Callable[[bytearray], Any], kind: type[Exception], words: str) -> None:
    """Room, position, memory, communicator, representation."""
    with pytest.raises(kind, match="^" + words):
        call(bytearray(10))


def test_packing_never_leaves_the_buffer() -> None:
    """An element may be larger than its extent; then not as many fit as mpi4py counts."""
    wide = MPI.INT.Create_vector(2, 1, 3).Create_resized(0, 4).Commit()
    with pytest.raises(MPIError, match=r"^Pack: 3 elements of RESIZED of VECTOR of INT touch bytes 0 to 24, inbuf has"):
        wide.Pack(bytes(12), bytearray(50), 0, COMM)
    with pytest.raises(MPIError) as caught:
        MPI.INT.Create_resized(0, -4).Commit().Pack(bytes(12), bytearray(50), 0, COMM)
    assert caught.value.Get_error_class() == ERR_COUNT
    with pytest.raises(MPIError) as caught:
        MPI.INT.Pack(bytes(12), bytearray(5), 0, COMM)
    assert caught.value.Get_error_class() == ERR_TRUNCATE


def test_external32_is_big_endian_with_sizes_of_its_own() -> None:
    """A record of an int, two longs and a wide character takes 4 + 2 x 4 + 2 bytes."""
    native = np.dtype([("a", "i4"), ("b", "l", 2), ("c", "U1")], align=True)
    fields = native.fields
    assert fields is not None
    where = [fields[name][1] for name in "abc"]
    record = Datatype.Create_struct([1, 2, 1], where, [MPI.INT, MPI.LONG, MPI.WCHAR])
    record = record.Create_resized(0, native.itemsize).Create_contiguous(2).Commit()
    values = np.array([(1, [2, -3], "x"), (4, [5, 6], "y")], native)
    room = bytearray(28)
    assert record.Pack_external("external32", values, room, 0) == record.Pack_external_size("external32", 1) == 28
    portable = np.frombuffer(room, [("a", ">i4"), ("b", ">i4", 2), ("c", ">u2")])
    assert portable["a"].tolist() == [1, 4]
    assert portable["b"].tolist() == [[2, -3], [5, 6]]
    assert portable["c"].tolist() == [ord("x"), ord("y")]
    back = np.zeros_like(values)
    assert record.Unpack_external("external32", room, 0, back) == 28
    for name in "abc":
        assert back[name].tolist() == values[name].tolist()


@pytest.mark.skipif(np.dtype("l").itemsize == 4, reason="C's long has 4 bytes here, every one fits")
def test_external32_refuses_numbers_that_do_not_fit() -> None:
    """Where it has fewer bytes than C."""
    with pytest.raises(ValueError, match=r"^Pack_external: 1099511627776 does not fit the 4 bytes it ") as caught:
        MPI.LONG.Pack_external("external32", np.array([5, 1 << 40], "l"), bytearray(8), 0)
    assert isinstance(caught.value, MPIError)
    assert caught.value.Get_error_class() == ERR_CONVERSION


def test_external32_of_long_double_is_quadruple_precision() -> None:
    """Whether this machine's long double has 80 bits (x86-64) or 128 (aarch64); any other format is refused."""
    numbers = np.array([1.5, -(2.0**-1000), 0.0, -0.0, np.inf, -np.inf, np.nan], "g")
    assert MPI.LONG_DOUBLE.Pack_external_size("external32", 2) == 32
    assert MPI.C_LONG_DOUBLE_COMPLEX.Pack_external_size("external32", 1) == 32
    room, back = bytearray(16 * len(numbers)), np.zeros(len(numbers), "g")
    if np.finfo("g").nmant not in (63, 112):
        with pytest.raises(NotImplementedError, match="neither 80 nor 128 bits"):
            MPI.LONG_DOUBLE.Pack_external("external32", numbers, room, 0)
        return
    MPI.LONG_DOUBLE.Pack_external("external32", numbers, room, 0)
    assert room[:16] == b"\x3f\xff\x80" + bytes(13)
    MPI.LONG_DOUBLE.Unpack_external("external32", room, 0, back)
    assert np.array_equal(back, numbers, equal_nan=True)
    assert np.signbit(back).tolist() == np.signbit(numbers).tolist()
    third, pairs = np.array([1 / np.longdouble(3), 2], "G"), np.zeros(2, "G")
    MPI.C_LONG_DOUBLE_COMPLEX.Pack_external("external32", third, room, 16)
    MPI.C_LONG_DOUBLE_COMPLEX.Unpack_external("external32", room, 16, pairs)
    assert pairs.tolist() == third.tolist()
