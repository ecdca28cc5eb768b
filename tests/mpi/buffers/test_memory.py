"""MPI.buffer, allocation, addresses, and the places that are no memory."""

from __future__ import annotations

import copy
import ctypes
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import MPI
from fakempi.error_classes import ERR_ARG, ERR_BASE
from fakempi.errors import MPIBufferError, MPITypeError, MPIValueError
from fakempi.mpi.buffers.addresses import Aint_add, Aint_diff, Get_address
from fakempi.mpi.buffers.memory import Alloc_mem, Free_mem, buffer, memory
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.buffers.places import BOTTOM, BUFFER_AUTOMATIC, IN_PLACE

# -- MPI.buffer --------------------------------------------------------------------------------------------------------


def test_a_buffer_of_nothing_is_empty() -> None:
    """And so is one that was released, for good."""
    made: Any = buffer()
    for _ in range(2):
        assert (made.address, made.obj, made.nbytes, made.readonly) == (0, None, 0, False)
        assert (made.format, made.itemsize) == ("B", 1)
        assert (len(made), bool(made), made.tobytes(), memoryview(made).nbytes) == (0, False, b"", 0)
        made[:] = 0
        made[:] = buffer()
        made.release()
    assert memory is buffer


@pytest.mark.parametrize("thing", [bytearray(b"abcdef"), np.arange(6, dtype="u1"), np.zeros((2, 3), "i2", order="F")])
def test_a_buffer_shows_the_memory_of_an_object(thing: Any) -> None:
    """Not a copy of it."""
    made = buffer(thing)
    assert made.obj is thing
    assert made.nbytes == len(made) == memoryview(thing).nbytes
    assert made.address == Get_address(thing) == Get_address(made)
    made[0] = 65
    assert memoryview(thing).tobytes(order="A")[0] == 65
    assert np.shares_memory(np.asarray(made), np.asarray(memoryview(thing)))


def test_a_buffer_exports_its_memory() -> None:
    """To memoryview, bytes, numpy, and whatever else takes bytes-like objects."""
    made: Any = buffer(bytearray(b"abcd"))
    view = memoryview(made)
    assert (view.format, view.itemsize, view.ndim, view.readonly, view.shape) == ("B", 1, 1, False, (4,))
    assert bytes(made) == made.tobytes() == made.tobytes("C") == made.tobytes(order="A") == b"abcd"
    assert np.frombuffer(made, "i2").tolist() == np.frombuffer(b"abcd", "i2").tolist()
    view[0] = 120
    assert made[0] == 120


@given(st.binary(max_size=12), st.slices(12))
def test_a_buffer_is_a_sequence_of_bytes(data: bytes, key: slice) -> None:
    """Slices share its memory."""
    made = buffer(bytearray(data))
    assert list(made) == list(data)
    assert [made[i - len(data)] for i in range(len(data))] == list(data)
    if key.step not in (None, 1):
        with pytest.raises(IndexError, match=f"^slices of a buffer have step 1, not {key.step}$"):
            made[key]
        return
    part = made[key]
    assert (type(part), part.tobytes(), part.obj) == (buffer, data[key], made)
    made[key] = bytes(len(part))
    assert part.tobytes() == bytes(len(part))
    made[key] = 7
    assert part.tobytes() == bytes([7] * len(part))


def test_elements_are_pythons_integers() -> None:
    """Not numpy's."""
    assert type(buffer(b"a")[0]) is int


def test_allocated_memory_is_cleared() -> None:
    """Whether or not that is asked for: nothing is left to chance here."""
    assert buffer.allocate(3).tobytes() == buffer.allocate(3, clear=True).tobytes() == bytes(3)
    assert buffer.allocate(3).obj is not None
    assert len(buffer.allocate(0)) == 0


def test_memory_is_found_by_its_address() -> None:
    """As in C, and as unsafe."""
    there = bytearray(b"abcd")
    made = buffer.fromaddress(buffer(there).address, 3)
    assert (made.tobytes(), made.obj, made.address) == (b"abc", None, buffer(there).address)
    made[0] = 65
    assert there == b"Abcd"
    assert buffer.fromaddress(made.address, 3, readonly=True).readonly
    assert len(buffer.fromaddress(0, 0)) == 0


def test_a_buffer_can_be_read_only() -> None:
    """By its object's nature or by request; the original stays as it was."""
    there = bytearray(b"abc")
    made: Any = buffer(there)
    frozen: Any
    for frozen in (buffer(b"abc"), buffer.frombuffer(there, readonly=True), made.toreadonly(), made.toreadonly()[1:]):
        assert frozen.readonly
        assert memoryview(frozen).readonly
        for key, value in ((0, 1), (slice(None), bytes(len(frozen)))):
            with pytest.raises(TypeError, match="^the buffer is read-only$"):
                frozen[key] = value
    assert made.toreadonly().obj is there
    assert not made.readonly
    made[0] = 1


def test_a_cast_is_a_memoryview() -> None:
    """Of other elements, and of a shape."""
    made = buffer(bytearray(8))
    made.cast("i")[1] = -1
    assert made.tobytes() == b"\0\0\0\0\xff\xff\xff\xff"
    assert made.cast("h", (2, 2)).shape == (2, 2)
    with pytest.raises(TypeError, match="length is not a multiple of itemsize"):
        made[:7].cast("i")


def test_buffers_are_equal_to_themselves_alone() -> None:
    """They are places, not values."""
    one, other = buffer(b"abc"), buffer(b"abc")
    assert one == one
    assert one != other
    assert one != b"abc"
    assert len({one, other}) == 2
    assert repr(one) == str(one) == "<MPI.buffer of 3 bytes>"


def test_a_released_buffer_lets_go_of_its_memory() -> None:
    """It can be read no more, and has no address."""
    made = buffer(bytearray(b"abcd"))
    made.release()
    assert (made.address, made.obj, made.nbytes, made.readonly, made.tobytes()) == (0, None, 0, False, b"")
    with pytest.raises(IndexError, match="^index 0 is out of range for 0 bytes$"):
        made[0]


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "none": (lambda: buffer(None), MPITypeError, "frombuffer: a bytes-like object is required, not 'NoneType'."),
    "int": (lambda: buffer(1), MPITypeError, "frombuffer: a bytes-like object is required, not 'int'."),
    "str": (lambda: buffer.frombuffer("a"), MPITypeError, "frombuffer: a bytes-like object is required, not 'str'."),
    "phantom": (lambda: buffer(phantom(3)), MPITypeError, r"frombuffer: phantom\(3\) has no memory\."),
    "strides": (lambda: buffer(np.zeros(6)[::2]), MPIBufferError, "frombuffer: the array is not contiguous: .*"),
    "negative size": (lambda: buffer.allocate(-1), ValueError, "expecting a size that is not negative, got -1"),
    "size of str": (lambda: buffer.allocate("1"), TypeError, ".*"),  # type: ignore[arg-type]
    "negative length": (lambda: buffer.fromaddress(9, -3), ValueError, "expecting a buffer length .* got -3"),
    "no address": (lambda: buffer.fromaddress(0, 5), ValueError, "expecting an address other than 0 for 5 bytes"),
    "index": (lambda: buffer(b"abc")[3], IndexError, "index 3 is out of range for 3 bytes"),
    "key": (lambda: buffer(b"abc")["a"], TypeError, "the index must be an integer or a slice, not 'str'"),
    "ellipsis": (lambda: buffer(b"abc")[...], TypeError, "the index must be an integer or a slice, not 'ellipsis'"),
    "large byte": (lambda: assign(0, 256), OverflowError, "256 does not fit a byte"),
    "negative byte": (lambda: assign(0, -1), OverflowError, "-1 does not fit a byte"),
    "letter": (lambda: assign(0, "a"), TypeError, "an integer is required, not 'str'"),
    "short": (lambda: assign(slice(2), b"x"), ValueError, "the slice has 2 bytes, the buffer assigned to it 1"),
    "step": (lambda: assign(slice(None, None, 2), b"x"), IndexError, "slices of a buffer have step 1, not 2"),
    "delete": (lambda: delete(buffer(bytearray(3))), NotImplementedError, "bytes of an MPI.buffer cannot be deleted"),
    "pickle": (lambda: pickle.dumps(buffer(b"abc")), TypeError, "cannot pickle an MPI.buffer: it is memory .*"),
}


def assign(key: Any, value: Any) -> None:
    """Assignment, as a function."""
    buffer(bytearray(4))[key] = value


def delete(made: Any) -> None:
    """Deletion, as a function."""
    del made[0]


@pytest.mark.parametrize(("use", "kind", "words"), BAD.values(), ids=list(BAD))
def test_misuse_of_a_buffer_is_named(use: Any, kind: type[Exception], words: str) -> None:
    """With mpi4py's kinds of error."""
    with pytest.raises(kind, match=f"^{words}$"):
        use()


# -- allocation and addresses ------------------------------------------------------------------------------------------


def test_allocated_memory_is_freed_once() -> None:
    """Free_mem takes what Alloc_mem gave, and nothing else."""
    made = Alloc_mem(8)
    assert (len(made), made.obj, made.readonly) == (8, None, False)
    made[:] = b"12345678"
    Free_mem(made)
    assert (len(made), made.address) == (0, 0)
    for wrong in (made, buffer(bytearray(8)), Alloc_mem(8)[:4]):
        words = f"^Free_mem: this buffer of {len(wrong)} bytes is not from Alloc_mem, or was freed.$"
        with pytest.raises(MPIValueError, match=words) as caught:
            Free_mem(wrong)
        assert caught.value.Get_error_class() == ERR_BASE
    with pytest.raises(MPITypeError, match="^Free_mem: expecting a buffer from Alloc_mem, not 'int'.$"):
        Free_mem(5)  # type: ignore[arg-type]
    with pytest.raises(MPIValueError, match="^Alloc_mem: size -1 is negative.$") as caught:
        Alloc_mem(-1)
    assert caught.value.Get_error_class() == ERR_ARG
    with pytest.raises(MPITypeError, match="^Alloc_mem: size is '1', not an integer.$"):
        Alloc_mem("1")  # type: ignore[arg-type]


def test_addresses_are_where_the_memory_is() -> None:
    """Of anything with memory; nothing has the address 0, IN_PLACE -1."""
    there = np.arange(5)
    assert Get_address(there) == there.ctypes.data
    assert Get_address(there[2:]) - Get_address(there) == 2 * there.itemsize
    number = ctypes.c_int(5)
    assert Get_address(number) == ctypes.addressof(number)
    assert (Get_address(None), Get_address(BOTTOM), Get_address(IN_PLACE)) == (0, 0, -1)
    with pytest.raises(MPITypeError, match="^Get_address: a bytes-like object is required, not 'int'.$"):
        Get_address(5)
    with pytest.raises(MPITypeError, match=r"^Get_address: phantom\(5\) has no memory, hence no address.$"):
        Get_address(phantom(5))
    with pytest.raises(MPIBufferError, match="^Get_address: the array is not contiguous: "):
        Get_address(there[::2])


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_addresses_add_up_as_in_c(base: int, other: int) -> None:
    """Around the end, and back."""
    total = Aint_add(base, other)
    assert (total - base - other) % 2**64 == 0
    assert -(2**63) <= total < 2**63
    assert Aint_diff(total, other) == base


def test_addresses_have_64_bits() -> None:
    """And are integers."""
    assert Aint_add(np.int64(3), 4) == 7  # type: ignore[arg-type, unused-ignore]
    with pytest.raises(OverflowError, match="^base 9223372036854775808 does not fit an address of 64 bits$"):
        Aint_add(2**63, 0)
    with pytest.raises(MPITypeError, match="^Aint_diff: addr2 is 'a', not an integer.$"):
        Aint_diff(0, "a")  # type: ignore[arg-type]


# -- places ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [(BOTTOM, "BOTTOM", 0), (IN_PLACE, "IN_PLACE", -1), (BUFFER_AUTOMATIC, "BUFFER_AUTOMATIC", -2)],
)
def test_a_place_is_one_object_with_a_name_and_a_number(place: Any, name: str, value: int) -> None:
    """However it is copied."""
    assert repr(place) == str(place) == name
    assert (int(place), bool(place), hash(place)) == (value, value != 0, hash(value))
    assert type(place)() is type(place)(place) is copy.copy(place) is copy.deepcopy(place) is place
    assert pickle.loads(pickle.dumps(place)) is place is getattr(MPI, name)
    assert place == value
    assert place != value + 1
    assert place != None  # noqa: E711
    with pytest.raises(AttributeError):
        place.colour = "blue"
    with pytest.raises(TypeError, match="^type '.*' is not an acceptable base type$"):
        type("Other", (type(place),), {})
    assert memoryview(place).nbytes == 0
    assert MPI.Get_address(place) == place


def test_only_bottom_is_an_index() -> None:
    """It is an address; the others are signs."""
    assert [10, 20][BOTTOM] == 10
    with pytest.raises(TypeError):
        [10, 20][IN_PLACE]
