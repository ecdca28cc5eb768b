"""Which modules every rank has a copy of, and how those are imported.

A rank's own are the modules that are not installed: the script, those beside it, and whatever else comes from a folder that
is none of Python's own or of its packages. Installed packages are shared, as are fakempi and collectives.

Python locks a module by its name while it is imported. If a module communicates while it is imported, other ranks import
their copies of it before it is done, so each rank's locks have names of their own.
"""

from __future__ import annotations

import importlib._bootstrap as bootstrap
import os
import site
import sys
import sysconfig
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from fakempi.script.place import Place
from fakempi.script.stand_in import missing

SHARED = ("fakempi", "collectives", "mpi4py")
"""Packages that are shared wherever they are."""


def _installed() -> tuple[str, ...]:
    """The folders of Python and of its packages."""
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return tuple({os.path.join(form, "") for folder in folders for form in (folder, os.path.realpath(folder))})


_INSTALLED = _installed()  # at once, for it imports something itself


def is_own(spec: ModuleSpec) -> bool:
    """Whether every rank gets a copy of the module."""
    if spec.name.partition(".")[0] in SHARED:
        return False
    places = [spec.origin] if spec.has_location and spec.origin else list(spec.submodule_search_locations or ())
    return bool(places) and not any(os.path.abspath(place).startswith(_INSTALLED) for place in places)


def beside(folder: str) -> set[str]:
    """The names of modules that are loaded already and come from a folder: what a script there imports anew."""
    start = os.path.join(os.path.abspath(folder), "")
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) if isinstance(module, ModuleType) else None
        if file and os.path.abspath(file).startswith(start) and name.partition(".")[0] not in SHARED:
            spec = getattr(module, "__spec__", None)
            if isinstance(spec, ModuleSpec) and is_own(spec):
                found.add(name)
    return found


class Loader(SourceFileLoader):
    """Reads and compiles a file once for all ranks."""

    codes: dict[str, CodeType | None]

    def get_code(self, fullname: str) -> CodeType | None:
        """The code, which all ranks share: it never changes."""
        if self.path not in self.codes:
            self.codes[self.path] = super().get_code(fullname)
        return self.codes[self.path]


class Finder:
    """Finds modules as the others on `sys.meta_path` do, and enters a rank's own ones in its list."""

    def __init__(self, who: Callable[[], Place | None]) -> None:
        self.who = who
        self.codes: dict[str, CodeType | None] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """What the others find."""
        place = self.who()
        if place is None:
            return None
        if name.startswith("mpi4py."):
            missing(name)
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            if name.startswith("mpi4py."):
                missing(name, installed=False)
            return None
        if is_own(spec):
            place.own.add(name)
            if type(spec.loader) is SourceFileLoader:
                spec.loader = Loader(spec.loader.name, spec.loader.path)
                spec.loader.codes = self.codes
        return spec

    def invalidate_caches(self) -> None:
        """Files have changed."""
        self.codes.clear()


def lock_by_rank(who: Callable[[], Place | None]) -> Callable[[], None]:
    """Give the locks of modules that are being imported another name on each rank; returns how to undo it."""
    original = bootstrap._get_module_lock  # type: ignore[attr-defined]

    def lock(name: str) -> Any:
        place = who()
        return original(name if place is None else f"{name} of process {place.number}")

    bootstrap._get_module_lock = lock  # type: ignore[attr-defined]
    return lambda: setattr(bootstrap, "_get_module_lock", original)
