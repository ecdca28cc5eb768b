"""The bytes that an operation accesses, at the origin and at the target.

A target is `displacement`, or `[displacement, count, datatype]` or a shorter form of it; omitted values are those of the
origin. A displacement is in the target's displacement units, or an address if the window is dynamic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_COUNT, ERR_DISP, ERR_OP, ERR_RMA_RANGE, ERR_TRUNCATE, ERR_TYPE
from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.buffers.payload import copy_into, describe, describe_target, payload_of, signature_of
from fakempi.mpi.buffers.phantom import Phantom
from fakempi.mpi.buffers.raw import NO_BYTES, Memory, flat
from fakempi.mpi.buffers.resolve import mapped
from fakempi.mpi.buffers.span import Payload, Span, span_of
from fakempi.mpi.buffers.typing import BufSpec, TargetSpec
from fakempi.mpi.datatypes.datatype import Datatype
from fakempi.mpi.datatypes.predefined import BYTE
from fakempi.mpi.interfaces.arrays import Array
from fakempi.mpi.operations.bound import BoundOp
from fakempi.mpi.operations.functions import family
from fakempi.mpi.operations.op import NO_OP, REPLACE, Op

Change: TypeAlias = Callable[[Any, Any], None]
"""A function that combines arriving data with the target's data."""

Extent = tuple[int, int, Any]
"""The accessed bytes of the target's memory: first, last + 1, and a span if there are holes in between."""


def locate(origin: BufSpec, target: TargetSpec | None, part: Any, writable: bool) -> tuple[Any, int, Any, Extent]:
    """Return the payload at the origin, its size, the payload at the target, and the bytes accessed there."""
    content, nbytes = describe_target(origin) if writable else describe(origin)
    if (target is None or target.__class__ is int) and nbytes and part.attached is None and content.__class__ is not Span:
        at = target * part.unit if target else 0  # the common case, inlined
        if at >= 0 and at + nbytes <= part.memory.nbytes:
            return content, nbytes, part.memory[at : at + nbytes], (at, at + nbytes, None)
    if (target is None or type(target) is int) and type(content) is not Span:
        memory, at = _bytes_at(part, target or 0, 0, nbytes)
        return content, nbytes, memory[at : at + nbytes], (at, at + nbytes, None)
    given: Any = origin  # a Span if fakempi itself calls
    span = span_of(given, writable=writable) if type(given) is not Span else given
    target_data, extent = _span_at(part, *_target(target, span))
    if target_data.nbytes != span.nbytes:
        raise _size_error(span, target_data)
    if span.datatype is not target_data.datatype:
        _compare(span, target_data, part)
    return payload_of(span), span.nbytes, payload_of(target_data), extent


def _size_error(span: Span, target_data: Span) -> MPIError:
    sentence = f"the origin's {span.nbytes} bytes do not fill the target's {target_data.nbytes}: their sizes must be equal."
    return mpi_error(ERR_TRUNCATE, sentence, MPIValueError)


def _compare(span: Span, target_data: Span, part: Any) -> None:
    """Report a finding if the type signatures of origin and target differ. Different datatypes may have equal signatures."""
    origin_types, target_types = signature_of(span), signature_of(target_data)
    if span.nbytes and not origin_types.agrees(target_types, span.nbytes):
        call, place = call_and_place()
        origin_text, target_text = origin_types.describe(span.nbytes), target_types.describe(span.nbytes)
        sentence = f"it has {origin_text} at the origin, but {target_text} at the target"
        part.process.universe.report(
            "datatype-mismatch", running_process().number, sentence, call=call, place=place, wrong_data=True
        )


def locate_elements(origin: BufSpec, target: TargetSpec | None, part: Any, op: Op) -> tuple[Any, int, Any, Extent, Change]:
    """Return the result of `locate`, and the function that combines the origin's data with the target's data."""
    if op in (REPLACE, NO_OP):
        content, nbytes, target_data, extent = locate(origin, target, part, False)
        return content, nbytes, target_data, extent, _replacing(nbytes) if op == REPLACE else _doing_nothing
    if not isinstance(op, Op):
        raise mpi_error(ERR_ARG, f"op is {op!r}, not an Op such as MPI.SUM.", MPITypeError)
    if not op.is_predefined:
        raise mpi_error(ERR_OP, f"{op!r} is user-defined: one-sided communication takes only predefined operations.")
    if type(origin) is Phantom:
        content, nbytes, target_data, extent = locate(origin, target, part, False)
        return content, nbytes, target_data, extent, _doing_nothing
    span = span_of(origin)
    disp, count, datatype = _target(target, span)
    basic, target_basic = span.datatype._basic, datatype._basic
    if span.count and count and (basic is None or basic != target_basic):
        sentence = f"{span.datatype._definition.describe()} and {datatype._definition.describe()} must be of one basic type."
        raise mpi_error(ERR_TYPE, sentence, MPIValueError)
    if span.count:
        op._check(basic or span.datatype)
    target_data, extent = _span_at(part, disp, count, datatype)
    if target_data.nbytes != span.nbytes:
        raise _size_error(span, target_data)
    if type(target_data.memory) is Phantom or type(span.memory) is Phantom or not span.nbytes:
        return payload_of(span), span.nbytes, payload_of(target_data), extent, _doing_nothing
    assert basic is not None
    return payload_of(span), span.nbytes, target_data, extent, _combining(op, basic)


def locate_element(specs: dict[str, Any], disp: Any, part: Any, what: str) -> tuple[list[Span], Span, Extent]:
    """Return the single element of each buffer of the origin, and of the target; all must have one predefined type."""
    spans = _single_elements(specs, what)
    target_data, extent = _span_at(part, integer("target_disp", disp, 64), 1, spans[0].datatype)
    return spans, target_data, extent


def _single_elements(specs: dict[str, Any], what: str) -> list[Span]:
    """Return the single element of each buffer of the origin; all must have one predefined type."""
    spans = [span_of(spec, writable=name == "result") for name, spec in specs.items()]
    datatype = spans[0].datatype
    for (name, _), span in zip(specs.items(), spans, strict=True):
        if span.count != 1:
            raise mpi_error(ERR_COUNT, f"{name}: expecting a single element, got {span.count}.", MPIValueError)
        if span.datatype != datatype:
            one, other = datatype._definition.describe(), span.datatype._definition.describe()
            raise mpi_error(ERR_TYPE, f"origin is of {one}, {name} of {other}: they must be of one type.", MPIValueError)
    if not datatype.is_predefined or (what == "compare" and family(datatype._definition) not in _COMPARED):
        wanted = "integers, logical values or bytes" if what == "compare" else "a predefined datatype"
        raise mpi_error(ERR_TYPE, f"expecting {wanted}, got {datatype._definition.describe()}.")
    return spans


_COMPARED = ("integer", "Fortran integer", "logical", "byte")


def as_payload(target_data: Span) -> Payload:
    """Return the payload of target data to read from or write to; phantoms have no contents."""
    return payload_of(target_data) if type(target_data.memory) is Phantom else target_data


def swap_if_equal(compare: Payload) -> Change:
    """Return a function that sets the target to the origin's value if the target equals the compared value."""

    def change(content: Payload, target_data: Span | Phantom) -> None:
        if isinstance(target_data, Phantom) or type(content) is Phantom or isinstance(compare, Phantom):
            return
        if target_data.packed().tobytes() == flat(compare).tobytes():  # type: ignore[arg-type]  # an array
            copy_into(content, target_data, target_data.nbytes)

    return change


# -- the target --------------------------------------------------------------------------------------------------------


def _target(target: Any, span: Span) -> tuple[int, int, Datatype]:
    """Return displacement, count and datatype at the target."""
    if target is None:
        return 0, span.count, span.datatype
    if not isinstance(target, (list, tuple)):
        try:
            return integer("target", target, 64), span.count, span.datatype
        except MPITypeError:
            sentence = f"the target is {target!r}: expecting a displacement, or [displacement, count, datatype]."
            raise mpi_error(ERR_ARG, sentence, MPIValueError) from None
    if len(target) > 3:
        raise mpi_error(ERR_ARG, f"a target has at most 3 items, got {len(target)}.", MPIValueError)
    items: list[Any] = [*target, *(0, span.count, span.datatype)[len(target) :]]
    disp, count, kind = items
    number = integer("count", count, 64)
    if number < 0:
        raise mpi_error(ERR_COUNT, f"count {number} at the target is negative.", MPIValueError)
    datatype = kind._pin() if isinstance(kind, Datatype) else mapped(kind)
    return integer("displacement", disp, 64), number, datatype


def check_without_target(target: TargetSpec | None) -> None:
    """Check the target of an operation on PROC_NULL, as MPI libraries do; mpi4py ignores the origin."""
    disp, _, _ = _target(target, Span(NO_BYTES, 0, 0, BYTE))
    if disp < 0:
        raise mpi_error(ERR_DISP, f"displacement {disp} is negative.")


def _span_at(part: object, disp: int, count: int, datatype: Datatype) -> tuple[Span, Extent]:
    """Return elements of a target's memory; raise an error if an element is outside the memory."""
    low = high = 0
    if count:
        datatype._usable()
        low, high = datatype._span(count)
    memory, at = _bytes_at(part, disp, low, high)
    span = Span(memory, at, count, datatype)
    return span, (at + low, at + high, None if datatype._dense else span)


def _bytes_at(part: Any, disp: int, low: int, high: int) -> tuple[Memory, int]:
    """Return a target's memory and the byte at a displacement; raise an error unless bytes `low` to `high` lie inside."""
    if part.attached is not None:
        return _attached(part, disp, low, high)
    at = disp * part.unit
    memory = part.memory
    if low < high and (at + low < 0 or at + high > len(memory)):
        integer("displacement", disp, 64)
        unit = "" if part.unit == 1 else f" of {part.unit} bytes"
        sentence = (
            f"displacement {disp}{unit} accesses bytes {at + low} to {at + high} of the window of {part.process.name}, "
            f"which has {len(memory)} bytes."
        )
        raise mpi_error(ERR_DISP if disp < 0 else ERR_RMA_RANGE, sentence)
    return memory, at


def _attached(part: Any, disp: int, low: int, high: int) -> tuple[Memory, int]:
    if low == high:
        return NO_BYTES, 0
    for address, memory in part.attached.items():
        if address <= disp + low and disp + high <= address + len(memory):
            return memory, disp - address
    sentence = f"{part.process.name} has attached no memory that contains addresses {disp + low} to {disp + high}."
    raise mpi_error(ERR_RMA_RANGE, sentence)


# -- combining ---------------------------------------------------------------------------------------------------------


def _doing_nothing(source: Payload, target: Payload) -> None:
    """Do nothing: NO_OP, and all operations on phantoms."""


def _replacing(nbytes: int) -> Change:
    return lambda source, target: copy_into(source, target, nbytes)


def _combining(op: Op, basic: Datatype) -> Change:
    bound, op = BoundOp(op, basic), Op(op)

    def combine(source: Array | Span, target: Span) -> None:
        operand = bound._in_layout(source.packed() if type(source) is Span else source)
        if target.datatype.is_predefined:
            op._reduce(operand, target)
            return
        result = bound._in_layout(target.packed())
        op._reduce(operand, result)
        target.unpack(result.packed())

    return combine
