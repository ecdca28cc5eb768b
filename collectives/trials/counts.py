"""Read lists of counts (block sizes in bytes) from a file.

    5           5, 0, 3         [5, 0, 3]            [[5, 0, 3],
    0           2, 2                                  [2, 2]]
    3
    one list    two lists       one list (JSON)      two lists (JSON)

A line with several numbers is a list. If every line has one number, a blank line ends a list. Text after a # is
a comment, except in JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from collectives.tools.text_files import read_text
from collectives.trials.parsing import MAX_SIZE, parse_size


def read_counts(path: str | os.PathLike[str]) -> list[list[int]]:
    """Return the lists of counts in a file. Raises ValueError, with a message of one sentence, if the file is invalid."""
    try:
        text = read_text(path, errors="replace")
    except ValueError as error:
        raise ValueError(f"{path}: {error}.") from None
    lists = _from_json(str(path), text) if text.lstrip().startswith("[") else _from_lines(str(path), text)
    if not any(lists):
        raise ValueError(f"{path} contains no counts.")
    if not all(lists):
        raise ValueError(f"{path}: one of the {len(lists)} lists is empty.")
    return lists


def _from_json(path: str, text: str) -> list[list[int]]:
    try:
        data: list[Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: invalid JSON: {error.msg}.") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{path}: invalid JSON: it is nested too deeply, or has a number with too many digits.") from None
    lists = data if any(isinstance(item, list) for item in data) else [data]
    for number in (number for item in lists for number in (item if isinstance(item, list) else [item])):
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{path}: {json.dumps(number)} is not a number of bytes.")
        if number < 0:
            raise ValueError(f"{path}: {str(number)[:80]} is negative.")
        if number > MAX_SIZE:
            raise ValueError(f"{path}: {str(number)[:80]} is too large: the maximum is {MAX_SIZE:,}.")
    if not all(isinstance(item, list) for item in lists):
        raise ValueError(f"{path}: the JSON list mixes numbers and lists: use either a list of numbers or a list of lists.")
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
    return [numbers for numbers in lists if numbers]


def _numbers(path: str, number: int, line: str) -> Iterator[int]:
    for word in line.partition("#")[0].replace(",", " ").split():
        try:
            yield parse_size(word)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
