"""Addresses of memory, and arithmetic on them."""

from __future__ import annotations

from typing import SupportsIndex

from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.buffers.address_constants import BottomType, BufferAutomaticType, InPlaceType
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import address_of, bytes_of, memory_of
from fakempi.mpi.buffers.typing import Bottom, Buffer


def Get_address(location: Buffer | Bottom) -> int:
    """Return the address of an object's memory, for the displacements of datatypes that are used with BOTTOM."""
    if location is None or isinstance(location, (BottomType, InPlaceType, BufferAutomaticType)):
        return int(location or 0)
    if isinstance(location, buffer):
        return location.address
    memory = bytes_of(memory_of(location)[0])
    if isinstance(memory, Phantom):
        raise mpi_error(ERR_ARG, f"{location!r} has no memory and therefore no address.", MPITypeError)
    return address_of(memory)


def Aint_add(base: int, disp: int) -> int:
    """Return the sum of an address and a displacement; it wraps around as in C."""
    return _wrapped(_address("base", base) + _address("disp", disp))


def Aint_diff(addr1: int, addr2: int) -> int:
    """Return the difference of two addresses; it wraps around as in C."""
    return _wrapped(_address("addr1", addr1) - _address("addr2", addr2))


def _wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _address(what: str, value: SupportsIndex) -> int:
    return integer(what, value, 64)
