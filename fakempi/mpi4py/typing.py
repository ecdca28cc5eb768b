"""`mpi4py.typing`: names for annotations."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, List, Protocol, SupportsIndex, Tuple, TypeVar, Union  # noqa: UP035

from fakempi import MPI

__all__ = [
    "Aint", "Bottom", "BufSpec", "BufSpecB", "BufSpecV", "BufSpecW", "Buffer", "Count", "Displ", "InPlace", "Offset",
    "SupportsBuffer", "SupportsCAI", "SupportsDLPack", "TargetSpec", "TypeSpec",
]  # fmt: skip


class SupportsBuffer(Protocol):
    """What has memory, by Python's buffer protocol."""

    if sys.version_info >= (3, 12):

        def __buffer__(self, flags: int, /) -> memoryview:
            """Its memory."""


class SupportsDLPack(Protocol):
    """What has memory, by DLPack."""

    def __dlpack__(self, /, *, stream: int | Any | None = None) -> object:
        """Its memory, as a capsule."""

    def __dlpack_device__(self) -> Tuple[int, int]:  # noqa: UP006
        """Where that is."""


class SupportsCAI(Protocol):
    """What has memory, by the CUDA array interface."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Its memory."""


# In the forms of Python 3.8, as mpi4py has them: programs ask them for their arguments.
Buffer = Union[SupportsBuffer, SupportsDLPack, SupportsCAI]  # noqa: UP007
Bottom = Union[MPI.BottomType, None]  # noqa: UP007
InPlace = Union[MPI.InPlaceType, None]  # noqa: UP007
Aint = SupportsIndex
Count = SupportsIndex
Displ = SupportsIndex
Offset = SupportsIndex
TypeSpec = Union[MPI.Datatype, str]  # noqa: UP007

_Any = List[Any]  # noqa: UP006
_Counts = Sequence[Count]
_Displs = Sequence[Displ]
_Types = Sequence[MPI.Datatype]
_Blocks = Tuple[_Counts, _Displs]  # noqa: UP006

BufSpecB = Union[  # noqa: UP007
    Buffer, Tuple[Buffer, Count], Tuple[Buffer, TypeSpec], Tuple[Buffer, Count, TypeSpec], _Any,  # noqa: UP006
]  # fmt: skip
BufSpec = Union[BufSpecB, Tuple[Bottom, Count, MPI.Datatype]]  # noqa: UP006, UP007
BufSpecV = Union[  # noqa: UP007
    Buffer, Tuple[Buffer, _Counts], Tuple[Buffer, _Blocks], Tuple[Buffer, TypeSpec],  # noqa: UP006
    Tuple[Buffer, _Counts, TypeSpec], Tuple[Buffer, _Blocks, TypeSpec],  # noqa: UP006
    Tuple[Buffer, _Counts, _Displs, TypeSpec], Tuple[Bottom, _Blocks, MPI.Datatype],  # noqa: UP006
    Tuple[Bottom, _Counts, _Displs, MPI.Datatype], _Any,  # noqa: UP006
]  # fmt: skip
BufSpecW = Union[  # noqa: UP007
    Tuple[Buffer, _Types], Tuple[Buffer, _Blocks, _Types], Tuple[Buffer, _Counts, _Displs, _Types],  # noqa: UP006
    Tuple[Bottom, _Blocks, _Types], Tuple[Bottom, _Counts, _Displs, _Types], _Any,  # noqa: UP006
]  # fmt: skip
TargetSpec = Union[  # noqa: UP007
    Displ, Tuple[()], Tuple[Displ], Tuple[Displ, Count], Tuple[Displ, Count, TypeSpec], _Any,  # noqa: UP006
]  # fmt: skip

S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
