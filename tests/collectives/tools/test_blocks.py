"""Cutting buffers, and saying what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives.shapes.pairs import copies_for_others, one_block_each
from collectives.shapes.reductions import check_blocks, equal_blocks
from collectives.tools.blocks import Layout, copy_of, cut, load, required, scratch, segments


@given(st.integers(0, 500), st.integers(1, 40))
def test_nearly_equal_blocks_differ_by_one_and_the_larger_come_first(size: int, p: int) -> None:
    """And they are contiguous and complete."""
    layout = Layout.nearly_equal(size, p)
    sizes = [layout.size(i) for i in range(p)]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == size == layout.start(p)
    assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.data())
def test_runs_wrap_around(counts: list[int], data: st.DataObject) -> None:
    """`around` counts blocks past the last one from the first."""
    i = data.draw(st.integers(0, len(counts) - 1))
    count = data.draw(st.integers(0, len(counts)))
    assert Layout.of(counts).around(i, count) == sum((counts * 2)[i : i + count])


@given(st.integers(0, 300), st.sampled_from([1, 4, 16]), st.integers(1, 100))
def test_segments_are_few_and_short_enough(size: int, itemsize: int, segment_bytes: int) -> None:
    """No longer than asked for unless a single element is."""
    layout = segments(size, itemsize, segment_bytes)
    assert layout.start(layout.p) == size
    assert layout.size(0) <= max(1, segment_bytes // itemsize)
    assert layout.p == 1 or (layout.p - 1) * max(1, segment_bytes // itemsize) < size


def test_scratch_is_made_by_example() -> None:
    """An array of the same type, or whatever the phantom makes."""

    class Phantom:
        size = itemsize = nbytes = 0

        def empty(self, size: int) -> str:
            return f"a phantom of {size}"

        def __getitem__(self, part: slice) -> None: ...
        def __setitem__(self, part: slice, value: object) -> None: ...

    assert scratch(np.zeros(3, "int16"), 5).dtype == np.dtype("int16")
    assert scratch(Phantom(), 5) == "a phantom of 5"


def test_complaints_name_the_numbers() -> None:
    """Place, what could not be done, the numbers that clash."""
    with pytest.raises(ValueError, match=r"^a buffer of 7 elements does not divide into 3 equal blocks, one per rank$"):
        Layout.equal(7, 3)
    with pytest.raises(ValueError, match=r"^counts must say the block size of each of the 3 ranks, but there are 2$"):
        Layout.of_ranks([1, 2], 3)
    with pytest.raises(ValueError, match=r"^rank 1 sends 3 elements but its block has room for 2$"):
        Layout.equal(6, 3).put(np.zeros(6), 1, np.zeros(3))
    with pytest.raises(ValueError, match=r"^rank 1 receives 2 elements but its buffer holds 3$"):
        Layout.equal(6, 3).take(np.zeros(6), 1, np.zeros(3))
    with pytest.raises(ValueError, match=r"^a buffer of 5 elements cannot hold blocks of 6 in all$"):
        Layout.of([2, 2, 2]).put(np.zeros(5), 1, None)
    with pytest.raises(ValueError, match=r"^the root of a gather needs a buffer, not None$"):
        required(None, "the root of a gather")


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_the_largest_block_is_the_largest(counts: list[int]) -> None:
    """Of given sizes, and of nearly equal ones."""
    assert Layout.of(counts).largest == max(counts)
    nearly = Layout.nearly_equal(sum(counts), len(counts))
    assert nearly.largest == max(nearly.size(i) for i in range(nearly.p))


def test_cut_takes_displacements() -> None:
    """Blocks may leave gaps and come in any order; an empty one may be anywhere."""
    assert [block.tolist() for block in cut(np.arange(9), [2, 0, 3], [7, 99, 1], 3)] == [[7, 8], [], [1, 2, 3]]
    copy = copy_of(np.arange(3))
    load(copy, np.arange(3, 6))
    assert copy.tolist() == [3, 4, 5]


def test_complaints_about_blocks_that_do_not_fit() -> None:
    """Place, what could not be done, the numbers that clash."""
    with pytest.raises(ValueError, match=r"^block 1 of 3 elements at 4 is not inside a buffer of 6 elements$"):
        cut(np.zeros(6), [2, 3], [0, 4], 2)
    with pytest.raises(
        ValueError, match=r"^displacements must say where each of the 2 blocks begins, but there are 1$"
    ):
        cut(np.zeros(6), [2, 3], [0], 2)
    with pytest.raises(ValueError, match=r"^sendbuf holds 3 elements but recvbuf 4$"):
        load(np.zeros(4), np.zeros(3))
    with pytest.raises(ValueError, match=r"^there must be one block for each of the 3 ranks, but there are 2$"):
        one_block_each([None, None], 3)
    with pytest.raises(ValueError, match=r"^rank 0 cannot swap its block for rank 1 in place: it is not a plain one-"):
        copies_for_others([None, [b"abcd", 1, "i"]], 0)


def test_complaints_about_the_buffers_of_a_reduce_scatter() -> None:
    """All blocks go in, one comes out; in place there must be room for all."""
    with pytest.raises(ValueError, match=r"^in place, recvbuf must hold all blocks, 6 elements, but it holds 2$"):
        check_blocks(None, np.zeros(2), Layout.equal(6, 3), 0)
    with pytest.raises(ValueError, match=r"^sendbuf must hold all blocks, 6 elements, but it holds 5$"):
        check_blocks(np.zeros(5), np.zeros(2), Layout.equal(6, 3), 0)
    with pytest.raises(ValueError, match=r"^rank 1 gets a block of 2 elements but its recvbuf holds 3$"):
        equal_blocks(np.zeros(6), np.zeros(3), 3, 1)
