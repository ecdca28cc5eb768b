"""The best segment size of a pipelined algorithm, for comparisons in which the user has not chosen one.

A pipelined algorithm is only as good as its segment size, and the best one depends on the number of ranks, the size of the
message and the cost model. The search begins with the whole message and halves the segments until two halvings in a row
gain nothing. Schedules with more than `MAX_MESSAGES` messages are not evaluated in the search: the time of n segments is
close to A + B n + C / n, which three evaluated numbers of segments determine, so the best of the remaining sizes is
predicted. Halving doubles the messages, so a search evaluates at most 2 `MAX_MESSAGES` messages and about 20 formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from collectives import Algorithm, Case
from collectives.tools.numbers import ceil_div, ceil_log2

SEARCHED: Final[Mapping[str, Callable[[Case], int]]] = {
    "segment_bytes": lambda case: case.m,
    "block_bytes": lambda case: max(case.counts or (case.m,)) * (case.itemsize if case.counts else 1),
}
"""Parameters that are searched, with the number of bytes that they cut."""

LEAST: Final = 256
"""Bytes of the smallest segment that is tried."""

MAX_MESSAGES: Final = 1 << 17
"""Messages of a schedule that is evaluated during a search: 32 segments on 4,096 ranks."""

Evaluate = Callable[[Case, int | None], float | None]
"""Takes a case and a limit of messages; returns the seconds, or None if there are more messages."""


def searched_parameter(algorithm: Algorithm, given: Mapping[str, Any]) -> str | None:
    """Return the parameter to search: one that is not given, of an algorithm without parts.

    The table chooses parts together with their segment sizes.
    """
    if any(isinstance(value, Algorithm) for value in algorithm.parameters.values()):
        return None
    return next((name for name in SEARCHED if name in algorithm.parameters and name not in given), None)


def best_value(name: str, case: Case, default: int, evaluate: Evaluate, also: Sequence[int] = ()) -> int:
    """Return the fastest segment size: a power of two, the default, or one of the sizes in `also`.

    The default is returned if the message is best sent as a whole and the default does not cut it.
    """
    length = SEARCHED[name](case)
    if length <= LEAST or case.ranks < 2:
        return default

    def time(size: int, limit: int | None = MAX_MESSAGES) -> float | None:
        return evaluate(replace(case, parameters={**case.parameters, name: size}), limit)

    sizes = [1 << k for k in range(ceil_log2(length), ceil_log2(LEAST) - 1, -1)]
    times: dict[int, float] = {}
    without_gain = 0
    for size in sizes:
        seconds = time(size)
        if seconds is None:
            break
        without_gain = 0 if seconds < min(times.values(), default=float("inf")) else without_gain + 1
        times[size] = seconds
        if without_gain == 2:
            break
    if without_gain < 2 and len(times) > 2:
        for size in _predicted(times, length, [size for size in sizes if size not in times]):
            if (seconds := time(size, None)) is not None:
                times[size] = seconds
                break
    for size in also:
        if (seconds := time(size, None)) is not None:
            times[size] = seconds
    best = min(times, key=times.__getitem__, default=default)
    return default if best >= length and default >= length else best


def _predicted(times: Mapping[int, float], length: int, rest: Sequence[int]) -> list[int]:
    """Return the fastest of the remaining sizes according to the last three times, and then larger ones with fewer messages.

    There are none if the fastest is slower than the evaluated sizes.
    """
    if not rest:
        return []
    numbers = np.array([ceil_div(length, size) for size in list(times)[-3:]], float)
    seconds = np.array(list(times.values())[-3:], float)
    a, b, c = np.linalg.solve(np.stack([np.ones(3), numbers, 1 / numbers], axis=1), seconds)

    def time(size: int) -> float:
        number = ceil_div(length, size)
        return float(a + b * number + c / number)

    best = min(rest, key=time)
    return [size for size in reversed(rest) if size >= best] if time(best) < min(times.values()) else []
