"""Step 3 of 5 of reading a buffer specification: the memory and the datatype, by default that of the buffer's elements."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fakempi.errors import MPIBufferError, MPIError, MPIKeyError
from fakempi.errors.classes import ERR_BUFFER, ERR_TYPE
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.raw import ArrayOrPhantom, Element, memory_of
from fakempi.mpi.buffers.specification import Unchecked, split
from fakempi.mpi.datatypes.basic import NAMED
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import from_code, from_dtype, number_of

Resolved = tuple[object, ArrayOrPhantom, Unchecked, Unchecked, Datatype, bool]
"""Buffer, its memory, count, displacement, datatype; and whether the specification names the datatype."""

_PAIRS = [pair.dtype for pair in NAMED.values() if pair.parts]  # dtypes of MINLOC and MAXLOC inside algorithms
_FOREIGN = ">!" if sys.byteorder == "little" else "<"


def resolve(spec: object, writable: bool = False, pairs: tuple[type, ...] = (list, tuple)) -> Resolved:
    """Return the parts of a specification, with the memory of its buffer and its datatype. `pairs` is as in `split`."""
    buffer, count, displacement, type_spec, bare = split(spec, pairs)
    memory, element = memory_of(buffer, writable, bare)
    if type_spec is not None:
        datatype = type_spec if isinstance(type_spec, Datatype) else mapped(type_spec)
        if not datatype._definition.permanent:
            datatype = datatype._pin()
        return buffer, memory, count, displacement, datatype, True
    number = number_of(element) if isinstance(element, np.dtype) else None
    if number is None:
        check_element(element)
        number = from_dtype(element) if isinstance(element, np.dtype) else mapped(element)
    return buffer, memory, count, displacement, number, False


def pinned(spec: Any) -> Any:
    """Return a specification that stays the same if the program changes a list in it or frees a datatype."""
    if isinstance(spec, Datatype):
        return spec._pin()
    return type(spec)(map(pinned, spec)) if type(spec) in (list, tuple) else spec


def check_element(element: Element | None) -> None:
    """Raise an error for elements that mpi4py rejects: none, swapped byte order, or no MPI datatype.

    The void type without fields is accepted: elements of derived datatypes have that dtype inside algorithms.
    """
    if element is None:
        raise mpi_error(ERR_TYPE, "without a buffer a datatype is needed, cannot infer it.", MPIKeyError)
    if not element.isnative if isinstance(element, np.dtype) else element[:1] in _FOREIGN and element:
        sentence = f"elements of type {str(element)!r} have another byte order than this machine."
        raise mpi_error(ERR_BUFFER, sentence, MPIBufferError)
    if isinstance(element, str):
        mapped(element)
    elif element.kind in "mM":
        sentence = f"elements of dtype {element} need a datatype: [buffer, MPI.INT64_T] sends them as numbers."
        raise mpi_error(ERR_BUFFER, sentence, MPIBufferError)
    elif element.kind in "SU" and element.str[1:] not in ("S1", "U1"):
        sentence = f"cannot map dtype {element} to an MPI datatype: [buffer, MPI.BYTE] sends its bytes."
        raise mpi_error(ERR_TYPE, sentence, MPIKeyError)
    elif element.names is not None and not any(element is pair for pair in _PAIRS):
        sentence = f"cannot map dtype {element} to an MPI datatype: mpi4py.util.dtlib.from_numpy_dtype makes one for it."
        raise mpi_error(ERR_TYPE, sentence, MPIKeyError)


def mapped(code: object) -> Datatype:
    """Return the datatype with a code; raise a KeyError if there is none, as mpi4py does for buffers and targets."""
    if isinstance(code, str):
        try:
            return from_code(code)
        except MPIError:
            pass
    raise mpi_error(ERR_TYPE, f"cannot map {code!r} to an MPI datatype.", MPIKeyError)
