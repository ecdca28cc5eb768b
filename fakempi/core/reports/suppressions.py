"""Suppressions of findings in a run: which finding is suppressed by which rule, and which rules suppress nothing.

Rules come from three places: comments on the line (`ignore_comments`), pyproject.toml (`project_settings`), and the option
`ignore=` (`--ignore`). They are read when the first finding is made, since most runs have none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import PurePath
from types import CodeType
from typing import Any

from fakempi.core.reports.findings import STRICT_ONLY
from fakempi.core.reports.ignore_comments import comments_of, enclosing_functions
from fakempi.core.reports.project_settings import project_suppressions
from fakempi.core.reports.suppression_rules import Suppression, problem_with
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.paths import Place, places_in
from fakempi.errors.plurals import counted

MAX_KNOWN = 4096
"""Upper limit of the findings whose rules are stored."""


class Suppressions:
    """The suppressions of one or several runs.

    Attributes
    ----------
    used
        The rules that have suppressed a finding.
    """

    def __init__(self, kinds: Sequence[str] = (), origin: str = "ignore=", directory: str = "") -> None:
        for kind in kinds:
            if problem := problem_with(kind):
                raise MPIValueError(ERR_ARG, f"{origin}{kind}: {problem}")
        self.options = tuple(Suppression(kind, origin.rstrip("= ")) for kind in dict.fromkeys(kinds))
        self.directory = directory or _working_directory()
        self.used: set[Suppression] = set()
        self._project: tuple[Suppression, ...] | None = None
        self._problems: list[str] = []
        self._known: dict[tuple[str, str, str, str], tuple[list[Suppression], list[str]]] = {}  # results of `_rules_for`

    @classmethod
    def of(cls, ignore: str | Sequence[str] | Suppressions | None) -> Suppressions:
        """Return the suppressions for the argument `ignore` of `run` and `explore`."""
        if isinstance(ignore, Suppressions):
            return ignore
        kinds: Any = [ignore] if isinstance(ignore, str) else ignore or ()
        if not isinstance(kinds, Collection) or not all(isinstance(kind, str) for kind in kinds):
            raise MPITypeError(ERR_ARG, f"run: ignore must be a kind of finding or a list of kinds, not {ignore!r}.")
        return cls([*kinds])

    def load(self) -> Suppressions:
        """Read pyproject.toml now; MPIValueError if it is invalid."""
        self._project = project_suppressions(self.directory)
        return self

    @property
    def project(self) -> tuple[Suppression, ...]:
        """The entries of pyproject.toml. An invalid one is reported at the end: no rank has made this mistake."""
        if self._project is None:
            try:
                self.load()
            except MPIValueError as error:
                self._project, self._problems = (), [*self._problems, str(error)]
        assert self._project is not None
        return self._project

    def of_finding(self, kind: str, place: str, sentence: str) -> str:
        """Return why a finding is suppressed, and remember the rules; empty if it is not."""
        key = kind, place, getattr(place, "file", ""), sentence
        if key not in self._known:  # the runs of a search report the same findings again and again
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            self._known[key] = self._rules_for(kind, place, sentence)
        rules, problems = self._known[key]
        self._problems += problems
        self.used.update(rules)
        return rules[0].text if rules else ""

    def _rules_for(self, kind: str, place: str, sentence: str) -> tuple[list[Suppression], list[str]]:
        """Return the rules that apply to a finding, and the problems of the comments in the files that it names."""
        groups = [[place]] if isinstance(place, Place) else []
        groups += places_in(sentence)
        files = {self._absolute(place.file) for group in groups for place in group}
        problems = [problem for file in files for problem in comments_of(file)[1]]
        return [rule for rule in self._candidates(groups) if rule.kind == kind and self._applies(rule, groups)], problems

    def allows(self, kind: str, place: str) -> bool:
        """Return whether a finding that names a place would be suppressed."""
        groups = [[place]] if isinstance(place, Place) else []
        return any(rule.kind == kind and self._applies(rule, groups) for rule in self._candidates(groups))

    def _candidates(self, groups: Iterable[list[Place]]) -> list[Suppression]:
        files = dict.fromkeys(self._absolute(place.file) for group in groups for place in group)
        return [*(rule for file in files for rule in comments_of(file)[0]), *self.project, *self.options]

    def _applies(self, rule: Suppression, groups: Iterable[list[Place]]) -> bool:
        """Return whether a rule names one of the places: all lines that the place may mean."""
        if not (rule.file or rule.function):
            return True
        return any(all(self._at(rule, place) for place in group) for group in groups)

    def _at(self, rule: Suppression, place: Place) -> bool:
        file = self._absolute(place.file)
        if rule.lines is not None:
            return file == rule.file and rule.lines[0] <= place.line <= rule.lines[1]
        if rule.file and not PurePath(file).match(rule.file):
            return False
        names = enclosing_functions(file, place.line) if rule.function else ()
        return not rule.function or any(f".{name}".endswith(f".{rule.function}") for name in names)

    def _absolute(self, file: str) -> str:
        return file if file.startswith("<") else os.path.normpath(os.path.join(self.directory, file))

    def check(self, files: Iterable[str]) -> None:
        """Raise MPIValueError if a comment in these files, or pyproject.toml, names a kind that is unknown."""
        found, self._problems = self._problems, []
        problems = [*found, *(text for file in files for text in comments_of(self._absolute(file))[1])]
        if problems:
            raise MPIValueError(ERR_ARG, "\n".join(dict.fromkeys(problems)))

    def unused_by(self, main: object, strict: bool) -> list[str]:
        """Return the rules that have suppressed nothing in runs of a program; of a function, comments in its own lines."""
        code = _code(main)
        return self.unused(source_files(main), strict, None if code is None else _span(code))

    def unused(self, files: Iterable[str], strict: bool, span: tuple[int, int] | None = None) -> list[str]:
        """Return the rules that have suppressed nothing: comments in the project's files, and rules for loaded files.

        Kinds that only strict runs check are left out in other runs, and comments in installed packages, which users
        cannot change.
        """
        ours = {self._absolute(file) for file in files}
        comments = [rule for file in sorted(ours) if not is_installed(file) for rule in comments_of(file)[0]]
        if span is not None:
            comments = [rule for rule in comments if rule.lines is not None and span[0] <= rule.lines[0] <= span[1]]
        loaded = ours | {file for module in list(sys.modules.values()) if isinstance(file := _file_of(module), str)}
        project = [rule for rule in self.project if not rule.file or any(PurePath(one).match(rule.file) for one in loaded)]
        rules = [rule for rule in (*comments, *project, *self.options) if strict or rule.kind not in STRICT_ONLY]
        return [str(rule) for rule in dict.fromkeys(rules) if rule not in self.used]


def unused_text(unused: Sequence[str]) -> str:
    """Return a sentence on suppressions that match nothing; empty if there are none."""
    verb = "matches" if len(unused) == 1 else "match"
    return f"{counted(len(unused), 'suppression')} {verb} no finding: {'; '.join(unused)}" if unused else ""


def source_files(main: object) -> set[str]:
    """Return the files of a program: a function, or an object with a set `files`."""
    files = getattr(main, "files", None)
    if isinstance(files, set):
        return files
    code = _code(main)
    return set() if code is None else {code.co_filename}


def _code(main: Any) -> CodeType | None:
    """Return the code of a function or a method; None for another object."""
    while isinstance(main, partial):
        main = main.func
    code = getattr(getattr(main, "__func__", main), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _span(code: CodeType) -> tuple[int, int]:
    """Return the first and the last line of a function."""
    inner = [_span(constant)[1] for constant in code.co_consts if isinstance(constant, CodeType)]
    return code.co_firstlineno, max([line for *_, line in code.co_lines() if line] + inner)


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it has been deleted
        return os.sep


def _file_of(module: object) -> object:
    try:
        return getattr(module, "__file__", None)
    except Exception:  # a module of any class may be in sys.modules
        return None


def is_installed(file: str) -> bool:
    """Return whether a file belongs to an installed package."""
    return not {"site-packages", "dist-packages"}.isdisjoint(PurePath(file).parts)
