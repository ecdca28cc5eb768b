"""The cache of layouts of derived types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fakempi.mpi.datatypes import derived_layouts
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
def test_equal_constructions_share_one_layout(make: Callable[[Datatype], Datatype]) -> None:
    """Also if their elements have different names but one size."""
    first, second, third = make(MPI.INT), make(MPI.INT), make(MPI.FLOAT)
    assert first._definition.layout is second._definition.layout is third._definition.layout


def test_equal_constructions_are_different_types() -> None:
    """A change of one type does not change the other."""
    first, second = MPI.INT.Create_vector(2, 3, 5), MPI.INT.Create_vector(2, 3, 5)
    assert first != second
    first.Set_name("mine")
    first.Commit().Free()
    assert (second.Get_name(), second._definition.committed, second.Get_size()) == ("", False, 24)


def test_a_long_table_of_blocks_is_not_kept() -> None:
    """Types derived from it are not cached either: the layout is freed with the last type that uses it."""
    rows = MPI.INT.Create_indexed_block(1, [i * i for i in range(100)])
    before = kept(derived_layouts.bounded), kept(derived_layouts.rows)
    wider = rows.Create_resized(0, 2**16).Create_contiguous(2)
    assert not wider._definition.layout.cacheable
    assert (kept(derived_layouts.bounded), kept(derived_layouts.rows)) == before


def test_only_the_latest_layouts_are_kept() -> None:
    """However many types a program makes."""
    for stride in range(derived_layouts.CACHE_SIZE + 10):
        MPI.INT.Create_hvector(2, 1, 4 + stride).Free()
    assert kept(derived_layouts.rows) == derived_layouts.CACHE_SIZE


def kept(make: Any) -> int:
    """The number of layouts that a function has cached."""
    (cache,) = (cell.cell_contents for cell in make.__closure__ if hasattr(cell.cell_contents, "cache_info"))
    size: int = cache.cache_info().currsize
    return size
