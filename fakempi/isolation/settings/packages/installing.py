"""Notices calls of functions of packages that change a setting, from the import of the package on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from fakempi.isolation.patches import Patches
from fakempi.isolation.settings.exchange import MISSING, ProcessSetting
from fakempi.isolation.settings.library_settings import LibrarySettings
from fakempi.isolation.settings.packages import jax, memory, torch
from fakempi.isolation.settings.packages.table import CHANGED, REPORTED, Changing


class PackageSettings:
    """Patches for functions of packages; `hooks` has those of modules, to be called when they are loaded.

    `has_own_threads` means that each rank has an OS thread, so what belongs to a thread is not exchanged.
    """

    def __init__(self, library: LibrarySettings, patches: Patches, has_own_threads: bool) -> None:
        self.library, self.patches, self.has_own_threads = library, patches, has_own_threads
        self.hooks: dict[str, Callable[[Any], None]] = {
            name: partial(self._install, changes=CHANGED.get(name, ()), reported=REPORTED.get(name, {}))
            for name in {*CHANGED, *REPORTED}
        }
        self.hooks["torch"] = self._torch
        self.hooks["jax._src.xla_bridge"] = lambda module: self._replace(module, "backends", jax.without_switches)
        if not has_own_threads:
            self.hooks["numba._helperlib"] = self._numba

    def _install(self, module: Any, *, changes: Iterable[Changing], reported: Mapping[str, str]) -> None:
        for one in changes:
            settings = one.settings if one.on_threads is None or not self.has_own_threads else one.on_threads
            for function in one.functions:
                self._replace(module, function, partial(self.library.noticed, settings_of=partial(settings, module)))
        for function, name in reported.items():
            self._replace(module, function, partial(self.library.reported_call, name=name))

    def _replace(self, module: Any, function: str, wrapped: Callable[[Any], Any]) -> None:
        """Replace a function, class method or property."""
        *path, name = function.split(".")
        owner = module
        for part in path:
            owner = getattr(owner, part, None)
        found = vars(owner).get(name) if isinstance(owner, type) else getattr(owner, name, None)
        if isinstance(found, property):
            self.patches.set(owner, name, property(found.fget, wrapped(found.fset), found.fdel, found.__doc__))
        elif isinstance(found, classmethod):
            self.patches.set(owner, name, classmethod(wrapped(found.__func__)))
        elif found is not None:  # else this version has no such function
            replacement = wrapped(found)
            self.patches.set(owner, name, replacement)
            if owner is module:
                _replace_aliases(module, name, found, replacement)
                self.patches.at_undo.append(partial(_replace_aliases, module, name, replacement, found))

    def _numba(self, helpers: Any) -> None:
        self._follow(memory.numba_generators(helpers))

    def _torch(self, module: Any) -> None:
        self._install(module, changes=CHANGED["torch"], reported=REPORTED["torch"])
        self._follow([memory.torch_generator(module), *torch.modes(module, self.has_own_threads)])

    def _follow(self, settings: Iterable[ProcessSetting]) -> None:
        for setting in settings:
            followed = self.library.settings.follow(setting)
            if setting.fresh is MISSING:
                followed.write(self.library.settings.outside(followed))  # to read some of them removes the value


def _replace_aliases(module: ModuleType, name: str, before: Any, after: Any) -> None:
    """Replace a function in the packages around its module: `pandas.set_option` is that of `pandas._config.config`."""
    place = module.__name__
    while place := place.rpartition(".")[0]:
        package = sys.modules.get(place)
        if package is not None and vars(package).get(name) is before:
            setattr(package, name, after)
