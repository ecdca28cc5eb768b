"""Ticks of logarithmic axes: at least three labels at every range, and minor ticks without labels between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, floor, log, log2, log10

from matplotlib.axis import Axis
from matplotlib.ticker import AutoMinorLocator, FixedLocator, FuncFormatter, NullFormatter, NullLocator

from fakempi.view.numbers import linear_ticks

LEAST, MOST = 3, 7
"""Labels of an axis."""
TIGHT = 16
"""Of few sizes that were compared, all have a label, even if two labels are as close as a part of this many of the axis."""
COVERED = 0.5
"""Part of the axis that the labels span: in a range from 7 to 14, 8, 9 and 10 would leave out the upper half."""
MOST_MINOR = 60


def label_log_axis(
    axis: Axis, low: float, high: float, *, text: Callable[[float], str], base: int = 10, preferred: Sequence[float] = ()
) -> None:
    """Set the ticks of a logarithmic axis whose limits are `low` and `high`.

    Parameters
    ----------
    text
        Returns the label of a number.
    base
        2 for sizes and numbers of ranks, 10 for times and ratios. Labels of base 2 are whole numbers.
    preferred
        Numbers that are labeled if enough of them have room: the sizes that were compared.
    """
    major = major_ticks(low, high, base, preferred)
    axis.set_major_locator(FixedLocator(major))
    axis.set_major_formatter(FuncFormatter(lambda number, _: text(number)))
    axis.set_minor_locator(FixedLocator(minor_ticks(low, high, base, major)))
    axis.set_minor_formatter(NullFormatter())


def label_linear_axis(axis: Axis, low: float, high: float, *, whole: bool = False) -> None:
    """Set the ticks of a linear axis: labels with as many digits as they need to differ, and minor ticks, unless `whole`."""
    major = next(ticks for most in range(LEAST + 3, 3 * MOST) if len(ticks := linear_ticks(low, high, most)) >= LEAST)
    if whole and high - low >= LEAST - 1:
        major = sorted({float(round(tick)) for tick in major})
    axis.set_major_locator(FixedLocator(major))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.12g}"))
    axis.set_minor_locator(NullLocator() if whole else AutoMinorLocator())


def label_number(number: float) -> str:
    """Return the label of a number: `0.5`, `20`, `1,000`, `1e6`."""
    if number >= 1e6 and log10(number) == round(log10(number)):
        return f"1e{round(log10(number))}"
    return f"{number:,.0f}" if number >= 1000 else f"{number:.6g}"


def integer_limits(numbers: Sequence[float], margin: float = 0.04) -> tuple[float, float]:
    """Return limits with a margin around positive numbers, between which there are `LEAST` or more integers."""
    low, high = min(numbers), max(numbers)
    wide = max(high / low, 1.0) ** margin
    low, high = low / wide, high * wide
    while floor(high) - ceil(low) + 1 < LEAST:
        low, high = max(low - 0.6, 0.5), high + 0.6
    return low, high


def major_ticks(low: float, high: float, base: int, preferred: Sequence[float] = ()) -> list[float]:
    """Return 3 to 7 numbers between two limits, up to 9 in a narrow range: preferred ones, or powers, or round numbers."""
    powers, wide = _powers(low, high, base), log(high / low)
    named = [*preferred, *_between(*preferred)] if len(preferred) == 2 else preferred
    powers_of_named = [number for number in powers[0] if number in named]
    candidates = [*[(named, TIGHT)] * (len(named) <= MOST), (powers_of_named, MOST), (named, MOST)]
    for numbers, most in (*candidates, *((numbers, MOST) for numbers in powers)):
        inside = sorted(number for number in {*numbers} if low * (1 - 1e-9) <= number <= high * (1 + 1e-9))
        spread = _with_room(inside, wide / most)
        if len(spread) < LEAST or (most == TIGHT and len(spread) < len(inside)):
            continue
        if numbers is named or log(spread[-1] / spread[0]) >= wide * COVERED:
            return spread
    for most in range(MOST, 3 * MOST):
        ticks = linear_ticks(low, high, most)
        if base == 2:
            ticks = sorted({float(round(tick)) for tick in ticks if low <= round(tick) <= high})
        if len(ticks) >= LEAST:
            return ticks
    return [low, (low * high) ** 0.5, high]


def minor_ticks(low: float, high: float, base: int, major: Sequence[float]) -> list[float]:
    """Return the numbers between labels: other powers, multiples of powers of ten, or halves and fifths of a step."""
    powers, *finer = _powers(low, high, base)
    rest = [*powers]
    if base == 10 and len(powers) <= 8:
        rest += [number for group in finer for number in group]
    rest = [number for number in sorted({*rest}) if low <= number <= high and not _is_among(number, major)]
    if len(rest) < 2:
        step = (major[-1] - major[0]) / (len(major) - 1)
        # Whole numbers have no fifths: 4, 5 and 6 ranks are all there is.
        parts = 5 if base == 10 else max(1, min(4, floor(step)))
        count = floor((high - low) / (step / parts)) + 1
        first = ceil(low / (step / parts))
        rest = [(first + index) * step / parts for index in range(count)]
        rest = [number for number in rest if low <= number <= high and not _is_among(number, major)]
    return rest[:: ceil(len(rest) / MOST_MINOR)] if rest else []


def _powers(low: float, high: float, base: int) -> list[list[float]]:
    """Return powers of the base between two limits; for base 10 also 1, 2 and 5 times, and 1 to 9 times the powers."""
    if base == 2:
        return [[2.0**index for index in range(max(0, floor(log2(low))), ceil(log2(high)) + 1)]]
    powers = [10.0**index for index in range(floor(log10(low)), ceil(log10(high)) + 1)]
    return [powers, *([power * factor for power in powers for factor in factors] for factors in ((1, 2, 5), range(1, 10)))]


def _with_room(numbers: Sequence[float], gap: float) -> list[float]:
    """Return numbers with a gap on the logarithmic axis between two of them: every n-th, or else the first, the last and
    those between them with room."""
    for step in range(1, len(numbers) // LEAST + 1):
        chosen = list(numbers[::step])
        if len(chosen) >= LEAST and all(log(after / before) >= gap * 0.999 for before, after in pairwise(chosen)):
            return chosen
    if len(numbers) < LEAST:
        return []
    chosen, last = [numbers[0]], numbers[-1]
    for number in numbers[1:-1]:
        if log(number / chosen[-1]) >= gap * 0.999 and log(last / number) >= gap * 0.999:
            chosen.append(number)
    return [*chosen, last]


def _between(low: float, high: float) -> list[float]:
    """Return a whole number in the middle between two numbers: a power of two if they are far apart, or none."""
    if high / low >= 4:
        return [2.0 ** round(log2(low * high) / 2)]
    middle = float(round((low + high) / 2))
    return [middle] if low < middle < high else []


def _is_among(number: float, others: Sequence[float]) -> bool:
    return any(abs(number - other) <= 1e-9 * abs(other) for other in others)
