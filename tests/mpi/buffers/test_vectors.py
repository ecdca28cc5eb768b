"""Buffers of collective calls: a block per rank."""

from __future__ import annotations

import array
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import MPIBufferError, MPIError, MPIKeyError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.mpi.buffers.address_constants import BOTTOM, IN_PLACE
from fakempi.mpi.buffers.payload import as_bytes, copy_into
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.buffers.vectors import Blocks, Vector, VectorW, block, vector, vector_w
from fakempi.mpi.datatypes import predefined as MPI
from tests.helpers.loops import for_each

EIGHT = np.arange(8, dtype="i4")
NINE = np.arange(9, dtype="i4")
INT = MPI.INT
TYPES = [INT] * 3
HOLED = MPI.INT.Create_vector(2, 1, 2).Commit()
PAIR = MPI.INT.Create_contiguous(2).Commit()


def contents(blocks: Blocks | Vector | VectorW) -> list[list[int]]:
    """The ints in every block."""
    found = []
    for i in range(blocks.size):
        payload = blocks.at(i)
        data = as_bytes(payload, payload.nbytes)
        found.append(np.frombuffer(data, "i4").tolist() if data else [])
    return found


# -- equal blocks ------------------------------------------------------------------------------------------------------

BLOCKS: dict[str, tuple[Any, list[list[int]]]] = {
    "buf": (NINE, [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
    "array in two dimensions": (np.arange(6, dtype="i4").reshape(2, 3), [[0, 1], [2, 3], [4, 5]]),
    "nothing": (NINE[:0], [[], [], []]),
    "[buf, count]": ([NINE, 2], [[0, 1], [2, 3], [4, 5]]),
    "[buf, type]": ([NINE, INT], [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
    "[buf, count, type]": ([NINE, 2, "i"], [[0, 1], [2, 3], [4, 5]]),
    "[buf, (count, displ)]": ([NINE, (2, 1)], [[1, 2], [3, 4], [5, 6]]),
    "[buf, count, displ, type]": ([NINE, 2, 1, INT], [[1, 2], [3, 4], [5, 6]]),
    "[buf, None, displ, type]": ([NINE, None, 3, INT], [[3, 4], [5, 6], [7, 8]]),
    "[None, 0, type]": ([None, 0, INT], [[], [], []]),
    "[buf, 1, contiguous]": ([NINE, 1, PAIR], [[0, 1], [2, 3], [4, 5]]),
    "[buf, 1, vector]": ([NINE, 1, HOLED], [[0, 2], [3, 5], [6, 8]]),
    "IN_PLACE": (IN_PLACE, [[], [], []]),
}


@pytest.mark.parametrize(("spec", "expected"), BLOCKS.values(), ids=list(BLOCKS))
def test_equal_blocks_follow_each_other(spec: Any, expected: list[list[int]]) -> None:
    """A count is that of one block. Compared with mpi4py's Alltoall on three ranks."""
    found = block(spec, 3)
    assert contents(found) == expected
    assert found.nbytes == 4 * len(expected[0])


def test_a_single_block_is_the_whole_buffer() -> None:
    """With one rank, or none."""
    assert block(NINE, 1).count == block(NINE, 0).count == 9
    assert block([NINE, 4], 1).count == 4


def test_blocks_can_be_written() -> None:
    """They are payloads of receives."""
    target = np.zeros(6, "i4")
    found = block(target, 3, writable=True)
    copy_into(EIGHT[1:3], found.at(1), 8)
    assert target.tolist() == [0, 0, 1, 2, 0, 0]


# -- counts and displacements ------------------------------------------------------------------------------------------

EVENLY = [[0, 1, 2], [3, 4, 5], [6, 7]]
COUNTED = [[0], [1, 2], [3, 4, 5]]
PLACED = [[0], [1, 2], [2, 3, 4]]
PAIRS = [[0, 1], [2, 3], [4, 5]]

VECTORS: dict[str, tuple[Any, list[list[int]]]] = {
    "buf": (EIGHT, EVENLY),
    "less than one each": (EIGHT[:2], [[0], [1], []]),
    "[buf, counts]": ([EIGHT, [1, 2, 3]], COUNTED),
    "[buf, numpy's counts]": ([EIGHT, np.array([1, 2, 3])], COUNTED),
    "[buf, array of counts, type]": ([EIGHT, array.array("i", [1, 2, 3]), INT], COUNTED),
    "[buf, range]": ([EIGHT, range(3)], [[], [0], [1, 2]]),
    "[buf, count]": ([EIGHT, 2], PAIRS),
    "[buf, numpy's count]": ([EIGHT, np.int64(2)], PAIRS),
    "[buf, numpy's count without dimensions]": ([EIGHT, np.array(2)], PAIRS),
    "[buf, (count, distance)]": ([EIGHT, (2, 3)], [[0, 1], [3, 4], [6, 7]]),
    "[buf, (counts, displs)]": ([EIGHT, ([1, 2, 3], [0, 1, 2])], PLACED),
    "[buf, (counts, distance)]": ([EIGHT, ([1, 2, 3], 2)], [[0], [2, 3], [4, 5, 6]]),
    "[buf, (counts, None)]": ([EIGHT, ([1, 2, 3], None)], COUNTED),
    "[buf, (None, displs)]": ([EIGHT, (None, [0, 1, 2])], [[0, 1, 2], [1, 2, 3], [2, 3]]),
    "[buf, (None, None)]": ([EIGHT, (None, None)], EVENLY),
    "[buf, None]": ([EIGHT, None], EVENLY),
    "[buf, type]": ([EIGHT, INT], EVENLY),
    "[buf, code]": ([EIGHT, "i"], EVENLY),
    "[buf, counts, type]": ([EIGHT, [1, 2, 3], INT], COUNTED),
    "[buf, count, type]": ([EIGHT, 1, INT], [[0], [1], [2]]),
    "[buf, (counts, displs), type]": ([EIGHT, ([1, 2, 3], [0, 1, 2]), INT], PLACED),
    "[buf, counts, displs, type]": ([EIGHT, [1, 2, 3], [0, 1, 2], INT], PLACED),
    "[buf, counts, displs, None]": ([EIGHT, [1, 2, 3], [0, 1, 2], None], PLACED),
    "[buf, counts, None, type]": ([EIGHT, [1, 2, 3], None, INT], COUNTED),
    "[buf, None, None, type]": ([EIGHT, None, None, INT], EVENLY),
    "[buf, count, distance, type]": ([EIGHT, 2, 1, INT], [[0, 1], [1, 2], [2, 3]]),
    "[bytes, counts, type]": ([EIGHT.tobytes() + b"abc", [1, 2, 3], INT], COUNTED),
    "[None, 0, type]": ([None, 0, INT], [[], [], []]),
    "[None, counts, type]": ([None, [0, 0, 0], INT], [[], [], []]),
    "[None, type]": ([None, INT], [[], [], []]),
    "[BOTTOM, 0, type]": ([BOTTOM, 0, INT], [[], [], []]),
    "[buf, counts, vector]": ([EIGHT, [1, 1, 0], HOLED], [[0, 2], [3, 5], []]),
    "[buf, vector]": ([EIGHT[:6], HOLED], [[0, 2], [3, 5], []]),
    "[buf, counts, contiguous]": ([EIGHT, [1, 0, 2], PAIR], [[0, 1], [], [2, 3, 4, 5]]),
    "nothing, far out": ([EIGHT, ([1, 0, 1], [0, 99, 1])], [[0], [], [1]]),
}


@for_each(("spec", "expected"), VECTORS.values())
def test_blocks_have_counts_and_displacements(spec: Any, expected: list[list[int]]) -> None:
    """Given or inferred. Compared with mpi4py's Alltoallv on three ranks."""
    found = vector(spec, 3)
    assert contents(found) == expected
    assert len(found.counts) == len(found.displs) == found.size == 3


@given(st.lists(st.integers(0, 5), max_size=6), st.sampled_from("bhidg"), st.booleans())
def test_consecutive_blocks_are_the_whole_buffer(counts: list[int], code: str, holed: bool) -> None:
    """For any datatype, data copied block by block arrives in place."""
    source = np.arange(1, sum(counts) + 1).astype(code)
    target = np.zeros_like(source)
    kind: Any = MPI.from_code(code).Create_resized(0, source.itemsize).Commit() if holed else code
    sent = vector([source, counts, kind], len(counts))
    received = vector([target, counts, kind], len(counts), writable=True)
    assert sent.displs == list(accumulate(counts, initial=0))[:-1]
    for i in range(len(counts)):
        copy_into(sent.at(i), received.at(i), counts[i] * source.itemsize)
    assert target.tolist() == source.tolist()


def test_phantoms_have_blocks_too() -> None:
    """Of the same sizes."""
    ghost = phantom(32, itemsize=4)
    assert [vector([ghost, [1, 2, 3]], 3).at(i).nbytes for i in range(3)] == [4, 8, 12]
    assert [vector([ghost, [1, 1], HOLED], 2).at(i).nbytes for i in range(2)] == [8, 8]
    assert block(ghost, 4).at(3).nbytes == block([ghost, 2, INT], 4).nbytes == 8
    assert vector_w([ghost, [1, 2], [0, 8], [INT, HOLED]], 2).at(1).nbytes == 16
    with pytest.raises(MPIValueError, match="block 0: count 9 of .* takes bytes 0 to 36 of a buffer of 32 bytes"):
        vector([ghost, [9]], 1)


# -- a datatype each ---------------------------------------------------------------------------------------------------

VECTORS_W: dict[str, tuple[Any, list[list[int]]]] = {
    "[buf, types]": ([EIGHT, TYPES], [[0], [0], [0]]),
    "[buf, tuple of types]": ([EIGHT, tuple(TYPES)], [[0], [0], [0]]),
    "[buf, (counts, displs), types]": ([EIGHT, ([1, 2, 3], [0, 4, 8]), TYPES], PLACED),
    "[buf, [counts, displs], types]": ([EIGHT, [[1, 2, 3], [0, 4, 8]], TYPES], PLACED),
    "[buf, counts, displs, types]": ([EIGHT, [1, 2, 3], (0, 4, 8), TYPES], PLACED),
    "[buf, numpy's counts and displs, types]": ([EIGHT, np.array([1, 2, 3]), np.array([0, 4, 8]), TYPES], PLACED),
    "[buf, None, None, types]": ([EIGHT, None, None, TYPES], [[0], [0], [0]]),
    "different types": ([EIGHT, [1, 1, 0], [4, 8, 0], [PAIR, HOLED, INT]], [[1, 2], [2, 4], []]),
    "null type, no elements": ([EIGHT, [1, 0, 0], [0, 0, 0], [INT, MPI.DATATYPE_NULL, INT]], [[0], [], []]),
    "[None, zeros, displs, types]": ([None, [0] * 3, [0] * 3, TYPES], [[], [], []]),
    "[BOTTOM, zeros, displs, types]": ([BOTTOM, [0] * 3, [0] * 3, TYPES], [[], [], []]),
}


@pytest.mark.parametrize(("spec", "expected"), VECTORS_W.values(), ids=list(VECTORS_W))
def test_blocks_can_have_different_datatypes(spec: Any, expected: list[list[int]]) -> None:
    """Displacements are in bytes. Compared with mpi4py's Alltoallw on three ranks."""
    assert contents(vector_w(spec, 3)) == expected


# -- errors ------------------------------------------------------------------------------------------------------------

ITEMS = "expecting 2 to 4 items in a buffer specification, got"

BAD: dict[str, tuple[Any, Any, type[MPIError], int, str]] = {
    "uneven": (
        block, EIGHT, MPIValueError, ERR_COUNT,
        r"cannot infer count, 8 entries are not a multiple of the required 3 blocks\."
    ),
    "uneven, displaced": (
        block, [NINE, None, 1, INT], MPIValueError, ERR_COUNT,
        r"cannot infer count, 8 entries are not a multiple of the required 3 blocks\."
    ),
    "uneven bytes": (
        block, [bytes(7), INT], MPIValueError, ERR_COUNT, "cannot infer count, buffer length 7 is not a multiple .*"
    ),
    "negative block": (block, [NINE, -1], MPIValueError, ERR_COUNT, r"count -1 is negative\."),
    "too many blocks": (
        block, [EIGHT, 3], MPIValueError, ERR_BUFFER, r"count 9 of INT takes bytes 0 to 36 of a buffer of 32 bytes\."
    ),
    "one item": (vector, [EIGHT], MPIValueError, ERR_BUFFER, rf"{ITEMS} 1\."),
    "five items": (vector, [EIGHT] * 5, MPIValueError, ERR_BUFFER, rf"{ITEMS} 5\."),
    "no buffer": (vector, 3, MPITypeError, ERR_BUFFER, "expecting a buffer or a list like .*, not 'int'."),
    "counts in a tuple": (
        vector, [EIGHT, (1, 2, 3)], MPIValueError, ERR_COUNT,
        r"expecting a pair of count and displacement, got 3 items\."
    ),
    "few counts": (vector, [EIGHT, [2, 3]], MPIValueError, ERR_ARG, r"expecting 3 counts, got 2\."),
    "many counts": (vector, [EIGHT, [1, 2, 3, 4]], MPIValueError, ERR_ARG, r"expecting 3 counts, got 4\."),
    "few displacements": (
        vector, [EIGHT, ([1, 2, 3], [0, 1])], MPIValueError, ERR_ARG, r"expecting 3 displacements, got 2\."
    ),
    "lists in a list": (
        vector, [EIGHT, [[1], [2], [3]]], MPITypeError, ERR_ARG, r"item 0 of counts is \[1\], not an integer\."
    ),
    "float among counts": (
        vector, [EIGHT, [1, 2.0, 3]], MPITypeError, ERR_ARG, r"item 1 of counts is 2\.0, not an integer\."
    ),
    "float as counts": (
        vector, [EIGHT, 2.0], MPITypeError, ERR_ARG, r"counts are 2\.0, not a sequence of 3 items\."
    ),
    "float as displacements": (
        vector, [EIGHT, (1, 2.0)], MPITypeError, ERR_ARG, r"displacements are 2\.0, not a sequence of 3 items\."
    ),
    "letters as counts": (
        vector, [EIGHT, "abc", INT], MPITypeError, ERR_ARG, r"item 0 of counts is 'a', not an integer\."
    ),
    "negative counts": (vector, [EIGHT, [1, 2, -1]], MPIValueError, ERR_COUNT, r"count -1 of block 2 is negative\."),
    "negative count": (vector, [EIGHT, -1], MPIValueError, ERR_COUNT, r"count -1 of block 0 is negative\."),
    "beyond": (
        vector, [EIGHT, [1, 9, 0]], MPIValueError, ERR_BUFFER,
        r"block 1: count 9 of INT takes bytes 4 to 40 of a buffer of 32 bytes\."
    ),
    "before": (
        vector, [EIGHT, ([1, 1, 1], [1, 1, -1])], MPIValueError, ERR_BUFFER,
        r"block 2: count 1 of INT takes bytes -4 to 0 of a buffer of 32 bytes\."
    ),
    "beyond, in holes": (
        vector, [EIGHT, [1, 2, 0], HOLED], MPIValueError, ERR_BUFFER,
        r"block 1: count 2 of VECTOR of INT takes bytes 12 to 36 of a buffer of 32 bytes\."
    ),
    "three without a type": (
        vector, [EIGHT, [1, 1, 1], [0, 1, 2]], MPIKeyError, ERR_TYPE, r"cannot map \[0, 1, 2\] to an MPI datatype\."
    ),
    "None with counts": (
        vector, [None, [0, 1, 0], INT], MPIValueError, ERR_BUFFER, r"the buffer is None but count is 1\."
    ),
    "None without type": (vector, [None, 0], MPIKeyError, ERR_TYPE, "without a buffer a datatype is needed, .*"),
    "null type": (
        vector, [EIGHT, MPI.DATATYPE_NULL], MPIValueError, ERR_TYPE,
        "cannot infer count, the datatype is DATATYPE_NULL."
    ),
    "strides": (vector, EIGHT[::2], MPIBufferError, ERR_BUFFER, "the array is not contiguous: .*"),
    "not a list": (
        vector_w, EIGHT, MPITypeError, ERR_BUFFER,
        r"expecting a list like \[buffer, counts, displacements, datatypes\], not 'ndarray'\."
    ),
    "w of one": (vector_w, [EIGHT], MPIValueError, ERR_BUFFER, rf"{ITEMS} 1\."),
    "w of five": (vector_w, [EIGHT] * 5, MPIValueError, ERR_BUFFER, rf"{ITEMS} 5\."),
    "one type": (
        vector_w, [EIGHT, INT], MPITypeError, ERR_ARG, "datatypes are <Datatype: INT>, not a sequence of 3 items."
    ),
    "few types": (vector_w, [EIGHT, TYPES[:2]], MPIValueError, ERR_ARG, r"expecting 3 datatypes, got 2\."),
    "codes as types": (vector_w, [EIGHT, "iii"], MPITypeError, ERR_TYPE, "item 0 of datatypes is 'i', not a datatype."),
    "three of a pair": (
        vector_w, [EIGHT, [1, 2, 3], TYPES], MPIValueError, ERR_COUNT,
        "expecting a pair of counts and displacements, got 3 items."
    ),
    "none of a pair": (
        vector_w, [EIGHT, None, TYPES], MPITypeError, ERR_COUNT,
        "expecting a pair of counts and displacements, not 'NoneType'."
    ),
    "counts alone": (
        vector_w, [EIGHT, ([1, 2, 3], None), TYPES], MPITypeError, ERR_ARG,
        "displacements are None, not a sequence of 3 items."
    ),
    "one count for all": (
        vector_w, [EIGHT, 2, [0, 0, 0], TYPES], MPITypeError, ERR_ARG, "counts are 2, not a sequence of 3 items."
    ),
    "w negative": (
        vector_w, [EIGHT, [0, -1, 0], [0, 0, 0], TYPES], MPIValueError, ERR_COUNT, "count -1 of block 1 is negative."
    ),
    "w beyond": (
        vector_w, [EIGHT, [1, 1, 1], [0, 4, 30], TYPES], MPIValueError, ERR_BUFFER,
        "block 2: count 1 of INT takes bytes 30 to 34 of a buffer of 32 bytes."
    ),
    "w None, no counts": (
        vector_w, [None, TYPES], MPIValueError, ERR_COUNT, "without a buffer, counts and displacements are needed."
    ),
    "w BOTTOM, counts only": (
        vector_w, [BOTTOM, [1, 0, 0], None, TYPES], MPIValueError, ERR_COUNT,
        "without a buffer, counts and displacements are needed."
    ),
    "w None with counts": (
        vector_w, [None, [1, 0, 0], [0, 0, 0], TYPES], MPIValueError, ERR_BUFFER, "the buffer is None but count is 1."
    ),
}  # fmt: skip


@for_each(("use", "spec", "kind", "code", "words"), BAD.values())
def test_invalid_blocks_are_rejected(use: Any, spec: Any, kind: type[MPIError], code: int, words: str) -> None:
    """With mpi4py's exception types, and the number of the block."""
    with pytest.raises(kind, match=f"^{use.__name__}: {words}$") as caught:
        use(spec, 3)
    assert caught.value.Get_error_class() == code


@pytest.mark.parametrize("use", [block, vector])
def test_read_only_blocks_are_rejected_as_receive_buffers(use: Any) -> None:
    """Only for receiving."""
    use(bytes(12), 3)
    words = f"^{use.__name__}: the buffer is a read-only bytes: nothing can be received into it\\.$"
    with pytest.raises(MPIBufferError, match=words):
        use(bytes(12), 3, writable=True)


@pytest.mark.parametrize("made", [block(NINE, 3), vector(EIGHT, 3), vector_w([EIGHT, TYPES], 3)])
def test_a_block_index_out_of_range_raises(made: Any) -> None:
    """Beyond the last, or before the first."""
    for i in (-1, 3):
        with pytest.raises(IndexError, match=f"^block {i} of 3$"):
            made.at(i)
