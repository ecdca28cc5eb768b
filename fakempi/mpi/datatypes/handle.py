"""What every datatype handle knows: the definition it stands for, its sizes, and how fakempi asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_TYPE
from fakempi.errors import MPITypeError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.attributes import Attributed, Values
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.identity import Handled
from fakempi.mpi.datatypes.basic import type_string
from fakempi.mpi.datatypes.definition import NULL, Definition
from fakempi.mpi.datatypes.layout import Bytes

if TYPE_CHECKING:
    from typing_extensions import Self


class TypeHandle(Handled, Attributed):
    """The half of `Datatype` that makes nothing.

    Inside fakempi: `_size`, `_lb`, `_extent`, `_true_lb`, `_true_extent` in bytes; `_dense` if elements follow each
    other without holes; `_dtype`, numpy's type for a predefined one (of `_extent` bytes; pairs are structured). They
    are copied from the definition into slots because messages ask all the time.
    """

    __slots__ = (
        "__weakref__", "_definition", "_dense", "_dtype", "_extent", "_lb", "_size", "_true_extent", "_true_lb",
    )  # fmt: skip

    _attribute_kind = "Datatype"
    _definition: Definition

    def __new__(cls, datatype: TypeHandle | None = None) -> Self:
        if datatype is not None and not isinstance(datatype, TypeHandle):
            raise complaint(ERR_TYPE, f"{datatype!r} is not a datatype.", MPITypeError)
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

    # -- inside fakempi ----------------------------------------------------------------------------------------------

    def _usable(self) -> None:
        """Complain unless messages may consist of it: null, freed and uncommitted types may not."""
        if not self._alive().committed:
            words = f"the datatype ({self._definition.describe()}) is not committed: call Commit() before using it."
            raise complaint(ERR_TYPE, words)

    def _pack(self, memory: Bytes, offset: int, count: int) -> Bytes:
        """The bytes of `count` elements from `offset` on, in packed order, as a fresh array."""
        return self._definition.layout.pack(memory, offset, count)

    def _unpack(self, data: Bytes, memory: Bytes, offset: int, count: int) -> None:
        """Put packed bytes, at most `count` elements, in their places from `offset` on; leave all others alone."""
        self._definition.layout.unpack(data, memory, offset, count)

    def _span(self, count: int) -> tuple[int, int]:
        """The lowest byte that `count` elements touch, and the one after the highest, relative to their origin."""
        return self._definition.layout.span(count)

    def _elements(self, nbytes: int) -> int:
        """How many basic elements `nbytes` of packed data hold; UNDEFINED if they end within one."""
        return self._definition.count_elements(nbytes)

    def _alive(self) -> Definition:
        """The definition, which must be neither null nor freed through another handle."""
        definition = self._definition
        if definition is NULL:
            raise complaint(ERR_TYPE, "the datatype is DATATYPE_NULL: it was never made, or was freed.")
        if not definition.handles:
            raise complaint(ERR_TYPE, f"the datatype ({definition.describe()}) was freed through another handle.")
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
        home = self._definition.home
        return super()._values(make) if home is None or home is self else home._values(make)

    def _check_attributes(self) -> None:
        self._alive()

    def _stands_for(self) -> object | None:
        return None if self._definition is NULL else self._definition

    def __repr__(self) -> str:
        return f"<Datatype: {self._definition.describe()}>"

    # -- asking --------------------------------------------------------------------------------------------------------

    def Get_size(self) -> int:
        """Bytes of one element in a message."""
        return self._alive().layout.size

    def Get_extent(self) -> tuple[int, int]:
        """Lower bound and extent: an element of an array starts one extent after the one before."""
        layout = self._alive().layout
        return layout.lb, layout.extent

    def Get_true_extent(self) -> tuple[int, int]:
        """Lower bound and extent of the bytes that are really there."""
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
        """Bytes from the lowest to the highest that is really there."""
        return self.Get_true_extent()[1]

    @property
    def true_lb(self) -> int:
        """The lowest byte that is really there."""
        return self.Get_true_extent()[0]

    @property
    def true_ub(self) -> int:
        """The byte after the highest that is really there."""
        return sum(self.Get_true_extent())

    @property
    def combiner(self) -> int:
        """Which call made the type: COMBINER_VECTOR, ..."""
        return self._alive().combiner

    @property
    def is_named(self) -> bool:
        """Has MPI a name for it?"""
        return self.combiner == c.COMBINER_NAMED

    @property
    def is_predefined(self) -> bool:
        """Does it exist without anybody making it?"""
        return self._definition.permanent

    @property
    def typechar(self) -> str:
        """numpy's letter for the type, V if there is none."""
        return type_string(self._definition)[0]

    @property
    def typestr(self) -> str:
        """numpy's type string, V and the extent if there is none."""
        return type_string(self._definition)[1]
