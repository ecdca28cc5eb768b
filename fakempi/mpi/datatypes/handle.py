"""The base class of Datatype: its definition, sizes and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_TYPE
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.attributes import Attributed, Values
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.datatypes.basic import type_string
from fakempi.mpi.datatypes.definition import NULL, Definition
from fakempi.mpi.datatypes.layout import Bytes

if TYPE_CHECKING:
    from typing_extensions import Self

    from fakempi.mpi.datatypes.datatype import Datatype


class TypeHandle(Handled["Datatype"], Attributed):
    """The part of `Datatype` without constructors.

    Inside fakempi: `_size`, `_lb`, `_extent`, `_true_lb`, `_true_extent` in bytes; `_dense` if elements follow each
    other without holes; `_dtype`, numpy's type for a predefined one (of `_extent` bytes; pairs are structured). They
    are copied from the definition into slots for speed, because every message reads them.
    """

    __slots__ = (
        "__weakref__", "_definition", "_dense", "_dtype", "_extent", "_lb", "_pinned", "_size", "_true_extent",
        "_true_lb",
    )  # fmt: skip

    _attribute_kind = "Datatype"
    _definition: Definition
    _pinned: Self | None  # the handle that operations keep; the handle itself if it is that one

    def __new__(cls, datatype: Datatype | None = None) -> Self:
        if datatype is not None and not isinstance(datatype, TypeHandle):
            raise mpi_error(ERR_TYPE, f"{datatype!r} is not a datatype.", MPITypeError)
        return cls._wrap(NULL if datatype is None else datatype._definition)

    @classmethod
    def _wrap(cls, definition: Definition) -> Self:
        self = super().__new__(cls)
        self._adopt(definition)
        return self

    def _adopt(self, definition: Definition) -> None:
        layout = definition.layout
        self._definition, self._dtype = definition, definition.dtype
        self._size, self._lb, self._extent, self._dense = layout.size, layout.lb, layout.extent, layout.dense
        self._true_lb, self._true_extent = layout.true_lb, layout.true_extent
        self._pinned = None

    # -- inside fakempi ----------------------------------------------------------------------------------------------

    def _pin(self) -> Self:
        """Return a handle for an operation, which stays valid after the program has freed this one."""
        definition = self._definition
        if definition.permanent or not definition.handles:
            return self
        if self._pinned is None:
            pinned = self._pinned = self._wrap(definition)
            pinned._pinned = pinned
        return self._pinned

    def _usable(self) -> None:
        """Raise an error if the type is null, freed or not committed."""
        if not self._alive().committed:
            sentence = f"the datatype ({self._definition.describe()}) is not committed: call Commit() before using it."
            raise mpi_error(ERR_TYPE, sentence)

    def _pack(self, memory: Bytes, offset: int, count: int) -> Bytes:
        """Return the bytes of `count` elements from `offset` on, in packed order, as a new array."""
        return self._definition.layout.pack(memory, offset, count)

    def _unpack(self, data: Bytes, memory: Bytes, offset: int, count: int) -> None:
        """Unpack at most `count` elements to memory from `offset` on; other bytes stay unchanged."""
        self._definition.layout.unpack(data, memory, offset, count)

    def _span(self, count: int) -> tuple[int, int]:
        """Return the lowest byte of `count` elements, and the one after the highest, relative to their origin."""
        return self._definition.layout.span(count)

    def _elements(self, nbytes: int) -> int:
        """Return the number of basic elements in `nbytes` of packed data; UNDEFINED if the last one is partial."""
        return self._definition.count_elements(nbytes)

    def _alive(self) -> Definition:
        """Return the definition; raise an error if it is null or was freed through another handle."""
        definition = self._definition
        if definition is NULL:
            raise mpi_error(ERR_TYPE, "the datatype is DATATYPE_NULL: it was never created, or was freed.")
        if not definition.handles and self._pinned is not self:
            raise mpi_error(ERR_TYPE, f"the datatype ({definition.describe()}) was freed through another handle.")
        return definition

    # Attributes belong to the type, not to the handle; those of predefined types to the rank.

    @property
    def _attributes(self) -> Values | None:
        values: Values | None = self._definition.attributes
        return values

    @_attributes.setter
    def _attributes(self, values: Values | None) -> None:
        self._definition.attributes = values

    @property
    def _shared(self) -> bool:
        return self._definition.permanent

    def _values(self, make: bool = False) -> Any:
        handle = self._definition.canonical_handle
        return super()._values(make) if handle is None or handle is self else handle._values(make)

    def _check_attributes(self) -> None:
        self._alive()

    def _mpi_object(self) -> object | None:
        return None if self._definition is NULL else self._definition

    def __repr__(self) -> str:
        return f"<Datatype: {self._definition.describe()}>"

    # -- sizes and bounds ----------------------------------------------------------------------------------------------

    def Get_size(self) -> int:
        """Bytes of one element in a message."""
        return self._alive().layout.size

    def Get_extent(self) -> tuple[int, int]:
        """Return lower bound and extent; the extent is the distance of consecutive elements of an array."""
        layout = self._alive().layout
        return layout.lb, layout.extent

    def Get_true_extent(self) -> tuple[int, int]:
        """Return lower bound and extent of the bytes that contain data."""
        layout = self._alive().layout
        return layout.true_lb, layout.true_extent

    @property
    def size(self) -> int:
        """Bytes of one element in a message."""
        return self.Get_size()

    @property
    def extent(self) -> int:
        """Bytes from one element of an array to the next."""
        return self.Get_extent()[1]

    @property
    def lb(self) -> int:
        """The lower bound."""
        return self.Get_extent()[0]

    @property
    def ub(self) -> int:
        """The upper bound."""
        return sum(self.Get_extent())

    @property
    def true_extent(self) -> int:
        """Bytes from the lowest to the highest byte that contains data."""
        return self.Get_true_extent()[1]

    @property
    def true_lb(self) -> int:
        """The lowest byte that contains data."""
        return self.Get_true_extent()[0]

    @property
    def true_ub(self) -> int:
        """The byte after the highest one that contains data."""
        return sum(self.Get_true_extent())

    @property
    def combiner(self) -> int:
        """The constructor of the type: COMBINER_VECTOR, ..."""
        return self._alive().combiner

    @property
    def is_named(self) -> bool:
        """Whether it is one of MPI's named types."""
        return self.combiner == c.COMBINER_NAMED

    @property
    def is_predefined(self) -> bool:
        """Whether it is predefined."""
        return self._definition.permanent

    @property
    def typechar(self) -> str:
        """numpy's letter for the type; V if there is none."""
        return type_string(self._definition)[0]

    @property
    def typestr(self) -> str:
        """numpy's type string, V and the extent if there is none."""
        return type_string(self._definition)[1]
