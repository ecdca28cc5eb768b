"""Observations: the result or exception of a call, as plain data on which both implementations must agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Op = dict[str, Any]
Program = dict[str, Any]
"""{"ranks": the number of ranks, "ops": the operations, each of which can be omitted}."""

REFUSALS = (TypeError, ValueError, BufferError, OverflowError)


@cache
def error_names(MPI: Any) -> dict[int, str]:
    """Error classes by number; the numbers differ between libraries."""
    return {getattr(MPI, name): name for name in dir(MPI) if name.startswith("ERR_") and isinstance(getattr(MPI, name), int)}


def attempt(MPI: Any, call: Callable[[], Any]) -> Any:
    """Return the call's result, or the names of the error that it raises: a class of MPI, a Python exception, or both."""
    try:
        return call()
    except (MPI.Exception, *REFUSALS) as error:
        names = [type(error).__name__] if not isinstance(error, MPI.Exception) else []
        if isinstance(error, MPI.Exception):
            names = [error_names(MPI).get(error.Get_error_class(), "unknown class")]
            names += [kind.__name__ for kind in REFUSALS if isinstance(error, kind)]
        return {"error": names}


def agree(real: Any, emulated: Any) -> bool:
    """Whether observations are equal. mpi4py rejects some arguments itself: fakempi's errors have both types then."""
    if isinstance(real, dict) and isinstance(emulated, dict) and "error" in real and "error" in emulated:
        return not set(real["error"]).isdisjoint(emulated["error"])
    if isinstance(real, list) and isinstance(emulated, list):
        return len(real) == len(emulated) and all(map(agree, real, emulated))
    return bool(real == emulated)


def as_hex(buffer: Any) -> str:
    """The bytes of a buffer."""
    return bytes(buffer).hex()


def filled(length: int, seed: int) -> bytearray:
    """A buffer whose bytes depend on their positions and on the seed."""
    return bytearray((np.arange(length, dtype=np.uint32) * 37 + seed * 11 + 13).astype(np.uint8).tobytes())


def name_of(MPI: Any, prefix: str, number: int) -> str:
    """The name of a constant, such as COMBINER_VECTOR."""
    return next((name for name in sorted(dir(MPI)) if name.startswith(prefix) and getattr(MPI, name) == number), str(number))


def count_of(MPI: Any, status: Any, datatype: Any) -> Any:
    """Get_count, with a word for MPI.UNDEFINED."""
    count = attempt(MPI, lambda: status.Get_count(datatype))
    return "UNDEFINED" if count == MPI.UNDEFINED else count


def elements_of(MPI: Any, status: Any, datatype: Any) -> Any:
    """Get_elements, with a word for MPI.UNDEFINED."""
    count = attempt(MPI, lambda: status.Get_elements(datatype))
    return "UNDEFINED" if count == MPI.UNDEFINED else count
