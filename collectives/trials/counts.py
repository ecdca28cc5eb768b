"""One's own counts, read from a file: one list, or several.

    5           5, 0, 3         [5, 0, 3]            [[5, 0, 3],
    0           2, 2                                  [2, 2]]
    3
    one list    two lists       one list (JSON)      two lists (JSON)

A line with several numbers is a list. Where each has one, a blank line ends a list. What follows a # is
not read, but in JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collectives.trials.typed import whole


def read_counts(path: str | os.PathLike[str]) -> list[list[int]]:
    """The lists of counts in a file, in bytes; what is wrong with them is said in one sentence."""
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    lists = _from_json(str(path), text) if text.lstrip().startswith("[") else _from_lines(str(path), text)
    if not any(lists):
        raise ValueError(f"{path} has no counts in it.")
    if not all(lists):
        raise ValueError(f"{path}: one of its {len(lists)} lists is empty.")
    return lists


def _from_json(path: str, text: str) -> list[list[int]]:
    try:
        found: list[Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} line {error.lineno}: this is not JSON: {error.msg}.") from None
    lists = found if any(isinstance(each, list) for each in found) else [found]
    for number in (number for each in lists for number in (each if isinstance(each, list) else [each])):
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{path}: {json.dumps(number)} is not a number of bytes.")
        if number < 0:
            raise ValueError(f"{path}: {number} is negative.")
    if not all(isinstance(each, list) for each in lists):
        raise ValueError(f"{path}: numbers stand beside lists of numbers.")
    return lists


def _from_lines(path: str, text: str) -> list[list[int]]:
    lines = [list(_numbers(path, number, line)) for number, line in enumerate(text.splitlines(), 1)]
    if any(len(line) > 1 for line in lines):
        return [line for line in lines if line]
    lists: list[list[int]] = [[]]
    for line in lines:
        if line:
            lists[-1] += line
        elif lists[-1]:
            lists.append([])
    return [each for each in lists if each]


def _numbers(path: str, number: int, line: str) -> Iterator[int]:
    for word in line.partition("#")[0].replace(",", " ").split():
        try:
            yield whole(word)
        except ValueError as error:
            raise ValueError(f"{path} line {number}: {error}") from None
