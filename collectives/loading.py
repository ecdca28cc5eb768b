"""Load user-defined algorithms: from a file with an @algorithm, from a schedule file, and from installed packages.

A package provides an algorithm by an entry point `name = "module:ALGORITHM"` in the group `fakempi.algorithms`.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from collectives.bundled import DIRECTORY, bundled
from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import declared_in, warn_of_earlier_form
from collectives.neighbors import modules_in

SCHEDULE_SUFFIXES = (".goal", ".bin", ".json", ".xml")
"""Suffixes of the files that `collectives.schedules` reads."""

GROUP = "fakempi.algorithms"


class LoadError(LookupError):
    """A file or a package provides no valid algorithm; the message gives the reason in one sentence."""


_loaded: dict[Path, Algorithm] = {}
_numbers = count()  # module names contain a number, so that two files of the same name are two modules
_origins: list[tuple[Algorithm, str]] = []  # a list, because algorithms are not hashable
_installed: list[Algorithm] | None = None


def is_path(name: object) -> bool:
    """Return whether `name` is a path to a file, and not the name of an algorithm.

    >>> is_path("./knomial"), is_path("knomial.py"), is_path("ring.goal"), is_path("knomial")
    (True, True, True, False)
    """
    if not isinstance(name, str):
        return isinstance(name, os.PathLike)
    return name.endswith((".py", *SCHEDULE_SUFFIXES)) or os.sep in name or (os.altsep or os.sep) in name


def load(path: str | os.PathLike[str]) -> Algorithm:
    """Return the algorithm that a file declares. The file is executed once; later calls return the same object.

    During the execution, the file can import modules of its directory. These are then removed from sys.modules. For a
    schedule file (.goal, .bin, .xml or .json), the algorithm executes the schedule, and has the name of the file.
    """
    file = Path(os.path.expanduser(path)).resolve()
    if file in _loaded:
        return _loaded[file]
    if file.suffix in SCHEDULE_SUFFIXES:
        _loaded[file] = _schedule(str(path), file)
        _origins.append((_loaded[file], str(path)))
    else:
        is_bundled = file.is_file() and DIRECTORY in file.parents
        module = _import(file) if is_bundled else _execute(str(path), file)
        if not hasattr(module, "ALGORITHM"):
            named = next((name for name, value in vars(module).items() if isinstance(value, Algorithm)), None)
            advice = f": rename {named} to ALGORITHM" if named else ""
            raise LoadError(f"{path} defines no ALGORITHM{advice}.")
        if len(several := declared_in(module)) > 1:
            raise LoadError(f"{path} declares {len(several)} algorithms, {', '.join(several)}: move each to its own file.")
        _loaded[file] = _check(f"{path}: ALGORITHM", module.ALGORITHM, () if is_bundled else bundled())
        if not is_bundled:
            _origins.append((_loaded[file], str(path)))
            warn_of_earlier_form(str(path), _loaded[file], module)
    return _loaded[file]


def _schedule(shown: str, file: Path) -> Algorithm:
    from collectives.schedules import InvalidScheduleError, formats  # few programs need it

    try:
        return replace(formats.load(file).algorithm(), name=file.name)
    except InvalidScheduleError as error:
        raise LoadError(f"{shown} cannot be loaded: {str(error).removeprefix(f'{file}: ')}.") from error


def installed() -> Sequence[Algorithm]:
    """Return the algorithms of installed packages; invalid ones are skipped with a warning. The search is done once."""
    global _installed
    if _installed is None:
        from importlib.metadata import entry_points  # takes a third of the time to import collectives

        _installed, problems = [], []  # set before the loop: a package may read the catalogue while it is imported
        for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name)):
            try:
                algorithm = _check(entry.value, _load_entry(entry), (*bundled(), *_installed))
            except LoadError as error:
                problems.append(f"{_package(entry)}: algorithm {entry.name} is skipped: {error}")
            else:
                _installed.append(algorithm)
                _origins.append((algorithm, _package(entry)))
        for problem in problems:
            warnings.warn(problem, RuntimeWarning, stacklevel=3)
    return _installed


def origin(algorithm: Algorithm) -> str:
    """Return the package and version, or the file, of a loaded algorithm; empty for all other algorithms."""
    return next((where for known, where in _origins if known is algorithm), "")


def _package(entry: Any) -> str:
    try:
        return f"{entry.dist.name} {entry.dist.version}"
    except Exception:  # broken metadata
        return "a package without a name"


def _load_entry(entry: Any) -> Any:
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        raise LoadError(f"{entry.value} cannot be loaded: {_description(error)}.") from error


def _import(file: Path) -> ModuleType:
    """Import a file of this package under its module name, so that its algorithm is the one in the catalogue."""
    return importlib.import_module(".".join((DIRECTORY.name, *file.relative_to(DIRECTORY).with_suffix("").parts)))


def _execute(shown: str, file: Path) -> ModuleType:
    module = ModuleType(f"algorithm_{next(_numbers)}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # Algorithm.card finds the module's docstring there
    try:
        with modules_in(file.parent):
            exec(compile(file.read_bytes(), file, "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[module.__name__]
        if not isinstance(error, (Exception, SystemExit)):
            raise
        raise LoadError(f"{shown} cannot be loaded: {_description(error, file)}.") from error
    return module


def _description(error: BaseException, path: Path | None = None) -> str:
    """Describe an error in one line, with the line number if it was raised in the file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    where = f"line {lines[-1]}: " if lines else ""
    if isinstance(error, OSError) and error.strerror:
        return where + error.strerror.lower()
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        file = "" if error.filename == str(path) else f"{Path(error.filename).name} "
        return f"{where}{file}line {error.lineno}: {error.msg}"
    message = " ".join(str(error).split()).rstrip(".")
    return where + (message if isinstance(error, ImportError) else f"{type(error).__name__}: {message}".rstrip(": "))


def _check(shown: str, value: Any, others: Sequence[Algorithm]) -> Algorithm:
    """Return an algorithm of a known operation whose name is unused. Raises LoadError otherwise."""
    if not isinstance(value, Algorithm):
        raise LoadError(f"{shown} is of type {type(value).__name__}, not an Algorithm.")
    kind, operation, name = value.kind, value.operation, value.name
    known = {(algorithm.kind, algorithm.operation) for algorithm in bundled()}
    if (kind, operation) not in known:
        valid = ", ".join(sorted(other for other_kind, other in known if other_kind == kind))
        operations = f"operations of this kind: {valid}" if valid else "there is no such kind"
        raise LoadError(f"{shown} has the unknown operation {operation!r} of kind {kind!r}; {operations}.")
    for algorithm in others:
        if (algorithm.kind, algorithm.operation, algorithm.name) == (kind, operation, name):
            owner = origin(algorithm) or "the catalogue"
            raise LoadError(f"{shown} is named {operation} {name}, which exists in {owner}: choose another name.")
    return value
