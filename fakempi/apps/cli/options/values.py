"""Values of options: functions that convert a text, or raise an error that says what is wrong."""

from __future__ import annotations

from argparse import ArgumentTypeError
from functools import partial


def format_name(text: str) -> str:
    """Return a format of findings: text, json, or json:FILE."""
    how, _, path = text.partition(":")
    if how not in ("text", "json") or (how == "text" and path):
        raise ArgumentTypeError(f"{text} is not a format: use text, json or json:FILE")
    return text


def compared(text: str) -> str:
    """Return what `fakempi check` compares: between schedules output, lines or none; `across`: between numbers of ranks."""
    parts = [part.strip() for part in text.split(",")]
    between = [part for part in parts if part != "across"]
    if len(parts) > 2 or len(between) > 1 or len(set(parts)) < len(parts) or not {*between} <= {"output", "lines", "none"}:
        raise ArgumentTypeError(f"{text} is not a comparison: use output, lines, none, across, or lines,across")
    return ",".join(parts)


def factor(text: str) -> float:
    """Return a factor of at least 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ArgumentTypeError(f"{text} is not a factor of at least 0, such as 1.0")
    return number


def death(text: str) -> tuple[int, float]:
    """Return the rank and the time of `R@T`."""
    rank, _, time = text.partition("@")
    try:
        return int(rank), float(time)
    except ValueError:
        raise ArgumentTypeError(f"{text} is not a rank and a time, like 3@2.5e-3") from None


def death_at_call(text: str) -> tuple[int, int]:
    """Return the rank and the call of `R@K`."""
    rank, _, call = text.partition("@")
    if not (rank.isdecimal() and call.isdecimal() and int(call) >= 1):
        raise ArgumentTypeError(f"{text} is not a rank and the number of its call, like 3@2")
    return int(rank), int(call)


def seconds(text: str) -> float:
    """Return a positive number of seconds."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise ArgumentTypeError(f"{text} is not a positive number of seconds")
    return number


def seconds_or_zero(text: str) -> float:
    """Return a number of seconds; it may be 0."""
    return 0.0 if text == "0" else seconds(text)


def integer(text: str, minimum: int = 0, maximum: int = 10**18) -> int:
    """Return an integer within limits."""
    if not text.isdecimal() or not minimum <= float(text) <= maximum:
        raise ArgumentTypeError(f"{text} is not an integer from {minimum} to {maximum:,}")
    return int(text)


positive = partial(integer, minimum=1)
jobs = partial(integer, minimum=1, maximum=1024)
"""A number of worker processes."""
