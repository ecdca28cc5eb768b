"""Buffer specifications in all forms: their meaning, and errors."""

from __future__ import annotations

import array
import ctypes
from typing import Any

import numpy as np
import pytest

import fakempi.MPI  # all classes: the absolute addresses of BOTTOM belong to a process  # noqa: F401
from fakempi.errors import MPIBufferError, MPIError, MPIKeyError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.mpi.buffers.address_constants import BOTTOM, IN_PLACE
from fakempi.mpi.buffers.addresses import Get_address
from fakempi.mpi.buffers.flat import Flat
from fakempi.mpi.buffers.memory import Alloc_mem
from fakempi.mpi.buffers.payload import as_bytes, copy_into, describe, describe_target
from fakempi.mpi.buffers.span import span_of
from fakempi.mpi.buffers.vectors import vector
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype
from tests.helpers.loops import for_each

SIX = np.arange(6, dtype="i4").reshape(2, 3)
VECTOR = MPI.INT.Create_vector(2, 1, 2).Commit()  # an int, a hole, an int
LOOSE = MPI.INT.Create_vector(2, 1, 2)
EMPTY = MPI.INT.Create_contiguous(0).Commit()
WIDE = MPI.INT.Create_resized(-4, 12).Commit()
BACKWARDS = MPI.INT.Create_resized(0, -4).Commit()
FROZEN = np.zeros(4, "i4")
FROZEN.flags.writeable = False


def ints(*values: int) -> bytes:
    """C's ints, as bytes."""
    return np.array(values, "i4").tobytes()


def sent(spec: Any) -> bytes:
    """The bytes that a specification sends."""
    payload, nbytes = describe(spec)
    found = as_bytes(payload, nbytes)
    assert len(found) == nbytes
    return found


def viewed(thing: Any) -> memoryview:
    """The memoryview of an array; type checkers require Python 3.12 for it."""
    return memoryview(thing)


class Interface:
    """An object with an array interface, and nothing else."""

    def __init__(self) -> None:
        self.array = np.arange(3, dtype="i4")

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


class Capsule:
    """An object with DLPack, as tensors have, and nothing else."""

    def __init__(self) -> None:
        self.array = np.arange(3, dtype="i4")

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


# -- valid specifications ---------------------------------------------------------------------------------------------


def test_a_contiguous_array_is_its_own_payload() -> None:
    """No wrapper and no copy: this is the fast path."""
    assert describe(SIX)[0] is SIX
    assert describe_target(SIX)[0] is SIX
    assert describe(SIX)[1] == describe_target(SIX)[1] == 24


@pytest.mark.parametrize("whole", [[SIX, MPI.INT], [SIX, 6], [SIX, 6, "i"], (SIX, None)])
def test_a_specification_of_a_whole_array_is_the_array(whole: Any) -> None:
    """`[array, MPI.INT]` is equivalent to `array`."""
    assert describe(whole)[0] is SIX


TRIPLE = MPI.FLOAT.Create_contiguous(3).Commit()


@pytest.mark.parametrize(("whole", "dtype"), [([SIX, 3, "q"], "q"), ([SIX, MPI.BYTE], "V1"), ([SIX, TRIPLE], "f")])
def test_an_array_with_another_datatype_is_a_view(whole: Any, dtype: str) -> None:
    """It has the same memory."""
    payload: Any = describe(whole)[0]
    assert payload.dtype == np.dtype(dtype)
    assert payload.ctypes.data == SIX.ctypes.data


FORMS: dict[str, tuple[Any, bytes]] = {
    "array": (SIX, ints(0, 1, 2, 3, 4, 5)),
    "array in Fortran's order, as in memory": (np.asfortranarray(SIX), ints(0, 3, 1, 4, 2, 5)),
    "transposed array, as in memory": (SIX.T, ints(0, 1, 2, 3, 4, 5)),
    "array without elements": (SIX[:0, ::2], b""),
    "array of no dimensions": (np.array(3, "i4"), ints(3)),
    "numpy scalar": (np.int32(7), ints(7)),
    "masked array": (np.ma.masked_array(np.array([1, 2], "i4"), [False, True]), ints(1, 2)),
    "bytes": (b"abc", b"abc"),
    "bytearray": (bytearray(b"abc"), b"abc"),
    "no bytes": (b"", b""),
    "memoryview": (memoryview(b"abcd")[1:3], b"bc"),
    "memoryview of ints": (memoryview(ints(1, 2)).cast("i"), ints(1, 2)),
    "memoryview in two dimensions": (memoryview(bytes(range(8))).cast("B", (2, 4)), bytes(range(8))),
    "memoryview of an array in Fortran's order": (viewed(np.asfortranarray(SIX)), ints(0, 3, 1, 4, 2, 5)),
    "array.array": (array.array("i", [1, 2]), ints(1, 2)),
    "ctypes array": ((ctypes.c_int * 2)(4, 5), ints(4, 5)),
    "ctypes number": (ctypes.c_int(4), ints(4)),
    "array interface": (Interface(), ints(0, 1, 2)),
    "DLPack": (Capsule(), ints(0, 1, 2)),
    "allocated memory": (Alloc_mem(3), bytes(3)),
    "IN_PLACE": (IN_PLACE, b""),
    "[buf, count]": ([SIX, 2], ints(0, 1)),
    "(buf, count)": ((SIX, 2), ints(0, 1)),
    "[buf, numpy's integer]": ([SIX, np.int64(2)], ints(0, 1)),
    "[buf, True]": ([SIX, True], ints(0)),
    "[buf, 0]": ([SIX, 0], b""),
    "[buf, None]": ([SIX, None], SIX.tobytes()),
    "[buf, type]": ([SIX, MPI.INT], SIX.tobytes()),
    "[buf, other type]": ([SIX, MPI.DOUBLE], SIX.tobytes()),
    "[buf, code]": ([SIX, "h"], SIX.tobytes()),
    "[bytes, type]": ([ints(1, 2), MPI.INT], ints(1, 2)),
    "[bytes, count, type]": ([bytes(7), 1, "i"], bytes(4)),
    "[nothing, type]": ([b"", MPI.INT], b""),
    "[buf, count, type]": ([SIX, 2, MPI.INT], ints(0, 1)),
    "[buf, count, other type]": ([SIX, 1, MPI.DOUBLE], ints(0, 1)),
    "[buf, count, None]": ([SIX, 2, None], ints(0, 1)),
    "[buf, None, type]": ([SIX, None, MPI.INT], SIX.tobytes()),
    "[buf, (count, displ)]": ([SIX, (2, 1)], ints(1, 2)),
    "[buf, [count, displ]]": ([SIX, [2, 1]], ints(1, 2)),
    "[buf, (count, displ), type]": ([SIX, (2, 1), MPI.INT], ints(1, 2)),
    "[buf, (count, displ), other type]": ([SIX, (1, 2), MPI.DOUBLE], ints(4, 5)),
    "[buf, (count, None), type]": ([SIX, (2, None), MPI.INT], ints(0, 1)),
    "[buf, (None, displ), type]": ([SIX, (None, 1), MPI.INT], ints(1, 2, 3, 4, 5)),
    "[buf, (None, None)]": ([SIX, (None, None)], SIX.tobytes()),
    "[buf, (0, end), type]": ([SIX, (0, 6), MPI.INT], b""),
    "[buf, count, displ, type]": ([SIX, 2, 1, MPI.INT], ints(1, 2)),
    "[None, 0, type]": ([None, 0, MPI.INT], b""),
    "[None, type]": ([None, MPI.INT], b""),
    "[BOTTOM, 0, type]": ([BOTTOM, 0, MPI.INT], b""),
    "[IN_PLACE, 0]": ([IN_PLACE, 0], b""),
    "[buf, 0, null]": ([SIX, 0, MPI.DATATYPE_NULL], b""),
    "[buf, 0, uncommitted]": ([SIX, 0, LOOSE], b""),
    "[buf, 1, vector]": ([SIX, 1, VECTOR], ints(0, 2)),
    "[buf, vector]": ([SIX, VECTOR], ints(0, 2, 3, 5)),
    "[nothing, vector]": ([SIX[:0], VECTOR], b""),
    "[buf, (1, 1), vector]": ([SIX, (1, 1), VECTOR], ints(3, 5)),
    "[buf, 1, type of no size]": ([SIX, 1, EMPTY], b""),
    "[buf, resized]": ([SIX, WIDE], ints(0, 3)),
    "[buf, (1, 1), resized]": ([SIX, (1, 1), WIDE], ints(3)),
    "[Fortran's array, 3]": ([np.asfortranarray(SIX), 3], ints(0, 3, 1)),
    "[dates, bytes]": ([np.zeros(1, "M8[s]"), MPI.BYTE], bytes(8)),
}


@for_each(("spec", "expected"), FORMS.values())
def test_every_form_has_the_meaning_of_mpi4py(spec: Any, expected: bytes) -> None:
    """Compared with mpi4py 4.1; only DLPack and the array interface differ there."""
    assert sent(spec) == expected


class Pair(ctypes.Structure):
    """A struct of C."""

    _fields_ = (("a", ctypes.c_int),)


NO_TYPE: dict[str, tuple[Any, type[Exception]]] = {
    "S3": (np.zeros(3, "S3"), KeyError),
    "U2": (np.zeros(3, "U2"), KeyError),
    "M8[s]": (np.zeros(3, "M8[s]"), BufferError),
    "m8[s]": (np.zeros(3, "m8[s]"), BufferError),
    "records": (np.zeros(3, [("a", "i4"), ("b", "f8")]), KeyError),
    "a record array": (np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), KeyError),
    "pairs": (np.zeros(3, np.dtype([("value", "f8"), ("index", "i4")], align=True)), KeyError),
    "text": (np.array(["ab", "c"]), KeyError),
    "a memoryview of strings": (memoryview(np.zeros(3, "S3").data), KeyError),
    "a numpy string": (np.str_("abc"), KeyError),
    "a record": (np.zeros(1, [("a", "i4"), ("b", "f8")])[0], KeyError),
    "C's records": ((Pair * 3)(), KeyError),
    "no elements": (np.zeros(0, "S3"), KeyError),
}


@pytest.mark.parametrize("case", NO_TYPE)
def test_elements_without_an_mpi_datatype_need_one(case: str) -> None:
    """mpi4py raises the same exception types; with a datatype, any elements without Python objects can be sent."""
    there, kind = NO_TYPE[case]
    for spec in (there, [there, None], [there, 1]):
        with pytest.raises(kind) as caught:
            describe(spec)
        assert isinstance(caught.value, MPIError)
        for describes in (span_of, Flat.of, lambda spec: vector(spec, 1)):
            with pytest.raises(kind):
                describes(spec)


@pytest.mark.parametrize("dtype", ["S3", "U2", "V5", "M8[s]", "m8[s]", [("a", "i4"), ("b", "f8")]])
def test_arrays_of_any_dtype_can_be_sent_as_bytes(dtype: Any) -> None:
    """If the program specifies it; numpy's void without fields also by default."""
    there = np.zeros(3, dtype)
    there.view("u1")[...] = np.arange(there.nbytes)
    assert sent([there, MPI.BYTE]) == sent([there, there.nbytes, MPI.BYTE]) == there.tobytes()
    if there.dtype.kind == "V" and there.dtype.names is None:
        assert sent(there) == sent([there, 3]) == there.tobytes()


def test_characters_of_one_byte_are_chars() -> None:
    """numpy has two dtypes for them, S1 and c."""
    for dtype in ("S1", "c"):
        assert span_of(np.zeros(3, dtype)).datatype == MPI.CHAR
    assert span_of(np.zeros(3, "U1")).datatype == MPI.WCHAR


def test_bottom_uses_absolute_addresses() -> None:
    """As in C: a struct of addresses, and BOTTOM in place of a buffer."""
    first, second = np.array([7], "i4"), np.array([2.5])
    places = [Get_address(first), Get_address(second)]
    there = Datatype.Create_struct([1, 1], places, [MPI.INT, MPI.DOUBLE]).Commit()
    assert sent([BOTTOM, 1, there]) == ints(7) + second.tobytes()
    target, capacity = describe_target([BOTTOM, 1, there])
    copy_into(np.frombuffer(ints(8), "u1"), target, 4)
    assert (capacity, first[0], second[0]) == (12, 8, 2.5)


def test_a_span_has_its_datatype() -> None:
    """Reductions need it."""
    span = span_of([SIX, (2, 1), "i"])
    assert (span.count, span.offset, span.nbytes, span.datatype) == (2, 4, 8, MPI.INT)
    assert span_of(SIX).datatype is MPI.INT
    assert span_of(b"abc").count == 3


# -- errors ------------------------------------------------------------------------------------------------------------

NEEDS = r"expecting a buffer or a list like \[buffer, count, datatype\], not "
NOT_CONTIGUOUS = (
    r"the array is not contiguous: shape \(2, 2\), strides \(12, 8\) bytes, itemsize 4; "
    r"np.ascontiguousarray\(...\) makes a contiguous copy\."
)
INFER = r"without a buffer a datatype is needed, cannot infer it\."

BAD: dict[str, tuple[Any, type[MPIError], int, str]] = {
    "str": ("abc", MPITypeError, ERR_BUFFER, NEEDS + r"'str'\."),
    "None": (None, MPITypeError, ERR_BUFFER, NEEDS + r"'NoneType'\."),
    "int": (5, MPITypeError, ERR_BUFFER, NEEDS + r"'int'\."),
    "dict": ({}, MPITypeError, ERR_BUFFER, NEEDS + r"'dict'\."),
    "no items": ([], MPIValueError, ERR_BUFFER, r"expecting 2 to 4 items in a buffer specification, got 0\."),
    "one item": ([SIX], MPIValueError, ERR_BUFFER, r"expecting 2 to 4 items in a buffer specification, got 1\."),
    "five items": (
        [SIX] * 5, MPIValueError, ERR_BUFFER, r"expecting 2 to 4 items in a buffer specification, got 5\."
    ),
    "list as buffer": ([[1, 2], 2], MPITypeError, ERR_BUFFER, r"a bytes-like object is required, not 'list'\."),
    "int as buffer": ([5, 0, "i"], MPITypeError, ERR_BUFFER, r"a bytes-like object is required, not 'int'\."),
    "numbers alone": ([1, 2, 3, 4], MPITypeError, ERR_BUFFER, r"a bytes-like object is required, not 'int'\."),
    "strides": (SIX[:, ::2], MPIBufferError, ERR_BUFFER, NOT_CONTIGUOUS),
    "strides, count": ([SIX[:, ::2], 1], MPIBufferError, ERR_BUFFER, NOT_CONTIGUOUS),
    "memoryview with strides": (viewed(SIX)[::-1], MPIBufferError, ERR_BUFFER, "the array is not contiguous: .*"),
    "other byte order": (
        SIX.astype(">i4"), MPIBufferError, ERR_BUFFER,
        r"elements of type '>i4' have another byte order than this machine\."
    ),
    "memoryview of other byte order": (
        viewed(SIX.astype(">i4")), MPIBufferError, ERR_BUFFER, r"elements of type '>i' have another byte order .*"
    ),
    "objects": (
        np.zeros(2, "O"), MPITypeError, ERR_BUFFER,
        r"an array of dtype object holds references to Python objects; use the lower-case call to send them\."
    ),
    "float count": ([SIX, 2.0], MPITypeError, ERR_ARG, r"count is 2\.0, not an integer\."),
    "dtype as count": ([SIX, np.dtype("i4")], MPITypeError, ERR_ARG, r"count is dtype\('int32'\), not an integer\."),
    "negative count": ([SIX, -1], MPIValueError, ERR_COUNT, r"count -1 is negative\."),
    "large count": (
        [SIX, 7], MPIValueError, ERR_BUFFER, r"count 7 of INT takes bytes 0 to 28 of a buffer of 24 bytes\."
    ),
    "large count, displaced": (
        [SIX, (2, 5), "i"], MPIValueError, ERR_BUFFER, r"count 2 of INT takes bytes 20 to 28 of a buffer of 24 bytes\."
    ),
    "large count of a vector": (
        [SIX, 3, VECTOR], MPIValueError, ERR_BUFFER,
        r"count 3 of VECTOR of INT takes bytes 0 to 36 of a buffer of 24 bytes\."
    ),
    "before the buffer": (
        [SIX, 2, BACKWARDS], MPIValueError, ERR_BUFFER,
        r"count 2 of \S+ of INT takes bytes -4 to 4 of a buffer of 24 bytes\."
    ),
    "one of a pair": (
        [SIX, (2,), "i"], MPIValueError, ERR_COUNT, r"expecting a pair of count and displacement, got 1 items\."
    ),
    "three of a pair": (
        [SIX, (2, 1, 1)], MPIValueError, ERR_COUNT, r"expecting a pair of count and displacement, got 3 items\."
    ),
    "negative displacement": ([SIX, (2, -1), "i"], MPIValueError, ERR_ARG, r"displacement -1 is negative\."),
    "large displacement": (
        [SIX, (0, 7), "i"], MPIValueError, ERR_ARG, r"displacement 7 is out of bounds, the buffer holds 6 entries\."
    ),
    "float displacement": ([SIX, (2, 1.5)], MPITypeError, ERR_ARG, r"displacement is 1\.5, not an integer\."),
    "displacement without type": (
        [SIX, (1, 1), MPI.DATATYPE_NULL], MPIValueError, ERR_TYPE,
        r"displacement 1 cannot be used: the datatype is DATATYPE_NULL\."
    ),
    "displacement without extent": (
        [SIX, (1, 1), EMPTY], MPIValueError, ERR_ARG,
        r"displacement 1 cannot be used: datatype extent 0 is not positive\."
    ),
    "uneven buffer": (
        [bytes(7), "i"], MPIValueError, ERR_COUNT,
        r"cannot infer count, buffer length 7 is not a multiple of datatype extent 4 \(lb 0, ub 4\)\."
    ),
    "no extent": (
        [SIX, EMPTY], MPIValueError, ERR_COUNT,
        r"cannot infer count, datatype extent 0 \(lb 0, ub 0\) is not positive\."
    ),
    "negative extent": (
        [SIX, BACKWARDS], MPIValueError, ERR_COUNT,
        r"cannot infer count, datatype extent -4 \(lb 0, ub -4\) is not positive\."
    ),
    "no type": (
        [SIX, MPI.DATATYPE_NULL], MPIValueError, ERR_TYPE, r"cannot infer count, the datatype is DATATYPE_NULL\."
    ),
    "no type, count": ([SIX, 1, MPI.DATATYPE_NULL], MPIError, ERR_TYPE, "the datatype is DATATYPE_NULL: .*"),
    "not committed": ([SIX, 1, LOOSE], MPIError, ERR_TYPE, r"the datatype \(VECTOR of INT\) is not committed: .*"),
    "unknown code": ([SIX, "zz"], MPIKeyError, ERR_TYPE, r"cannot map 'zz' to an MPI datatype\."),
    "class as type": ([SIX, 1, int], MPIKeyError, ERR_TYPE, r"cannot map <class 'int'> to an MPI datatype\."),
    "type and count exchanged": ([SIX, MPI.INT, 1], MPIKeyError, ERR_TYPE, r"cannot map 1 to an MPI datatype\."),
    "None and no type": ([None, 0], MPIKeyError, ERR_TYPE, INFER),
    "BOTTOM and no type": (BOTTOM, MPIKeyError, ERR_TYPE, INFER),
    "None and a count": ([None, 1, "i"], MPIValueError, ERR_BUFFER, r"the buffer is None but count is 1\."),
    "BOTTOM and no addresses": ([BOTTOM, 1, "i"], MPIError, ERR_BUFFER, r"there is no memory at address 0\."),
    "IN_PLACE and a count": ([IN_PLACE, 1], MPIValueError, ERR_BUFFER, r"count 1 of \S+ takes bytes 0 to 1 of .*"),
}  # fmt: skip


@for_each(("spec", "kind", "code", "words"), BAD.values())
def test_invalid_specifications_are_rejected(spec: Any, kind: type[MPIError], code: int, words: str) -> None:
    """The exception types are mpi4py's; where mpi4py would read beyond the buffer, a ValueError."""
    with pytest.raises(kind, match=f"^describe: {words}$") as caught:
        describe(spec)
    assert caught.value.Get_error_class() == code


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (FROZEN, "the array is read-only: nothing can be received into it."),
        ([FROZEN, 0], "the array is read-only: nothing can be received into it."),
        (np.asfortranarray(SIX[:, ::2]).T[:0], None),
        (bytes(8), "the buffer is a read-only bytes: nothing can be received into it."),
        ([bytes(8), "i"], "the buffer is a read-only bytes: nothing can be received into it."),
        (memoryview(bytes(8)), "the buffer is a read-only memoryview: nothing can be received into it."),
        (Alloc_mem(4).toreadonly(), "the array is read-only: nothing can be received into it."),
        (np.float64(3), "the buffer is a read-only float64: nothing can be received into it."),
    ],
)
def test_read_only_memory_is_rejected_as_a_receive_buffer(spec: Any, words: str | None) -> None:
    """mpi4py raises BufferError."""
    if words is None:
        assert describe_target(spec)[1] == 0
        return
    with pytest.raises(MPIBufferError, match=f"^describe_target: {words}$"):
        describe_target(spec)


def test_overlapping_elements_are_limited() -> None:
    """Otherwise 2**31 elements without extent would be 8 GiB, packed one by one; elements without bytes cost nothing."""
    still = MPI.INT.Create_resized(0, 0).Commit()
    empty, nothing = MPI.INT.Create_contiguous(0).Commit(), Datatype.Create_struct([], [], []).Commit()
    room = np.zeros(4, "i4")
    in_one = [still.Create_contiguous(2**31).Commit(), still.Create_vector(2**31, 1, 1).Commit()]
    for spec in ([room, 2**31, still], *([room, 1, kind] for kind in in_one)):
        for describes in (describe, describe_target, span_of, Flat.of):
            with pytest.raises(MPIValueError, match=r"8,589,934,592 bytes, in the same 4 bytes of memory; elements"):
                describes(spec)
        with pytest.raises(MPIValueError, match=r"elements that overlap"):
            vector([spec[0], [spec[1]], spec[2]], 1)
    for spec in ([room, 2**31, empty], [room, 2**31, nothing], [room, 2**31, empty.Create_contiguous(2**31).Commit()]):
        assert sent(spec) == b""
    assert sent([room + 7, 5, still]) == ints(7) * 5
