"""Finds fakempi's package `collectives` when a file next to the program has the same name.

Python finds that file first. In this case all modules of the package are imported at once, while `sys.modules` has the
package under that name; afterwards the name refers to the file again. Later imports such as `collectives.entries`
find the loaded modules by their full names, although `collectives` is another module. Importing all modules takes half a
second.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
NAME = "collectives"
PROGRAMS = (f"{NAME}.__main__", f"{NAME}.measure")
"""Modules that are executed, not imported."""


def load_despite_shadowing() -> None:
    """Load the package if another file shadows it; called before the first module that imports it."""
    if f"{NAME}.entries" in sys.modules:
        return
    theirs = sys.modules.get(NAME)
    file = _file() if theirs is None else getattr(theirs, "__file__", None)
    if file is None or os.path.dirname(os.path.dirname(os.path.realpath(file))) == HOME:
        return
    if os.path.basename(file) == "__init__.py":
        advice = "Use 'fakempi run', which supports both, or rename that package"
        raise ImportError(f"{file} has the name of fakempi's package {NAME!r}. {advice}.")
    try:
        for name in _names(_load()):
            import_module(name)
    finally:
        sys.modules.pop(NAME, None)
        if theirs is not None:
            sys.modules[NAME] = theirs


def _file() -> str | None:
    """Return the file that an import of the name would load."""
    spec = PathFinder.find_spec(NAME)
    return None if spec is None else spec.origin


def _load() -> ModuleType:
    spec = spec_from_file_location(NAME, os.path.join(HOME, NAME, "__init__.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _names(ours: ModuleType) -> list[str]:
    """Return the names of all modules of `collectives`, and of fakempi's modules that import them."""
    from pkgutil import walk_packages  # here: it takes 2 ms, and few programs have such a file

    tuning = import_module("fakempi.tuning")
    packages = {f"{NAME}.": ours, "fakempi.tuning.": tuning}
    names = [module.name for prefix, package in packages.items() for module in walk_packages(package.__path__, prefix)]
    return [*(name for name in names if name not in PROGRAMS), "fakempi.core.options"]
