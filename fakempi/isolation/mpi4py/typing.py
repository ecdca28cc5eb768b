"""`mpi4py.typing`: types for annotations."""

from __future__ import annotations

from typing import TypeVar

from fakempi.mpi.buffers.typing import (
    Aint,
    Bottom,
    Buffer,
    BufSpec,
    BufSpecB,
    BufSpecV,
    BufSpecW,
    Count,
    Displ,
    InPlace,
    Offset,
    SupportsBuffer,
    SupportsCAI,
    SupportsDLPack,
    TargetSpec,
    TypeSpec,
)

__all__ = [
    "Aint", "Bottom", "BufSpec", "BufSpecB", "BufSpecV", "BufSpecW", "Buffer", "Count", "Displ", "InPlace", "Offset",
    "SupportsBuffer", "SupportsCAI", "SupportsDLPack", "TargetSpec", "TypeSpec",
]  # fmt: skip

S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
