"""Type signatures: the same basic types in the same order, whatever they are called and wherever they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi import MPI
from fakempi.mpi.datatypes.signature import ANYTHING, MOST, Signature, of_dtype, of_type, travels_as


def of(datatype: Any) -> Signature:
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
def test_types_of_one_kind_and_size_are_the_same(one: str, other: str) -> None:
    """C's and Fortran's names, and all that have one byte; PACKED is whatever is in it."""
    assert of(getattr(MPI, one)).agrees(of(getattr(MPI, other)), 64)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("INT", "FLOAT"), ("INT64_T", "DOUBLE"), ("INT", "UNSIGNED"), ("COMPLEX", "DOUBLE"), ("BYTE", "INT"),
        ("CHAR", "WCHAR"), ("SHORT", "FLOAT16_T"), ("FLOAT_INT", "INT_INT"), ("LONG_DOUBLE", "C_DOUBLE_COMPLEX"),
    ],
)  # fmt: skip
def test_types_of_another_kind_are_not(one: str, other: str) -> None:
    """Though they may have one size; no bytes at all agree with anything."""
    assert not of(getattr(MPI, one)).agrees(of(getattr(MPI, other)), 64)
    assert of(getattr(MPI, one)).agrees(of(getattr(MPI, other)), 0)


def test_layout_does_not_matter_and_order_does() -> None:
    """A vector of doubles is doubles, and an int and a float are not a float and an int."""
    assert of(MPI.DOUBLE.Create_vector(3, 2, 5)) is of(MPI.DOUBLE)
    assert of(MPI.DOUBLE.Create_indexed([1, 2], [9, 0]).Create_resized(-8, 400)) is of(MPI.FLOAT64_T)
    here = MPI.Datatype.Create_struct([1, 2], [0, 8], [MPI.INT, MPI.DOUBLE])
    there = MPI.Datatype.Create_struct([1, 1, 1], [100, 40, 0], [MPI.INT32_T, MPI.DOUBLE, MPI.DOUBLE])
    assert of(here) is of(there)
    assert of(here).words(40) == "2 x (1 int32, 2 float64)"
    assert not of(MPI.Datatype.Create_struct([2, 1], [0, 16], [MPI.DOUBLE, MPI.INT])).agrees(of(here), 20)
    assert of(MPI.FLOAT_INT).agrees(of(MPI.Datatype.Create_struct([1, 1], [0, 4], [MPI.FLOAT, MPI.INT])), 80)
    assert of(MPI.DOUBLE_INT).agrees(of(MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.DOUBLE, MPI.INT])), 12)


def test_what_is_shorter_must_be_the_beginning() -> None:
    """A message may end before its buffer does, in the middle of an element too."""
    pair = MPI.Datatype.Create_struct([2, 1], [0, 8], [MPI.INT, MPI.FLOAT])
    assert of(MPI.INT).agrees(of(pair), 8)
    assert not of(MPI.INT).agrees(of(pair), 12)


codes = st.sampled_from(["INT", "INT32_T", "FLOAT", "DOUBLE", "BYTE", "CHAR"])
members = st.lists(st.tuples(st.integers(0, 3), codes), min_size=1, max_size=4)


def written_out(parts: list[tuple[int, str]], nbytes: int) -> list[str]:
    """A kind for each byte of a message of so many bytes."""
    same = {"INT32_T": "INT", "CHAR": "BYTE"}
    one = [same.get(code, code) for times, code in parts for _ in range(times * getattr(MPI, code).Get_size())]
    return (one * (nbytes // len(one) + 1))[:nbytes] if one else []


@given(members, members, st.integers(1, 3))
def test_two_agree_if_all_their_bytes_do(one: list[tuple[int, str]], other: list[tuple[int, str]], times: int) -> None:
    """As many whole elements of the one as there are, against the other, from the beginning."""
    kinds = []
    for parts in (one, other):
        lengths = [count for count, _ in parts]
        types = [getattr(MPI, code) for _, code in parts]
        kinds.append(MPI.Datatype.Create_struct(lengths, [64 * i for i in range(len(parts))], types))
    nbytes = times * kinds[0].Get_size()
    expected = not nbytes or not kinds[1].Get_size() or written_out(one, nbytes) == written_out(other, nbytes)
    assert of(kinds[0]).agrees(of(kinds[1]), nbytes) == expected


def test_a_signature_needs_little_room() -> None:
    """A billion doubles are one run, and what is too irregular for a look is left alone."""
    assert of(MPI.DOUBLE.Create_contiguous(10**9)).runs == (("f8", 1),)
    pair = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE])
    assert of(pair.Create_contiguous(10**6)) is of(pair)
    assert of(MPI.Datatype.Create_struct([MOST, 1], [0, 10**6], [pair, MPI.INT])) is ANYTHING


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ("i4", "6 int32"), ("c16", "1 complex128"), ("S3", "24 bytes"), ("?", "24 bytes"), ("M8[s]", "3 int64"),
        ("U2", "6 wide characters"), ([("a", "i4"), ("b", "f8", (2, 1))], "1 x (1 int32, 2 float64)"), ("V3", "24 bytes"),
    ],
)  # fmt: skip
def test_arrays_of_numpy_have_signatures(dtype: Any, words: str) -> None:
    """Of structured ones the fields count, unless there are holes."""
    assert of_dtype(np.dtype(dtype)).words(24) == words
    assert of_dtype(np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"]}, align=True)) is ANYTHING


def test_packed_data_travel_as_what_they_are() -> None:
    """Types of one signature have one dtype, so that messages of one type are known by a look at that."""
    here = MPI.Datatype.Create_struct([1, 1], [0, 8], [MPI.INT, MPI.DOUBLE])
    there = MPI.Datatype.Create_struct([1, 1], [16, 0], [MPI.INT32_T, MPI.DOUBLE])
    assert travels_as(here._definition) is travels_as(there._definition)
    assert travels_as(MPI.INT.Create_vector(2, 1, 3)._definition) is np.dtype("i4")
    assert of_dtype(travels_as(MPI.BYTE._definition)) is of(MPI.BYTE)
    assert of_dtype(travels_as(MPI.PACKED._definition)) is ANYTHING
