"""Which bytes an operation is about: at the origin, whose buffer is specified as ever, and at the target.

A target is `displacement`, or `[displacement, count, datatype]` or a shorter form of it; what is left out is as at the
origin. A displacement counts in the target's own units, or is an address if the window is a dynamic one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_COUNT, ERR_OP, ERR_RMA_RANGE, ERR_TRUNCATE, ERR_TYPE
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint, integer, public_call, site_of
from fakempi.mpi.base.current import running_process
from fakempi.mpi.buffers.payload import copy_into, describe, describe_target, payload_of, signature_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NOTHING, Memory, flat
from fakempi.mpi.buffers.span import Span, parse
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.operations.bound import BoundOp
from fakempi.mpi.operations.functions import family
from fakempi.mpi.operations.op import NO_OP, REPLACE, Op

Extent = tuple[int, int, Any]
"""The bytes of the target's memory that are meant, from one to before the other; with a span, if there are holes in it."""


def aim(origin: Any, target: Any, there: Any, writable: bool) -> tuple[Any, int, Any, Extent]:
    """The payload at the origin, its size, the payload at the target, and which bytes those are."""
    content, nbytes = describe_target(origin) if writable else describe(origin)
    if (target is None or target.__class__ is int) and nbytes and there.attached is None and content.__class__ is not Span:
        at = target * there.unit if target else 0  # the common case, inlined
        if at >= 0 and at + nbytes <= there.memory.nbytes:
            return content, nbytes, there.memory[at : at + nbytes], (at, at + nbytes, None)
    if (target is None or type(target) is int) and type(content) is not Span:
        memory, at = _bytes_at(there, target or 0, 0, nbytes)
        return content, nbytes, memory[at : at + nbytes], (at, at + nbytes, None)
    span = parse(origin, writable=writable) if type(origin) is not Span else origin
    place, extent = _span_at(there, *_target(target, span))
    if place.nbytes != span.nbytes:
        words = f"the origin's {span.nbytes} bytes do not fill the target's {place.nbytes}: both must be equally long."
        raise complaint(ERR_TRUNCATE, words, MPIValueError)
    if span.datatype is not place.datatype:
        _compare(span, place, there)
    return payload_of(span), span.nbytes, payload_of(place), extent


def _compare(span: Span, place: Span, there: Any) -> None:
    """Both sides are named in one call, and need not be of one type: are they of one signature?"""
    here, far = signature_of(span), signature_of(place)
    if span.nbytes and not here.agrees(far, span.nbytes):
        call, frame = public_call(sys._getframe(1))
        words = f"it has {here.words(span.nbytes)} at the origin, but {far.words(span.nbytes)} at the target"
        there.process.universe.found(
            "datatype-mismatch", running_process().number, words, call=call, place=site_of(frame), at_once=True
        )


def aim_elements(origin: Any, target: Any, there: Any, op: Op) -> tuple[Any, int, Any, Extent, Callable[[Any, Any], None]]:
    """As `aim`, and what combines the two."""
    if op in (REPLACE, NO_OP):
        content, nbytes, place, extent = aim(origin, target, there, False)
        return content, nbytes, place, extent, _replacing(nbytes) if op == REPLACE else _doing_nothing
    if not op.is_predefined:
        raise complaint(ERR_OP, f"{op!r} is the program's own: only predefined operations reach another rank's memory.")
    if type(origin) is Phantom:
        content, nbytes, place, extent = aim(origin, target, there, False)
        return content, nbytes, place, extent, _doing_nothing
    span = parse(origin)
    disp, count, datatype = _target(target, span)
    one, other = span.datatype._basic, datatype._basic
    if span.count and count and (one is None or one != other):
        words = f"{span.datatype._definition.describe()} and {datatype._definition.describe()} must be of one basic type."
        raise complaint(ERR_TYPE, words, MPIValueError)
    if span.count:
        op._check(one or span.datatype)
    place, extent = _span_at(there, disp, count, datatype)
    if place.nbytes != span.nbytes:
        words = f"the origin's {span.nbytes} bytes do not fill the target's {place.nbytes}: both must be equally long."
        raise complaint(ERR_TRUNCATE, words, MPIValueError)
    if type(place.memory) is Phantom or type(span.memory) is Phantom or not span.nbytes:
        return payload_of(span), span.nbytes, payload_of(place), extent, _doing_nothing
    assert one is not None
    return payload_of(span), span.nbytes, place, extent, _combining(op, one)


def aim_single(
    specs: dict[str, Any], disp: Any, there: Any, what: str
) -> tuple[list[Span], Span, Extent]:
    """One element each of the buffers of the origin, by name, and of the target; all of one predefined type."""
    spans = [parse(spec, writable=name == "result") for name, spec in specs.items()]
    datatype = spans[0].datatype
    for (name, _), span in zip(specs.items(), spans, strict=True):
        if span.count != 1:
            raise complaint(ERR_COUNT, f"{name}: expecting a single element, got {span.count}.", MPIValueError)
        if span.datatype != datatype:
            one, other = datatype._definition.describe(), span.datatype._definition.describe()
            raise complaint(ERR_TYPE, f"origin is of {one}, {name} of {other}: they must be of one type.", MPIValueError)
    if not datatype.is_predefined or (what == "compare" and family(datatype._definition) not in _COMPARED):
        wanted = "integers, logical values and bytes are compared" if what == "compare" else "a predefined type is needed"
        raise complaint(ERR_TYPE, f"{wanted}, not {datatype._definition.describe()}.")
    place, extent = _span_at(there, integer("target_disp", disp), 1, datatype)
    return spans, place, extent


_COMPARED = ("integer", "Fortran integer", "logical", "byte")


def as_payload(place: Span) -> Any:
    """What to take a copy of, or to write to: not of phantoms, which have no contents."""
    return payload_of(place) if type(place.memory) is Phantom else place


def swap_if_equal(compare: Any) -> Callable[[Any, Any], None]:
    """What changes the target to the origin's value, if it has the value it is compared with."""

    def change(content: Any, place: Any) -> None:
        if type(place) is Phantom or type(content) is Phantom or type(compare) is Phantom:
            return
        if place.packed().tobytes() == flat(compare).tobytes():
            copy_into(content, place, place.nbytes)

    return change


# -- the target --------------------------------------------------------------------------------------------------------


def _target(target: Any, span: Span) -> tuple[int, int, Datatype]:
    """Displacement, count and datatype at the target."""
    if target is None:
        return 0, span.count, span.datatype
    if not isinstance(target, (list, tuple)):
        try:
            return integer("target", target), span.count, span.datatype
        except MPITypeError:
            words = f"the target is {target!r}: expecting a displacement, or [displacement, count, datatype]."
            raise complaint(ERR_ARG, words, MPIValueError) from None
    if len(target) > 3:
        raise complaint(ERR_ARG, f"expecting at most 3 items of a target, got {len(target)}.", MPIValueError)
    disp, count, kind = (*target, None, None, None)[:3]
    number = span.count if count is None else integer("count", count)
    if number < 0:
        raise complaint(ERR_COUNT, f"count {number} at the target is negative.", MPIValueError)
    datatype = span.datatype if kind is None else kind if isinstance(kind, Datatype) else Datatype.fromcode(kind)
    return 0 if disp is None else integer("displacement", disp), number, datatype


def _span_at(there: Any, disp: int, count: int, datatype: Datatype) -> tuple[Span, Extent]:
    """Elements of a target's memory, all of which must lie inside."""
    low = high = 0
    if count:
        datatype._usable()
        low, high = datatype._span(count)
    memory, at = _bytes_at(there, disp, low, high)
    span = Span(memory, at, count, datatype)
    return span, (at + low, at + high, None if datatype._dense else span)


def _bytes_at(there: Any, disp: int, low: int, high: int) -> tuple[Memory, int]:
    """The memory of a target, and the byte that a displacement means; from `low` to `high` around it must lie inside."""
    if there.attached is not None:
        return _attached(there, disp, low, high)
    at = disp * there.unit
    memory = there.memory
    if low < high and (at + low < 0 or at + high > len(memory)):
        unit = "" if there.unit == 1 else f" of {there.unit} bytes"
        words = (
            f"displacement {disp}{unit} leads to bytes {at + low} to {at + high} of the window of {there.process.name}, "
            f"which has {len(memory)}."
        )
        raise complaint(ERR_RMA_RANGE, words)
    return memory, at


def _attached(there: Any, disp: int, low: int, high: int) -> tuple[Memory, int]:
    if low == high:
        return NOTHING, 0
    for address, memory in there.attached.items():
        if address <= disp + low and disp + high <= address + len(memory):
            return memory, disp - address
    words = f"{there.process.name} has attached no memory that holds the bytes from address {disp + low} to {disp + high}."
    raise complaint(ERR_RMA_RANGE, words)


# -- combining ---------------------------------------------------------------------------------------------------------


def _doing_nothing(source: Any, target: Any) -> None:
    """What NO_OP does, and anything on phantoms."""


def _replacing(nbytes: int) -> Callable[[Any, Any], None]:
    return lambda source, target: copy_into(source, target, nbytes)


def _combining(op: Op, basic: Datatype) -> Callable[[Any, Any], None]:
    bound, op = BoundOp(op, basic), Op(op)

    def combine(source: Any, target: Span) -> None:
        operand = bound._spread(source.packed() if type(source) is Span else source)
        if target.datatype.is_predefined:
            op._reduce(operand, target)
            return
        result = bound._spread(target.packed())
        op._reduce(operand, result)
        target.unpack(result.packed())

    return combine
