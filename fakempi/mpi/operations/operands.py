"""Two buffers to be combined: from what a program hands over to elements, and to the program's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fakempi.error_classes import ERR_BUFFER, ERR_COUNT, ERR_TYPE
from fakempi.errors import MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import here
from fakempi.mpi.buffers.memory import buffer
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.places import InPlaceType
from fakempi.mpi.buffers.raw import Bytes, address_of
from fakempi.mpi.buffers.span import Span, span_of
from fakempi.mpi.buffers.specification import split
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.operations.functions import calculable


def alike(source: Any, target: Any) -> bool:
    """Can one be combined with the other just so? Two arrays of one dtype and shape, contiguous and apart."""
    dtype = source.dtype
    # Not by equality: numpy holds C's long and long long for equal, and MPI does not. Pairs have names and many dtypes.
    if dtype is not target.dtype and (dtype.names is None or dtype != target.dtype):
        return False
    if source.shape != target.shape or not source.flags.c_contiguous or not target.flags.carray:
        return False
    one = source if source.base is None else source.base
    other = target if target.base is None else target.base
    if one is not other and type(one) is ndarray and type(other) is ndarray and one.base is None and other.base is None:
        return True  # two that own their memory, or parts of these
    return not np.may_share_memory(source, target)


def describe_both(inbuf: Any, inoutbuf: Any) -> tuple[Span, Span, list[Datatype]]:
    """Two equally long spans, and what is known of their elements: a phantom alone does not say what it consists of."""
    told: list[Datatype] = []
    source, target = _described("inbuf", inbuf, told), _described("inoutbuf", inoutbuf, told)
    if type(source.memory) is Phantom or type(target.memory) is Phantom:
        if source.nbytes != target.nbytes:
            words = f"inbuf has {source.nbytes} bytes, inoutbuf {target.nbytes}: they must be equally long."
            raise complaint(ERR_COUNT, words, MPIValueError)
        return source, target, told
    if source.datatype != target.datatype:
        one, other = source.datatype._definition.describe(), target.datatype._definition.describe()
        words = f"inbuf is of {one}, inoutbuf of {'another ' * (one == other)}{other}: they must be of one datatype."
        raise complaint(ERR_TYPE, words, MPIValueError)
    if source.count != target.count:
        words = f"inbuf has {source.count} elements, inoutbuf {target.count}: they must be equally many."
        raise complaint(ERR_COUNT, words, MPIValueError)
    return source, target, told


def _described(what: str, spec: Any, told: list[Datatype]) -> Span:
    parts = place, _, _, kind, _ = split(spec)
    if isinstance(place, InPlaceType):
        raise complaint(ERR_BUFFER, f"{what} is IN_PLACE, which is not a buffer.", MPIValueError)
    span = span_of(parts, writable=what == "inoutbuf")
    if kind is not None or type(span.memory) is not Phantom:
        told.append(span.datatype)
    return span


def check_apart(source: Span, target: Span) -> None:
    """Complain if both are the same elements."""
    memory, place = source.memory, target.memory
    if not target.nbytes or isinstance(memory, Phantom) or isinstance(place, Phantom):
        return
    if np.may_share_memory(memory, place) and address_of(memory) + source.offset == address_of(place) + target.offset:
        raise complaint(ERR_BUFFER, "inbuf and inoutbuf are the same memory: they must be apart.")


def elements(span: Span) -> npt.NDArray[Any]:
    """The elements of a predefined type, as an array to calculate with."""
    definition, memory = span.datatype._definition, span.memory
    found: npt.NDArray[Any] = np.ndarray(
        (span.count,), calculable(definition), _bytes(memory), span.offset, (definition.layout.extent,)
    )
    return found


def call(function: Callable[[Any, Any, Datatype], Any], source: Span, target: Span) -> None:
    """Have a program's function combine elements: it sees as many bytes as they extend over, from their origin on."""
    datatype, place, at = target.datatype, _bytes(target.memory), target.offset
    nbytes = target.count * datatype._extent
    if nbytes < 0:
        words = f"extent {datatype._extent} of {datatype._definition.describe()} is negative: no function can see that."
        raise complaint(ERR_TYPE, words, MPIValueError)
    operand, _ = _window(_bytes(source.memory), source.offset, nbytes)
    result, inside = _window(place, at, nbytes)
    function(buffer._over(operand, None), buffer._over(result, None), datatype)
    if inside is not None:
        place[inside] = result[inside.start - at : inside.stop - at]


def _window(memory: Bytes, offset: int, nbytes: int) -> tuple[Bytes, slice | None]:
    """So many bytes from an offset on. If some are outside the memory, a copy, and which bytes of the memory it has.

    The last element of a type with padding at its end, for one, may end before its extent does.
    """
    start, stop = max(offset, 0), min(offset + nbytes, len(memory))
    if stop - start == nbytes:
        return memory[start:stop], None
    inside, copy = slice(start, max(start, stop)), np.zeros(nbytes, np.uint8)
    copy[inside.start - offset : inside.stop - offset] = memory[inside]
    return copy, inside


def charge(nbytes: int) -> None:
    """Let the time pass that combining so many bytes takes in the cost model, if a process is running."""
    loop = here.loop
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
