"""Flat buffers: contiguous memory is used directly, other memory is copied to a contiguous buffer and back."""

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
from tests.mpi.collective.calls import FORMS, LETTERS, ScatteredBlocks, StridedElements, numbers


@pytest.mark.parametrize(
    ("buffer", "answer"),
    [
        (MPI.IN_PLACE, True), (None, True), ([MPI.IN_PLACE, 3], True), ((MPI.IN_PLACE, MPI.INT), True),
        ([None, 0, MPI.INT], False), ([], False), (b"", False), (MPI.BOTTOM, False), (np.zeros(0), False),
    ],
)  # fmt: skip
def test_values_that_count_as_in_place(buffer: Any, answer: bool) -> None:
    """IN_PLACE, alone or in a list, and None; but not a list with None for a buffer."""
    assert is_in_place(buffer) is answer


@given(st.sampled_from(FORMS), st.integers(0, 9), st.sampled_from(LETTERS))
def test_bytes_are_gathered_and_scattered_back(form: str, count: int, letter: str) -> None:
    """For any description of the memory; gaps are unchanged."""
    values, others = numbers(1, count, letter), numbers(2, count, letter)
    elements = StridedElements(values, form)
    flat: Any = Flat.of(elements.spec, writable=True)
    assert (flat.nbytes, flat.is_phantom, flat.typed) == (values.nbytes, False, True)
    assert flat.load().tobytes() == values.tobytes()
    flat.array[...] = others.view(np.uint8)
    flat.store()
    assert elements.contents() == others.tolist()


@given(st.sampled_from(["plain", "listed", "shifted", "two-dimensional"]), st.integers(1, 9), st.sampled_from(LETTERS))
def test_elements_are_items(form: str, count: int, letter: str) -> None:
    """Of numpy's type, in the program's memory."""
    elements = StridedElements(numbers(1, count, letter), form)
    flat = Flat.of(elements.spec, writable=True, elements=True)
    assert (flat.count, flat.array.size, flat.array.dtype) == (count, count, np.dtype(letter))
    flat.load()[...] = numbers(2, count, letter)
    assert elements.contents() == numbers(2, count, letter).tolist()


def test_elements_without_a_numpy_type_are_bytes() -> None:
    """Derived datatypes, and pairs with padding."""
    for datatype, size in [(MPI.INT.Create_contiguous(3).Commit(), 12), (MPI.DOUBLE_INT, 12), (MPI.SHORT_INT, 6)]:
        memory = np.zeros(2 * datatype.extent, np.uint8)
        flat = Flat.of([memory, 2, datatype], elements=True)
        assert (flat.count, flat.array.size, flat.array.itemsize, flat.nbytes) == (2, 2, size, 2 * size)


def test_contiguous_memory_is_not_copied() -> None:
    """Writing to the array writes to the program's memory."""
    memory = np.zeros(4, "i")
    Flat.of([memory, (2, 1), MPI.INT], writable=True).load()[...] = 1
    FlatVector.of([memory, [1, 1], [0, 1], MPI.INT], 2, writable=True).load()[:4] = 2
    assert memory.view("B").tolist() == [2] * 4 + [1] * 8 + [0] * 4


def test_nothing_is_read_before_it_is_loaded() -> None:
    """A prepared call reads the data when it starts."""
    memory = np.zeros(4, "i")
    spread = MPI.INT.Create_resized(0, 8).Commit()
    flat: Any
    deal: Any
    flat, deal = Flat.of([memory, 2, spread]), FlatVector.of([memory, [1, 1], [2, 0], MPI.INT], 2)
    memory[...] = [1, 2, 3, 4]
    assert flat.load().view("i").tolist() == [1, 3]
    assert deal.load().view("i").tolist() == [3, 1]


def test_a_prefix_can_be_stored() -> None:
    """For results that are shorter than the data."""
    memory = np.arange(6, dtype="i")
    spread = MPI.INT.Create_resized(0, 8).Commit()
    head = Flat.of([memory, 3, spread], writable=True, elements=True).head(2)
    assert (head.count, head.nbytes) == (2, 8)
    head.load()[...] = np.array([70, 80], "i").view("V4")
    head.store()
    assert memory.tolist() == [70, 1, 80, 3, 4, 5]


@given(data=st.data(), letter=st.sampled_from(LETTERS), holes=st.booleans(), bare=st.booleans())
def test_blocks_are_in_rank_order_and_are_scattered_back(data: st.DataObject, letter: str, holes: bool, bare: bool) -> None:
    """For any layout."""
    counts = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    order = data.draw(st.permutations(range(len(counts))))
    blocks, others = ([numbers(i + salt, counts[i], letter) for i in range(len(counts))] for salt in (0, 9))
    scattered = ScatteredBlocks(blocks, order, holes=holes, bare=bare)
    flat: Any = FlatVector.of(scattered.spec, len(counts), writable=True)
    assert flat.sizes == [block.nbytes for block in blocks]
    assert flat.nbytes == sum(flat.sizes)
    assert flat.load().tobytes() == b"".join(block.tobytes() for block in blocks)
    flat.array[...] = np.concatenate(others).view(np.uint8)
    flat.store()
    assert scattered.contents() == [block.tolist() for block in others]


def test_phantoms_are_flat() -> None:
    """In bytes, or in elements of a given size."""
    flat = Flat.of(fakempi.phantom(24, 8))
    assert (flat.array, flat.count, flat.nbytes, flat.is_phantom, flat.typed) == (fakempi.phantom(24), 3, 24, True, False)
    typed = Flat.of([fakempi.phantom(24), MPI.DOUBLE], elements=True)
    assert (typed.array, typed.count, typed.typed) == (fakempi.phantom(24, 8), 3, True)
    deal = FlatVector.of([fakempi.phantom(24), [2, 1], [1, 0], MPI.DOUBLE], 2)
    assert (deal.load(), deal.sizes, deal.is_phantom) == (fakempi.phantom(24), [16, 8], True)


def test_blocks_of_any_types_can_be_sent() -> None:
    """They are arrays if the memory is contiguous."""
    memory = np.arange(6, dtype="i")
    blocks: list[Any] = blocks_w([memory, [2, 1], [0, 8], [MPI.INT, MPI.INT.Create_vector(2, 1, 2).Commit()]], 2)
    whole, apart = blocks
    assert whole.tolist() == [0, 1]
    assert apart.packed().view("i").tolist() == [2, 4]


@pytest.mark.parametrize("make", [Flat.of, lambda spec: FlatVector.of(spec, 1), lambda spec: blocks_w(spec, 1)])
def test_in_place_is_not_a_buffer(make: Any) -> None:
    """In a list neither."""
    for spec in MPI.IN_PLACE, [MPI.IN_PLACE, 1, MPI.INT]:
        with pytest.raises(ValueError, match=r"IN_PLACE is not allowed here: a buffer is needed\.$"):
            make(spec)
