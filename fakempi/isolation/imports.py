"""Private and shared modules, and the finder that imports them.

Each rank has a copy of every private module. Two kinds of modules are private: modules that are not installed (the script,
and modules next to it or in another directory outside the Python installation), and installed packages that store objects of
mpi4py (dependency_scan.py). All other modules are shared. Extension modules are always shared, because most cannot be loaded
twice.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from fakempi.core.import_hooks import CallbackLoader
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.isolation.finders import Finders
from fakempi.isolation.loaders import ExtensionLoader, NamespacePackageLoader, SourceLoader
from fakempi.isolation.mpi4py_modules import missing
from fakempi.isolation.packages.dependency_scan import (
    ALWAYS_PRIVATE,
    MOSTLY_COMPILED,
    SHARED,
    STDLIB_NAMES,
    Find,
    ImportGraph,
    Unit,
    is_namespace,
    is_namespace_name,
    scan_text,
    unit_of,
)
from fakempi.isolation.packages.shared_package_checks import SharedPackageCheck
from fakempi.isolation.rank_state import RankState
from fakempi.mpi.base.call_site import frame_at

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EMULATOR_DIRECTORIES = tuple(os.path.join(_ROOT, name, "") for name in ("fakempi", "collectives"))
"""Directories of the emulator and of its algorithms; their modules are always shared."""


def _directories(names: Iterable[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    directories = [*(paths[name] for name in names), *others]
    return tuple({os.path.join(form, "") for directory in directories for form in (directory, os.path.realpath(directory))})


_PYTHON = _directories(("stdlib", "platstdlib"))  # at import time, because sysconfig imports modules
_PACKAGES = _directories(("purelib", "platlib"), (*site.getsitepackages(), site.getusersitepackages()))
_PACKAGES_ANYWHERE = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def is_installed(path: str) -> bool:
    """Return whether a path belongs to an installed package."""
    return path.startswith(_PACKAGES) or any(part in path for part in _PACKAGES_ANYWHERE)


@lru_cache(maxsize=4096)  # each run examines the modules of the process
def _is_stdlib(path: str) -> bool:
    return path.startswith(_PYTHON) and not is_installed(path)


def _never(name: str) -> bool:
    return False


def _ignore(code: CodeType) -> None:
    """Do nothing."""


class Finder:
    """Finds modules with the other finders on `sys.meta_path`, and records private modules in the state of the rank."""

    def __init__(self, running_state: Callable[[], RankState | None]) -> None:
        self.running_state = running_state
        self.codes: dict[str, CodeType | None] = {}
        self.specs: dict[tuple[str, tuple[str, ...]], ModuleSpec] = {}  # of private modules, by name and search path
        self.compiled: dict[str, ModuleType] = {}  # extension modules, by file
        self.units: dict[str, Unit] = {}  # top-level units, by name
        self.dependencies = ImportGraph(self._unit, self._private_by_rule)
        self.hooks: dict[str, Callable[[Any], None]] = {}  # called with a shared module after it has been loaded
        self.chosen: dict[str, bool] = {}  # user options: name of a unit -> whether it is private
        self.shared_checks = SharedPackageCheck(running_state, self.is_accepted, self.unit_name)
        self.texts: set[bytes] = set()  # sources of programs
        self.made_by_programs: set[str] = set()  # modules that finders of programs have found
        self.names_in_shared: set[str] = set()  # of modules in packages that are always shared
        self.is_shadowed: Callable[[str], bool] = _never  # by a file next to the script
        self.on_code: Callable[[CodeType], None] = _ignore  # called with the code of each private module, once

    def forget(self) -> None:
        """Reset at the end of the run."""
        self.invalidate_caches()
        self.dependencies = ImportGraph(self._unit, self._private_by_rule)
        self.shared_checks.forget()
        self.shared_checks = SharedPackageCheck(self.running_state, self.is_accepted, self.unit_name)
        self.compiled.clear()
        self.chosen.clear()
        self.texts.clear()
        self.made_by_programs.clear()
        self.hooks, self.is_shadowed, self.on_code = {}, _never, _ignore

    def invalidate_caches(self) -> None:
        """Discard everything that was read from files."""
        self.codes.clear()
        self.specs.clear()
        self.units.clear()
        self.dependencies.forget_files()

    def scan_program(self, text: bytes) -> None:
        """Scan the source of a program that starts, with imports in functions, to decide which packages are private."""
        if text in self.texts:
            return
        self.texts.add(text)
        scanned = scan_text(text, "")
        self.dependencies.add((*scanned.at_module_level, *scanned.in_functions))

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec found by the other finders; for private modules, a copy of the spec found for the first rank."""
        state = self.running_state()
        if state is None:
            return None
        searched = tuple(sys.path if path is None else path)
        key = name, (*searched, os.getcwd()) if "" in searched else searched
        spec = self.specs.get(key) if target is None else None
        if spec is None:
            spec = self._find(name, path, target)
            if spec is None:
                return None
            if not self.is_private(spec):
                if name in self.hooks:
                    spec.loader = CallbackLoader(spec.loader, self.hooks[name])  # type: ignore[assignment]  # a loader that delegates to the real one
                elif type(spec.loader) is ExtensionFileLoader and not self.is_accepted(name, spec.loader.path):
                    spec.loader = ExtensionLoader(spec.loader.name, spec.loader.path, self.compiled, False)
                return spec
            if target is not None and spec.origin is not None:
                self.codes.pop(spec.origin, None)  # reload: the file may have changed
            if self._set_shared_loader(spec):
                self.specs[key] = spec
        if name not in state.private and type(spec.loader) is not NamespacePackageLoader:  # which has no values
            self.shared_checks.on_private_import(state, name, frame_at(1))
        state.private.add(name)
        return _copy(spec)

    def _find(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if isinstance(sys.meta_path, Finders) and sys.meta_path.belongs_to_program(finder):
                    self.made_by_programs.add(spec.name)
                return spec
        if name.startswith("mpi4py."):
            raise missing(name)
        return None

    def _set_shared_loader(self, spec: ModuleSpec) -> bool:
        """Install a loader that shares work between ranks; return whether all ranks can use the spec."""
        loader = spec.loader
        if type(loader) is SourceFileLoader:
            spec.loader = SourceLoader(loader.name, loader.path, self.codes, self.on_code)
            spec.cached = spec.cached  # compute the lazy property once: a tenth of an import
        elif type(loader) is ExtensionFileLoader:
            unit = self._unit(spec.name)
            accepted = unit is not None and self._choice(unit.name) is not None
            spec.loader = ExtensionLoader(loader.name, loader.path, self.compiled, accepted)
        else:
            if is_namespace(spec):
                spec.loader = NamespacePackageLoader(spec)
            return False
        return True

    def is_private(self, spec: ModuleSpec) -> bool:
        """Return whether every rank gets a copy of the module."""
        if spec.name.partition(".")[0] == "mpi4py":
            return False
        if spec.has_location and str(spec.origin).startswith(EMULATOR_DIRECTORIES):
            return False  # not decided by unit: another copy of fakempi may be the first that `sys.path` has
        if is_namespace(spec):
            return True
        if not spec.has_location and spec.name in self.made_by_programs:
            return True
        if spec.origin is None or not spec.has_location:  # made by a custom loader: part of its parent package
            unit = self._unit(spec.name) if "." in spec.name else None
            return unit is not None and self.dependencies.is_private(unit, spec.name)
        return self.dependencies.is_private(self._unit(spec.name) or Unit(spec.name, spec.origin), spec.name)

    def is_shared(self, name: str) -> bool:
        """Return whether all ranks have the same module of this name, if it exists."""
        top = name.partition(".")[0]
        if top in SHARED or (top in STDLIB_NAMES and not self.is_shadowed(top)):
            return True
        unit = self._unit(name)
        return unit is not None and not self.dependencies.is_private(unit, name)

    def is_accepted(self, name: str, file: str) -> bool:
        """Return whether a shared module may use MPI without checks: accepted by option or by default, or not installed."""
        unit = self._unit(name)
        return (
            unit is None
            or self._choice(unit.name) is not None
            or unit.name in SHARED | MOSTLY_COMPILED
            or not is_installed(file)
        )

    def unit_name(self, name: str) -> str:
        """Return the name of the unit of a module, which is what the user can choose."""
        unit = self._unit(name)
        return name.partition(".")[0] if unit is None else unit.name

    def _choice(self, name: str) -> bool | None:
        """Return the user's choice for a unit or for a namespace package around it; None if there is none."""
        while name and name not in self.chosen:
            name = name.rpartition(".")[0]
        return self.chosen.get(name)

    def _private_by_rule(self, unit: Unit) -> bool | None:
        """Return whether a unit is private, None if its files must be scanned."""
        location = os.path.abspath(unit.location)
        if os.path.join(location, "").startswith(EMULATOR_DIRECTORIES) or _is_stdlib(location):
            return False
        if (choice := self._choice(unit.name)) is not None:
            return choice
        if unit.name in ALWAYS_PRIVATE or not is_installed(location):
            return True
        return False if unit.name in SHARED | MOSTLY_COMPILED else None

    def _unit(self, name: str) -> Unit | None:
        """Return the unit of a module that is being imported."""
        top = name.partition(".")[0]
        unit = self.units.get(top)
        if unit is None:
            unit = unit_of(name, self._find)
            if unit is not None and unit.name == top:
                self.units[top] = unit
        return unit

    def hide(self) -> set[str]:
        """Return the names of loaded modules that every rank must import again."""
        hidden = set()
        verdicts: dict[str, bool] = {}  # of units that are top-level packages: a process may have a thousand modules
        for name, module in list(sys.modules.items()):
            if name in self.names_in_shared:  # first, since most are: this loop took a sixth of a run of two ranks
                continue
            top = name.partition(".")[0]
            if top in SHARED:
                self.names_in_shared.add(name)
                continue
            spec = _spec(module)
            if spec is None or _is_stdlib(spec.origin or ""):
                continue
            private = True if is_namespace(spec) else verdicts.get(top)
            if private is None:
                unit = unit_of(name, self._loaded_or_found)
                private = unit is not None and self.dependencies.is_private(unit, name)
                if unit is not None and unit.name == top:
                    verdicts[top] = private
            if private:
                hidden.add(name)
                if isinstance(spec.loader, ExtensionFileLoader):
                    self.compiled[spec.loader.path] = module
        return hidden

    def _loaded_or_found(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        return _spec_of(name) or self._find(name, path)


def _spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a loaded module."""
    return _spec(sys.modules.get(name))


def _spec(module: ModuleType | None) -> ModuleSpec | None:
    spec = getattr(module, "__spec__", None)
    return spec if isinstance(spec, ModuleSpec) else None


def loaded_from(directory: str) -> set[str]:
    """Return the names of loaded modules below a directory, without installed ones and those of the emulator."""
    start, names = os.path.join(os.path.abspath(directory), ""), set()
    for name in list(sys.modules):
        spec = _spec_of(name)
        location = os.path.abspath(spec.origin) if spec is not None and spec.origin and spec.has_location else ""
        shared = is_installed(location) or _is_stdlib(location) or location.startswith(EMULATOR_DIRECTORIES)
        if location.startswith(start) and not shared:
            names.add(name)
    return names


def _copy(spec: ModuleSpec) -> ModuleSpec:
    """Return a copy for a rank, since importlib modifies the spec and its list of directories."""
    copy = ModuleSpec.__new__(ModuleSpec)
    vars(copy).update(vars(spec))
    if isinstance(spec.submodule_search_locations, list):
        copy.submodule_search_locations = list(spec.submodule_search_locations)
    return copy


def _finder_of(path: list[str]) -> Find:
    """Return a function that finds modules as a program does whose `sys.path` is `path`, also those of editable packages."""

    def find(name: str, parent: Sequence[str] | None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path if parent is None else parent)
        if spec is not None:
            return spec
        others = (finder for finder in sys.meta_path if finder is not PathFinder)
        return next((spec for finder in others if (spec := finder.find_spec(name, parent)) is not None), None)

    return find


def requested_packages(share: Iterable[str], private: Iterable[str], directory: str) -> dict[str, bool]:
    """Return the user's requests: unit name -> whether it is private. `directory` is the script's. Raises if impossible."""
    chosen = {**dict.fromkeys(share, False), **dict.fromkeys(private, True)}
    for name, is_private in chosen.items():
        choice = f"{'private' if is_private else 'share'} {name}"
        if is_private and (name in share or name in SHARED or name in STDLIB_NAMES):
            why = "it is also in share" if name in share else "all ranks share it, because the emulator depends on it"
            raise MPIValueError(ERR_ARG, f"program: {choice}: {why}.")
        find = _finder_of([directory, *sys.path])
        unit = unit_of(name, find)
        if (unit is None or unit.name != name) and not is_namespace_name(name, find):
            why = "there is no such package or module" if unit is None else f"choose the whole package {unit.name} instead"
            raise MPIValueError(ERR_ARG, f"program: {choice}: {why}.")
    return chosen
