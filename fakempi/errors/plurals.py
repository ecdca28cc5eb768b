"""Numbers with nouns, for messages. The package `collectives` has a copy, since the lowest package here imports nothing."""

from __future__ import annotations


def counted(count: int, noun: str, spec: str = "") -> str:
    """Return a number and a noun, in the plural unless the number is 1; `spec` is the format of the number.

    >>> counted(1, "rank"), counted(0, "message"), counted(65536, "rank", ",")
    ('1 rank', '0 messages', '65,536 ranks')
    """
    return f"{count:{spec}} {noun}{'s' * (count != 1)}"
