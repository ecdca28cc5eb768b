"""Every format of long double in both byte orders, converted to IEEE quadruple precision and back, on any machine."""

from __future__ import annotations

import math
import struct
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fakempi.mpi.datatypes.long_doubles import NATIVE, LongDoubleFormat, from_quadruple, to_quadruple

ORDERS = ("little", "big")
EXTENDED = [LongDoubleFormat("extended", size, order) for size in (12, 16) for order in ORDERS]
DOUBLES = [LongDoubleFormat("double", 8, order) for order in ORDERS]
PAIRS = [LongDoubleFormat("double-double", 16, order) for order in ORDERS]
QUADRUPLES = [LongDoubleFormat("quadruple", 16, order) for order in ORDERS]

BITS_128 = st.one_of(
    st.integers(0, (1 << 128) - 1),
    st.builds(
        lambda sign, exponent, high, low: sign << 127 | exponent << 112 | high << 49 | low,
        st.booleans(), st.sampled_from([0, 1, 2, 15308, 15309, 15361, 15362, 16383, 17406, 17407, 0x7FFE, 0x7FFF]),
        st.sampled_from([0, 1, 2, 3, (1 << 63) - 1, (1 << 63) - 2, 1 << 62]),
        st.sampled_from([0, 1, 1 << 48, (1 << 48) - 1, (1 << 48) + 1, (1 << 49) - 1]),
    ),
)  # fmt: skip
FLOATS = st.floats(width=64)


def number(value: tuple[int, int, Fraction] | str) -> Fraction | str:
    """The value of (sign, exponent of the last bit, significand)."""
    if isinstance(value, str):
        return value
    sign, exponent, significand = value
    size = significand * Fraction(2) ** exponent
    return -size if sign else size


def extended_value(bits: int) -> Fraction | str:
    """The value of 80 bits, as Intel's manual defines them."""
    sign, exponent, significand = bits >> 79, bits >> 64 & 0x7FFF, bits & (1 << 64) - 1
    integer, fraction = significand >> 63, significand & (1 << 63) - 1
    if exponent and not integer:
        return "nan"
    if exponent == 0x7FFF:
        return "nan" if fraction else "-inf" if sign else "inf"
    return number((sign, max(exponent, 1) - 16383 - 63, Fraction(significand)))


def quadruple_value(bits: int) -> Fraction | str:
    """The value of 128 bits, as IEEE 754 defines them."""
    sign, exponent, fraction = bits >> 127, bits >> 112 & 0x7FFF, bits & (1 << 112) - 1
    if exponent == 0x7FFF:
        return "nan" if fraction else "-inf" if sign else "inf"
    return number((sign, max(exponent, 1) - 16383 - 112, Fraction(fraction | (exponent != 0) << 112)))


def in_memory(bits: int, form: LongDoubleFormat) -> bytes:
    """80 bits with padding that is not zero."""
    padding = b"\xa5" * (form.size - 10)
    if form.order == "little":
        return bits.to_bytes(10, "little") + padding
    whole = bits.to_bytes(10, "big")
    return whole[:2] + padding + whole[2:]


def bits_of(data: bytes, form: LongDoubleFormat) -> int:
    """80 bits in memory; the padding must be zero."""
    assert all(data[i] == 0 for i in form.padding())
    kept = bytes(byte for i, byte in enumerate(data) if i not in form.padding())
    return int.from_bytes(kept, "little" if form.order == "little" else "big")


def outward(data: bytes, form: LongDoubleFormat) -> int:
    """The quadruple that a number in memory becomes."""
    return int.from_bytes(to_quadruple(np.frombuffer(data, np.uint8), form).tobytes(), "big")


def inward(bits: int, form: LongDoubleFormat) -> bytes:
    """The number in memory that a quadruple becomes."""
    return from_quadruple(np.frombuffer(bits.to_bytes(16, "big"), np.uint8), form).tobytes()


def test_padding_is_where_no_value_is() -> None:
    """Ten bytes of an 80-bit number hold its value; the other formats have no padding."""
    assert [len(form.padding()) for form in EXTENDED] == [2, 2, 6, 6]
    assert not any(form.padding() for form in DOUBLES + PAIRS + QUADRUPLES)
    assert NATIVE in EXTENDED + DOUBLES + PAIRS + QUADRUPLES
    assert NATIVE.order == sys.byteorder


@given(st.booleans(), st.integers(0, 0x7FFF), st.integers(0, (1 << 64) - 1))
@example(False, 0, 1 << 63)  # a pseudo-denormal: the smallest normal number
@example(True, 0, (1 << 63) + 1)
@example(True, 0, 0)
@example(False, 0, 1)
@example(False, 7, 5)  # the processor rejects it: the integer bit is missing
@example(False, 0x7FFF, 0)
@example(False, 0x7FFF, 1 << 63)
@example(True, 0x7FFF, 3 << 62)
@example(True, 0x7FFF, (1 << 63) + 1)  # a signaling NaN
def test_80_bits_keep_their_value_in_128_and_come_back(sign: bool, exponent: int, significand: int) -> None:
    """All patterns: normal and subnormal numbers, pseudo-denormals, zeros, infinities, NaNs, rejected patterns."""
    bits = sign << 79 | exponent << 64 | significand
    for form in EXTENDED:
        wide = outward(in_memory(bits, form), form)
        assert quadruple_value(wide) == extended_value(bits)
        assert wide >> 127 == sign
        back = bits_of(inward(wide, form), form)
        assert extended_value(back) == extended_value(bits)
        assert back >> 79 == sign
        if (exponent != 0) == significand >> 63:  # the pattern that the processor itself writes
            assert back == bits


@given(BITS_128)
def test_128_bits_become_the_nearest_80_bits(bits: int) -> None:
    """Of the two neighbors the nearer one, of two equally near ones the even one."""
    value = quadruple_value(bits)
    for form in EXTENDED:
        found = bits_of(inward(bits, form), form)
        rounded = extended_value(found)
        if isinstance(value, str):
            assert rounded == value
        elif rounded in ("inf", "-inf"):
            assert abs(value) >= (2 - Fraction(1, 2**64)) * Fraction(2) ** 16383
        else:
            assert isinstance(rounded, Fraction)
            step = Fraction(2) ** (max(found >> 64 & 0x7FFF, 1) - 16383 - 63)
            error = abs(rounded - value)
            assert error < step / 2 or (error == step / 2 and found % 2 == 0)
            power = found & (1 << 63) - 1 == 0 and found >> 64 & 0x7FFF > 1
            if power and abs(rounded) > abs(value):  # below a power of two, numbers are twice as dense
                assert error <= step / 4
        assert found >> 79 == bits >> 127


@given(FLOATS)
@example(5e-324)
@example(-0.0)
@example(2.0**-1022)
@example(math.nextafter(2.0**-1022, 0))
@example(-math.inf)
def test_64_bits_keep_their_value_in_128_and_come_back(value: float) -> None:
    """Doubles are exact there."""
    for form, letter in zip(DOUBLES, "<>", strict=True):
        data = struct.pack(f"{letter}d", value)
        found = quadruple_value(outward(data, form))
        assert found == ("nan" if math.isnan(value) else repr(value) if math.isinf(value) else Fraction(value))
        assert inward(outward(data, form), form) == data


@given(BITS_128)
def test_128_bits_become_the_nearest_64_bits(bits: int) -> None:
    """Python divides integers with correct rounding, and so does the conversion, at both ends of the range."""
    value = quadruple_value(bits)
    for form, letter in zip(DOUBLES, "<>", strict=True):
        (found,) = struct.unpack(f"{letter}d", inward(bits, form))
        assert math.copysign(1, found) == (-1 if bits >> 127 else 1)
        if isinstance(value, str):
            assert math.isnan(found) if value == "nan" else repr(found) == value
        elif math.isinf(found):
            assert abs(value) >= Fraction(sys.float_info.max) + Fraction(2) ** 970
        else:
            for other in (math.nextafter(found, math.inf), math.nextafter(found, -math.inf)):
                if not math.isinf(other):
                    mine, theirs = abs(Fraction(found) - value), abs(Fraction(other) - value)
                    even = struct.unpack("<Q", struct.pack("<d", found))[0] % 2 == 0
                    assert mine < theirs or (mine == theirs and even)


@given(FLOATS, st.floats(-0.5, 0.5, width=64))
@example(-0.0, -0.0)
@example(1.0, 2.0**-106)
@example(5e-324, 0.5)
@example(-math.inf, 0.5)
@example(1.0, 2.0**-113)
def test_a_sum_of_two_doubles_is_rounded_to_113_bits_and_comes_back(high: float, share: float) -> None:
    """Exact wherever 113 bits hold the sum; the first double is the nearest to the sum."""
    low = share * math.ulp(high) if math.isfinite(high) else 0.0
    if math.isfinite(high):
        high, low = high + low, (high - (high + low)) + low
    for form, letter in zip(PAIRS, "<>", strict=True):
        data = struct.pack(f"{letter}2d", high, low)
        bits = outward(data, form)
        value = quadruple_value(bits)
        if not math.isfinite(high):
            assert value == ("nan" if math.isnan(high) else repr(high))
            assert inward(bits, form)[:8] == data[:8]
            continue
        exact = Fraction(high) + Fraction(low)
        assert isinstance(value, Fraction)
        assert abs(value - exact) <= abs(exact) / 2**113
        first, second = struct.unpack(f"{letter}2d", inward(bits, form))
        assert first + second == first
        assert abs(Fraction(first) + Fraction(second) - value) <= abs(exact) / 2**106
        if value == exact:
            assert (first, second) == (high, low)
        assert math.copysign(1, first) == math.copysign(1, high)


@given(BITS_128)
def test_quadruples_change_only_their_byte_order(bits: int) -> None:
    """Where long double has the format already."""
    for form in QUADRUPLES:
        assert outward(bits.to_bytes(16, form.order), form) == bits  # type: ignore[arg-type]
        assert inward(bits, form) == bits.to_bytes(16, form.order)  # type: ignore[arg-type]


def test_this_machine_agrees_with_the_format_found_for_it() -> None:
    """numpy's own numbers, converted, have their values."""
    numbers = np.array([1.5, -3.0, 1e300, 0.1, 2.0**-1022], np.longdouble) / np.longdouble(3)
    wide = to_quadruple(numbers.view(np.uint8)).reshape(-1, 16)
    for one, row in zip(numbers, wide, strict=True):
        value = quadruple_value(int.from_bytes(row.tobytes(), "big"))
        numerator, denominator = one.as_integer_ratio()
        assert value == Fraction(numerator, denominator)
    assert from_quadruple(wide.reshape(-1)).view(np.longdouble).tolist() == numbers.tolist()


@pytest.mark.parametrize("form", EXTENDED + DOUBLES + PAIRS + QUADRUPLES)
def test_no_numbers_and_many(form: LongDoubleFormat) -> None:
    """Arrays of any length."""
    assert not len(to_quadruple(np.empty(0, np.uint8), form))
    assert not len(from_quadruple(np.empty(0, np.uint8), form))
    one = from_quadruple(np.frombuffer((0x3FFF8 << 108).to_bytes(16, "big"), np.uint8), form)
    assert len(one) == form.size
    assert to_quadruple(np.tile(one, 5), form).tobytes() == (0x3FFF8 << 108).to_bytes(16, "big") * 5
