"""Formats of C's long double, and conversion between each of them and IEEE quadruple precision (MPI's external32).

Every function takes the format as an argument, so that each format can be tested on any machine. `NATIVE` is the format
of this machine. Padding bytes are bytes of an element that hold no part of its value; their content is arbitrary.

    format         size     where
    double         8        Windows, macOS on aarch64
    extended       12, 16   x86: explicit integer bit and 63-bit fraction; the rest is padding
    quadruple      16       Linux on aarch64 and riscv64
    double-double  16       Linux on ppc64: the sum of two doubles, the larger one first
"""

from __future__ import annotations

import struct
import sys
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_FRACTION = np.uint64((1 << 63) - 1)
_INTEGER_BIT = np.uint64(1 << 63)
_QUIET = np.uint64(1 << 62)  # the bit of an 80-bit NaN that makes it quiet
_LOST = 112 - 63  # fraction bits of a quadruple that do not fit into 80 bits
_SPECIAL = np.uint64(0x7FFF)  # the exponent of infinities and NaNs
_BIAS = 16383


class LongDoubleFormat(NamedTuple):
    """A format of long double: its kind, size in bytes and byte order ("little" or "big").

    A big-endian 80-bit number has its padding between exponent and significand, as on Motorola's processors.
    """

    kind: str
    size: int
    order: str

    def padding(self) -> tuple[int, ...]:
        """The bytes of a number that hold no part of its value."""
        if self.kind != "extended":
            return ()
        return tuple(range(10, self.size)) if self.order == "little" else tuple(range(2, self.size - 8))


def native_format() -> LongDoubleFormat:
    """The format of this machine's long double."""
    info, size = np.finfo(np.longdouble), np.dtype(np.longdouble).itemsize
    kinds = {52: "double", 63: "extended", 112: "quadruple"}
    return LongDoubleFormat(kinds.get(int(info.nmant), "double-double"), size, sys.byteorder)


NATIVE = native_format()


def to_quadruple(data: Bytes, form: LongDoubleFormat = NATIVE) -> Bytes:
    """Long doubles as big-endian quadruples: exact, except that some double-doubles need rounding to 113 bits.

    An 80-bit pattern that the processor rejects (its integer bit contradicts its exponent) becomes a NaN. A
    pseudo-denormal, which the processor accepts, becomes the number that it stands for.
    """
    rows = np.ascontiguousarray(data).reshape(-1, form.size)
    if form.kind == "quadruple":
        return np.ascontiguousarray(rows[:, ::-1] if form.order == "little" else rows).reshape(-1)
    if form.kind == "extended":
        return _extended_to_quadruple(rows, form)
    letter = "<" if form.order == "little" else ">"
    numbers = struct.iter_unpack(f"{letter}{form.size // 8}d", rows.tobytes())
    return np.frombuffer(b"".join([_quadruple_of(*parts) for parts in numbers]), np.uint8)


def from_quadruple(data: Bytes, form: LongDoubleFormat = NATIVE) -> Bytes:
    """Long doubles nearest to big-endian quadruples, ties to even; padding bytes are zero."""
    rows = np.ascontiguousarray(data).reshape(-1, 16)
    if form.kind == "quadruple":
        return np.ascontiguousarray(rows[:, ::-1] if form.order == "little" else rows).reshape(-1)
    if form.kind == "extended":
        return _quadruple_to_extended(rows, form)
    letter, parts = "<" if form.order == "little" else ">", form.size // 8
    packed = [struct.pack(f"{letter}{parts}d", *_doubles_of(row.tobytes(), parts)) for row in rows]
    return np.frombuffer(b"".join(packed), np.uint8)


# -- 80 bits ---------------------------------------------------------------------------------------------------------


def _extended_to_quadruple(rows: Bytes, form: LongDoubleFormat) -> Bytes:
    if form.order == "little":
        significand, head = _words(rows[:, :8], "<u8"), _words(rows[:, 8:10], "<u2")
    else:
        significand, head = _words(rows[:, -8:], ">u8"), _words(rows[:, :2], ">u2")
    exponent, explicit = head & _SPECIAL, significand >> np.uint64(63) == 1
    head = head + (explicit & (exponent == 0))  # a pseudo-denormal is a normal number of the smallest exponent
    fraction = significand & _FRACTION
    rejected = ~explicit & (exponent != 0)
    head = np.where(rejected, head | _SPECIAL, head)
    fraction = np.where(rejected, _QUIET, fraction)
    words = np.stack([head << np.uint64(48) | fraction >> np.uint64(15), fraction << np.uint64(_LOST)], axis=1)
    return words.astype(">u8").reshape(-1).view(np.uint8)


def _quadruple_to_extended(rows: Bytes, form: LongDoubleFormat) -> Bytes:
    high, low = _words(rows[:, :8], ">u8"), _words(rows[:, 8:], ">u8")
    head = high >> np.uint64(48)
    fraction = (high << np.uint64(16) >> np.uint64(1)) | low >> np.uint64(_LOST)
    lost, half = low & np.uint64((1 << _LOST) - 1), np.uint64(1 << _LOST - 1)
    special = head & _SPECIAL == _SPECIAL
    carry = ~special & ((lost > half) | ((lost == half) & (fraction & np.uint64(1) == 1)))
    fraction = np.where(special & (fraction == 0) & (lost != 0), _QUIET, fraction + carry)  # a NaN must not become infinite
    head = head + (fraction >> np.uint64(63))  # a fraction of all ones, rounded up
    significand = np.where(head & _SPECIAL != 0, _INTEGER_BIT, np.uint64(0)) | fraction & _FRACTION
    extended = np.zeros((len(rows), form.size), np.uint8)
    if form.order == "little":
        extended[:, :8], extended[:, 8:10] = _bytes(significand, "<u8"), _bytes(head, "<u2")
    else:
        extended[:, -8:], extended[:, :2] = _bytes(significand, ">u8"), _bytes(head, ">u2")
    return extended.reshape(-1)


def _words(columns: Bytes, dtype: str) -> Words:
    return np.ascontiguousarray(columns).view(dtype).astype(np.uint64).reshape(-1)


def _bytes(words: Words, dtype: str) -> Bytes:
    return words.astype(dtype).reshape(-1, 1).view(np.uint8)


# -- doubles, and sums of two of them: number by number -----------------------------------------------------------------


def _quadruple_of(high: float, low: float = 0.0) -> bytes:
    """The quadruple nearest to a sum of two doubles, ties to even."""
    head, fraction = _fields(high)
    if head & 0x7FF == 0x7FF:  # infinite or NaN: the second double has no meaning
        return (head >> 11 << 127 | 0x7FFF << 112 | fraction << 60).to_bytes(16, "big")
    value = Fraction(high) + Fraction(low)
    if not value:
        return (head >> 11 << 127).to_bytes(16, "big")
    magnitude = abs(value)
    # Doubles are multiples of 2**-1074, so a sum never comes near the subnormal quadruples below 2**-16382.
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= magnitude < Fraction(2) ** exponent
    rounded = round(magnitude / Fraction(2) ** (exponent - 112))  # 113 bits; Python rounds ties to even
    bits = (exponent + _BIAS - 1 << 112) + rounded  # the leading bit, and a carry, add to the exponent
    return (int(value < 0) << 127 | bits).to_bytes(16, "big")


def _doubles_of(quadruple: bytes, parts: int) -> list[float]:
    """The double nearest to a quadruple; with two parts, the double nearest to the remainder too."""
    bits = int.from_bytes(quadruple, "big")
    negative, exponent, fraction = bits >> 127, bits >> 112 & 0x7FFF, bits & (1 << 112) - 1
    if exponent == 0x7FFF:
        payload = fraction >> 60 or (fraction != 0) << 51
        special: float = struct.unpack(">d", struct.pack(">Q", negative << 63 | 0x7FF << 52 | payload))[0]
        return [special, 0.0][:parts]
    value = Fraction(fraction | (exponent != 0) << 112) * Fraction(2) ** (max(exponent, 1) - _BIAS - 112)
    sign = -1.0 if negative else 1.0
    high = _nearest(value)
    if parts == 1 or high == float("inf"):
        return [sign * high, 0.0][:parts]
    low = _nearest(value - Fraction(high)) if value >= Fraction(high) else -_nearest(Fraction(high) - value)
    total = high + low  # rounding the remainder may have made it half a unit of an odd double
    return [sign * total, sign * ((high - total) + low)]


def _nearest(size: Fraction) -> float:
    """The double nearest to a number that is not negative, ties to even."""
    try:
        return size.numerator / size.denominator  # correctly rounded, also to subnormal doubles
    except OverflowError:
        return float("inf")


def _fields(number: float) -> tuple[int, int]:
    """Sign and exponent of a double as one integer, and its fraction."""
    bits: int = struct.unpack(">Q", struct.pack(">d", number))[0]
    return bits >> 52, bits & (1 << 52) - 1
