"""Algorithms from outside: of a file that defines ALGORITHM, and of installed packages.

A package offers one by an entry point in the group `fakempi.algorithms`, whose value is `module:ALGORITHM`.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.ours import FOLDER, ours

GROUP = "fakempi.algorithms"
OUR_PACKAGES = (FOLDER.name, GROUP.partition(".")[0])


class LoadError(LookupError):
    """A file or a package offers no algorithm; the message is one sentence that says why."""


_loaded: dict[Path, Algorithm] = {}
_numbers = count()  # of executed files, so that two of one name are two modules
_beside: dict[Path, dict[str, ModuleType]] = {}  # folder -> modules there that files have imported
_origins: list[tuple[Algorithm, str]] = []  # where algorithms are from; they have no hash
_installed: list[Algorithm] | None = None


def is_path(what: object) -> bool:
    """Whether somebody who asks for an algorithm means a file, and not a name.

    >>> is_path("./knomial"), is_path("knomial.py"), is_path("knomial")
    (True, True, False)
    """
    if not isinstance(what, str):
        return isinstance(what, os.PathLike)
    return what.endswith(".py") or os.sep in what or (os.altsep or os.sep) in what


def load(path: str | os.PathLike[str]) -> Algorithm:
    """The ALGORITHM that a file defines. The file is executed once, however often it is asked for.

    While it is executed, modules in its own folder can be imported; nobody else sees them.
    """
    place = Path(os.path.expanduser(path)).resolve()
    if place not in _loaded:
        own = place.is_file() and FOLDER in place.parents
        module = _imported(place) if own else _executed(str(path), place)
        if not hasattr(module, "ALGORITHM"):
            named = [name for name, value in vars(module).items() if isinstance(value, Algorithm)]
            raise LoadError(f"{path} defines no ALGORITHM{f', but {named[0]}: rename that' if named else ''}.")
        _loaded[place] = _checked(f"{path}: ALGORITHM", module.ALGORITHM, () if own else ours())
        if not own:
            _origins.append((_loaded[place], str(path)))
    return _loaded[place]


def installed() -> Sequence[Algorithm]:
    """What installed packages offer. They are looked for once; one that cannot be had is left out, with a warning."""
    global _installed
    if _installed is None:
        from importlib.metadata import entry_points  # a third of what it takes to import collectives

        _installed, left_out = [], []  # a package that looks at the catalogue while it is imported sees what there is so far
        for entry in sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name)):
            try:
                found = _checked(entry.value, _offered(entry), (*ours(), *_installed))
            except LoadError as error:
                left_out.append(f"{_package(entry)}: its algorithm {entry.name} is left out: {error}")
            else:
                _installed.append(found)
                _origins.append((found, _package(entry)))
        for sentence in left_out:
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)
    return _installed


def origin(algorithm: Algorithm) -> str:
    """Where an algorithm is from: a package with its version, or a file; empty if it is ours, or has not been loaded."""
    return next((where for each, where in _origins if each is algorithm), "")


def _package(entry: Any) -> str:
    try:
        return f"{entry.dist.name} {entry.dist.version}"
    except Exception:  # its metadata are broken
        return "a package without a name"


def _offered(entry: Any) -> Any:
    try:
        return entry.load()
    except (Exception, SystemExit) as error:
        raise LoadError(f"{entry.value} cannot be loaded: {_in_words(error)}.") from error


def _imported(place: Path) -> ModuleType:
    """A file of ours, as what it is in the catalogue."""
    return importlib.import_module(".".join((FOLDER.name, *place.relative_to(FOLDER).with_suffix("").parts)))


def _executed(shown: str, place: Path) -> ModuleType:
    module = ModuleType(f"algorithm_{next(_numbers)}_{place.stem}")
    module.__file__ = str(place)
    sys.modules[module.__name__] = module  # where its card is looked for
    try:
        with _modules_in(place.parent):
            exec(compile(place.read_bytes(), place, "exec", dont_inherit=True), vars(module))
    except BaseException as error:
        del sys.modules[module.__name__]
        if not isinstance(error, (Exception, SystemExit)):
            raise
        raise LoadError(f"{shown} cannot be loaded: {_in_words(error, place)}.") from error
    return module


@contextmanager
def _modules_in(folder: Path) -> Iterator[None]:
    """Meanwhile modules in the folder can be imported.

    Then they are put away until the next file of the folder is executed: another file, or a script, may have `helpers` of
    its own.
    """
    path, before = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(folder))
    sys.modules.update(_beside.setdefault(folder, {}))
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if before.get(name) is not module and _is_in(folder, name, module):
                _beside[folder][name] = sys.modules.pop(name)
                if name in before:
                    sys.modules[name] = before[name]


def _is_in(folder: Path, name: str, module: ModuleType) -> bool:
    """Whether a module was found in the folder itself, and not in an environment below; we are not put away."""
    parts, spec = name.split("."), getattr(module, "__spec__", None)
    found = spec is not None and spec.has_location and str(spec.origin).startswith(str(folder.joinpath(*parts)))
    return found and parts[0] not in OUR_PACKAGES


def _in_words(error: BaseException, place: Path | None = None) -> str:
    """What went wrong, and in which line of the file at that place."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(place)]
    where = f"line {lines[-1]}: " if lines else ""
    if isinstance(error, OSError) and error.strerror:
        return where + error.strerror.lower()
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        file = "" if error.filename == str(place) else f"{Path(error.filename).name} "
        return f"{where}{file}line {error.lineno}: {error.msg}"
    words = " ".join(str(error).split()).rstrip(".")
    return where + (words if isinstance(error, ImportError) else f"{type(error).__name__}: {words}".rstrip(": "))


def _checked(shown: str, found: Any, others: Sequence[Algorithm]) -> Algorithm:
    """An algorithm for something that there is, under a name that is still free."""
    if not isinstance(found, Algorithm):
        raise LoadError(f"{shown} is of type {type(found).__name__}, not an Algorithm.")
    kind, operation, name = found.kind, found.operation, found.name
    known = {(each.kind, each.operation) for each in ours()}
    if (kind, operation) not in known:
        some = ", ".join(sorted(each for of, each in known if of == kind)) or "none"
        raise LoadError(f"{shown} is for an operation {operation!r} of kind {kind!r}; of that kind there are {some}.")
    for each in others:
        if (each.kind, each.operation, each.name) == (kind, operation, name):
            owner = origin(each) or "ours"
            raise LoadError(f"{shown} is called {operation} {name}, as one of {owner} is: give it another name.")
    return found
