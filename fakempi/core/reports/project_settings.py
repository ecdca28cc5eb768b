"""Suppressions in pyproject.toml, in the nearest one that has a table `[tool.fakempi]`.

    [[tool.fakempi.ignore]]
    kind = "message-lost"
    file = "schwimmbad/mpi.py"          # optional: the end of the path, with the wildcards of pathlib's `match`
    function = "MPIPool.close"          # optional
    reason = "workers end without it"   # optional
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fakempi.core.reports.suppression_rules import Suppression, problem_with
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.files import read_bytes
from fakempi.errors.similar import get_close_matches

NAME = "pyproject.toml"
KEYS = ("kind", "file", "function", "reason")
TABLES = ("ignore", "lint")
"""Suppressions of findings of runs, and the settings of `fakempi lint`."""


def project_suppressions(directory: str) -> tuple[Suppression, ...]:
    """Return the suppressions of the project that contains a directory; MPIValueError if an entry is invalid."""
    return _entries(project_table(directory))


def project_table(directory: str) -> Mapping[str, Any]:
    """Return the table `[tool.fakempi]` of the project that contains a directory; MPIValueError if it is invalid."""
    for parent in (Path(directory), *Path(directory).parents):
        file = parent / NAME
        try:
            text = read_bytes(file).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue
        if "fakempi" not in text:
            continue
        try:
            tool = _tool(text)
        except (ValueError, RecursionError) as error:  # also an integer with thousands of digits
            raise MPIValueError(ERR_ARG, f"{file} is not valid TOML: {error}.") from None
        if isinstance(tool, Mapping) and "fakempi" in tool:
            table = tool["fakempi"]
            _check_keys(table, TABLES, f"{NAME}, [tool.fakempi]")
            assert isinstance(table, Mapping)
            return table
    return {}


@lru_cache(maxsize=8)  # tests make many runs, and reading the file as TOML takes ten times as long as a small run
def _tool(text: str) -> Any:
    """The table `tool` of a file with this text."""
    if sys.version_info >= (3, 11):  # imported here, since few runs need it
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text).get("tool", {})


def _entries(table: Mapping[str, Any]) -> tuple[Suppression, ...]:
    where = f"{NAME}, [tool.fakempi]"
    entries = table.get("ignore", [])
    if not isinstance(entries, list):
        raise MPIValueError(ERR_ARG, f"{where}: ignore must be a list of tables with the keys {', '.join(KEYS)}.")
    found = []
    for number, entry in enumerate(entries, 1):
        here = f"{where}, ignore, entry {number}"
        _check_keys(entry, KEYS, here)
        for key, value in entry.items():
            if not isinstance(value, str):
                raise MPIValueError(ERR_ARG, f"{here}: {key} must be a text, not {repr(value)[:80]}.")
        if problem := problem_with(entry.get("kind", "")):
            raise MPIValueError(ERR_ARG, f"{here}: {problem}{'' if problem.endswith(('.', '?')) else '.'}")
        found.append(Suppression(origin=NAME, **{"file": "", **entry}))
    return tuple(found)


def _check_keys(table: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(table, Mapping):
        raise MPIValueError(ERR_ARG, f"{where} must be a table with the keys {', '.join(known)}, not {repr(table)[:80]}.")
    for key in table:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(known)}."
            raise MPIValueError(ERR_ARG, f"{where}: {key} is unknown; {hint}")
