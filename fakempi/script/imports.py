"""Which modules every rank has a copy of, and how those are imported.

A rank's own are the modules that are not installed (the script, those beside it, and whatever else comes from a folder that
is none of Python's own or of its packages), and of the installed packages those that lead to mpi4py. All others are shared.
Compiled modules are one for all ranks in any case: most cannot be loaded twice.

Python locks a module by its name while it is imported. If a module communicates while it is imported, other ranks import
their copies of it before it is done, so each rank's locks have names of their own.
"""

from __future__ import annotations

import importlib._bootstrap as bootstrap
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.script.loaders import Compiled, Followed, Loader, Namespace
from fakempi.script.place import Place
from fakempi.script.reach import LARGE, NAMES_OF_PYTHON, OWN, SHARED, Unit, leads_to_mpi4py, unit_of
from fakempi.script.stand_in import missing

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OURS = tuple(os.path.join(_OURS, name, "") for name in ("fakempi", "collectives"))
"""The folders of the emulator and of its algorithms: wherever they are, they are shared."""


def _folders(names: Iterable[str], others: Iterable[str] = ()) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = [*(paths[name] for name in names), *others]
    return tuple({os.path.join(form, "") for folder in folders for form in (folder, os.path.realpath(folder))})


_PYTHON = _folders(("stdlib", "platstdlib"))  # at once, for it imports something itself
_PACKAGES = _folders(("purelib", "platlib"), (*site.getsitepackages(), site.getusersitepackages()))
_PACKAGES_ANYWHERE = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def is_installed(path: str) -> bool:
    """Whether it is the path of a package that was installed."""
    return path.startswith(_PACKAGES) or any(part in path for part in _PACKAGES_ANYWHERE)


def _is_pythons(path: str) -> bool:
    return path.startswith(_PYTHON) and not is_installed(path)


class Finder:
    """Finds modules as the others on `sys.meta_path` do, and enters a rank's own ones in its list."""

    def __init__(self, who: Callable[[], Place | None]) -> None:
        self.who = who
        self.codes: dict[str, CodeType | None] = {}
        self.specs: dict[tuple[str, tuple[str, ...]], ModuleSpec] = {}  # of ranks' own: name, and where it was sought
        self.compiled: dict[str, ModuleType] = {}  # by file
        self.units: dict[str, Unit] = {}  # by name, those that are in no package
        self.verdicts: dict[Unit, bool] = {}
        self.hooks: dict[str, Callable[[Any], None]] = {}  # what to do with shared modules when they have been loaded
        self.chosen: dict[str, bool] = {}  # what somebody asked for: name of a unit -> whether it is private

    def forget(self) -> None:
        """The run is over."""
        self.invalidate_caches()
        self.compiled.clear()
        self.chosen.clear()

    def invalidate_caches(self) -> None:
        """Files have changed."""
        self.codes.clear()
        self.specs.clear()
        self.units.clear()
        self.verdicts.clear()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """What the others find; of a rank's own modules, what they found for the first rank that asked."""
        place = self.who()
        if place is None:
            return None
        key = name, tuple(sys.path if path is None else path)
        spec = self.specs.get(key) if target is None else None
        if spec is None:
            spec = self._found(name, path, target)
            if spec is None or not self.is_own(spec):
                if spec is not None and name in self.hooks:
                    spec.loader = Followed(spec.loader, self.hooks[name])  # type: ignore[assignment]
                return spec
            if target is not None and spec.origin is not None:
                self.codes.pop(spec.origin, None)  # it is loaded again, for its file may have changed
            if self._share_what_is_loaded(spec):
                self.specs[key] = spec
        place.own.add(name)
        return _copy(spec)

    def _found(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        if name.startswith("mpi4py."):
            raise missing(name)
        return None

    def _share_what_is_loaded(self, spec: ModuleSpec) -> bool:
        """Give it a loader that does once what need not be done on each rank; whether it is good for all of them."""
        loader = spec.loader
        if type(loader) is SourceFileLoader:
            spec.loader = Loader(loader.name, loader.path, self.codes)
            spec.cached = spec.cached  # a property that is worked out at its first use: a tenth of an import
        elif type(loader) is ExtensionFileLoader:
            unit = self._unit(spec.name)
            accepted = unit is not None and unit.name in self.chosen
            spec.loader = Compiled(loader.name, loader.path, self.compiled, accepted)
        else:
            if _has_no_files(spec):
                spec.loader = Namespace(spec)
            return False
        return True

    def is_own(self, spec: ModuleSpec) -> bool:
        """Whether every rank gets a copy of the module."""
        if spec.name.partition(".")[0] == "mpi4py":
            return False
        if spec.origin is None or not spec.has_location:
            return _has_no_files(spec)
        return self._is_private(self._unit(spec.name) or Unit(spec.name, spec.origin))

    def _is_private(self, unit: Unit) -> bool:
        return leads_to_mpi4py(unit, self._unit, self._known, self.verdicts)

    def _known(self, unit: Unit) -> bool | None:
        """What can be said of a package without looking at its files."""
        place = os.path.abspath(unit.location)
        if os.path.join(place, "").startswith(OURS) or _is_pythons(place):
            return False
        if unit.name in self.chosen:
            return self.chosen[unit.name]
        if unit.name in OWN or not is_installed(place):
            return True
        return False if unit.name in SHARED | LARGE else None

    def _unit(self, name: str) -> Unit | None:
        """What a module belongs to that is imported now."""
        top = name.partition(".")[0]
        unit = self.units.get(top)
        if unit is None:
            unit = unit_of(name, self._found)
            if unit is not None and unit.name == top:
                self.units[top] = unit
        return unit

    def hide(self) -> set[str]:
        """The names of modules that are loaded already and that every rank is to import for itself."""
        hidden = set()
        self.verdicts = _VERDICTS.setdefault((*sys.path, *self.chosen.items()), {})
        for name, module in list(sys.modules.items()):
            spec = _spec_of(name)
            if spec is None or name.partition(".")[0] in SHARED or _is_pythons(spec.origin or ""):
                continue
            unit = None if _has_no_files(spec) else unit_of(name, self._loaded_or_found)
            if _has_no_files(spec) or (unit is not None and self._is_private(unit)):
                hidden.add(name)
                if isinstance(spec.loader, ExtensionFileLoader):
                    self.compiled[spec.loader.path] = module
        self.units, self.verdicts = {}, {}  # the script's folder was not among those where modules were sought
        return hidden

    def _loaded_or_found(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        return _spec_of(name) or self._found(name, path)


_VERDICTS: dict[tuple[Any, ...], dict[Unit, bool]] = {}
"""On packages that were loaded before a run, by where modules are sought and what was asked for: a process has many runs."""


def _spec_of(name: str) -> ModuleSpec | None:
    """That of a module which is loaded."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec if isinstance(spec, ModuleSpec) else None


def loaded_from(folder: str) -> set[str]:
    """The names of modules that are loaded already, come from a folder, and are neither installed nor the emulator's."""
    start, found = os.path.join(os.path.abspath(folder), ""), set()
    for name in list(sys.modules):
        spec = _spec_of(name)
        place = os.path.abspath(spec.origin) if spec is not None and spec.origin and spec.has_location else ""
        if place.startswith(start) and not (is_installed(place) or _is_pythons(place) or place.startswith(OURS)):
            found.add(name)
    return found


def _has_no_files(spec: ModuleSpec) -> bool:
    """Whether it is a package without files of its own, to which folders and modules are added."""
    return not spec.has_location and spec.submodule_search_locations is not None


def _copy(spec: ModuleSpec) -> ModuleSpec:
    """One for a rank: Python writes into it, and into its list of folders."""
    copy = ModuleSpec.__new__(ModuleSpec)
    vars(copy).update(vars(spec))
    if isinstance(spec.submodule_search_locations, list):
        copy.submodule_search_locations = list(spec.submodule_search_locations)
    return copy


def choices(share: Iterable[str], private: Iterable[str], folder: str) -> dict[str, bool]:
    """What somebody asks for, whether it is private by name; refused if it cannot be. `folder` is that of the script."""
    chosen = {**dict.fromkeys(share, False), **dict.fromkeys(private, True)}
    for name, is_private in chosen.items():
        what = f"{'private' if is_private else 'share'} {name}"
        if is_private and (name in share or name in SHARED or name in NAMES_OF_PYTHON):
            why = "it is to be shared, too" if name in share else "the emulator itself needs it, and all ranks share it"
            raise MPIValueError(ERR_ARG, f"program: {what}: {why}.")
        unit = unit_of(name, lambda start, path: PathFinder.find_spec(start, path or [folder, *sys.path]))
        if unit is None or unit.name != name:
            why = "there is no such package or module" if unit is None else f"{unit.name} is private or shared as a whole"
            raise MPIValueError(ERR_ARG, f"program: {what}: {why}.")
    return chosen


def lock_by_rank(who: Callable[[], Place | None]) -> Callable[[], None]:
    """Give the locks of modules that are being imported another name on each rank; returns how to undo it."""
    original = bootstrap._get_module_lock  # type: ignore[attr-defined]

    def lock(name: str) -> Any:
        place = who()
        return original(name if place is None else f"{name} of process {place.number}")

    bootstrap._get_module_lock = lock  # type: ignore[attr-defined]
    return lambda: setattr(bootstrap, "_get_module_lock", original)
