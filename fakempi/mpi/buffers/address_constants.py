"""MPI's buffer address constants: BOTTOM, IN_PLACE, BUFFER_AUTOMATIC.

Each is the only object of its class, and equal to its integer in C. As in mpi4py, they export an empty buffer. A class in
pure Python cannot do so before 3.12, so the classes are arrays of no bytes.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, final

if TYPE_CHECKING:
    from typing_extensions import Self


class _AddressConstant(ctypes.c_ubyte * 0):  # type: ignore[misc]  # the base class is computed
    """A named address. Calls, copies and unpickling return the only object of the class."""

    __slots__ = ()
    _name: str
    _value: int
    _only: ClassVar[Any] = None

    if TYPE_CHECKING:

        def __new__(cls) -> Self: ...

        if sys.version_info >= (3, 12):

            def __buffer__(self, flags: int, /) -> memoryview: ...

    else:

        def __new__(cls, *args):
            if cls._only is None:
                cls._only = super().__new__(cls)
            return cls._only

        def __init__(self, *args):
            """Accept any arguments."""

    def __init_subclass__(cls, /, name: str = "", value: int = 0) -> None:
        if not name:
            raise TypeError(f"type {cls.__bases__[0].__name__!r} is not an acceptable base type")
        cls._name, cls._value, cls._only = name, value, None

    def __repr__(self) -> str:
        return self._name

    def __reduce__(self) -> str:
        return self._name

    def __bool__(self) -> bool:
        return self._value != 0

    def __int__(self) -> int:
        return self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, int) and other == self._value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@final
class BottomType(_AddressConstant, name="BOTTOM", value=0):
    """Address 0: displacements in the datatype are absolute addresses."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __index__(self) -> int:
        return self._value


@final
class InPlaceType(_AddressConstant, name="IN_PLACE", value=-1):
    """Replaces a buffer argument: the data are in the buffer of the result."""

    __slots__ = ()
    __module__ = "fakempi.MPI"


@final
class BufferAutomaticType(_AddressConstant, name="BUFFER_AUTOMATIC", value=-2):
    """Replaces a buffer for Bsend: unlimited memory."""

    __slots__ = ()
    __module__ = "fakempi.MPI"


BOTTOM: Final = BottomType()
IN_PLACE: Final = InPlaceType()
BUFFER_AUTOMATIC: Final = BufferAutomaticType()
