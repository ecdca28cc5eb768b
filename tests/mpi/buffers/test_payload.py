"""Buffer specifications in all their forms: what they mean, and what is refused."""

from __future__ import annotations

import array
import ctypes
from typing import Any

import numpy as np
import pytest

from fakempi.error_classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.errors import MPIBufferError, MPIError, MPIKeyError, MPITypeError, MPIValueError
from fakempi.mpi.buffers.addresses import Get_address
from fakempi.mpi.buffers.memory import Alloc_mem
from fakempi.mpi.buffers.payload import as_bytes, copy_into, describe, describe_target
from fakempi.mpi.buffers.places import BOTTOM, IN_PLACE
from fakempi.mpi.buffers.span import parse
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype

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
    """The memoryview of an array; the type checker thinks that needs Python 3.12."""
    return memoryview(thing)


class Interface:
    """An object that numpy can look into, and nothing else."""

    def __init__(self) -> None:
        self.array = np.arange(3, dtype="i4")

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.array.__array_interface__


class Capsule:
    """An object that offers DLPack, as tensors do, and nothing else."""

    def __init__(self) -> None:
        self.array = np.arange(3, dtype="i4")

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


# -- what is sent ------------------------------------------------------------------------------------------------------


def test_a_contiguous_array_is_its_own_payload() -> None:
    """No wrapper, no copy: this is the fast path."""
    assert describe(SIX)[0] is SIX
    assert describe_target(SIX)[0] is SIX
    assert describe(SIX)[1] == describe_target(SIX)[1] == 24


@pytest.mark.parametrize("whole", [[SIX, MPI.INT], [SIX, 6], [SIX, 6, "i"], (SIX, None)])
def test_a_specification_of_all_of_an_array_is_the_array(whole: Any) -> None:
    """`[array, MPI.INT]` is as good as `array`."""
    assert describe(whole)[0] is SIX


TRIPLE = MPI.FLOAT.Create_contiguous(3).Commit()


@pytest.mark.parametrize(("whole", "dtype"), [([SIX, 3, "q"], "q"), ([SIX, MPI.BYTE], "V1"), ([SIX, TRIPLE], "f")])
def test_an_array_that_is_called_something_else_is_seen_as_that(whole: Any, dtype: str) -> None:
    """It is the same memory."""
    payload = describe(whole)[0]
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


@pytest.mark.parametrize(("spec", "expected"), FORMS.values(), ids=list(FORMS))
def test_every_form_means_what_it_means_in_mpi4py(spec: Any, expected: bytes) -> None:
    """Checked against mpi4py 4.1; only DLPack's and the array interface's manners differ there."""
    assert sent(spec) == expected


@pytest.mark.parametrize("dtype", ["S3", "U2", "V5", "M8[s]", "m8[s]", [("a", "i4"), ("b", "f8")]])
def test_arrays_of_any_dtype_travel_as_bytes(dtype: Any) -> None:
    """mpi4py refuses those that MPI has no datatype for; there is no need to."""
    there = np.zeros(3, dtype)
    there.view("u1")[...] = np.arange(there.nbytes)
    assert sent(there) == sent([there, 3]) == there.tobytes()
    assert sent([there, 1]) == there[:1].tobytes()


def test_bottom_reaches_memory_by_absolute_addresses() -> None:
    """As in C: a struct of addresses, and BOTTOM in place of a buffer."""
    first, second = np.array([7], "i4"), np.array([2.5])
    places = [Get_address(first), Get_address(second)]
    there = Datatype.Create_struct([1, 1], places, [MPI.INT, MPI.DOUBLE]).Commit()
    assert sent([BOTTOM, 1, there]) == ints(7) + second.tobytes()
    target, capacity = describe_target([BOTTOM, 1, there])
    copy_into(np.frombuffer(ints(8), "u1"), target, 4)
    assert (capacity, first[0], second[0]) == (12, 8, 2.5)


def test_a_span_knows_its_datatype() -> None:
    """Reductions ask for it."""
    span = parse([SIX, (2, 1), "i"])
    assert (span.count, span.offset, span.nbytes, span.datatype) == (2, 4, 8, MPI.INT)
    assert parse(SIX).datatype is MPI.INT
    assert parse(b"abc").count == 3


# -- what is refused ---------------------------------------------------------------------------------------------------

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
        r"an array of dtype object holds references to Python objects: send those in lower case\."
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
        r"displacement 1 means nothing, the datatype is DATATYPE_NULL\."
    ),
    "displacement without extent": (
        [SIX, (1, 1), EMPTY], MPIValueError, ERR_ARG,
        r"displacement 1 means nothing, datatype extent 0 is not positive\."
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


@pytest.mark.parametrize(("spec", "kind", "code", "words"), BAD.values(), ids=list(BAD))
def test_what_cannot_be_sent_is_refused(spec: Any, kind: type[MPIError], code: int, words: str) -> None:
    """The kinds of error are mpi4py's; where that would read beyond the buffer, a ValueError."""
    with pytest.raises(kind, match=f"^describe: {words}$") as caught:
        describe(spec)
    assert caught.value.Get_error_class() == code


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (FROZEN, "the array is read-only, nothing can be received into it."),
        ([FROZEN, 0], "the array is read-only, nothing can be received into it."),
        (np.asfortranarray(SIX[:, ::2]).T[:0], None),
        (bytes(8), "the buffer is a read-only bytes, nothing can be received into it."),
        ([bytes(8), "i"], "the buffer is a read-only bytes, nothing can be received into it."),
        (memoryview(bytes(8)), "the buffer is a read-only memoryview, nothing can be received into it."),
        (Alloc_mem(4).toreadonly(), "the array is read-only, nothing can be received into it."),
        (np.float64(3), "the buffer is a read-only float64, nothing can be received into it."),
    ],
)
def test_nothing_is_received_into_read_only_memory(spec: Any, words: str | None) -> None:
    """mpi4py raises BufferError."""
    if words is None:
        assert describe_target(spec)[1] == 0
        return
    with pytest.raises(MPIBufferError, match=f"^describe_target: {words}$"):
        describe_target(spec)
