"""What a buffer consists of: the datatype that its specification names, or that its elements have."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from fakempi.error_classes import ERR_BUFFER, ERR_TYPE
from fakempi.errors import MPIBufferError, MPIError, MPIKeyError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.buffers.raw import Element
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import from_code, from_dtype, number_of

_FOREIGN = ">!" if sys.byteorder == "little" else "<"


def datatype_of(kind: Any, element: Element | None) -> Datatype:
    """The datatype that a specification names, or that its buffer's elements have."""
    if kind is None:
        if isinstance(element, np.dtype):
            found = number_of(element)
            if found is not None:
                return found
        check_element(element)
        return from_dtype(element) if isinstance(element, np.dtype) else _coded(element)
    return kind if isinstance(kind, Datatype) else _coded(kind)


def check_element(element: Element | None) -> None:
    """Refuse no elements at all, and numbers whose bytes are swapped; they would arrive as other numbers."""
    if element is None:
        raise complaint(ERR_TYPE, "without a buffer a datatype is needed, cannot infer it.", MPIKeyError)
    if not element.isnative if isinstance(element, np.dtype) else element[:1] in _FOREIGN and element:
        words = f"elements of type {str(element)!r} have another byte order than this machine."
        raise complaint(ERR_BUFFER, words, MPIBufferError)


def _coded(code: Any) -> Datatype:
    if isinstance(code, str):
        try:
            return from_code(code)
        except MPIError:
            pass
    raise complaint(ERR_TYPE, f"cannot map {code!r} to an MPI datatype.", MPIKeyError)
