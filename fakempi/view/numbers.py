"""Numbers for people: short ones, with prefixes, and the ticks of an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log2, log10

_PREFIXES = ("a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_SECONDS = ((1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"))


def short(number: float, digits: int = 3) -> str:
    """A number with a decimal prefix: `1.5k`, `20µ`, `0`."""
    number = float(number)
    if number == 0 or not isfinite(number):
        return "0" if number == 0 else str(number)
    number = float(f"{number:.{digits - 1}e}")  # rounded first, or 999.9 would be 1000 and not 1k
    third = min(max(floor(log10(abs(number)) / 3), -6), 6)
    return f"{number / 1000.0**third:.{digits}g}{_PREFIXES[third + 6]}"


def short_binary(number: float) -> str:
    """A power of two with a binary prefix: `512`, `64Ki`."""
    tenth = min(max(floor(log2(number) / 10), 0), 6) if number >= 1 else 0
    return f"{number / 1024.0**tenth:g}{_BINARY[tenth]}"


def seconds(time: float, digits: int = 3) -> str:
    """A time with its unit: `12.5 µs`, `3 s`."""
    time = float(time)
    if time == 0 or not isfinite(time):
        return "0 s" if time == 0 else f"{time} s"
    rounded = float(f"{time:.{digits - 1}e}")
    for limit, unit, name in _SECONDS:
        if abs(rounded) < limit:
            return f"{rounded / unit:.{digits}g} {name}"
    return f"{rounded:,.0f} s" if abs(rounded) >= 1000 else f"{rounded:.{digits}g} s"


def apart(one: float, other: float) -> tuple[str, str]:
    """Two times with as many digits as it takes to see that they differ, and three at least.

    >>> apart(1.25e-6, 2e-6), apart(1.25e-6, 1.250001e-6)
    (('1.25 µs', '2 µs'), ('1.25 µs', '1.250001 µs'))
    """
    for digits in range(3, 17):
        words = seconds(one, digits), seconds(other, digits)
        if words[0] != words[1]:
            break
    return words


def amount(nbytes: float) -> str:
    """So many bytes: `512 B`, `1.5 MB`."""
    words = short(nbytes)
    return f"{words[:-1]} {words[-1]}B" if words[-1].isalpha() else f"{words} B"


def percent(share: float) -> str:
    """A share as a whole percentage, except that only nothing is 0 % and only everything is 100 %."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def linear_ticks(low: float, high: float, most: int) -> list[float]:
    """At most so many round numbers (1, 2 or 5 and zeros apart) from low to high."""
    if not high > low:
        return [low]
    step = 10.0 ** floor(log10((high - low) / max(most, 1)))
    for factor in (1, 2, 5, 10, 20, 50):
        first, last = ceil(low / (step * factor) - 1e-9), floor(high / (step * factor) + 1e-9)
        if last - first < max(most, 1):
            return [index * step * factor for index in range(first, last + 1)]
    return [low]


def log_ticks(low: float, high: float, most: int, base: int = 10) -> list[float]:
    """At most so many powers of the base from low to high, or round numbers if that would be fewer than two."""
    if not high > low:
        return [low]
    first, last = ceil(_log(low, base) - 1e-9), floor(_log(high, base) + 1e-9)
    step = 1
    while (last - first) // step + 1 > max(most, 1):
        step += 1
    powers = [float(base) ** index for index in range(first, last + 1, step)]
    if len(powers) < 2:
        decade = 10.0 ** floor(log10(low))
        powers = [tick for tick in (decade * factor for factor in (1, 2, 5, 10, 20, 50)) if low <= tick <= high]
    return powers[:most] if len(powers) >= 2 else [low, high]


def powers_of_two(numbers: Sequence[float]) -> bool:
    """Whether that is what all of them are."""
    return all(number > 0 and log2(number) == int(log2(number)) for number in numbers)


def _log(number: float, base: int) -> float:
    return log2(number) if base == 2 else log10(number)
