"""Addresses as programs hold them: where an object's memory is, and how one calculates with that."""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import BottomType, BufferAutomaticType, InPlaceType
from fakempi.mpi.buffers.raw import address_of, bytes_of, memory_of


def Get_address(location: Any) -> int:
    """The address of an object's memory, for the displacements of datatypes that are used with BOTTOM."""
    if location is None or isinstance(location, (BottomType, InPlaceType, BufferAutomaticType)):
        return int(location or 0)
    if isinstance(location, buffer):
        return location.address
    found = bytes_of(memory_of(location)[0])
    if isinstance(found, Phantom):
        raise complaint(ERR_ARG, f"{location!r} has no memory, hence no address.", MPITypeError)
    return address_of(found)


def Aint_add(base: int, disp: int) -> int:
    """An address and a displacement, added as C adds them: around the end."""
    return _wrapped(_address("base", base) + _address("disp", disp))


def Aint_diff(addr1: int, addr2: int) -> int:
    """The distance from the second address to the first, as C computes it."""
    return _wrapped(_address("addr1", addr1) - _address("addr2", addr2))


def _wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _address(what: str, value: Any) -> int:
    number = integer(what, value)
    if number != _wrapped(number):
        raise OverflowError(f"{what} {number} does not fit an address of 64 bits")
    return number
