"""Format numbers with prefixes and units, and choose the ticks of an axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log2, log10

_PREFIXES = ("a", "f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_SECONDS = ((1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"))


def short(number: float, digits: int = 3) -> str:
    """Return a number with a decimal prefix: `1.5k`, `20µ`, `0`."""
    number = float(number)
    if number == 0 or not isfinite(number):
        return "0" if number == 0 else str(number)
    number = float(f"{number:.{digits - 1}e}")  # round first: 999.9 is 1k, not 1000
    power = min(max(floor(log10(abs(number)) / 3), -6), 6)
    return f"{number / 1000.0**power:.{digits}g}{_PREFIXES[power + 6]}"


def short_binary(number: float) -> str:
    """Return a power of two with a binary prefix: `512`, `64Ki`."""
    power = min(max(floor(log2(number) / 10), 0), 6) if number >= 1 else 0
    return f"{number / 1024.0**power:g}{_BINARY[power]}"


def bytes_in_words(nbytes: int) -> str:
    """Return a number of bytes with a binary unit: `1,000 B`, `64 KiB`."""
    if nbytes < 1024 or nbytes % 1024:
        return f"{nbytes:,} B"
    text = short_binary(nbytes)
    return f"{text[:-2]} {text[-2:]}B"


def count(number: float) -> str:
    """Return a number of things, for example ranks, without a prefix: `1,024`."""
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


def seconds(time: float, digits: int = 3) -> str:
    """Return a time with its unit: `12.5 µs`, `3 s`."""
    time = float(time)
    if time == 0 or not isfinite(time):
        return "0 s" if time == 0 else f"{time} s"
    rounded = float(f"{time:.{digits - 1}e}")
    unit, name = time_unit(abs(rounded))
    return f"{rounded:,.0f} s" if abs(rounded) >= 1000 else f"{rounded / unit:.{digits}g} {name}"


def time_unit(least: float) -> tuple[float, str]:
    """Return the unit in which a time is at least 1: its seconds, and its name."""
    return next(((unit, name) for limit, unit, name in _SECONDS if least < limit), (1.0, "s"))


def distinct(one: float, other: float) -> tuple[str, str]:
    """Return two times with enough digits to show that they differ, at least three.

    >>> distinct(1.25e-6, 2e-6), distinct(1.25e-6, 1.250001e-6)
    (('1.25 µs', '2 µs'), ('1.25 µs', '1.250001 µs'))
    """
    for digits in range(3, 17):
        texts = seconds(one, digits), seconds(other, digits)
        if texts[0] != texts[1]:
            break
    return texts


def amount(nbytes: float) -> str:
    """Return a number of bytes with its unit: `512 B`, `1.5 MB`."""
    text = short(nbytes)
    return f"{text[:-1]} {text[-1]}B" if text[-1].isalpha() else f"{text} B"


def percent(share: float) -> str:
    """Return a share as a percentage: whole, except `<1%` above 0 and `>99%` below 1."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def linear_ticks(low: float, high: float, maximum: int) -> list[float]:
    """Return at most `maximum` round numbers from low to high, in steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return [low]
    step = 10.0 ** floor(log10((high - low) / max(maximum, 1)))
    for factor in (1, 2, 5, 10, 20, 50):
        first, last = ceil(low / (step * factor) - 1e-9), floor(high / (step * factor) + 1e-9)
        if last - first < max(maximum, 1):
            return [index * step * factor for index in range(first, last + 1)]
    return [low]


def log_ticks(low: float, high: float, maximum: int, base: int = 10) -> list[float]:
    """Return at most `maximum` powers of the base from low to high, or round numbers if there are fewer than two powers."""
    if not high > low:
        return [low]
    first, last = ceil(_log(low, base) - 1e-9), floor(_log(high, base) + 1e-9)
    step = 1
    while (last - first) // step + 1 > max(maximum, 1):
        step += 1
    powers = [float(base) ** index for index in range(first, last + 1, step)]
    if len(powers) < 2:
        decade = 10.0 ** floor(log10(low))
        powers = [tick for tick in (decade * factor for factor in (1, 2, 5, 10, 20, 50)) if low <= tick <= high]
    return powers[:maximum] if len(powers) >= 2 else [low, high]


def powers_of_two(numbers: Sequence[float]) -> bool:
    """Return whether all numbers are powers of two."""
    return all(number > 0 and log2(number) == int(log2(number)) for number in numbers)


def _log(number: float, base: int) -> float:
    return log2(number) if base == 2 else log10(number)
