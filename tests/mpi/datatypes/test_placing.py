"""Layouts that are kept for whoever makes the same type again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakempi.mpi.datatypes import placing
from fakempi.mpi.datatypes import predefined as MPI
from fakempi.mpi.datatypes.datatype import Datatype

MAKE: dict[str, Callable[[Datatype], Datatype]] = {
    "contiguous": lambda old: old.Create_contiguous(3),
    "vector": lambda old: old.Create_vector(2, 3, 5),
    "indexed": lambda old: old.Create_indexed([1, 2], [0, 4]),
    "struct": lambda old: Datatype.Create_struct([1, 2], [0, 8], [old, MPI.DOUBLE]),
    "subarray": lambda old: old.Create_subarray([4, 4], [2, 2], [1, 1]),
    "resized": lambda old: old.Create_resized(0, 16),
}


@pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)
def test_types_that_are_made_alike_have_one_layout(make: Callable[[Datatype], Datatype]) -> None:
    """Also if their elements are called differently, where these are of one size."""
    first, second, third = make(MPI.INT), make(MPI.INT), make(MPI.FLOAT)
    assert first._definition.layout is second._definition.layout is third._definition.layout


def test_types_that_are_made_alike_are_two_types() -> None:
    """What is done to one is not done to the other."""
    first, second = MPI.INT.Create_vector(2, 3, 5), MPI.INT.Create_vector(2, 3, 5)
    assert first != second
    first.Set_name("mine")
    first.Commit().Free()
    assert (second.Get_name(), second._definition.committed, second.Get_size()) == ("", False, 24)


def test_a_long_table_of_blocks_is_not_kept() -> None:
    """Nor what is made of it: it goes with the last type that needs it."""
    rows = MPI.INT.Create_indexed_block(1, [i * i for i in range(100)])
    before = kept(placing.bounded), kept(placing.rows)
    wider = rows.Create_resized(0, 2**16).Create_contiguous(2)
    assert not wider._definition.layout.light
    assert (kept(placing.bounded), kept(placing.rows)) == before


def test_no_more_than_the_latest_are_kept() -> None:
    """However many types a program makes."""
    for stride in range(placing.KEPT + 10):
        MPI.INT.Create_hvector(2, 1, 4 + stride).Free()
    assert kept(placing.rows) == placing.KEPT


def kept(make: Any) -> int:
    """How many layouts a function has kept."""
    (cache,) = (cell.cell_contents for cell in make.__closure__ if hasattr(cell.cell_contents, "cache_info"))
    size: int = cache.cache_info().currsize
    return size
