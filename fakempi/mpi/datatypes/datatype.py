"""Datatype: the handle programs hold. What it stands for is a `Definition`; the making is in `derived`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fakempi.error_classes import ERR_ARG, ERR_TYPE
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base import constants as c
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.datatypes import basic, derived, packing
from fakempi.mpi.datatypes.darray import darray
from fakempi.mpi.datatypes.definition import COMBINERS, NULL, Definition
from fakempi.mpi.datatypes.handle import TypeHandle

if TYPE_CHECKING:
    from typing_extensions import Self


class Datatype(TypeHandle):
    """Which bytes of memory make up an element of a message, and in which order."""

    __module__ = "fakempi.MPI"  # where programs find it, and pickles look for it
    __slots__ = ()

    @property
    def _basic(self) -> Datatype | None:
        """The predefined type it consists of, if that is one only; reductions work on that."""
        only = self._definition.basic
        return None if only is None else _canonical(only)

    # -- what Python asks ----------------------------------------------------------------------------------------------

    def __reduce__(self) -> str | tuple[Any, ...]:
        definition = self._definition
        if definition.label:
            return definition.label if definition.home is self else (type(self), (definition.home,))
        made = _datatype_create, self.decode()
        return made if type(self) is Datatype else (_of_class, (type(self), *made))

    # -- asking --------------------------------------------------------------------------------------------------------

    def Get_envelope(self) -> tuple[int, int, int, int, int]:
        """How many integers, addresses, counts and datatypes `Get_contents` returns; and the combiner."""
        definition = self._alive()
        integers, counts = derived.contents(definition)
        return len(integers), 0, len(counts), len(definition.parts) if self._is_derived() else 0, definition.combiner

    def Get_contents(self) -> tuple[list[int], list[int], list[int], list[Datatype]]:
        """The arguments the type was made with: integers, addresses, counts, datatypes."""
        definition = self._alive()
        if definition.combiner == c.COMBINER_NAMED:
            raise complaint(ERR_TYPE, f"{definition.describe()} is predefined and has no contents.", MPIValueError)
        integers, counts = derived.contents(definition)
        return integers, [], counts, [_handle(part) for _, part in definition.parts]

    def decode(self) -> tuple[Datatype, str, dict[str, Any]]:
        """The old type (or DATATYPE_NULL), the combiner's name, and the arguments by name."""
        definition = self._alive()
        params = {name: list(v) if isinstance(v, list) else v for name, v in definition.params.items()}
        if definition.combiner == c.COMBINER_NAMED:
            return self, "NAMED", params
        olds = [_handle(part) for _, part in definition.parts]
        if definition.combiner == c.COMBINER_STRUCT:
            return _canonical(NULL), "STRUCT", {**params, "datatypes": olds}
        return olds[0] if olds else _canonical(NULL), COMBINERS[definition.combiner], params

    def _is_derived(self) -> bool:
        return self._definition.combiner != c.COMBINER_NAMED

    # -- making --------------------------------------------------------------------------------------------------------

    def Dup(self) -> Self:
        """A duplicate, with the attributes that want to be copied."""
        made = self._made(derived.duplicate(self._alive()))
        self._copy_attributes_to(made)
        return made

    def Create_contiguous(self, count: int) -> Self:
        """`count` elements in a row."""
        return self._made(derived.contiguous(self._alive(), count))

    def Create_vector(self, count: int, blocklength: int, stride: int) -> Self:
        """Blocks of `blocklength` elements, every `stride` elements."""
        return self._made(derived.vector(self._alive(), count, blocklength, stride))

    def Create_hvector(self, count: int, blocklength: int, stride: int) -> Self:
        """Blocks of `blocklength` elements, every `stride` bytes."""
        return self._made(derived.vector(self._alive(), count, blocklength, stride, bytewise=True))

    def Create_indexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Self:
        """Blocks of different lengths, displaced by elements."""
        return self._made(derived.indexed(self._alive(), blocklengths, displacements))

    def Create_hindexed(self, blocklengths: Sequence[int], displacements: Sequence[int]) -> Self:
        """Blocks of different lengths, displaced by bytes."""
        return self._made(derived.indexed(self._alive(), blocklengths, displacements, bytewise=True))

    def Create_indexed_block(self, blocklength: int, displacements: Sequence[int]) -> Self:
        """Blocks of one length, displaced by elements."""
        return self._made(derived.indexed_block(self._alive(), blocklength, displacements))

    def Create_hindexed_block(self, blocklength: int, displacements: Sequence[int]) -> Self:
        """Blocks of one length, displaced by bytes."""
        return self._made(derived.indexed_block(self._alive(), blocklength, displacements, bytewise=True))

    @classmethod
    def Create_struct(
        cls, blocklengths: Sequence[int], displacements: Sequence[int], datatypes: Sequence[Datatype]
    ) -> Self:
        """Blocks of different types, displaced by bytes."""
        return cls._made(derived.struct(blocklengths, displacements, _definitions(datatypes)))

    def Create_subarray(
        self, sizes: Sequence[int], subsizes: Sequence[int], starts: Sequence[int], order: int = c.ORDER_C
    ) -> Self:
        """A rectangle out of an array."""
        return self._made(derived.subarray(self._alive(), sizes, subsizes, starts, order))

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
        """One process's share of an array that is dealt out over a grid of processes."""
        return self._made(darray(self._alive(), size, rank, gsizes, distribs, dargs, psizes, order))

    def Create_resized(self, lb: int, extent: int) -> Self:
        """The same bytes with other bounds."""
        return self._made(derived.resized(self._alive(), lb, extent))

    Create_dup = Dup
    Resized = Create_resized

    @classmethod
    def Create_f90_integer(cls, r: int) -> Self:
        """Fortran's integer type with `r` digits."""
        return cls._permanent(basic.by_precision(c.COMBINER_F90_INTEGER, derived.number("r", r)))

    @classmethod
    def Create_f90_real(cls, p: int, r: int) -> Self:
        """Fortran's real type with `p` digits and exponents up to `r`; either may be UNDEFINED."""
        digits, exponent = derived.number("p", p), derived.number("r", r)
        return cls._permanent(basic.by_precision(c.COMBINER_F90_REAL, digits, exponent))

    @classmethod
    def Create_f90_complex(cls, p: int, r: int) -> Self:
        """Fortran's complex type with `p` digits and exponents up to `r`; either may be UNDEFINED."""
        digits, exponent = derived.number("p", p), derived.number("r", r)
        return cls._permanent(basic.by_precision(c.COMBINER_F90_COMPLEX, digits, exponent))

    @classmethod
    def Get_value_index(cls, value: Datatype, index: Datatype) -> Self:
        """The predefined pair of these types, or DATATYPE_NULL."""
        first, second = _definitions([value, index])
        return cls._permanent(basic.by_pair(first, second))

    @classmethod
    def Match_size(cls, typeclass: int, size: int) -> Self:
        """Fortran's type of that class and size in bytes."""
        return cls._permanent(basic.by_class(typeclass, size))

    @classmethod
    def _made(cls, definition: Definition) -> Self:
        """A handle for a new type, which the program has to free."""
        owes("datatype-leak", definition)
        return cls._wrap(definition)

    @classmethod
    def _permanent(cls, definition: Definition) -> Self:
        """A handle for a type that exists once."""
        home: Any = _canonical(definition)
        return home if cls is Datatype else cls._wrap(definition)

    # -- keeping -------------------------------------------------------------------------------------------------------

    def Commit(self) -> Self:
        """Make the type fit for messages."""
        self._alive().committed = True
        return self

    def Free(self) -> None:
        """Give the type up; types made from it live on."""
        definition = self._alive()
        if definition.permanent:
            raise complaint(ERR_TYPE, f"{definition.describe()} is predefined and cannot be freed.", MPIValueError)
        if definition.handles == 1:
            self._delete_attributes()
        definition.handles -= 1
        done("datatype-leak", definition)
        self._adopt(NULL)

    def free(self) -> None:
        """Free the type if there is anything to free; a copy of one of MPI's own becomes null."""
        definition = self._definition
        if definition.permanent:
            if definition.home is not self:
                self._adopt(NULL)
        elif definition.handles:
            self.Free()

    # -- packing -------------------------------------------------------------------------------------------------------

    def Pack(self, inbuf: Any, outbuf: Any, position: int, comm: Any) -> int:
        """Pack all of `inbuf` to `outbuf` from `position` on; the position after it."""
        self._usable()
        packing.check_comm(comm)
        return packing.pack(self._definition, inbuf, outbuf, derived.number("position", position), external=False)

    def Unpack(self, inbuf: Any, position: int, outbuf: Any, comm: Any) -> int:
        """Fill `outbuf` with what is packed in `inbuf` from `position` on; the position after it."""
        self._usable()
        packing.check_comm(comm)
        return packing.unpack(self._definition, inbuf, derived.number("position", position), outbuf, external=False)

    def Pack_size(self, count: int, comm: Any) -> int:
        """Bytes that `count` packed elements take."""
        self._usable()
        packing.check_comm(comm)
        return derived.counted("count", count) * self._size

    def Pack_external(self, datarep: str, inbuf: Any, outbuf: Any, position: int) -> int:
        """Pack in the portable form "external32"."""
        self._usable()
        packing.check_representation(datarep)
        return packing.pack(self._definition, inbuf, outbuf, derived.number("position", position), external=True)

    def Unpack_external(self, datarep: str, inbuf: Any, position: int, outbuf: Any) -> int:
        """Unpack what is in the portable form "external32"."""
        self._usable()
        packing.check_representation(datarep)
        return packing.unpack(self._definition, inbuf, derived.number("position", position), outbuf, external=True)

    def Pack_external_size(self, datarep: str, count: int) -> int:
        """Bytes that `count` elements take in the portable form "external32"."""
        self._usable()
        packing.check_representation(datarep)
        return derived.counted("count", count) * packing.external_size(self._definition)

    # -- names and codes -----------------------------------------------------------------------------------------------

    def Get_name(self) -> str:
        """The type's name: MPI's for a predefined one, or what the program gave it."""
        definition = self._definition
        given = self.Get_attr(_NAME) if definition.permanent and definition is not NULL else None
        return definition.name if given is None else str(given)

    def Set_name(self, name: str) -> None:
        """Give the type a name; a predefined one is renamed for this rank only."""
        definition = self._alive()
        if not isinstance(name, str):
            raise complaint(ERR_ARG, f"the name is {name!r}, not a string.", MPITypeError)
        name = name[: c.MAX_OBJECT_NAME - 1]
        if definition.permanent:
            self.Set_attr(_NAME, name)
        else:
            definition.name = name

    def tocode(self) -> str:
        """mpi4py's type code, where there is one."""
        definition = basic.undoubled(self._definition)
        if not definition.code:
            raise complaint(ERR_TYPE, f"{definition.describe()} has no type code.", MPIValueError)
        return definition.code

    @classmethod
    def fromcode(cls, code: str) -> Datatype:
        """The predefined type with that type code."""
        return _canonical(basic.by_code(code))

    @property
    def envelope(self) -> tuple[int, int, int, int, int]:
        """As `Get_envelope`."""
        return self.Get_envelope()

    @property
    def contents(self) -> tuple[list[int], list[int], list[int], list[Datatype]]:
        """As `Get_contents`."""
        return self.Get_contents()

    @property
    def name(self) -> str:
        """The type's name."""
        return self.Get_name()

    @name.setter
    def name(self, value: str) -> None:
        self.Set_name(value)


# Names given to predefined types are attributes of theirs, because attributes are kept per rank.
_NAME = Datatype.Create_keyval()


def _canonical(definition: Definition) -> Datatype:
    """The handle that a type which exists once is known by."""
    if definition.home is None:
        definition.home = Datatype._wrap(definition)
    home: Datatype = definition.home
    return home


def _handle(definition: Definition) -> Datatype:
    """A new handle for a type, which lives until it is freed, too."""
    if definition.permanent:
        return _canonical(definition)
    definition.handles += 1
    return Datatype._wrap(definition)


def _definitions(datatypes: Any) -> list[Definition]:
    """What stands behind a sequence of handles."""
    try:
        found = [datatypes[i] for i in range(len(datatypes))]
    except TypeError:
        raise complaint(ERR_ARG, f"{datatypes!r} is not a sequence of datatypes.", MPITypeError) from None
    for datatype in found:
        if not isinstance(datatype, Datatype):
            raise complaint(ERR_TYPE, f"{datatype!r} is not a datatype.", MPITypeError)
    return [datatype._alive() for datatype in found]


def _datatype_create(old: Datatype, combiner: str, params: dict[str, Any]) -> Datatype:
    """Make, and commit, what `Datatype.decode` has taken apart. Pickles call it."""
    if combiner.startswith("F90_"):
        made: Datatype = getattr(Datatype, f"Create_{combiner.lower()}")(**params)
    elif combiner == "STRUCT":
        made = Datatype.Create_struct(**params)
    else:
        made = getattr(old, f"Create_{combiner.lower()}")(**params)
    return made.Commit()


def _of_class(cls: Any, create: Any, parts: tuple[Any, ...]) -> Any:
    """What pickles of a subclass's objects call."""
    return cls(create(*parts))
