"""Type signatures: the same basic types in the same order, whatever their names and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import MPI
from fakempi.mpi.datatypes.signature import ANYTHING, MAX_RUNS, Signature, of_dtype, of_type, packed_dtype


def signature_of(datatype: Any) -> Signature:
    """The signature of a datatype."""
    return of_type(datatype._definition)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("INT", "INT32_T"), ("LONG", "INT64_T"), ("LONG_LONG", "AINT"), ("DOUBLE", "DOUBLE_PRECISION"), ("FLOAT", "REAL4"),
        ("C_DOUBLE_COMPLEX", "COMPLEX16"), ("BYTE", "UINT8_T"), ("BYTE", "CHAR"), ("C_BOOL", "SIGNED_CHAR"),
        ("UNSIGNED", "UINT32_T"), ("INTEGER", "LOGICAL"), ("PACKED", "DOUBLE"), ("CHAR", "CHARACTER"),
    ],
)  # fmt: skip
def test_types_of_one_kind_and_size_have_equal_signatures(one: str, other: str) -> None:
    """C's and Fortran's names, and all types of one byte; PACKED matches everything."""
    assert signature_of(getattr(MPI, one)).agrees(signature_of(getattr(MPI, other)), 64)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("INT", "FLOAT"), ("INT64_T", "DOUBLE"), ("INT", "UNSIGNED"), ("COMPLEX", "DOUBLE"), ("BYTE", "INT"),
        ("CHAR", "WCHAR"), ("SHORT", "FLOAT16_T"), ("FLOAT_INT", "INT_INT"), ("LONG_DOUBLE", "C_DOUBLE_COMPLEX"),
    ],
)  # fmt: skip
def test_types_of_another_kind_have_different_signatures(one: str, other: str) -> None:
    """Even if their sizes are equal; an empty signature matches everything."""
    assert not signature_of(getattr(MPI, one)).agrees(signature_of(getattr(MPI, other)), 64)
    assert signature_of(getattr(MPI, one)).agrees(signature_of(getattr(MPI, other)), 0)


def test_layout_does_not_matter_and_order_does() -> None:
    """A vector of doubles is doubles, and an int and a float are not a float and an int."""
    assert signature_of(MPI.DOUBLE.Create_vector(3, 2, 5)) is signature_of(MPI.DOUBLE)
    assert signature_of(MPI.DOUBLE.Create_indexed([1, 2], [9, 0]).Create_resized(-8, 400)) is signature_of(MPI.FLOAT64_T)
    here = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, MPI.DOUBLE])
    there = MPI.Datatype.Create_struct([1, 1, 1], [100, 40, 0], [MPI.INT32_T, MPI.DOUBLE, MPI.DOUBLE])
    assert signature_of(here) is signature_of(there)
    assert signature_of(here).describe(40) == "2 x (1 int32, 2 float64)"
    other_order = MPI.Datatype.Create_struct([2, 1], [0, 16], [MPI.DOUBLE, MPI.INT])
    assert not signature_of(other_order).agrees(signature_of(here), 20)
    float_int = MPI.Datatype.Create_struct([1, 1], [0, 4], [MPI.FLOAT, MPI.INT])
    assert signature_of(MPI.FLOAT_INT).agrees(signature_of(float_int), 80)
    double_int = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.DOUBLE, MPI.INT])
    assert signature_of(MPI.DOUBLE_INT).agrees(signature_of(double_int), 12)


def test_a_shorter_signature_must_be_a_prefix() -> None:
    """A message may end before its buffer, also within an element."""
    pair = MPI.Datatype.Create_struct([2, 1], [0, 8], [MPI.INT, MPI.FLOAT])
    assert signature_of(MPI.INT).agrees(signature_of(pair), 8)
    assert not signature_of(MPI.INT).agrees(signature_of(pair), 12)


codes = st.sampled_from(["INT", "INT32_T", "FLOAT", "DOUBLE", "BYTE", "CHAR"])
members = st.lists(st.tuples(st.integers(0, 3), codes), min_size=1, max_size=4)


def written_out(parts: list[tuple[int, str]], nbytes: int) -> list[str]:
    """A kind for each byte of a message of n bytes."""
    same = {"INT32_T": "INT", "CHAR": "BYTE"}
    one = [same.get(code, code) for times, code in parts for _ in range(times * getattr(MPI, code).Get_size())]
    return (one * (nbytes // len(one) + 1))[:nbytes] if one else []


@given(members, members, st.integers(1, 3))
def test_signatures_match_if_all_bytes_do(one: list[tuple[int, str]], other: list[tuple[int, str]], times: int) -> None:
    """All whole elements of one compared with the other, from the beginning."""
    kinds = []
    for parts in (one, other):
        lengths = [count for count, _ in parts]
        types = [getattr(MPI, code) for _, code in parts]
        kinds.append(MPI.Datatype.Create_struct(lengths, [64 * i for i in range(len(parts))], types))
    nbytes = times * kinds[0].Get_size()
    expected = not nbytes or not kinds[1].Get_size() or written_out(one, nbytes) == written_out(other, nbytes)
    assert signature_of(kinds[0]).agrees(signature_of(kinds[1]), nbytes) == expected


def test_a_signature_needs_little_memory() -> None:
    """A billion doubles are one run, and signatures that are too irregular are not compared."""
    assert signature_of(MPI.DOUBLE.Create_contiguous(10**9)).runs == (("f8", 1),)
    pair = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE])
    assert signature_of(pair.Create_contiguous(10**6)) is signature_of(pair)
    assert signature_of(MPI.Datatype.Create_struct([MAX_RUNS, 1], [0, 10**6], [pair, MPI.INT])) is ANYTHING


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("i4", "6 int32"), ("c16", "1 complex128"), ("S3", "24 bytes"), ("?", "24 bytes"), ("M8[s]", "3 int64"),
        ("U2", "6 wide characters"), ([("a", "i4"), ("b", "f8", (2, 1))], "1 x (1 int32, 2 float64)"), ("V1", "24 bytes"),
    ],
)  # fmt: skip
def test_arrays_of_numpy_have_signatures(dtype: Any, words: str) -> None:
    """For structured arrays the fields count, unless there are holes."""
    assert of_dtype(np.dtype(dtype)).describe(24) == words
    assert of_dtype(np.dtype("V8")) is ANYTHING
    assert of_dtype(np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"]}, align=True)) is ANYTHING


def test_packed_data_have_the_dtype_of_their_signature() -> None:
    """Types of one signature have one dtype, so a comparison of dtypes suffices for equal types."""
    here = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE])
    there = MPI.Datatype.Create_struct([1, 1], [16, 0], [MPI.INT32_T, MPI.DOUBLE])
    assert packed_dtype(here._definition) is packed_dtype(there._definition)
    assert packed_dtype(MPI.INT.Create_vector(2, 1, 3)._definition) is np.dtype("i4")
    assert of_dtype(packed_dtype(MPI.BYTE._definition)) is signature_of(MPI.BYTE)
    assert of_dtype(packed_dtype(MPI.PACKED._definition)) is ANYTHING
