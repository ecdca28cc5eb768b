"""Which rules apply: `--select` and `--ignore`, and the table `[tool.fakempi.lint]` of pyproject.toml.

[tool.fakempi.lint]
select = ["FM1", "FM301"]           # codes, or their beginnings; default: all
ignore = ["FM104"]
exclude = ["third_party"]           # patterns of files and directories
per-file-ignores = {"tests/*" = ["FM301"]}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fakempi.apps.lint.file_search import matches
from fakempi.apps.lint.rules.catalogue import TITLES
from fakempi.core.reports.project_settings import project_table
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.similar import get_close_matches

WHERE = "pyproject.toml, [tool.fakempi.lint]"
LISTS = ("select", "ignore", "exclude")
PER_FILE = "per-file-ignores"


class RuleSelection(NamedTuple):
    """The codes that apply to all files, those that some files ignore, and excluded files."""

    codes: frozenset[str]
    exclude: tuple[str, ...] = ()
    per_file: tuple[tuple[str, frozenset[str]], ...] = ()

    def codes_of(self, file: str) -> frozenset[str]:
        """Return the codes that apply to a file."""
        return self.codes.difference(*(codes for pattern, codes in self.per_file if matches(file, [pattern])))


ALL_RULES = RuleSelection(frozenset(TITLES))


def selection(
    select: Iterable[str], ignore: Iterable[str], exclude: Iterable[str], directory: str | None = None
) -> RuleSelection:
    """Return the selection of the options and of pyproject.toml; options replace `select`, and add to the other lists."""
    table = _checked(project_table(directory or os.getcwd()).get("lint", {}))
    chosen = list(select) or table.get("select", [])
    codes = _codes(chosen, "--select" if select else f"{WHERE}, select") if chosen else frozenset(TITLES)
    codes -= _codes(ignore, "--ignore") | _codes(table.get("ignore", []), f"{WHERE}, ignore")
    per_file = [(pattern, _codes(listed, f"{WHERE}, {PER_FILE}")) for pattern, listed in table.get(PER_FILE, {}).items()]
    return RuleSelection(codes, (*exclude, *table.get("exclude", [])), tuple(per_file))


def _codes(words: Iterable[str], where: str) -> frozenset[str]:
    """Return the codes that words name, each a code or its beginning; MPIValueError if a word names none."""
    found: set[str] = set()
    for word in (part.strip().upper() for each in words for part in each.split(",")):
        codes = {code for code in TITLES if word and (code.startswith(word) or word == "ALL")}
        if not codes:
            close = get_close_matches(word, TITLES, 1)
            hint = f"did you mean {close[0]}?" if close else f"the codes are {', '.join(TITLES)}."
            raise MPIValueError(ERR_ARG, f"{where}: the code {word!r} is unknown; {hint}")
        found |= codes
    return frozenset(found)


def _checked(table: Any) -> Mapping[str, Any]:
    """Return the table of pyproject.toml; MPIValueError if it has another key, or a value of another type."""
    if not isinstance(table, Mapping):
        raise MPIValueError(ERR_ARG, f"{WHERE} must be a table.")
    for key, value in table.items():
        if key not in (*LISTS, PER_FILE):
            close = get_close_matches(key, (*LISTS, PER_FILE), 1)
            hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join((*LISTS, PER_FILE))}."
            raise MPIValueError(ERR_ARG, f"{WHERE}: {key} is unknown; {hint}")
        lists = list(value.values()) if key == PER_FILE and isinstance(value, Mapping) else [value]
        if not all(isinstance(each, list) and all(isinstance(word, str) for word in each) for each in lists):
            raise MPIValueError(ERR_ARG, f"{WHERE}: {key} must have lists of texts.")
    return table
