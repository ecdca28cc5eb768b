"""The inputs of a step: each is the environment variable of its name, such as CHECK_RANKS for `check-ranks`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


class InputError(Exception):
    """An input has no meaning; the message names it."""


@dataclass(frozen=True)
class StepInputs:
    """The inputs, parsed.

    Attributes
    ----------
    tests : arguments of pytest; empty: run no tests
    ranks : numbers of ranks on which pytest runs
    plain : whether pytest also runs on its own, so that marked tests run on the numbers of ranks that they request
    scripts : the command of each script: a file, or -m and a module, and its arguments
    script_ranks : numbers of ranks on which scripts are checked
    pages : the directory for pages of failing scripts
    junit : the directory for JUnit reports; empty: none
    timeout : seconds that a command may take; 0: without a limit
    strict : whether findings are failures
    processes : whether each rank of the tests is a process
    summary : the file to which tables are appended; empty: none
    """

    tests: list[str]
    ranks: list[int]
    plain: bool
    scripts: list[list[str]]
    script_ranks: list[int]
    pages: Path
    junit: str
    timeout: float
    strict: bool
    processes: bool
    summary: str

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> StepInputs:
        """Parse environment variables. At least one of TESTS and CHECK must be set, or a step would do nothing."""

        def value(name: str, default: str = "") -> str:
            return variables.get(name, "").strip() or default

        extra = words("check-arguments", value("CHECK_ARGUMENTS"))
        inputs = cls(
            tests=words("tests", value("TESTS")),
            ranks=numbers("ranks", variables.get("RANKS", "1 3 7 64")),  # may be empty: only pytest on its own
            plain=switch("plain-pytest", value("PLAIN_PYTEST", "true")),
            scripts=[[*script(word), *extra] for word in words("check", value("CHECK"))],
            script_ranks=numbers("check-ranks", value("CHECK_RANKS", "4")),
            pages=Path(value("PAGES", "fakempi-pages")),
            junit=value("JUNIT"),
            timeout=seconds("timeout", value("TIMEOUT", "3600")),
            strict=switch("strict", value("STRICT")),
            processes=switch("processes", value("PROCESSES")),
            summary=value("SUMMARY") or value("GITHUB_STEP_SUMMARY"),
        )
        if not inputs.tests and not inputs.scripts:
            raise InputError("nothing to run: set the input tests (such as a directory), or check (scripts)")
        if inputs.tests and not inputs.plain and not inputs.ranks:
            raise InputError("nothing to run: plain-pytest is false, and ranks is empty")
        if "\n" in str(inputs.pages):
            raise InputError("pages is one directory, not several lines")
        return inputs


def words(name: str, text: str) -> list[str]:
    """Split text as a POSIX shell does, with quotes and backslashes; nothing is expanded or executed."""
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise InputError(f"{name}: {str(problem).lower()} in: {text}") from None


def script(word: str) -> list[str]:
    """Return the command of a script, from one word of `check`: a file, or a quoted command such as 'ring.py --size 8'."""
    command = [word] if Path(word).is_file() else words("check", word)
    if not command or (command[0].startswith("-") and (command[0] != "-m" or len(command) == 1)):
        raise InputError(
            f"check: {word!r} is not a script. Quote a script with its arguments, such as: check: ring.py 'halo.py --size 8'"
        )
    return command


def numbers(name: str, text: str) -> list[int]:
    """Parse numbers of ranks."""
    found = [word for word in re.split(r"[\s,]+", text) if word]
    if wrong := [word for word in found if not re.fullmatch(r"0*[1-9][0-9]*", word)]:
        raise InputError(f"{name}: {wrong[0]!r} is not a number of ranks; write numbers with blanks between them: 1 3 7")
    return list(dict.fromkeys(map(int, found)))


def seconds(name: str, text: str) -> float:
    """Parse a time limit."""
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if limit < 0 or not isfinite(limit):
        raise InputError(f"{name}: {text!r} is not a number of seconds; 0 means no limit")
    return limit


def switch(name: str, text: str) -> bool:
    """Parse a boolean."""
    if text.lower() not in (*TRUE, *FALSE):
        raise InputError(f"{name}: {text!r} must be true or false")
    return text.lower() in TRUE
