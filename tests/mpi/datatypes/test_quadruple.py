"""Long doubles of 80 bits in MPI's portable form, which has 128."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from fakempi.mpi.datatypes.quadruple import from_quadruple, to_quadruple

OFFSET = 16383
EXTENDED = st.tuples(st.booleans(), st.integers(0, 0x7FFE), st.integers(0, (1 << 63) - 1))
QUADRUPLE = st.tuples(st.booleans(), st.integers(0, 0x7FFD), st.integers(0, (1 << 112) - 1))


def extended(sign: bool, exponent: int, fraction: int) -> bytes:
    """80 bits in 16 bytes, as x86 has them in memory."""
    return struct.pack("<QHxxxxxx", fraction | (exponent != 0) << 63, sign << 15 | exponent)


def quadruple(sign: bool, exponent: int, fraction: int) -> bytes:
    """128 bits, the highest first."""
    return (sign << 127 | exponent << 112 | fraction).to_bytes(16, "big")


def value(sign: bool, exponent: int, fraction: Fraction) -> Fraction:
    """The number that it is."""
    size = fraction + (exponent != 0)
    return Fraction((-1) ** sign * size * Fraction(2) ** (max(exponent, 1) - OFFSET))


def outward(*parts: Any) -> bytes:
    """From 80 bits to 128."""
    return to_quadruple(np.frombuffer(extended(*parts), np.uint8)).tobytes()


def inward(*parts: Any) -> bytes:
    """From 128 bits to 80."""
    return from_quadruple(np.frombuffer(quadruple(*parts), np.uint8)).tobytes()


@given(EXTENDED)
def test_going_out_nothing_is_lost_and_it_comes_back(parts: tuple[bool, int, int]) -> None:
    """Numbers close to zero, too, which have no 1 before their fraction."""
    sign, exponent, fraction = parts
    wide = fraction << 49
    assert value(sign, exponent, Fraction(fraction, 1 << 63)) == value(sign, exponent, Fraction(wide, 1 << 112))
    assert outward(sign, exponent, fraction) == quadruple(sign, exponent, wide)
    assert inward(sign, exponent, wide) == extended(sign, exponent, fraction)


@given(QUADRUPLE)
@example((False, 0, (1 << 112) - 1))
@example((True, 5, (1 << 112) - (1 << 48)))
@example((False, 5, 1 << 48))
@example((False, 5, 3 << 48))
def test_coming_in_a_number_is_rounded_to_the_nearest(parts: tuple[bool, int, int]) -> None:
    """And if two are as near, to the even one."""
    sign, exponent, fraction = parts
    rounded = round(Fraction(fraction, 1 << 49))  # Python rounds to even
    carried = (sign, exponent + (rounded >> 63), rounded & (1 << 63) - 1)
    assert inward(*parts) == extended(*carried)


def test_infinities_and_what_is_no_number_stay_so() -> None:
    """Even if all that says so is in the bits that are lost."""
    assert outward(True, 0x7FFF, 0) == quadruple(True, 0x7FFF, 0)
    assert inward(True, 0x7FFF, 0) == extended(True, 0x7FFF, 0)
    assert inward(False, 0x7FFF, 1) == extended(False, 0x7FFF, 1 << 62)
    assert inward(False, 0x7FFF, 1 << 111) == extended(False, 0x7FFF, 1 << 62)
