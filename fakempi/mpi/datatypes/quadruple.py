"""IEEE quadruple precision, which MPI's portable form has for long double, and the 80 bits that x86 has for it.

Both have 15 bits of exponent with the same offset, so what differs is the fraction: 112 bits with an implied 1 before
them, or 63 with that 1 written out. Going out nothing is lost; coming in the fraction is rounded to the nearest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

_FRACTION = np.uint64((1 << 63) - 1)
_ONE = np.uint64(1 << 63)
_LOST = 112 - 63  # bits of a fraction that have no place in 80 bits
_SPECIAL = np.uint64(0x7FFF)  # the exponent of infinities and of what is not a number


def is_extended() -> bool:
    """Whether this machine's long double has those 80 bits, in 16 bytes."""
    return np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16


def to_quadruple(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The bytes of long doubles, in big-endian quadruple precision."""
    mantissa, rest = _halves(data, "<u8")
    fraction, high = mantissa & _FRACTION, (rest & np.uint64(0xFFFF)) << np.uint64(48)
    words = np.stack([high | fraction >> np.uint64(15), fraction << np.uint64(_LOST)], axis=1)
    return words.astype(">u8").reshape(-1).view(np.uint8)


def from_quadruple(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The way back: the bytes of long doubles."""
    high, low = _halves(data, ">u8")
    sign_and_exponent = high >> np.uint64(48)
    fraction = (high << np.uint64(16) >> np.uint64(1)) | low >> np.uint64(_LOST)
    lost, half = low & np.uint64((1 << _LOST) - 1), np.uint64(1 << _LOST - 1)
    special = sign_and_exponent & _SPECIAL == _SPECIAL
    up = ~special & ((lost > half) | ((lost == half) & (fraction & np.uint64(1) == 1)))
    fraction = np.where(special & (fraction == 0) & (lost != 0), np.uint64(1 << 62), fraction + up)
    sign_and_exponent = sign_and_exponent + (fraction >> np.uint64(63))  # all ones, rounded up
    normal = np.where(sign_and_exponent & _SPECIAL != 0, _ONE, np.uint64(0))
    words = np.stack([normal | fraction & _FRACTION, sign_and_exponent], axis=1)
    return words.astype("<u8").reshape(-1).view(np.uint8)


def _halves(data: npt.NDArray[np.uint8], order: str) -> tuple[Words, Words]:
    words = np.ascontiguousarray(data).view(order).astype(np.uint64).reshape(-1, 2)
    return words[:, 0], words[:, 1]
