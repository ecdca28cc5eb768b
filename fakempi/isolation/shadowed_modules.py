"""Files next to a script that shadow a module which the emulator needs, such as `collectives.py` or `queue.py`.

The script imports its file, as it would under Python: a loaded module of the same name is hidden from ranks. The emulator
imports the shadowed module: imports in the emulator's code are executed without the rank's `sys.path` and modules.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.machinery import all_suffixes
from typing import Any

from fakempi.isolation.imports import EMULATOR_DIRECTORIES, is_installed
from fakempi.isolation.packages.dependency_scan import STDLIB_NAMES
from fakempi.isolation.patches import Patches
from fakempi.mpi.base.call_site import frame_at

DEPENDENCIES = frozenset(
    {"collectives", "greenlet", "markdown_it", "mdurl", "numpy", "pygments", "rich", "typing_extensions"}
)
"""Packages outside the standard library that the emulator imports."""

LOADED_AT_STARTUP = frozenset({"abc", "codecs", "encodings", "genericpath", "io", "os", "posixpath", "site", "stat"})
"""Modules that Python loads before any script, so that no file next to the script can shadow them."""


def shadowing_modules(directory: str) -> dict[str, bool]:
    """Return the modules in a directory that shadow a module which the emulator needs: name -> whether it is a package."""
    modules: dict[str, bool] = {}
    try:
        files = os.listdir(directory)
    except OSError:
        return {}
    for file in files:
        name = file.partition(".")[0]
        if (name in STDLIB_NAMES or name in DEPENDENCIES) and name not in LOADED_AT_STARTUP:
            package = os.path.isfile(os.path.join(directory, file, "__init__.py"))
            if (package or file[len(name) :] in all_suffixes()) and not _is_from(directory, name):
                modules[name] = package or modules.get(name, False)  # Python prefers a package to a file
    return modules


def _is_from(directory: str, name: str) -> bool:
    """Return whether the loaded module of that name is the module in the directory: then it shadows no other module.

    Only files directly in the directory count: a virtual environment may be below it.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not os.path.exists(file):
        return False
    starts = [os.path.join(directory, name), os.path.join(directory, name, "__init__")]
    paths = [start + suffix for start in starts for suffix in all_suffixes()]
    return any(os.path.exists(path) and os.path.samefile(file, path) for path in paths)


class ShadowedModules:
    """Names shadowed by files next to the scripts of a run; `outside_ranks` is a context without a rank's state."""

    def __init__(self, outside_ranks: Callable[[], AbstractContextManager[None]]) -> None:
        self.outside_ranks = outside_ranks
        self.shadowed: dict[str, bool] = {}

    def add_directory(self, directory: str, patches: Patches) -> None:
        """Add the shadowing modules of a directory; the first call patches `import` for modules of the emulator."""
        modules = shadowing_modules(directory)
        if modules and not self.shadowed:
            patches.set(builtins, "__import__", self._importing(builtins.__import__))
            patches.set(importlib, "import_module", self._importing(importlib.import_module))
        self.shadowed.update(modules)

    def hidden(self) -> set[str]:
        """Return the loaded modules with shadowed names; if a package shadows them, with all their submodules."""
        if not self.shadowed:
            return set()
        tops = ((name, name.partition(".")[0]) for name in list(sys.modules))
        return {name for name, top in tops if top in self.shadowed and (name == top or self.shadowed[top])}

    def _importing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def importing(*args: Any, **kwargs: Any) -> Any:
            # Fast path for loaded modules: numpy imports its own modules on many calls.
            name = args[0] if args else ""
            if (name in sys.modules and name.partition(".")[0] not in self.shadowed) or not _is_emulator_module(
                frame_at(1).f_globals
            ):
                return original(*args, **kwargs)
            with self.outside_ranks():
                return original(*args, **kwargs)

        return importing


def _is_emulator_module(namespace: dict[str, Any]) -> bool:
    """Return whether these are the globals of a module of the emulator or of its dependencies."""
    file = str(namespace.get("__file__"))
    return file.startswith(EMULATOR_DIRECTORIES) or (
        is_installed(file) and str(namespace.get("__name__")).partition(".")[0] in DEPENDENCIES
    )
