"""Samples: measured times of messages, by level and size, and checks that they can be used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from fakempi.core.network.models.multi_level import LEVELS
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.plurals import counted

KINDS = ("time", "gap", "overhead", "concurrent", "reduction", "eager")
"""Kinds of samples. "time": a message one way. "gap": a message of a stream. "overhead": until a send ends. "concurrent": a
message while several pairs exchange messages. "reduction": a reduction. "eager": whether a message is eager (1 or 0)."""

FEWEST_SIZES = 4
"""A level needs this number of sizes, so that one can be held out."""

MIXED = 1000.0
"""If the times of one level and size differ by this factor, they are rejected, because their units probably differ."""

LONGEST = 0.1
"""A longer time for a message of at most 64 bytes is rejected, because it is probably not in seconds."""


MAX_NUMBER = 1 << 53
"""The largest number of bytes or pairs; floats represent all integers up to it."""


class Sample(NamedTuple):
    """One measured time.

    Attributes
    ----------
    level
        socket, node or network.
    kind
        One of `KINDS`.
    nbytes
        The size of the message.
    seconds
        The time.
    pairs
        The number of pairs that exchanged messages at the same time.
    where
        The file and the line, for messages.
    """

    level: str
    kind: str
    nbytes: int
    seconds: float
    pairs: int = 1
    where: str = ""


def input_error(sentence: str) -> MPIValueError:
    """Return the error for measurements that cannot be used."""
    return MPIValueError(ERR_ARG, sentence)


def parse_size(text: str, where: str) -> int:
    """Return a number of bytes in a file."""
    try:
        nbytes = int(text)
    except ValueError:
        raise input_error(f"{where}: {text[:80]!r} is not a number of bytes.") from None
    if nbytes < 0:
        raise input_error(f"{where}: {nbytes} bytes are negative.")
    if nbytes > MAX_NUMBER:
        raise input_error(f"{where}: {text[:40]} is too large: the maximum is {MAX_NUMBER:,}.")
    return nbytes


def parse_positive(text: str, what: str, where: str) -> float:
    """Return a time or a rate in a file, which must be positive and finite."""
    try:
        number = float(text)
    except ValueError:
        raise input_error(f"{where}: {text[:80]!r} is not a number ({what}).") from None
    if not 0 < number < float("inf"):
        problem = "zero" if number == 0 else "negative" if number < 0 else "not finite"
        raise input_error(f"{where}: {what} is {text}, which is {problem}: remove the row or measure again.")
    return number


def check_samples(samples: Sequence[Sample]) -> None:
    """Raise an error if there are no one-way times, too few sizes for a level, or several units."""
    times = [sample for sample in samples if sample.kind == "time"]
    if not times:
        raise input_error("there are no one-way times of messages: add ping-pongs, such as the output of osu_latency.")
    for level, group in by_level(times).items():
        sizes = sorted({sample.nbytes for sample in group})
        if len(sizes) < FEWEST_SIZES:
            found = ", ".join(f"{size:,}" for size in sizes)
            raise input_error(
                f"{group[0].where}: level {level} has {counted(len(sizes), 'size')} ({found} bytes), and a fit "
                f"needs at least {FEWEST_SIZES}: measure more sizes."
            )
        _check_units(level, group)


def _check_units(level: str, group: Sequence[Sample]) -> None:
    by_size: dict[int, list[Sample]] = defaultdict(list)
    for sample in group:
        by_size[sample.nbytes].append(sample)
    for nbytes, same in by_size.items():
        middle = median(sample.seconds for sample in same)
        least, most = min(same, key=_seconds), max(same, key=_seconds)
        if most.seconds > 0.999 * MIXED * least.seconds:  # a factor of exactly 1000 is rounded
            raise input_error(
                f"{most.where}: {most.seconds:g} s for {nbytes:,} B on level {level}, and {least.seconds:g} s in "
                f"{least.where or 'another row'}: the rows have different units, or two ranks shared a core; all times must "
                "be in seconds."
            )
        if nbytes <= 64 and middle > LONGEST:
            raise input_error(
                f"{same[0].where}: {middle:g} s for {nbytes} B on level {level} is too long for a message: times must be in "
                "seconds, not in microseconds."
            )


def _seconds(sample: Sample) -> float:
    return sample.seconds


def by_level(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """Return the samples of each level, from the innermost level."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.level, []).append(sample)
    return {level: found[level] for level in LEVELS if level in found}
