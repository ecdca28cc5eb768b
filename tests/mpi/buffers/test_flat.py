"""Flat buffers: memory in a row is used as it stands, anything else is copied to a row and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.mpi.buffers.flat import Flat, FlatVector, blocks_w
from fakempi.mpi.buffers.specification import is_in_place
from tests.mpi.collective.calls import FORMS, LETTERS, Dealt, Laid, numbers


@pytest.mark.parametrize(
    ("buffer", "answer"),
    [
        (MPI.IN_PLACE, True), (None, True), ([MPI.IN_PLACE, 3], True), ((MPI.IN_PLACE, MPI.INT), True),
        ([None, 0, MPI.INT], False), ([], False), (b"", False), (MPI.BOTTOM, False), (np.zeros(0), False),
    ],
)  # fmt: skip
def test_what_counts_as_in_place(buffer: Any, answer: bool) -> None:
    """IN_PLACE, alone or in a list, and None; but not a list with None for a buffer."""
    assert is_in_place(buffer) is answer


@given(st.sampled_from(FORMS), st.integers(0, 9), st.sampled_from(LETTERS))
def test_bytes_come_in_a_row_and_go_back(form: str, count: int, letter: str) -> None:
    """However the memory is described; gaps stay as they are."""
    values, others = numbers(1, count, letter), numbers(2, count, letter)
    laid = Laid(values, form)
    flat = Flat.of(laid.spec, writable=True)
    assert (flat.nbytes, flat.hollow, flat.told) == (values.nbytes, False, True)
    assert flat.load().tobytes() == values.tobytes()
    flat.array[...] = others.view(np.uint8)
    flat.store()
    assert laid.contents() == others.tolist()


@given(st.sampled_from(["plain", "listed", "shifted", "two-dimensional"]), st.integers(1, 9), st.sampled_from(LETTERS))
def test_elements_are_items(form: str, count: int, letter: str) -> None:
    """Of numpy's own kind, in the program's memory."""
    laid = Laid(numbers(1, count, letter), form)
    flat = Flat.of(laid.spec, writable=True, elements=True)
    assert (flat.count, flat.array.size, flat.array.dtype) == (count, count, np.dtype(letter))
    flat.load()[...] = numbers(2, count, letter)
    assert laid.contents() == numbers(2, count, letter).tolist()


def test_elements_that_numpy_has_no_word_for_are_so_many_bytes() -> None:
    """Derived datatypes, and pairs whose parts are apart."""
    for datatype, size in [(MPI.INT.Create_contiguous(3).Commit(), 12), (MPI.DOUBLE_INT, 12), (MPI.SHORT_INT, 6)]:
        memory = np.zeros(2 * datatype.extent, np.uint8)
        flat = Flat.of([memory, 2, datatype], elements=True)
        assert (flat.count, flat.array.size, flat.array.itemsize, flat.nbytes) == (2, 2, size, 2 * size)


def test_memory_in_a_row_is_not_copied() -> None:
    """Writing to the array writes to the program's memory."""
    memory = np.zeros(4, "i")
    Flat.of([memory, (2, 1), MPI.INT], writable=True).load()[...] = 1
    FlatVector.of([memory, [1, 1], [0, 1], MPI.INT], 2, writable=True).load()[:4] = 2
    assert memory.view("B").tolist() == [2] * 4 + [1] * 8 + [0] * 4


def test_nothing_is_read_before_it_is_loaded() -> None:
    """So that a call that was prepared sees what is there when it starts."""
    memory = np.zeros(4, "i")
    spread = MPI.INT.Create_resized(0, 8).Commit()
    flat, deal = Flat.of([memory, 2, spread]), FlatVector.of([memory, [1, 1], [2, 0], MPI.INT], 2)
    memory[...] = [1, 2, 3, 4]
    assert flat.load().view("i").tolist() == [1, 3]
    assert deal.load().view("i").tolist() == [3, 1]


def test_only_a_head_can_be_stored() -> None:
    """For results that are shorter than the data."""
    memory = np.arange(6, dtype="i")
    spread = MPI.INT.Create_resized(0, 8).Commit()
    head = Flat.of([memory, 3, spread], writable=True, elements=True).head(2)
    assert (head.count, head.nbytes) == (2, 8)
    head.load()[...] = np.array([70, 80], "i").view("V4")
    head.store()
    assert memory.tolist() == [70, 1, 80, 3, 4, 5]


@given(data=st.data(), letter=st.sampled_from(LETTERS), holes=st.booleans(), bare=st.booleans())
def test_blocks_come_in_rank_order_and_go_back(data: st.DataObject, letter: str, holes: bool, bare: bool) -> None:
    """Wherever they lie."""
    counts = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    order = data.draw(st.permutations(range(len(counts))))
    blocks, others = ([numbers(i + salt, counts[i], letter) for i in range(len(counts))] for salt in (0, 9))
    dealt = Dealt(blocks, order, holes=holes, bare=bare)
    flat = FlatVector.of(dealt.spec, len(counts), writable=True)
    assert flat.sizes == [block.nbytes for block in blocks]
    assert flat.nbytes == sum(flat.sizes)
    assert flat.load().tobytes() == b"".join(block.tobytes() for block in blocks)
    flat.array[...] = np.concatenate(others).view(np.uint8)
    flat.store()
    assert dealt.contents() == [block.tolist() for block in others]


def test_phantoms_are_flat() -> None:
    """In bytes, or in elements of the size that is said."""
    flat = Flat.of(fakempi.phantom(24, 8))
    assert (flat.array, flat.count, flat.nbytes, flat.hollow, flat.told) == (fakempi.phantom(24), 3, 24, True, False)
    typed = Flat.of([fakempi.phantom(24), MPI.DOUBLE], elements=True)
    assert (typed.array, typed.count, typed.told) == (fakempi.phantom(24, 8), 3, True)
    deal = FlatVector.of([fakempi.phantom(24), [2, 1], [1, 0], MPI.DOUBLE], 2)
    assert (deal.load(), deal.sizes, deal.hollow) == (fakempi.phantom(24), [16, 8], True)


def test_blocks_of_any_types_are_what_can_be_sent() -> None:
    """Arrays where the memory is in a row."""
    memory = np.arange(6, dtype="i")
    whole, apart = blocks_w([memory, [2, 1], [0, 8], [MPI.INT, MPI.INT.Create_vector(2, 1, 2).Commit()]], 2)
    assert whole.tolist() == [0, 1]
    assert apart.packed().view("i").tolist() == [2, 4]


@pytest.mark.parametrize("make", [Flat.of, lambda spec: FlatVector.of(spec, 1), lambda spec: blocks_w(spec, 1)])
def test_in_place_is_not_a_buffer(make: Any) -> None:
    """Nor in a list."""
    for spec in MPI.IN_PLACE, [MPI.IN_PLACE, 1, MPI.INT]:
        with pytest.raises(ValueError, match=r"IN_PLACE stands where a buffer is needed\.$"):
            make(spec)
