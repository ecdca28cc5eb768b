"""Our package `collectives`, where a file beside a program has that name too.

Python finds the file first. Then ours is loaded all at once under the name, which is the file's again afterwards: modules
that are loaded are found by their full names, `collectives.entries`, whatever `collectives` is. It takes half a second.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

HOME = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
NAME = "collectives"
PROGRAMS = (f"{NAME}.__main__", f"{NAME}.measure")
"""Modules that are run, not imported."""


def keep_apart() -> None:
    """Before anything of ours is imported that needs it."""
    if f"{NAME}.entries" in sys.modules:
        return
    theirs = sys.modules.get(NAME)
    file = _file() if theirs is None else getattr(theirs, "__file__", None)
    if file is None or os.path.dirname(os.path.dirname(os.path.realpath(file))) == HOME:
        return
    if os.path.basename(file) == "__init__.py":
        raise ImportError(f"fakempi has a package {NAME!r} of its own, as {file} is called: fakempi run keeps them apart.")
    try:
        for name in _names(_load()):
            import_module(name)
    finally:
        sys.modules.pop(NAME, None)
        if theirs is not None:
            sys.modules[NAME] = theirs


def _file() -> str | None:
    """What would be imported by that name."""
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
    """All of its modules, and those of ours that import them by the name alone."""
    from pkgutil import walk_packages  # here, since it takes 2 ms and few programs have such a file

    tuning = import_module("fakempi.tuning")
    packages = {f"{NAME}.": ours, "fakempi.tuning.": tuning}
    found = [module.name for prefix, package in packages.items() for module in walk_packages(package.__path__, prefix)]
    return [*(name for name in found if name not in PROGRAMS), "fakempi.options"]
