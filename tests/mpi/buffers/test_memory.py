"""MPI.buffer, allocation, addresses, and special addresses."""

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
from fakempi.errors import MPIBufferError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BASE
from fakempi.mpi.buffers.address_constants import BOTTOM, BUFFER_AUTOMATIC, IN_PLACE
from fakempi.mpi.buffers.addresses import Aint_add, Aint_diff, Get_address
from fakempi.mpi.buffers.memory import Alloc_mem, Free_mem, buffer, memory
from fakempi.mpi.buffers.phantom import phantom
from tests.helpers.loops import for_each

# -- MPI.buffer --------------------------------------------------------------------------------------------------------


def test_a_buffer_of_none_is_empty() -> None:
    """A released buffer is empty, too, and stays so."""
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
    """It is not a copy."""
    made = buffer(thing)
    assert id(made.obj) == id(thing)
    assert made.nbytes == len(made) == memoryview(thing).nbytes
    assert made.address == Get_address(thing) == Get_address(made)
    made[0] = 65
    assert memoryview(thing).tobytes(order="A")[0] == 65
    assert np.shares_memory(np.asarray(made), np.asarray(memoryview(thing)))


def test_a_buffer_exports_its_memory() -> None:
    """To memoryview, bytes, numpy, and other consumers of bytes-like objects."""
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
    byte: Any = 7  # for all bytes of the slice, as in mpi4py, whose stubs do not mention it
    made[key] = byte
    assert part.tobytes() == bytes([7] * len(part))


def test_elements_are_integers_of_python() -> None:
    """Not numpy's."""
    assert type(buffer(b"a")[0]) is int


def test_allocated_memory_is_cleared() -> None:
    """By default, too, so that runs are deterministic."""
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
    """If its object is, or on request; the original is unchanged."""
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
    """With other elements, and with a shape."""
    made = buffer(bytearray(8))
    made.cast("i")[1] = -1
    assert made.tobytes() == b"\0\0\0\0\xff\xff\xff\xff"
    assert made.cast("h", (2, 2)).shape == (2, 2)
    with pytest.raises(TypeError, match="length is not a multiple of itemsize"):
        made[:7].cast("i")


def test_a_buffer_equals_only_itself() -> None:
    """Buffers are compared by identity, not by contents."""
    one, other = buffer(b"abc"), buffer(b"abc")
    assert one == one
    assert one != other
    assert one != b"abc"
    assert len({one, other}) == 2
    assert repr(one) == str(one) == "<MPI.buffer of 3 bytes>"


def test_a_released_buffer_frees_its_memory() -> None:
    """It cannot be read, and has no address."""
    made = buffer(bytearray(b"abcd"))
    made.release()
    assert (made.address, made.obj, made.nbytes, made.readonly, made.tobytes()) == (0, None, 0, False, b"")
    with pytest.raises(IndexError, match="^index 0 is out of range for 0 bytes$"):
        made[0]


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "none": (lambda: made_of(None), MPITypeError, "frombuffer: a bytes-like object is required, not 'NoneType'."),
    "int": (lambda: made_of(1), MPITypeError, "frombuffer: a bytes-like object is required, not 'int'."),
    "str": (lambda: made_of("a"), MPITypeError, "frombuffer: a bytes-like object is required, not 'str'."),
    "phantom": (lambda: buffer(phantom(3)), MPITypeError, r"frombuffer: phantom\(3\) has no memory\."),
    "strides": (lambda: buffer(np.zeros(6)[::2]), MPIBufferError, "frombuffer: the array is not contiguous: .*"),
    "negative size": (lambda: buffer.allocate(-1), ValueError, "expecting a nonnegative size, got -1"),
    "size of str": (lambda: buffer.allocate("1"), TypeError, ".*"),  # type: ignore[arg-type]
    "negative length": (lambda: buffer.fromaddress(9, -3), ValueError, "expecting a nonnegative buffer length, got -3"),
    "no address": (lambda: buffer.fromaddress(0, 5), ValueError, "expecting an address other than 0 for 5 bytes"),
    "index": (lambda: buffer(b"abc")[3], IndexError, "index 3 is out of range for 3 bytes"),
    "key": (lambda: at("a"), TypeError, "the index must be an integer or a slice, not 'str'"),
    "ellipsis": (lambda: at(...), TypeError, "the index must be an integer or a slice, not 'ellipsis'"),
    "large byte": (lambda: assign(0, 256), OverflowError, "256 does not fit a byte"),
    "negative byte": (lambda: assign(0, -1), OverflowError, "-1 does not fit a byte"),
    "letter": (lambda: assign(0, "a"), TypeError, "an integer is required, not 'str'"),
    "short": (lambda: assign(slice(2), b"x"), ValueError, "the slice has 2 bytes, the buffer assigned to it 1"),
    "step": (lambda: assign(slice(None, None, 2), b"x"), IndexError, "slices of a buffer have step 1, not 2"),
    "delete": (lambda: delete(buffer(bytearray(3))), NotImplementedError, "bytes of an MPI.buffer cannot be deleted"),
    "pickle": (lambda: pickle.dumps(buffer(b"abc")), TypeError, "cannot pickle an MPI.buffer: it is memory .*"),
}


def made_of(thing: Any) -> buffer:
    """Creation from any object."""
    return buffer(thing)


def at(key: Any) -> Any:
    """Indexing, as a function."""
    return buffer(b"abc")[key]


def assign(key: Any, value: Any) -> None:
    """Assignment, as a function."""
    buffer(bytearray(4))[key] = value


def delete(made: Any) -> None:
    """Deletion, as a function."""
    del made[0]


@for_each(("use", "kind", "words"), BAD.values())
def test_misuse_of_a_buffer_is_reported(use: Any, kind: type[Exception], words: str) -> None:
    """With mpi4py's exception types."""
    with pytest.raises(kind, match=f"^{words}$"):
        use()


# -- allocation and addresses ------------------------------------------------------------------------------------------


def test_allocated_memory_is_freed_once() -> None:
    """Free_mem accepts results of Alloc_mem, and nothing else."""
    made = Alloc_mem(8)
    assert (len(made), made.obj, made.readonly) == (8, None, False)
    made[:] = b"12345678"
    Free_mem(made)
    assert (len(made), made.address) == (0, 0)
    for wrong in (made, buffer(bytearray(8)), Alloc_mem(8)[:4]):
        words = f"^Free_mem: this buffer of {len(wrong)} bytes is not from Alloc_mem, or has been freed.$"
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


def test_addresses_are_those_of_the_memory() -> None:
    """Of any object with memory; None has the address 0, IN_PLACE -1."""
    there = np.arange(5)
    assert Get_address(there) == there.ctypes.data
    assert Get_address(there[2:]) - Get_address(there) == 2 * there.itemsize
    number = ctypes.c_int(5)
    assert Get_address(number) == ctypes.addressof(number)
    assert (Get_address(None), Get_address(BOTTOM), Get_address(IN_PLACE)) == (0, 0, -1)
    with pytest.raises(MPITypeError, match="^Get_address: a bytes-like object is required, not 'int'.$"):
        Get_address(5)  # type: ignore[arg-type, unused-ignore]  # an error from Python 3.12 on
    with pytest.raises(MPITypeError, match=r"^Get_address: phantom\(5\) has no memory and therefore no address.$"):
        Get_address(phantom(5))
    with pytest.raises(MPIBufferError, match="^Get_address: the array is not contiguous: "):
        Get_address(there[::2])


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_addresses_are_added_as_in_c(base: int, other: int) -> None:
    """With overflow, in both directions."""
    total = Aint_add(base, other)
    assert (total - base - other) % 2**64 == 0
    assert -(2**63) <= total < 2**63
    assert Aint_diff(total, other) == base


def test_addresses_have_64_bits() -> None:
    """They are integers."""
    assert Aint_add(np.int64(3), 4) == 7  # type: ignore[arg-type, unused-ignore]
    with pytest.raises(OverflowError, match="^Aint_add: base is 9223372036854775808, which does not fit in 64 bits.$"):
        Aint_add(2**63, 0)
    with pytest.raises(MPITypeError, match="^Aint_diff: addr2 is 'a', not an integer.$"):
        Aint_diff(0, "a")  # type: ignore[arg-type]


# -- places ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "name", "value"),
    [(BOTTOM, "BOTTOM", 0), (IN_PLACE, "IN_PLACE", -1), (BUFFER_AUTOMATIC, "BUFFER_AUTOMATIC", -2)],
)
def test_a_special_address_is_one_object_with_a_name_and_a_number(place: Any, name: str, value: int) -> None:
    """Copies are the same object."""
    assert repr(place) == str(place) == name
    assert (int(place), bool(place), hash(place)) == (value, value != 0, hash(value))
    assert type(place)() is type(place)(place) is copy.copy(place) is copy.deepcopy(place) is place
    assert pickle.loads(pickle.dumps(place)) is place is getattr(MPI, name)
    assert place == value
    assert place != value + 1
    assert place != None  # noqa: E711
    with pytest.raises(AttributeError):
        place.color = "blue"
    with pytest.raises(TypeError, match="^type '.*' is not an acceptable base type$"):
        type("Other", (type(place),), {})
    assert memoryview(place).nbytes == 0
    assert MPI.Get_address(place) == place


def test_only_bottom_is_an_index() -> None:
    """It is an address; the others are markers."""
    assert [10, 20][BOTTOM] == 10
    with pytest.raises(TypeError):
        [10, 20][IN_PLACE]


def test_memory_is_freed_through_any_buffer_of_it() -> None:
    """For example through a window's memory, after the window is freed and the first buffer is gone; once."""
    made = Alloc_mem(80)
    win = MPI.Win.Create(made, 8)
    del made
    shown = win.tomemory()
    win.Free()
    Free_mem(shown)
    assert len(shown) == 0
    first = Alloc_mem(16)
    Free_mem(buffer(first))
    for wrong in (first, MPI.Win.Allocate(8).tomemory()):
        with pytest.raises(MPIValueError, match="is not from Alloc_mem, or has been freed.$"):
            Free_mem(wrong)
    empty = Alloc_mem(0)
    Free_mem(empty)


def test_windows_have_the_buffer_protocol() -> None:
    """Of every Python: numpy and memoryview see the memory itself, also of a subclass; a freed window has none."""
    win: Any = MPI.Win.Allocate(80)  # for the type checker, numpy knows no buffers of other classes
    array = np.frombuffer(win, "d")
    array[:] = np.arange(10)
    assert bytes(win.tomemory()) == np.arange(10.0).tobytes() == bytes(memoryview(win))
    assert np.asarray(win).shape == (80,)
    kind = type("Kind", (MPI.Win,), {})
    assert np.frombuffer(kind(win), "d")[9] == 9.0
    for _ in range(1000):
        memoryview(win).release()
    win.Free()
    with pytest.raises((SystemError, MPI.Exception)):
        np.frombuffer(win, "d")
