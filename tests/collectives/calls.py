"""One rank's call of a collective, and what ranks have to give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from collectives import Case

Array = NDArray[Any]
DTYPES: Mapping[int, str] = {1: "uint8", 2: "int16", 4: "int32", 8: "float64", 16: "complex128"}


@dataclass
class Call:
    """One rank's call: arguments, the buffer to look at afterwards, what it must hold, what must not change."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Array
    expected: Array
    untouched: tuple[tuple[Array, Array], ...] = ()


def contents(rank: int, size: int, itemsize: int) -> Array:
    """What a rank has to give: different for every rank and place, as far as the type can hold it."""
    values = (np.arange(size) * 7 + rank * 31 + 1) % 251
    return values.astype(DTYPES[itemsize])


def blank(size: int, itemsize: int) -> Array:
    return np.full(size, 255, DTYPES[itemsize])


def sizes(case: Case) -> list[int]:
    """The blocks of all ranks, in elements."""
    return [case.layout.size(r) for r in range(case.p)]
