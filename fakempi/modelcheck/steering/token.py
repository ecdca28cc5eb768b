"""A schedule as text: the mode of the run, and the option taken at each choice: "z:0.0.2.1", "s64bd:1.0x12.3"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final, Literal, NamedTuple, TypeAlias

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG

Buffering: TypeAlias = Literal["zero", "infinite", "size"]
BUFFERINGS: Final[tuple[Buffering, ...]] = ("zero", "infinite", "size")
"""Bufferings: no standard send is buffered, all are, or those up to a size."""

CollectiveMode: TypeAlias = Literal["minimal", "synchronizing"]
COLLECTIVES: Final[tuple[CollectiveMode, ...]] = ("minimal", "synchronizing")
"""Ranks that a collective call waits for: those whose data it needs, or all."""

DataMode: TypeAlias = Literal["early", "late"]
DATA: Final[tuple[DataMode, ...]] = ("early", "late")
"""When data of nonblocking operations leave send buffers and arrive in receive buffers."""

UNLIMITED = 1 << 62
"""An eager limit that no message exceeds."""


class LibraryMode(NamedTuple):
    """The behavior of the MPI library during a run: buffering, whether collective calls are barriers, when data move.

    Attributes
    ----------
    limit
        Standard sends of at most this many bytes are buffered; with -1 none is.
    synchronizing
        Whether no rank leaves a collective call before all ranks have entered it.
    late
        Whether the data of nonblocking operations move as late as MPI allows, otherwise as early.
    """

    limit: int
    synchronizing: bool = False
    late: bool = False

    @classmethod
    def of(cls, buffering: str, synchronizing: bool = False, late: bool = False) -> LibraryMode:
        """Return the mode for the name of a buffering; for "size", the smallest limit, which buffers empty messages."""
        return cls({"zero": -1, "infinite": UNLIMITED, "size": 0}[buffering], synchronizing, late)

    @property
    def buffering(self) -> str:
        """The name of the buffering."""
        return "zero" if self.limit < 0 else "infinite" if self.limit >= UNLIMITED else "size"

    @property
    def sends(self) -> str:
        """A clause about standard sends."""
        if self.buffering == "size":
            return f"sends of at most {self.limit:,} bytes are buffered and larger ones wait for their receive"
        return "every send waits for its receive" if self.limit < 0 else "no send waits for its receive"

    def __str__(self) -> str:
        letter = self.buffering[0]
        return f"{letter}{self.limit if letter == 's' else ''}{'b' * self.synchronizing}{'d' * self.late}"


_MODE = re.compile(r"([zi]|s(\d{1,18}))(b?)(d?)", re.ASCII)
_WORD = re.compile(r"(\d+)(?:x(\d+))?", re.ASCII)
_MIN_REPETITIONS = 4
_MAX_DIGITS, _MAX_DECISIONS = 9, 10_000_000  # digits of a number in a token, and total decisions: they bound the memory


def write(mode: LibraryMode | str, decisions: Sequence[int]) -> str:
    """Return the token of a schedule. Trailing zeros are omitted, and repeated numbers are counted."""
    kept = list(decisions)
    while kept and not kept[-1]:
        kept.pop()
    parts = []
    for value, group in groupby(kept or [0]):
        count = len(list(group))
        parts += [f"{value}x{count}"] if count >= _MIN_REPETITIONS else [str(value)] * count
    return f"{LibraryMode.of(mode) if isinstance(mode, str) else mode}:{'.'.join(parts)}"


def read(token: str) -> tuple[LibraryMode, list[int]]:
    """Return the mode and the decisions of a token."""
    if not isinstance(token, str):
        raise MPITypeError(ERR_ARG, f"schedule must be a string such as 'z:0.0.2.1', not {token!r}.")
    head, colon, rest = token.partition(":")
    mode = _MODE.fullmatch(head)
    parts = [_WORD.fullmatch(word) for word in rest.split(".")]
    if not colon or mode is None or None in parts:
        raise MPIValueError(
            ERR_ARG, f"schedule {token!r} is malformed: a schedule is z: or i: (zero or infinite buffering) or s64: "
            "(buffering up to 64 bytes), with b before the colon if collective calls are barriers, d if data are delayed, "
            "and numbers with dots between them, such as 'z:0.0.2.1'.",
        )  # fmt: skip
    pairs = [word.groups("1") for word in parts if word]
    too_long = any(len(digits) > _MAX_DIGITS for pair in pairs for digits in pair)
    if too_long or sum(int(times) for _, times in pairs) > _MAX_DECISIONS:
        raise MPIValueError(ERR_ARG, f"schedule {token[:40]!r} has too many choices, or a choice with too many options.")
    letter, limit, *flags = mode.groups()
    synchronizing, late = map(bool, flags)
    buffering: Buffering = "zero" if letter == "z" else "infinite"
    number = int(limit) if limit else LibraryMode.of(buffering).limit
    return LibraryMode(number, synchronizing, late), [int(value) for value, times in pairs for _ in range(int(times))]
