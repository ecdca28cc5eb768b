"""Datatype: the handle that programs use. Its state is a `Definition`; `derived` has the constructors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_TYPE
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.attributes import object_name
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.datatypes import basic, derived, packing
from fakempi.mpi.datatypes.darray import darray
from fakempi.mpi.datatypes.definition import COMBINERS, NULL, Definition
from fakempi.mpi.datatypes.handle import TypeHandle
from fakempi.mpi.interfaces.buffers import Buffer

if TYPE_CHECKING:
    from typing_extensions import Self


class Datatype(TypeHandle):
    """A datatype: the bytes of memory that form an element of a message, and their order."""

    __module__ = "fakempi.MPI"  # the module in which programs find the class, and from which pickles import it
    __slots__ = ()

    @property
    def _basic(self) -> Datatype | None:
        """The only predefined type that this type consists of, or None if there are several; reductions use it."""
        only = self._definition.basic
        return None if only is None else _canonical(only)

    # -- pickling ------------------------------------------------------------------------------------------------------

    def __reduce__(self) -> str | tuple[Any, ...]:
        definition = self._definition
        if definition.label:
            return definition.label if definition.canonical_handle is self else (type(self), (definition.canonical_handle,))
        reduced = _datatype_create, self.decode()
        return reduced if type(self) is Datatype else (_of_class, (type(self), *reduced))

    # -- construction arguments ----------------------------------------------------------------------------------------

    def Get_envelope(self) -> tuple[int, int, int, int, int]:
        """Return the numbers of integers, addresses, counts and datatypes of `Get_contents`, and the combiner."""
        definition = self._alive()
        integers, counts = derived.contents(definition)
        return len(integers), 0, len(counts), len(definition.parts) if self._is_derived() else 0, definition.combiner

    def Get_contents(self) -> tuple[list[int], list[int], list[int], list[Datatype]]:
        """Return the constructor's arguments: integers, addresses, counts, datatypes."""
        definition = self._alive()
        if definition.combiner == c.COMBINER_NAMED:
            raise mpi_error(ERR_TYPE, f"{definition.describe()} is predefined and has no contents.", MPIValueError)
        integers, counts = derived.contents(definition)
        return integers, [], counts, [new_handle(part) for _, part in definition.parts]

    def decode(self) -> tuple[Datatype, str, dict[str, Any]]:
        """Return the old type (or DATATYPE_NULL), the combiner's name, and the arguments by name."""
        definition = self._alive()
        params = {name: list(v) if isinstance(v, list) else v for name, v in definition.params.items()}
        if definition.combiner == c.COMBINER_NAMED:
            return self, "NAMED", params
        olds = [new_handle(part) for _, part in definition.parts]
        if definition.combiner == c.COMBINER_STRUCT:
            return _canonical(NULL), "STRUCT", {**params, "datatypes": olds}
        return olds[0] if olds else _canonical(NULL), COMBINERS[definition.combiner], params

    def _is_derived(self) -> bool:
        return self._definition.combiner != c.COMBINER_NAMED

    # -- constructors --------------------------------------------------------------------------------------------------

    def Dup(self) -> Self:
        """Return a duplicate, with the attributes whose copy functions allow it."""
        new = self._from_definition(derived.duplicate(self._alive()))
        try:
            self._copy_attributes_to(new)
        except Exception:  # of a copy function: the program gets no handle, so it cannot free the duplicate
            new.Free()
            raise
        return new

    def Create_contiguous(self, count: int) -> Self:
        """Return the type of `count` contiguous elements."""
        return self._from_definition(derived.contiguous(self._alive(), count))

    def Create_vector(self, count: int, blocklength: int, stride: int) -> Self:
        """Blocks of `blocklength` elements, every `stride` elements."""
        return self._from_definition(derived.vector(self._alive(), count, blocklength, stride))

    def Create_hvector(self, count: int, blocklength: int, stride: int) -> Self:
        """Blocks of `blocklength` elements, every `stride` bytes."""
        return self._from_definition(derived.vector(self._alive(), count, blocklength, stride, bytewise=True))

    def Create_indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Self:
        """Blocks of different lengths; displacements are in elements."""
        return self._from_definition(derived.indexed(self._alive(), blocklengths, displacements))

    def Create_hindexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Self:
        """Blocks of different lengths; displacements are in bytes."""
        return self._from_definition(derived.indexed(self._alive(), blocklengths, displacements, bytewise=True))

    def Create_indexed_block(self, blocklength: int, displacements: Sequence[int]) -> Self:
        """Blocks of one length; displacements are in elements."""
        return self._from_definition(derived.indexed_block(self._alive(), blocklength, displacements))

    def Create_hindexed_block(self, blocklength: int, displacements: Sequence[int]) -> Self:
        """Blocks of one length; displacements are in bytes."""
        return self._from_definition(derived.indexed_block(self._alive(), blocklength, displacements, bytewise=True))

    @classmethod
    def Create_struct(cls, blocklengths: Sequence[int], displacements: Sequence[int], datatypes: Sequence[Datatype]) -> Self:
        """Blocks of different types; displacements are in bytes."""
        return cls._from_definition(derived.struct(blocklengths, displacements, _definitions(datatypes)))

    def Create_subarray(
        self, sizes: Sequence[int], subsizes: Sequence[int], starts: Sequence[int], order: int = c.ORDER_C
    ) -> Self:
        """Return the type of a rectangular part of an array."""
        return self._from_definition(derived.subarray(self._alive(), sizes, subsizes, starts, order))

    def Create_darray(
        self,
        size: int,
        rank: int,
        gsizes: Sequence[int],
        distribs: Sequence[int],
        dargs: Sequence[int],
        psizes: Sequence[int],
        order: int = c.ORDER_C,
    ) -> Self:
        """Return the type of one process's share of an array that is distributed over a grid of processes."""
        return self._from_definition(darray(self._alive(), size, rank, gsizes, distribs, dargs, psizes, order))

    def Create_resized(self, lb: int, extent: int) -> Self:
        """Return a type with the same bytes and another lower bound and extent."""
        return self._from_definition(derived.resized(self._alive(), lb, extent))

    Create_dup = Dup
    Resized = Create_resized

    @classmethod
    def Create_f90_integer(cls, r: int) -> Self:
        """Fortran's integer type with `r` decimal digits."""
        return cls._permanent(basic.by_precision(c.COMBINER_F90_INTEGER, derived.number("r", r, 32)))

    @classmethod
    def Create_f90_real(cls, p: int, r: int) -> Self:
        """Fortran's real type with `p` decimal digits and decimal exponents up to `r`; either may be UNDEFINED."""
        digits, exponent = derived.number("p", p, 32), derived.number("r", r, 32)
        return cls._permanent(basic.by_precision(c.COMBINER_F90_REAL, digits, exponent))

    @classmethod
    def Create_f90_complex(cls, p: int, r: int) -> Self:
        """Fortran's complex type with `p` decimal digits and decimal exponents up to `r`; either may be UNDEFINED."""
        digits, exponent = derived.number("p", p, 32), derived.number("r", r, 32)
        return cls._permanent(basic.by_precision(c.COMBINER_F90_COMPLEX, digits, exponent))

    @classmethod
    def Get_value_index(cls, value: Datatype, index: Datatype) -> Self:
        """The predefined pair of these types, or DATATYPE_NULL."""
        first, second = _definitions([value, index])
        return cls._permanent(basic.by_pair(first, second))

    @classmethod
    def Match_size(cls, typeclass: int, size: int) -> Self:
        """Fortran's type of that class and size in bytes."""
        return cls._permanent(basic.by_class(integer("typeclass", typeclass), integer("size", size)))

    @classmethod
    def _from_definition(cls, definition: Definition) -> Self:
        """Return a handle for a new type, which the program has to free."""
        track("datatype-leak", definition)
        return cls._wrap(definition)

    @classmethod
    def _permanent(cls, definition: Definition) -> Self:
        """Return a handle for a predefined type."""
        handle: Any = _canonical(definition)
        return handle if cls is Datatype else cls._wrap(definition)

    # -- commit and free -----------------------------------------------------------------------------------------------

    def Commit(self) -> Self:
        """Commit the type, so that messages may use it; return the type."""
        self._alive().committed = True
        return self

    def Free(self) -> None:
        """Free the type; types derived from it stay valid."""
        definition = self._alive()
        if definition.permanent:
            raise mpi_error(ERR_TYPE, f"{definition.describe()} is predefined and cannot be freed.", MPIValueError)
        if definition.handles == 1:
            self._delete_attributes()
        definition.handles -= 1
        untrack("datatype-leak", definition)
        self._adopt(NULL)

    def free(self) -> None:
        """Free a derived type; a copy of the handle of a predefined type becomes DATATYPE_NULL."""
        definition = self._definition
        if definition.permanent:
            if definition.canonical_handle is not self:
                self._adopt(NULL)
        elif definition.handles:
            self.Free()

    # -- packing -------------------------------------------------------------------------------------------------------

    def Pack(self, inbuf: Buffer, outbuf: Buffer, position: int, comm: object) -> int:
        """Pack `inbuf` into `outbuf` from `position` on; return the position after it."""
        self._usable()
        packing.check_comm(comm)
        return packing.pack(self._definition, inbuf, outbuf, derived.number("position", position), external=False)

    def Unpack(self, inbuf: Buffer, position: int, outbuf: Buffer, comm: object) -> int:
        """Unpack `inbuf` from `position` on into `outbuf`; return the position after it."""
        self._usable()
        packing.check_comm(comm)
        return packing.unpack(self._definition, inbuf, derived.number("position", position), outbuf, external=False)

    def Pack_size(self, count: int, comm: object) -> int:
        """Return the size of `count` packed elements in bytes."""
        self._usable()
        packing.check_comm(comm)
        return derived.nonnegative("count", count) * self._size

    def Pack_external(self, datarep: str, inbuf: Buffer, outbuf: Buffer, position: int) -> int:
        """Pack in the portable form "external32"."""
        self._usable()
        packing.check_representation(datarep)
        return packing.pack(self._definition, inbuf, outbuf, derived.number("position", position), external=True)

    def Unpack_external(self, datarep: str, inbuf: Buffer, position: int, outbuf: Buffer) -> int:
        """Unpack data in the portable form "external32"."""
        self._usable()
        packing.check_representation(datarep)
        return packing.unpack(self._definition, inbuf, derived.number("position", position), outbuf, external=True)

    def Pack_external_size(self, datarep: str, count: int) -> int:
        """Return the size of `count` elements in bytes in the portable form "external32"."""
        self._usable()
        packing.check_representation(datarep)
        return derived.nonnegative("count", count) * packing.external_size(self._definition)

    # -- names and codes -----------------------------------------------------------------------------------------------

    def Get_name(self) -> str:
        """Return the type's name: MPI's for a predefined one, or the name set by the program."""
        definition = self._definition
        given = self.Get_attr(_NAME) if definition.permanent and definition is not NULL else None
        return definition.name if given is None else str(given)

    def Set_name(self, name: str) -> None:
        """Set the type's name; for a predefined type, on this rank only."""
        definition = self._alive()
        name = object_name(name)
        if definition.permanent:
            self.Set_attr(_NAME, name)
        else:
            definition.name = name

    def tocode(self) -> str:
        """Return mpi4py's type code; raise an error if there is none."""
        definition = basic.undo_duplicate(self._definition)
        if not definition.code:
            raise mpi_error(ERR_TYPE, f"{definition.describe()} has no type code.", MPIValueError)
        return definition.code

    @classmethod
    def fromcode(cls, code: str) -> Datatype:
        """Return the predefined type with a type code."""
        return _canonical(basic.by_code(code))

    @property
    def envelope(self) -> tuple[int, int, int, int, int]:
        """The result of `Get_envelope`."""
        return self.Get_envelope()

    @property
    def contents(self) -> tuple[list[int], list[int], list[int], list[Datatype]]:
        """The result of `Get_contents`."""
        return self.Get_contents()

    @property
    def name(self) -> str:
        """The type's name."""
        return self.Get_name()

    @name.setter
    def name(self, value: str) -> None:
        self.Set_name(value)


# Names that programs give to predefined types are attributes, because attributes are per rank.
_NAME = Datatype.Create_keyval()


def _canonical(definition: Definition) -> Datatype:
    """Return the unique handle of a predefined type."""
    if definition.canonical_handle is None:
        definition.canonical_handle = Datatype._wrap(definition)
    handle: Datatype = definition.canonical_handle
    return handle


def new_handle(definition: Definition) -> Datatype:
    """Return a new handle for a type; the type lives until all handles are freed."""
    if definition.permanent:
        return _canonical(definition)
    definition.handles += 1
    return Datatype._wrap(definition)


def _definitions(datatypes: Any) -> list[Definition]:
    """Return the definitions of a sequence of handles."""
    try:
        items = [datatypes[i] for i in range(len(datatypes))]
    except (TypeError, LookupError):
        raise mpi_error(ERR_ARG, f"{datatypes!r} is not a sequence of datatypes.", MPITypeError) from None
    for datatype in items:
        if not isinstance(datatype, Datatype):
            raise mpi_error(ERR_TYPE, f"{datatype!r} is not a datatype.", MPITypeError)
    return [datatype._alive() for datatype in items]


def _datatype_create(old: Datatype, combiner: str, params: dict[str, Any]) -> Datatype:
    """Create and commit a type from the result of `Datatype.decode`. Pickles call it."""
    if combiner.startswith("F90_"):
        new: Datatype = getattr(Datatype, f"Create_{combiner.lower()}")(**params)
    elif combiner == "STRUCT":
        new = Datatype.Create_struct(**params)
    else:
        new = getattr(old, f"Create_{combiner.lower()}")(**params)
    return new.Commit()


def _of_class(cls: Any, create: Any, parts: tuple[Any, ...]) -> Any:
    """Create an object of a subclass. Pickles call it."""
    return cls(create(*parts))
