"""Types of buffer arguments, those of `mpi4py.typing`: memory, or a sequence of memory, counts and datatypes.

The aliases have the forms of Python 3.8, as in mpi4py, because programs inspect their arguments at run time.
"""
# ruff: noqa: UP006, UP007, UP035

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, List, SupportsIndex, Tuple, TypeAlias, Union

from fakempi.mpi.buffers.address_constants import BottomType, InPlaceType
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.interfaces.buffers import Buffer as Buffer
from fakempi.mpi.interfaces.buffers import SupportsBuffer as SupportsBuffer
from fakempi.mpi.interfaces.buffers import SupportsCAI as SupportsCAI
from fakempi.mpi.interfaces.buffers import SupportsDLPack as SupportsDLPack

Bottom: TypeAlias = Union[BottomType, None]
InPlace: TypeAlias = Union[InPlaceType, None]
Aint: TypeAlias = SupportsIndex
Count: TypeAlias = SupportsIndex
Displ: TypeAlias = SupportsIndex
Offset: TypeAlias = SupportsIndex
TypeSpec: TypeAlias = Union[Datatype, str]

_Counts: TypeAlias = Sequence[Count]
_Displs: TypeAlias = Sequence[Displ]
_Blocks: TypeAlias = Tuple[_Counts, _Displs]
_Types: TypeAlias = Sequence[Datatype]
_List: TypeAlias = List[Any]  # the items of one of the tuples: the type of a list has one type for all items

BufSpec: TypeAlias = Union[
    Buffer,
    Tuple[Buffer, Count],
    Tuple[Buffer, TypeSpec],
    Tuple[Buffer, Count, TypeSpec],
    Tuple[Bottom, Count, Datatype],
    _List,
]
BufSpecB: TypeAlias = Union[Buffer, Tuple[Buffer, Count], Tuple[Buffer, TypeSpec], Tuple[Buffer, Count, TypeSpec], _List]
BufSpecV: TypeAlias = Union[
    Buffer,
    Tuple[Buffer, _Counts],
    Tuple[Buffer, _Blocks],
    Tuple[Buffer, TypeSpec],
    Tuple[Buffer, _Counts, TypeSpec],
    Tuple[Buffer, _Blocks, TypeSpec],
    Tuple[Buffer, _Counts, _Displs, TypeSpec],
    Tuple[Bottom, _Blocks, Datatype],
    Tuple[Bottom, _Counts, _Displs, Datatype],
    _List,
]
BufSpecW: TypeAlias = Union[
    Tuple[Buffer, _Types],
    Tuple[Buffer, _Blocks, _Types],
    Tuple[Buffer, _Counts, _Displs, _Types],
    Tuple[Bottom, _Blocks, _Types],
    Tuple[Bottom, _Counts, _Displs, _Types],
    _List,
]
AnySpec: TypeAlias = Union[BufSpec, BufSpecV, BufSpecW, InPlace]
"""Any buffer argument of a collective call, for functions that serve several calls."""

TargetSpec: TypeAlias = Union[
    Displ, Tuple[()], Tuple[Displ], Tuple[Displ, Count], Tuple[Displ, Count, TypeSpec], _List,
]  # fmt: skip
