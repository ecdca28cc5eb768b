"""Memory that is exported by DLPack or by the CUDA array interface."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import MPI, run
from fakempi.errors import MPIBufferError, MPIKeyError, MPITypeError, MPIValueError
from fakempi.mpi.base.array_protocols import Tensor, Versioned
from fakempi.mpi.buffers.payload import as_bytes, copy_into, describe, describe_target
from fakempi.mpi.buffers.raw import address_of, memory_of
from tests.helpers.loops import for_each

pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
USED = ctypes.c_char_p(b"used_dltensor")


pytestmark = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0",
    reason="the tensors of these tests are arrays that export version 1 of DLPack: python -m pip install 'numpy>=2.1'",
)


class Tensor1:
    """A tensor of version 1 around an array; its record can be made invalid."""

    def __init__(self, array: Any, **spoilt: Any) -> None:
        self.array, self.spoilt, self.device = array, spoilt, (1, 0)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, copy: Any = None) -> Any:
        capsule = self.array.__dlpack__(max_version=max_version)
        record = Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
        for name, value in self.spoilt.items():
            setattr(record if name == "major" else record.tensor, name, value)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self.device


class Tensor0(Tensor1):
    """A tensor of the version without version numbers."""

    def __dlpack__(self, *, stream: Any = None) -> Any:  # type: ignore[override]
        capsule = self.array.__dlpack__()
        record = Tensor.from_address(pointer_of(capsule, b"dltensor"))
        for name, value in self.spoilt.items():
            setattr(record, name, value)
        return capsule


class Cuda:
    """An object with a CUDA array interface on the memory of a numpy array."""

    def __init__(self, array: Any, **entries: Any) -> None:
        self.array = array
        interface = array.__array_interface__
        self.__cuda_array_interface__ = {
            "version": 3,
            "data": interface["data"],
            "typestr": interface["typestr"],
            "shape": interface["shape"],
            "strides": interface["strides"],
            **entries,
        }


MAKERS = pytest.mark.parametrize("make", [Tensor1, Tensor0, Cuda])
TENSORS = pytest.mark.parametrize("make", [Tensor1, Tensor0])


def sent(thing: Any) -> bytes:
    """The bytes that are sent for an object."""
    return as_bytes(*describe(thing))


def int64s(*values: int) -> Any:
    """An array that a tensor can refer to."""
    return ctypes.cast((ctypes.c_int64 * len(values))(*values), ctypes.POINTER(ctypes.c_int64))


@MAKERS
def test_a_tensor_sends_and_receives_where_its_memory_is(make: Any, backend: Any) -> None:
    """A received message is in the array of the tensor."""

    def program(comm: Any) -> Any:
        array = np.full(4, comm.rank, "f8")
        comm.Sendrecv(make(array), 1 - comm.rank, recvbuf=[make(other := np.empty(4)), MPI.DOUBLE])
        comm.Allreduce(MPI.IN_PLACE, make(array))
        return array.tolist(), other.tolist()

    assert run(program, 2, backend=backend).returns == [([1.0] * 4, [1.0] * 4), ([1.0] * 4, [0.0] * 4)]


@MAKERS
@for_each("letter", "?bBhHiIlLqQefdFD")
def test_elements_have_the_type_they_have_in_numpy(make: Any, letter: str) -> None:
    """The datatype of a reduction depends on it."""
    assert memory_of(make(np.zeros(3, letter)))[1] == np.dtype(letter)


@MAKERS
@given(st.lists(st.integers(0, 3), max_size=4), st.sampled_from("CF"))
def test_arrays_in_c_or_fortran_order_are_sent_in_memory_order(make: Any, shape: list[int], order: Any) -> None:
    """Also without elements, and without dimensions."""
    array = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape), order=order)
    assert sent(make(array)) == array.tobytes(order)


@MAKERS
def test_arrays_in_neither_order_are_rejected(make: Any) -> None:
    """Their gaps would be sent, too."""
    words = r"describe: the memory of a \w+ cannot be used: it is not contiguous: shape \(3, 2\), strides \(\d+, \d+\), "
    with pytest.raises(MPIBufferError, match=words):
        describe(make(np.arange(12).reshape(3, 4)[:, ::2]))


@TENSORS
def test_a_capsule_is_not_consumed_and_lives_as_long_as_its_memory_is_held(make: Any) -> None:
    """A capsule can be exported again, and releases the array at its end."""
    array = np.arange(5)
    tensor = make(array)
    capsule = tensor.__dlpack__(**{} if make is Tensor0 else {"max_version": (1, 0)})
    tensor.__dlpack__ = lambda kept=capsule, **_: kept
    before = sys.getrefcount(array)
    payloads: list[Any] = [describe(tensor)[0], describe(tensor)[0]]
    assert [address_of(payload) for payload in payloads] == [address_of(array)] * 2
    assert sys.getrefcount(array) == before
    del tensor.__dlpack__, capsule
    assert sys.getrefcount(array) == before
    payloads.clear()
    assert sys.getrefcount(array) == before - 1


@TENSORS
def test_a_consumed_capsule_is_rejected(make: Any) -> None:
    """Its tensor belongs to another owner, or has been freed."""
    tensor = make(np.arange(5))
    capsule = np.arange(5).__dlpack__()
    tensor.__dlpack__ = lambda **_: capsule
    assert sent(tensor) == np.arange(5).tobytes()
    rename(capsule, USED)
    with pytest.raises(MPIBufferError, match=r"it returns a used one instead of an unused DLPack capsule"):
        describe(tensor)
    rename(capsule, b"dltensor")
    tensor.__dlpack__ = lambda **_: None
    with pytest.raises(MPIBufferError, match=r"it returns None instead of an unused DLPack capsule"):
        describe(tensor)


def test_a_read_only_tensor_is_sent_and_rejected_as_a_receive_buffer() -> None:
    """The older version of DLPack cannot express this."""
    array = np.arange(5)
    array.flags.writeable = False
    for thing in (Tensor1(array), Cuda(array)):
        assert sent(thing) == array.tobytes()
        with pytest.raises(MPIBufferError, match=r"read-only: nothing can be received into it"):
            describe_target(thing)


@TENSORS
def test_an_older_tensor_and_one_of_version_1_can_be_received_into(make: Any) -> None:
    """numpy would make the older one read-only."""
    array = np.zeros(2, "i4")
    copy_into(np.array([3, 4], "i4"), describe_target(make(array))[0], 8)
    assert array.tolist() == [3, 4]


def test_elements_that_numpy_does_not_know_are_sent_as_bytes() -> None:
    """bfloat16 numbers, handles, vectors of four; two floats are a complex number."""
    array = np.arange(4, dtype="u2")
    for spoilt in ({"code": 4}, {"code": 3}, {"bits": 4, "lanes": 4}, {"code": 17}):
        tensor = Tensor1(array, **spoilt)
        assert (sent(tensor), memory_of(tensor)[1]) == (array.tobytes(), np.dtype("u1"))
    assert memory_of(Tensor1(np.arange(4, dtype="f8"), bits=32, lanes=2))[1] == np.dtype("F")
    assert memory_of(Tensor1(np.zeros(4, "D"), code=2))[1] == np.dtype("g")
    assert sent(Cuda(array, typestr="|V2")) == array.tobytes()


def test_an_offset_is_added_to_the_address() -> None:
    """Some libraries export a slice that way."""
    assert sent(Tensor0(np.arange(4, dtype="u1"), byte_offset=1, shape=int64s(2))) == b"\1\2"


NOWHERE = 8
WRONG: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "version": (lambda a: Tensor1(a, major=2), MPIBufferError, r"has version 2\.\d+ of DLPack, not 1"),
    "dimensions": (lambda a: Tensor1(a, ndim=-1), MPIBufferError, r"has -1 dimensions"),
    "no shape": (lambda a: Tensor0(a, shape=None), MPIBufferError, r"has 1 dimensions and no shape"),
    "shape": (lambda a: Tensor0(a, shape=int64s(-3)), MPIBufferError, r"has the shape \(-3,\)"),
    "strides": (
        lambda a: Tensor0(a, strides=int64s(-1)), MPIBufferError, r"is not contiguous: shape \(4,\), strides \(-1,\).*",
    ),
    "mask": (lambda a: Cuda(a, mask=True), MPIBufferError, r"has a mask"),
    "byte order": (lambda a: Cuda(a, typestr=">i4"), MPIBufferError, r"has elements of type '>i4', which is not this.*"),
    "negative": (lambda a: Cuda(a, shape=(3, -1)), MPIBufferError, r"has the shape \(3, -1\)"),
    "typestr": (lambda a: Cuda(a, typestr="<iX"), MPIValueError, r"has '<iX' as 'typestr' in its __cuda_array_int.*"),
    "typestr's type": (lambda a: Cuda(a, typestr=4), MPITypeError, r"has 4 as 'typestr' in its .*, not a str"),
    "data": (lambda a: Cuda(a, data=(NOWHERE,)), MPIValueError, r"has \(8,\) as 'data' in its .*, not an address and .*"),
    "no data": (lambda a: Cuda(a, data=None), MPITypeError, r"has None as 'data' in its .*, not a tuple"),
    "strides' type": (lambda a: Cuda(a, strides=42), MPITypeError, r"has 42 as 'strides' in its .*, not a tuple"),
    "descr": (lambda a: Cuda(a, descr=42), MPITypeError, r"has 42 as 'descr' in its .*, not a list"),
}


@pytest.mark.parametrize(("make", "kind", "words"), list(WRONG.values()), ids=list(WRONG))
def test_an_invalid_record_is_rejected(make: Any, kind: type[Exception], words: str) -> None:
    """With the invalid number."""
    with pytest.raises(kind, match=rf"^describe: the memory of a \w+ cannot be used: it {words}\.$"):
        describe(make(np.arange(4, dtype="i4")))


def test_a_cuda_interface_with_a_missing_entry_or_of_another_type_is_rejected() -> None:
    """The error is a KeyError and a TypeError, as in mpi4py."""
    array = Cuda(np.arange(4))
    del array.__cuda_array_interface__["shape"]
    with pytest.raises(MPIKeyError, match=r"it has no 'shape' in its __cuda_array_interface__\."):
        describe(array)
    array.__cuda_array_interface__ = None  # type: ignore[assignment]
    with pytest.raises(MPITypeError, match=r"it has None as __cuda_array_interface__, not a dictionary\."):
        describe(array)


def test_a_description_of_elements_beyond_their_type_is_ignored() -> None:
    """As in mpi4py, which also warns."""
    array = np.arange(6, dtype="f8")
    with pytest.warns(RuntimeWarning, match=r"the 'descr' of a Cuda is ignored: its elements are '\|V24' in a mess"):
        assert sent(Cuda(array, typestr="|V24", shape=(2,), descr=[("", "<f8")] * 3)) == array.tobytes()
    assert sent(Cuda(array, descr=[("", "<f8")])) == array.tobytes()


@pytest.mark.parametrize("device", [None, (None, 0), (1, None)])
def test_a_device_has_two_numbers(device: Any) -> None:
    """Otherwise a TypeError, for a wrong count a ValueError."""
    tensor = Tensor1(np.arange(3))
    tensor.device = device
    with pytest.raises(MPITypeError, match=r"it has the DLPack device .*, not two integers\."):
        describe(tensor)
    tensor.device = (1, 0, 1)  # type: ignore[assignment]
    with pytest.raises(MPIValueError, match=r"it has the DLPack device \(1, 0, 1\), not two integers\."):
        describe(tensor)


@MAKERS
def test_memory_of_another_device_is_rejected_unless_the_host_can_read_it(make: Any) -> None:
    """The operating system is queried, whatever device the memory reports."""
    array = np.arange(4)
    here, there = (make(array), make(array, **{"data": (NOWHERE, False) if make is Cuda else NOWHERE}))
    here.device = there.device = (2, 0)
    if sys.platform != "win32":
        assert sent(here) == array.tobytes()
    words = r"^describe: the memory of a \w+ is on another device, \(2, 0\) in DLPack's terms: copy it to the host first\.$"
    with pytest.raises(MPIBufferError, match=words):
        describe(there)


@MAKERS
def test_a_tensor_is_packed_and_unpacked(make: Any) -> None:
    """Like any other memory."""

    def program(comm: Any) -> Any:
        array, packed, back = np.arange(3, dtype="i4"), np.zeros(12, "u1"), np.zeros(3, "i4")
        MPI.INT.Pack(make(array), make(packed), 0, comm)
        MPI.INT.Unpack(make(packed), 0, make(back), comm)
        assert back.tolist() == [0, 1, 2]
        MPI.INT.Pack_external("external32", make(array), make(packed), 0)
        assert packed.view(">i4").tolist() == [0, 1, 2]

    run(program, 1)


@MAKERS
def test_a_buffer_of_device_memory_is_sent_without_reading_it(make: Any) -> None:
    """As in mpi4py, where reading would crash; host memory is readable."""
    array = np.arange(4, dtype="u1")
    thing = make(array)
    thing.device = (2, 0)
    for made in (MPI.buffer(thing), MPI.buffer(thing)[1:].toreadonly()):
        for look in (made.tobytes, lambda made=made: made.cast("b"), lambda made=made: made[0]):
            with pytest.raises(BufferError, match="^the memory is on a device, so the host cannot read it$"):
                look()
    with pytest.raises(BufferError):
        MPI.buffer(thing)[0] = 1
    assert sent(MPI.buffer(thing)) == array.tobytes()
    if make is not Cuda:
        thing.device = (13, 0)
        assert MPI.buffer(thing).tobytes() == array.tobytes()
