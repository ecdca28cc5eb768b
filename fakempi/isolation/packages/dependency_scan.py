"""Scan the sources of installed packages, without executing them, to find the packages of which each rank needs a copy.

A package, or a top-level module, is private to each rank if importing it executes one of its modules that imports mpi4py
or a private package. An import of mpi4py in a function counts only if the function also changes its module. A package is
private or shared as a whole, since its modules store each other's values.

Modules that no scanned module imports do not count, so an optional submodule that uses MPI does not make a package private.
Packages with extension modules are shared, because an extension module cannot be loaded once per rank: its single instance
would store the objects of one rank's copy of the package.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from typing import NamedTuple

from fakempi.isolation.packages.mpi4py_bindings import binds_mpi4py

STDLIB_NAMES = sys.stdlib_module_names
SHARED = frozenset({"fakempi", "mpi4py", "numpy", "rich", "greenlet", "pytest", "_pytest", "pluggy"})
"""Packages that are shared because the emulator depends on them or is tested with them."""

MOSTLY_COMPILED = frozenset({"h5py", "jax", "netCDF4", "tensorflow", "torch"})
"""Packages that are shared unless `--private` is given, although they may import mpi4py. They consist mostly of extension
modules, and use mpi4py only if they are built with MPI support, or to launch processes."""

ALWAYS_PRIVATE = frozenset({"coverage", "pytest_cov"})
"""Packages with one active instance per process, so each rank needs a copy. Packages that import them stay shared."""

_WORD = re.compile(rb"import[ \t]")  # 40 times faster than matching whole lines
_IMPORT = re.compile(
    rb"([ \t]*)(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(?:\(([^)]*)\)|([\w ,\t]*))|import[ \t]+([\w., \t]+))"
)
_COMMENT = re.compile(rb"#[^\n]*")


class Unit(NamedTuple):
    """A package or module that is private or shared as a whole: at top level, or directly in a namespace package."""

    name: str
    location: str


Find = Callable[[str, "Sequence[str] | None"], "ModuleSpec | None"]
"""Takes the name of a module and the search path of its parent package; returns its spec, or None if there is none."""


def unit_of(name: str, find: Find) -> Unit | None:
    """Return the unit that contains a module; `find` looks up the enclosing packages, the outermost first."""
    prefix = ""
    path: list[str] | None = None
    for part in name.split("."):
        prefix = f"{prefix}.{part}" if prefix else part
        try:
            spec = find(prefix, path)
        except KeyError:  # Python finds a namespace package in another one only while the outer one is imported
            path = [inner for entry in path or () if os.path.isdir(inner := os.path.join(entry, part))]
            continue
        if spec is None:
            return None
        if spec.has_location and spec.origin:
            package = spec.submodule_search_locations is not None
            return Unit(prefix, os.path.dirname(spec.origin) if package else spec.origin)
        if not is_namespace(spec):
            return None
        path = list(spec.submodule_search_locations or ())
    return None


def is_namespace(spec: ModuleSpec) -> bool:
    """Return whether a spec is of a namespace package (PEP 420). Packages of custom loaders, as in six, are not."""
    if spec.has_location or spec.submodule_search_locations is None:
        return False
    return spec.loader is None or "NamespaceLoader" in type(spec.loader).__name__


def is_namespace_name(name: str, find: Find) -> bool:
    """Return whether a name is that of a namespace package, which may contain several units."""
    prefix, path, spec = "", None, None
    for part in name.split("."):
        prefix = f"{prefix}.{part}" if prefix else part
        spec = find(prefix, path)
        if spec is None or not is_namespace(spec):
            return False
        path = list(spec.submodule_search_locations or ())
    return True


class ImportGraph:
    """The import graph of the scanned modules, and which of their units are private.

    `resolve` returns the unit of a module name, or None if there is no such module. `known` returns what is known of a unit
    without its sources: True (private), False (shared) or None (the sources decide).
    """

    def __init__(self, resolve: Callable[[str], Unit | None], known: Callable[[Unit], bool | None]) -> None:
        self.resolve, self.known = resolve, known
        self.seen: set[tuple[str, Unit | None]] = set()  # (module name, unit that imports it)
        self.read: set[str] = set()  # files
        self.single_files: set[str] = set()  # modules that are not packages: names below them are attributes
        self.importers: dict[Unit, set[Unit]] = {}
        self.private: set[Unit] = set()
        self.decided: dict[Unit, bool | None] = {}  # results of `known`
        self.verdicts: dict[Unit, bool] = {}  # results of `is_private`; final, since a module of the unit is then imported

    def forget_files(self) -> None:
        """Forget the contents of files, which may have changed, but keep decisions that loaded modules depend on."""
        self.seen.clear()
        self.read.clear()
        self.single_files.clear()

    def is_private(self, unit: Unit, name: str) -> bool:
        """Return whether each rank needs a copy of a unit; `name` is the module of the unit that is about to be imported."""
        verdict = self.verdicts.get(unit)
        if verdict is None:
            self._follow([*self._read(unit, unit.name), *self._read(unit, name)])
            known = self._known_in_advance(unit)
            verdict = self.verdicts[unit] = unit in self.private if known is None else known
        return verdict

    def add(self, names: Iterable[str]) -> None:
        """Scan the modules of these names, and all modules that importing them executes."""
        self._follow([(name, None) for name in names])

    def _follow(self, pending: list[tuple[str, Unit | None]]) -> None:
        """Scan modules, given as (name, importing unit), and all modules that they import."""
        while pending:
            name, importer = pending.pop()
            parent = name.rpartition(".")[0]
            entry = name, importer = (parent if parent in self.single_files else name), importer
            top = name.partition(".")[0]
            if entry in self.seen or top in STDLIB_NAMES or top in SHARED:
                continue
            self.seen.add(entry)
            unit = self.resolve(name)
            if unit is None:
                continue
            if importer is not None and importer != unit:
                self.importers.setdefault(unit, set()).add(importer)
                if unit in self.private:
                    self._mark_private(importer)
            pending += self._read(unit, name)

    def _read(self, unit: Unit, name: str) -> Iterator[tuple[str, Unit | None]]:
        """Scan a module of a unit; yield the names that it imports, each with the importing unit."""
        known = self._known_in_advance(unit)
        if known is False or unit.name in ALWAYS_PRIVATE:
            return
        if known:
            self._mark_private(unit)
        for file, package in files_of(unit, name):
            if not file.endswith("__init__.py"):
                self.single_files.add(unit.name if file == unit.location else f"{package}.{os.path.basename(file)[:-3]}")
            if file in self.read:
                continue
            self.read.add(file)
            scanned = scan(file, package)
            if scanned.binds:
                self._mark_private(unit)
            yield from ((imported_name, unit) for imported_name in scanned.at_module_level)
            if known:  # a module of the program: imports in its functions count as well
                yield from ((imported_name, None) for imported_name in scanned.in_functions)

    def _known_in_advance(self, unit: Unit) -> bool | None:
        if unit not in self.decided:
            known = self.known(unit)
            self.decided[unit] = False if known is None and has_extension_modules(unit.location) else known
        return self.decided[unit]

    def _mark_private(self, unit: Unit) -> None:
        """Mark a unit, and the units that import it directly or indirectly, as private."""
        pending = [unit]
        while pending:
            current = pending.pop()
            if current not in self.private and self._known_in_advance(current) is not False:
                self.private.add(current)
                pending += self.importers.get(current, ())


@cache
def has_extension_modules(location: str) -> bool:
    """Return whether a location is an extension module or a package that contains one."""
    suffixes = tuple(EXTENSION_SUFFIXES)
    if not os.path.isdir(location):
        return location.endswith(suffixes)
    return any(name.endswith(suffixes) for _, _, files in os.walk(location) for name in files)


def files_of(unit: Unit, name: str) -> Iterator[tuple[str, str]]:
    """Yield the source files of a unit that importing a module executes, each with its package, for relative imports.

    The last part of `name` may also be an attribute of a module.
    """
    if not os.path.isdir(unit.location):
        yield unit.location, unit.name.rpartition(".")[0]
        return
    directory, package = unit.location, unit.name
    yield os.path.join(directory, "__init__.py"), package
    for part in name[len(unit.name) + 1 :].split("."):
        file = os.path.join(directory, f"{part}.py")
        directory = os.path.join(directory, part)
        if part and os.path.isdir(directory):
            package = f"{package}.{part}"
            yield os.path.join(directory, "__init__.py"), package
        else:
            if part and os.path.isfile(file):
                yield file, package
            return


class Scanned(NamedTuple):
    """A scanned source: whether it stores an object of mpi4py, and the names imported at module level and in functions."""

    binds: bool
    at_module_level: tuple[str, ...]
    in_functions: tuple[str, ...]


NOTHING = Scanned(False, (), ())


def scan(file: str, package: str) -> Scanned:
    """Scan a source file; the result is cached until the file changes."""
    try:
        stat = os.stat(file)
    except OSError:
        return NOTHING
    return _scan(file, package, stat.st_mtime_ns, stat.st_size) if file.endswith(".py") else NOTHING


@cache
def _scan(file: str, package: str, time: int, size: int) -> Scanned:
    """Scan a file; `time` and `size` are only part of the cache key."""
    try:
        with open(file, "rb") as opened:
            return scan_text(opened.read(), package)
    except OSError:
        return NOTHING


def scan_text(text: bytes, package: str) -> Scanned:
    """Scan a source text."""
    at_module_level, in_functions = imported(text, package)
    return Scanned(b"mpi4py" in text and binds_mpi4py(text), tuple(sorted(at_module_level)), tuple(sorted(in_functions)))


def imported(text: bytes, package: str) -> tuple[set[str], set[str]]:
    """Return the absolute names of modules imported at module level, and of those imported in functions."""
    text = b"\n" + text
    at_module_level: set[str] = set()
    in_functions: set[str] = set()
    for word in _WORD.finditer(text):
        match = _IMPORT.match(text, text.rfind(b"\n", 0, word.start()) + 1)
        if match is None:
            continue
        indented, source, listed, members, modules = match.groups()
        if modules is not None:
            names = [part.split()[0].decode() for part in modules.split(b",") if part.strip()]
        else:
            start = _absolute(source.decode(), package)
            parts = _COMMENT.sub(b"", listed if listed is not None else members or b"").split(b",")
            names = [f"{start}.{part.split()[0].decode()}" for part in parts if part.strip()] or [start]
        (in_functions if indented and _is_in_function(text, match.start()) else at_module_level).update(names)
    return _without_stdlib(at_module_level), _without_stdlib(in_functions)


def _absolute(source: str, package: str) -> str:
    """Return the absolute name of the source of a `from` import."""
    name = source.lstrip(".")
    dots = len(source) - len(name)
    if not dots:
        return name
    parts = package.split(".")
    start = ".".join(parts[: len(parts) - dots + 1])
    return f"{start}.{name}" if name and start else start or name


def _without_stdlib(names: set[str]) -> set[str]:
    return {name for name in names if name and name.partition(".")[0] not in STDLIB_NAMES}


def _is_in_function(text: bytes, position: int) -> bool:
    """Return whether an indented line is in a function, a class or a TYPE_CHECKING block, judging by the text before it."""
    function_start = max(text.rfind(opening, 0, position) for opening in (b"\ndef ", b"\nclass ", b"\nasync def "))
    blocks = (b"\ntry:", b"\nif ", b"\nwith ", b"\nfor ", b"\nwhile ")
    block_start = max(text.rfind(opening, 0, position) for opening in blocks)
    return function_start > block_start or b"TYPE_CHECKING" in text[block_start : block_start + 30]
