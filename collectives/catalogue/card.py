"""The card of an algorithm, which is its module's docstring: labeled lines that are shown in tables."""

from __future__ import annotations

import re

LABELS = ("Rounds", "Sent per rank", "Scratch", "Time", "Fits", "Best", "Source")
REDUCTION_LABEL = "Bits"
"""An additional line of reductions: see `bits`."""


def read_card(text: str) -> dict[str, str]:
    """Return the labeled lines of a card by label; continuation lines are indented.

    >>> read_card("Rounds   p-1    Sent per rank   m    Scratch   none\\nTime     long\\n         story")
    {'Rounds': 'p-1', 'Sent per rank': 'm', 'Scratch': 'none', 'Time': 'long story'}
    """
    label = r"^(Rounds|Time|Fits|Bits|Best|Source)\s{2,}|\s{2,}(Sent per rank|Scratch)\s{2,}"
    pieces = re.split(label, text, flags=re.MULTILINE)
    fields: dict[str, str] = {}
    for at in range(1, len(pieces) - 2, 3):
        fields[pieces[at] or pieces[at + 1]] = " ".join(pieces[at + 2].split())
    return fields
