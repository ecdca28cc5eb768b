"""Options of the Python interpreter in a command line: `python -u -W error script.py`."""

from __future__ import annotations

from collections.abc import Sequence

NO_EFFECT = frozenset("EIPSsu")
"""Options about variables, modules and buffers of the interpreter. Here they are accepted and ignored."""

EFFECTIVE = frozenset("BObdqvWX")
"""Options that programs can see, in `sys.flags` or by what they do. An interpreter has to be started with them."""

WITH_VALUE = frozenset("WX")


def python_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the effective options at the beginning of the arguments after `python`, and the arguments after all options.

    Options may be joined as on Python's command line: `-uO`, `-Wignore`, `-uW ignore`. An unknown option ends the options.
    """
    options: list[str] = []
    remaining = list(arguments)
    while remaining and len(remaining[0]) > 1 and remaining[0][0] == "-":
        found, used = _joined(remaining)
        if not used:
            break
        options += found
        del remaining[:used]
    return options, remaining


def _joined(remaining: Sequence[str]) -> tuple[list[str], int]:
    """Return the effective options in the first argument and the number of arguments they take; 0 if one is unknown."""
    first = remaining[0]
    options: list[str] = []
    for position, letter in enumerate(first[1:], 2):
        if letter in WITH_VALUE:
            value = [first[position:]] if first[position:] else list(remaining[1:2])
            if not value:
                return [], 0
            return [*options, f"-{letter}{value[0]}"], 1 if first[position:] else 2
        if letter in EFFECTIVE:
            options.append(f"-{letter}")
        elif letter not in NO_EFFECT:
            return [], 0
    return options, 1
