"""Layouts of blocks in buffers, and their error messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives.patterns.pairs.blocks import check_block_count, copies_for_others
from collectives.patterns.reductions import check_blocks, equal_blocks
from collectives.tools.blocks import Layout, copy_of, cut, load, required, segments, spare_memory


@given(st.integers(0, 500), st.integers(1, 40))
def test_nearly_equal_blocks_differ_by_one_with_the_larger_first(size: int, p: int) -> None:
    """The blocks are contiguous and complete."""
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
    """Not longer than `segment_bytes` unless a single element is."""
    layout = segments(size, itemsize, segment_bytes)
    assert layout.start(layout.p) == size
    assert layout.size(0) <= max(1, segment_bytes // itemsize)
    assert layout.p == 1 or (layout.p - 1) * max(1, segment_bytes // itemsize) < size


def test_scratch_has_the_type_of_the_given_buffer() -> None:
    """An array of the same type, or the result of the phantom's `empty`."""

    class Phantom:
        size = itemsize = nbytes = 0

        def empty(self, size: int) -> str:
            return f"a phantom of {size}"

        def __getitem__(self, part: slice) -> None: ...
        def __setitem__(self, part: slice, value: object) -> None: ...

    assert spare_memory(np.zeros(3, "int16"), 5).dtype == np.dtype("int16")
    assert spare_memory(Phantom(), 5) == "a phantom of 5"


def test_error_messages_name_the_numbers() -> None:
    """Messages name the rank, the problem and the numbers that clash."""
    with pytest.raises(ValueError, match=r"^a buffer of 7 elements does not divide into 3 equal blocks, one per rank$"):
        Layout.equal(7, 3)
    with pytest.raises(ValueError, match=r"^counts must contain one block size for each of the 3 ranks, but there are 2$"):
        Layout.of_ranks([1, 2], 3)
    with pytest.raises(ValueError, match=r"^rank 1 sends 3 elements but its block has 2$"):
        Layout.equal(6, 3).put(np.zeros(6), 1, np.zeros(3))
    with pytest.raises(ValueError, match=r"^rank 1 receives 2 elements but its buffer holds 3$"):
        Layout.equal(6, 3).take(np.zeros(6), 1, np.zeros(3))
    with pytest.raises(ValueError, match=r"^a buffer of 5 elements is too small for all blocks, 6 elements$"):
        Layout.of([2, 2, 2]).put(np.zeros(5), 1, None)
    with pytest.raises(ValueError, match=r"^the root of a gather must pass a buffer, not None$"):
        required(None, "the root of a gather")


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_the_largest_block_is_the_largest(counts: list[int]) -> None:
    """For given sizes, and for nearly equal blocks."""
    assert Layout.of(counts).largest == max(counts)
    nearly = Layout.nearly_equal(sum(counts), len(counts))
    assert nearly.largest == max(nearly.size(i) for i in range(nearly.p))


def test_cut_uses_displacements() -> None:
    """Blocks may have gaps and any order; an empty block may be anywhere."""
    assert [block.tolist() for block in cut(np.arange(9), [2, 0, 3], [7, 99, 1], 3)] == [[7, 8], [], [1, 2, 3]]
    copy = copy_of(np.arange(3))
    load(copy, np.arange(3, 6))
    assert copy.tolist() == [3, 4, 5]


def test_error_messages_for_blocks_that_do_not_fit() -> None:
    """Messages name the block, the problem and the numbers that clash."""
    with pytest.raises(ValueError, match=r"^block 1 of 3 elements at 4 is not inside a buffer of 6 elements$"):
        cut(np.zeros(6), [2, 3], [0, 4], 2)
    with pytest.raises(ValueError, match=r"^there must be one displacement for each of the 2 blocks, but there are 1$"):
        cut(np.zeros(6), [2, 3], [0], 2)
    with pytest.raises(ValueError, match=r"^sendbuf has 3 elements but recvbuf has 4$"):
        load(np.zeros(4), np.zeros(3))
    with pytest.raises(ValueError, match=r"^there must be one block for each of the 3 ranks, but there are 2$"):
        check_block_count([None, None], 3)
    with pytest.raises(ValueError, match=r"^rank 0 cannot exchange its block for rank 1 in place: it is not a plain one-"):
        copies_for_others([None, [b"abcd", 1, "i"]], 0)


def test_error_messages_for_the_buffers_of_a_reduce_scatter() -> None:
    """sendbuf holds all blocks, recvbuf one; in place recvbuf holds all."""
    with pytest.raises(ValueError, match=r"^in place, recvbuf must hold all blocks, 6 elements, but it has 2$"):
        check_blocks(None, np.zeros(2), Layout.equal(6, 3), 0)
    with pytest.raises(ValueError, match=r"^sendbuf must hold all blocks, 6 elements, but it has 5$"):
        check_blocks(np.zeros(5), np.zeros(2), Layout.equal(6, 3), 0)
    with pytest.raises(ValueError, match=r"^rank 1 receives a block of 2 elements, but its recvbuf has 3$"):
        equal_blocks(np.zeros(6), np.zeros(3), 3, 1)
