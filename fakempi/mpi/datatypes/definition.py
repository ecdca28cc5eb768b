"""What is behind a datatype handle: how the type was made, its layout, and what programs hang on it.

Several `Datatype` handles may stand for one definition, as in MPI; types made from others keep those definitions alive
after their handles were freed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fakempi.mpi.base import constants as c
from fakempi.mpi.datatypes.layout import Layout
from fakempi.mpi.datatypes.typemap import Piece

COMBINERS = {value: name.removeprefix("COMBINER_") for name, value in vars(c).items() if name.startswith("COMBINER_")}


class Definition:
    """A datatype as such.

    `params` are the constructor's arguments by name, as `Datatype.decode` shows them; `parts` say what one element
    consists of in packed order, as (times, definition); a basic type has none. `basic` is the one basic type that it
    all comes down to, or None. `home` is the handle that a predefined type is known by.
    """

    __slots__ = (
        "__weakref__", "align", "attributes", "basic", "code", "combiner", "committed", "dtype", "elements", "handles",
        "home", "label", "layout", "name", "opaque", "params", "parts", "permanent", "signature",
        "travels",
    )  # fmt: skip

    def __init__(
        self,
        combiner: int,
        layout: Layout,
        parts: tuple[tuple[int, Definition], ...] = (),
        params: dict[str, Any] | None = None,
        align: int | None = None,
    ) -> None:
        self.combiner, self.layout, self.parts, self.params = combiner, layout, parts, params or {}
        self.align: int
        self.elements: int
        self.basic: Definition | None
        if len(parts) == 1 and parts[0][0]:  # as most
            ((times, only),) = parts
            self.align, self.elements = only.align if align is None else align, times * only.elements
            self.basic = only.basic if only.layout.size else None
        else:
            strictest, elements, basics = 1, 0 if parts else 1, []
            for times, part in parts:
                if times:
                    elements += times * part.elements
                    if part.align > strictest:
                        strictest = part.align
                    if part.layout.size:
                        basics.append(part.basic)
            self.align, self.elements = strictest if align is None else align, elements
            self.basic = basics[0] if basics and basics.count(basics[0]) == len(basics) else None
        self.dtype: np.dtype[Any] | None = None
        self.code = ""  # mpi4py's type code, where there is one
        self.label = ""  # the name in the MPI module, where there is one
        self.name = ""
        self.committed = self.permanent = False
        self.opaque = False  # whether it stands for elements that MPI has no type for
        self.signature: Any = None  # once somebody has asked
        self.travels: np.dtype[Any] | None = None  # likewise: what its packed data are to numpy
        self.handles = 1
        self.home: Any = None
        self.attributes: Any = None

    def count_elements(self, nbytes: int) -> int:
        """How many basic elements `nbytes` of packed data hold; UNDEFINED if they end within one."""
        size = self.layout.size
        if not size:
            return c.UNDEFINED if nbytes else 0
        whole, rest = divmod(nbytes, size)
        found = whole * self.elements
        for times, part in self.parts:
            if not rest:
                break
            here = min(rest, times * part.layout.size)
            inside = part.count_elements(here)
            if inside == c.UNDEFINED:
                return c.UNDEFINED
            found, rest = found + inside, rest - here
        return c.UNDEFINED if rest else found

    def describe(self) -> str:
        """The type in a few words, for error messages: `INT`, `VECTOR of INT`, `STRUCT`."""
        if self.label or self.name:
            return self.label or self.name
        made, old = COMBINERS[self.combiner], self.parts[0][1] if self.parts else None
        return made if old is None or self.combiner == c.COMBINER_STRUCT else f"{made} of {old.describe()}"


def nothing() -> Definition:
    """The definition behind DATATYPE_NULL."""
    made = Definition(c.COMBINER_NAMED, Layout((), 0, 0, 0))
    made.label, made.name, made.permanent = "DATATYPE_NULL", "MPI_DATATYPE_NULL", True
    return made


NULL = nothing()


@lru_cache(None)
def _in_a_row(size: int) -> Layout:
    """That of so many bytes; one for all types of that size, so that what is kept for one type serves the others."""
    return Layout((Piece(0, 0, size),), size, 0, size)


def basic_type(label: str, name: str, code: str, dtype: np.dtype[Any]) -> Definition:
    """A predefined type that is one number, character or byte."""
    made = Definition(c.COMBINER_NAMED, _in_a_row(dtype.itemsize), align=dtype.alignment)
    return _predefined(made, label, name, code, dtype)


def pair_type(label: str, name: str, value: Definition, index: Definition) -> Definition:
    """A predefined pair for MAXLOC and MINLOC, laid out as a C compiler does."""
    dtype = np.dtype({"names": ["value", "index"], "formats": [value.dtype, index.dtype]}, align=True)
    first, second = value.layout.size, index.layout.size
    at = 0 if dtype.fields is None else int(dtype.fields["index"][1])
    pieces = (Piece(0, 0, first + second),) if at == first else (Piece(0, 0, first), Piece(at, first, second))
    layout = Layout(pieces, first + second, 0, dtype.itemsize)
    made = Definition(c.COMBINER_NAMED, layout, ((1, value), (1, index)), align=dtype.alignment)
    return _predefined(made, label, name, "", dtype)


def _predefined(made: Definition, label: str, name: str, code: str, dtype: np.dtype[Any]) -> Definition:
    made.label, made.name, made.code, made.dtype, made.basic = label, name, code, dtype, made
    made.committed = made.permanent = True
    return made
