"""The two buffers of a reduction: from a program's arguments to elements, and calls of user-defined functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.buffers.address_constants import InPlaceType
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import Bytes, address_of
from fakempi.mpi.buffers.resolve import resolve
from fakempi.mpi.buffers.span import Span, make_span
from fakempi.mpi.buffers.typing import BufSpec
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.operations.functions import arithmetic_dtype


def can_combine_directly(source: Any, target: Any) -> bool:
    """Whether two arrays can be combined directly: one dtype and shape, contiguous, not overlapping."""
    dtype = source.dtype
    # By identity, because numpy's long and long long compare equal, and MPI's differ. Pairs have many equal dtypes.
    if dtype is not target.dtype and (dtype.names is None or dtype != target.dtype):
        return False
    if source.shape != target.shape or not source.flags.c_contiguous or not target.flags.carray:
        return False
    one = source if source.base is None else source.base
    other = target if target.base is None else target.base
    if one is not other and type(one) is ndarray and type(other) is ndarray and one.base is None and other.base is None:
        return True  # the bases own their memory, and are different
    return not np.may_share_memory(source, target)


def describe_both(inbuf: BufSpec, inoutbuf: BufSpec) -> tuple[Span, Span, list[Datatype]]:
    """Return two spans of equal size, and their known datatypes; a phantom without a datatype has none."""
    datatypes: list[Datatype] = []
    source, target = _described("inbuf", inbuf, datatypes), _described("inoutbuf", inoutbuf, datatypes)
    if type(source.memory) is Phantom or type(target.memory) is Phantom:
        if source.nbytes != target.nbytes:
            sentence = f"inbuf has {source.nbytes} bytes, inoutbuf {target.nbytes}: their sizes must be equal."
            raise mpi_error(ERR_COUNT, sentence, MPIValueError)
        return source, target, datatypes
    if source.datatype != target.datatype:
        one, other = source.datatype._definition.describe(), target.datatype._definition.describe()
        sentence = f"inbuf is of {one}, inoutbuf of {'another ' * (one == other)}{other}: they must be of one datatype."
        raise mpi_error(ERR_TYPE, sentence, MPIValueError)
    if source.count != target.count:
        sentence = f"inbuf has {source.count} elements, inoutbuf {target.count}: their counts must be equal."
        raise mpi_error(ERR_COUNT, sentence, MPIValueError)
    return source, target, datatypes


def _described(what: str, spec: object, datatypes: list[Datatype]) -> Span:
    buffer, memory, count, displacement, datatype, typed = resolve(spec, writable=what == "inoutbuf")
    if isinstance(buffer, InPlaceType):
        raise mpi_error(ERR_BUFFER, f"{what} is IN_PLACE, which is not a buffer.", MPIValueError)
    span = make_span(buffer, memory, count, displacement, datatype)
    if typed or type(span.memory) is not Phantom:
        datatypes.append(span.datatype)
    return span


def check_distinct(source: Span, target: Span) -> None:
    """Raise an error if both begin at the same memory."""
    memory, place = source.memory, target.memory
    if not target.nbytes or isinstance(memory, Phantom) or isinstance(place, Phantom):
        return
    if np.may_share_memory(memory, place) and address_of(memory) + source.offset == address_of(place) + target.offset:
        raise mpi_error(ERR_BUFFER, "inbuf and inoutbuf are the same memory: they must not overlap.")


def elements(span: Span) -> Array:
    """Return the elements of a predefined type as a numpy array for arithmetic."""
    definition, memory = span.datatype._definition, span.memory
    array: Array = np.ndarray(
        (span.count,), arithmetic_dtype(definition), _bytes(memory), span.offset, (definition.layout.extent,)
    )
    return array


def call(function: Callable[[Any, Any, Datatype], Any], source: Span, target: Span) -> None:
    """Combine elements by a user-defined function, which receives count * extent bytes from their origin."""
    datatype, place, at = target.datatype, _bytes(target.memory), target.offset
    nbytes = target.count * datatype._extent
    if nbytes < 0:
        problem = f"extent {datatype._extent} of {datatype._definition.describe()} is negative"
        raise mpi_error(ERR_TYPE, f"{problem}, which user-defined operations do not support.", MPIValueError)
    operand, _ = _window(_bytes(source.memory), source.offset, nbytes)
    result, inside = _window(place, at, nbytes)
    function(buffer._of_memory(operand, None), buffer._of_memory(result, None), datatype)
    if inside is not None:
        place[inside] = result[inside.start - at : inside.stop - at]


def _window(memory: Bytes, offset: int, nbytes: int) -> tuple[Bytes, slice | None]:
    """Return `nbytes` bytes from an offset. If some are outside the memory, return a copy, and the slice of memory in it.

    For example, the last element of a type with padding at its end may end before its extent.
    """
    start, stop = max(offset, 0), min(offset + nbytes, len(memory))
    if stop - start == nbytes:
        return memory[start:stop], None
    inside, copy = slice(start, max(start, stop)), np.zeros(nbytes, np.uint8)
    copy[inside.start - offset : inside.stop - offset] = memory[inside]
    return copy, inside


def charge(nbytes: int) -> None:
    """Advance the clock of the running rank, if any, by the modeled time of combining `nbytes` bytes."""
    loop = os_thread.loop
    if loop is not None and loop.running is not None:
        process = loop.running.owner
        rate = process.universe.cost.compute_per_byte
        if rate and nbytes:
            now = process.loop.now
            if process.universe.recorder is not None:
                process.universe.recorder.computed(process.number, now, now + rate * nbytes)
            process.loop.sleep_until(now + rate * nbytes)


def _bytes(memory: Bytes | Phantom) -> Bytes:
    assert isinstance(memory, np.ndarray)  # phantoms are not combined
    return memory
