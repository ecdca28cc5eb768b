"""The definition behind a datatype handle: the type's construction, layout, name and attributes.

Several `Datatype` handles may share one definition, as in MPI. Derived types keep the definitions of their parts alive after
the handles of those were freed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fakempi.mpi.base import constants as c
from fakempi.mpi.base.attributes import Values
from fakempi.mpi.datatypes.layout import TypeLayout
from fakempi.mpi.datatypes.typemap import Piece
from fakempi.mpi.interfaces.arrays import Dtype

COMBINERS = {value: name.removeprefix("COMBINER_") for name, value in vars(c).items() if name.startswith("COMBINER_")}


class Definition:
    """The definition of a datatype.

    `params` are the constructor's arguments by name, as `Datatype.decode` returns them. `parts` are the components of one
    element in packed order, as (times, definition); a basic type has none. `basic` is the only basic type in it, or None if
    there are several. `canonical_handle` is the unique handle of a predefined type.
    """

    __slots__ = (
        "__weakref__", "align", "attributes", "basic", "canonical_handle", "code", "combiner", "committed", "dtype",
        "elements", "handles", "label", "layout", "name", "opaque", "packed_dtype", "params", "parts", "permanent",
        "signature",
    )  # fmt: skip

    def __init__(
        self,
        combiner: int,
        layout: TypeLayout,
        parts: tuple[tuple[int, Definition], ...] = (),
        params: dict[str, Any] | None = None,
        align: int | None = None,
    ) -> None:
        self.combiner, self.layout, self.parts, self.params = combiner, layout, parts, params or {}
        self.align: int
        self.elements: int
        self.basic: Definition | None
        if len(parts) == 1 and parts[0][0]:  # the common case
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
        self.dtype: Dtype | None = None
        self.code = ""  # mpi4py's type code, where there is one
        self.label = ""  # the name in the MPI module, where there is one
        self.name = ""
        self.committed = self.permanent = False
        self.opaque = False  # whether it represents numpy elements without an MPI type
        self.signature: Any = None  # computed on first use
        self.packed_dtype: Dtype | None = None  # computed on first use: numpy's type of its packed data
        self.handles = 1
        self.canonical_handle: Any = None
        self.attributes: Values | None = None

    def count_elements(self, nbytes: int) -> int:
        """Return the number of basic elements in `nbytes` of packed data; UNDEFINED if the last one is partial."""
        size = self.layout.size
        if not size:
            return c.UNDEFINED if nbytes else 0
        whole, rest = divmod(nbytes, size)
        count = whole * self.elements
        for times, part in self.parts:
            if not rest:
                break
            available = min(rest, times * part.layout.size)
            inside = part.count_elements(available)
            if inside == c.UNDEFINED:
                return c.UNDEFINED
            count, rest = count + inside, rest - available
        return c.UNDEFINED if rest else count

    def describe(self) -> str:
        """Return a short description for error messages: `INT`, `VECTOR of INT`, `STRUCT`."""
        if self.label or self.name:
            return self.label or self.name
        combiner, old = COMBINERS[self.combiner], self.parts[0][1] if self.parts else None
        return combiner if old is None or self.combiner == c.COMBINER_STRUCT else f"{combiner} of {old.describe()}"


def null_definition() -> Definition:
    """Return the definition of DATATYPE_NULL."""
    definition = Definition(c.COMBINER_NAMED, TypeLayout((), 0, 0, 0))
    definition.label, definition.name, definition.permanent = "DATATYPE_NULL", "MPI_DATATYPE_NULL", True
    return definition


NULL = null_definition()


@lru_cache(None)
def _contiguous_layout(size: int) -> TypeLayout:
    """Return the layout of `size` contiguous bytes; types of one size share it, and so its cached moves."""
    return TypeLayout((Piece(0, 0, size),), size, 0, size)


def basic_type(label: str, name: str, code: str, dtype: Dtype) -> Definition:
    """Return a predefined type that is one number, character or byte."""
    definition = Definition(c.COMBINER_NAMED, _contiguous_layout(dtype.itemsize), align=dtype.alignment)
    return _predefined(definition, label, name, code, dtype)


def pair_type(label: str, name: str, value: Definition, index: Definition) -> Definition:
    """Return a predefined pair for MAXLOC and MINLOC, with the layout of a C compiler."""
    dtype = np.dtype({"names": ["value", "index"], "formats": [value.dtype, index.dtype]}, align=True)
    first, second = value.layout.size, index.layout.size
    at = 0 if dtype.fields is None else int(dtype.fields["index"][1])
    pieces = (Piece(0, 0, first + second),) if at == first else (Piece(0, 0, first), Piece(at, first, second))
    layout = TypeLayout(pieces, first + second, 0, dtype.itemsize)
    definition = Definition(c.COMBINER_NAMED, layout, ((1, value), (1, index)), align=dtype.alignment)
    return _predefined(definition, label, name, "", dtype)


def _predefined(definition: Definition, label: str, name: str, code: str, dtype: Dtype) -> Definition:
    definition.label, definition.name, definition.code = label, name, code
    definition.dtype, definition.basic = dtype, definition
    definition.committed = definition.permanent = True
    return definition
