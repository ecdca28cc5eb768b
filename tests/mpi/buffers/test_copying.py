"""Copying between memory described by buffer specifications."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.buffers.payload import as_bytes, copy_into, describe, describe_target, snapshot
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.datatypes import predefined as MPI

SIX = np.arange(6, dtype="i4").reshape(2, 3)
VECTOR = MPI.INT.Create_vector(2, 1, 2).Commit()  # an int, a hole, an int
DTYPES = ["?", "i1", "u2", "i4", "i8", "q", "f2", "f4", "f8", "g", "c8", "c16", "S1", "V5"]


def forms(draw: Any, there: np.ndarray[Any, Any]) -> Any:
    """One of the ways to specify a whole array, whose bytes are those of its memory."""
    many = there.nbytes
    return draw(
        st.sampled_from(
            [
                there,
                [there, MPI.BYTE],
                [there, many, "B"],
                [there, there.size],
                (there, (there.size, 0)),
                [there, many, 0, MPI.BYTE],
                [there.reshape(-1, order="A"), there.size],
            ]
        )
    )


@st.composite
def arrays(draw: Any, nbytes: int | None = None) -> Any:
    """An array of any dtype, shape and order, filled with nonzero bytes."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    if nbytes is not None:
        shape = (-(-nbytes // dtype.itemsize),)
    there: np.ndarray[Any, Any] = np.empty(shape, dtype, order=draw(st.sampled_from("CF")))
    there.reshape(-1, order="A").view("u1")[...] = np.arange(there.nbytes) % 255 + 1
    return there


@given(st.data())
def test_bytes_arrive_in_any_kind_of_target_and_the_rest_is_unchanged(data: Any) -> None:
    """For any kind of source: the sent number of bytes changes, in memory order."""
    source = data.draw(arrays())
    payload, nbytes = describe(forms(data.draw, source))
    wire = source.reshape(-1, order="A").view("u1").tobytes() if source.nbytes else b""
    assert (as_bytes(payload, nbytes), nbytes) == (wire, source.nbytes)
    if data.draw(st.booleans()):
        payload = snapshot(payload)
    target = data.draw(arrays(nbytes + data.draw(st.integers(0, 9))))
    target.view("u1")[...] = 0
    place, capacity = describe_target(forms(data.draw, target))
    assert capacity == target.nbytes
    copy_into(payload, place, nbytes)
    assert target.tobytes() == wire + bytes(capacity - nbytes)


@given(
    st.integers(0, 3), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2), st.integers(0, 5), st.integers(0, 2)
)
def test_derived_types_gather_and_scatter(first: int, blocks: int, length: int, gap: int, count: int, cut: int) -> None:
    """A vector type compared with slices of numpy; messages may end within an element."""
    kind = MPI.SHORT.Create_vector(blocks, length, length + gap).Commit()
    step = blocks * (length + gap) - gap
    source = np.arange(1, (first + count) * step + 1, dtype="i2")
    rows = source[first * step :].reshape(count, step) if count else source[:0].reshape(0, step)
    picked = [i for i in range(step) if i % (length + gap) < length]
    payload, nbytes = describe([source, (count, first), kind])
    assert as_bytes(payload, nbytes) == rows[:, picked].tobytes()
    short = max(0, nbytes - cut)
    target = np.zeros_like(source)
    place, capacity = describe_target([target, (count, first), kind])
    assert capacity == nbytes
    copy_into(snapshot(payload), place, short)
    expected = np.zeros_like(rows[:, picked]).reshape(-1).view("u1")
    expected[:short] = rows[:, picked].reshape(-1).view("u1")[:short]
    assert target[first * step :].reshape(rows.shape)[:, picked].tobytes() == expected.tobytes()
    assert int(np.count_nonzero(target.view("u1"))) == int(np.count_nonzero(expected))


def test_shapes_may_differ_if_the_sizes_agree() -> None:
    """A message has no shape."""
    for shape in [(6,), (3, 2), (1, 6), (6, 1), (2, 1, 3)]:
        target = np.zeros(shape, "i4")
        copy_into(SIX, target, 24)
        assert target.tobytes() == SIX.tobytes()


def test_one_element_does_not_fill_the_buffer() -> None:
    """numpy would broadcast it."""
    target = np.zeros(3)
    copy_into(np.array([7.0]), target, 8)
    assert target.tolist() == [7.0, 0.0, 0.0]
    copy_into(np.array(8.0), target, 8)
    assert target.tolist() == [8.0, 0.0, 0.0]


def test_a_truncated_message_copies_its_beginning() -> None:
    """If fewer bytes are requested than the source holds."""
    target = np.zeros(2, "i4")
    copy_into(np.array([1, 2, 3], "i4"), target, 8)
    assert target.tolist() == [1, 2]


def test_overlapping_memory_is_copied_correctly() -> None:
    """A rank may send to itself between overlapping parts of an array."""
    there = np.arange(5)
    copy_into(there[:4], there[1:], 32)
    assert there.tolist() == [0, 0, 1, 2, 3]
    copy_into(there[1:].view("u1"), there[:4], 32)
    assert there.tolist() == [0, 1, 2, 3, 3]


def test_a_snapshot_does_not_change_with_its_original() -> None:
    """The sender may write to its buffer again."""
    there = np.arange(4, dtype="i4")
    for spec in (there, [there, 2], [there, 1, VECTOR], bytearray(there.tobytes())):
        payload, nbytes = describe(spec)
        before, copy = as_bytes(payload, nbytes), snapshot(payload)
        if isinstance(spec, bytearray):
            spec[:] = bytes(16)
        there += 1
        assert as_bytes(copy, nbytes) == before


def test_immutable_payloads_are_their_own_snapshot() -> None:
    """Phantoms and packed objects."""
    for payload in (phantom(8), b"abc", (5,)):
        assert snapshot(payload) is payload


def test_an_object_is_received_into_a_buffer_as_its_pickle() -> None:
    """As on a real network, where both are bytes."""
    wire = pickle.dumps("word", pickle.HIGHEST_PROTOCOL)
    for payload in (wire, ("word",)):
        target = bytearray(len(wire) + 2)
        copy_into(payload, describe_target(target)[0], len(wire))
        assert bytes(target) == wire + b"\0\0"
        assert as_bytes(payload, len(wire)) == wire


def test_phantoms_are_described_and_copied_without_contents() -> None:
    """Alone, in lists, with derived types; as source and as target."""
    ghost, there = phantom(24, itemsize=4), SIX.copy()
    assert describe(ghost) == (ghost, 24)
    assert describe([ghost, 2])[1] == describe([ghost, (2, 4), "i"])[1] == describe([ghost, 1, VECTOR])[1] == 8
    copy_into(ghost, there, 24)
    copy_into(there, ghost, 24)
    copy_into(ghost, describe_target([there, 1, VECTOR])[0], 8)
    assert there.tobytes() == SIX.tobytes()
    words = "^describe: count 7 of INT takes bytes 0 to 28 of a buffer of 24 bytes.$"
    with pytest.raises(MPIValueError, match=words):
        describe([ghost, 7, "i"])
    with pytest.raises(MPITypeError, match=r"^as_bytes: a phantom of 24 bytes arrived: it has no contents\.$"):
        as_bytes(ghost, 24)


def test_only_scattered_memory_needs_a_span() -> None:
    """Other memory is an array, which is faster."""
    assert type(describe([SIX, 1, VECTOR])[0]) is Span
    for spec in (b"ab", [SIX, 2], [SIX, (2, 3)], [SIX, 1, MPI.INT.Create_contiguous(2).Commit()], SIX.T):
        assert type(describe(spec)[0]) is np.ndarray
