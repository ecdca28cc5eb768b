"""Places that stand for no memory of their own: BOTTOM, IN_PLACE, BUFFER_AUTOMATIC.

Each is an object of its own class, equal to the integer that C has for it. As mpi4py's do, they export an empty buffer,
which a class in pure Python cannot before 3.12; one that is an array of no bytes can.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final, NoReturn


class _Place(ctypes.c_ubyte * 0):  # type: ignore[misc]
    """A named address. One object per class, however often it is made, copied or unpickled."""

    __slots__ = ()
    _name: str
    _value: int
    _only: Any = None

    def __new__(cls, *args: Any) -> Any:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __init__(self, *args: Any) -> None:
        """Nothing, whatever it is made of."""

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


class BottomType(_Place, name="BOTTOM", value=0):
    """The start of all addresses: displacements in the datatype are absolute."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    def __index__(self) -> int:
        return self._value


class InPlaceType(_Place, name="IN_PLACE", value=-1):
    """Instead of a buffer: take the data from where the result goes."""

    __slots__ = ()
    __module__ = "fakempi.MPI"


class BufferAutomaticType(_Place, name="BUFFER_AUTOMATIC", value=-2):
    """Instead of a buffer for Bsend: memory without end."""

    __slots__ = ()
    __module__ = "fakempi.MPI"


BOTTOM: Final = BottomType()
IN_PLACE: Final = InPlaceType()
BUFFER_AUTOMATIC: Final = BufferAutomaticType()
