"""A schedule as text: the buffering, and the number of what was taken at each choice. "z:0.0.2.1", "i:1.0x12.3"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError

BUFFERINGS = {"zero": 0, "infinite": 1 << 62}
"""Bytes up to which a standard send does not wait for its receive."""

_LETTERS = {name[0]: name for name in BUFFERINGS}
_WORD = re.compile(r"(\d+)(?:x(\d+))?")
_SHORT = 4
_DIGITS, _MOST = 9, 10_000_000  # of a number in a token, and decisions in all: a text must not take all memory


def write(buffering: str, decisions: Sequence[int]) -> str:
    """The token of a schedule. What is 0 at the end goes without saying, and what comes often is counted."""
    kept = list(decisions)
    while kept and not kept[-1]:
        kept.pop()
    words = []
    for value, group in groupby(kept or [0]):
        count = len(list(group))
        words += [f"{value}x{count}"] if count >= _SHORT else [str(value)] * count
    return f"{buffering[0]}:{'.'.join(words)}"


def read(token: str) -> tuple[str, list[int]]:
    """The buffering and the decisions that a token stands for."""
    if not isinstance(token, str):
        raise MPITypeError(ERR_ARG, f"decisions must be a text such as 'z:0.0.2.1', not {token!r}.")
    letter, colon, rest = token.partition(":")
    words = [_WORD.fullmatch(word) for word in rest.split(".")]
    if not colon or letter not in _LETTERS or None in words:
        raise MPIValueError(
            ERR_ARG, f"decisions {token!r} are no schedule: that is z: or i: (zero or infinite buffering), and numbers with "
            "dots between them, such as 'z:0.0.2.1'.",
        )  # fmt: skip
    found = [word.groups("1") for word in words if word]
    if any(len(digits) > _DIGITS for pair in found for digits in pair) or sum(int(times) for _, times in found) > _MOST:
        raise MPIValueError(ERR_ARG, f"decisions {token[:40]!r}: no program has so many choices, or options of one.")
    return _LETTERS[letter], [int(value) for value, times in found for _ in range(int(times))]
