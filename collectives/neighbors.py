"""Modules next to the file of a user's algorithm, which only that file imports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

OUR_PACKAGES = ("collectives", "fakempi")

_directory_modules: dict[Path, dict[str, ModuleType]] = {}  # directory -> modules in it that algorithm files have imported


@contextmanager
def modules_in(directory: Path) -> Iterator[None]:
    """Make the modules of a directory importable within the context.

    Afterwards they are removed from sys.modules until the next file of the directory is executed, because a file in another
    directory, or a script, may import another module of the same name.
    """
    path, before = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(directory))
    sys.modules.update(_directory_modules.setdefault(directory, {}))
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if before.get(name) is not module and _is_in(directory, name, module):
                _directory_modules[directory][name] = sys.modules.pop(name)
                if name in before:
                    sys.modules[name] = before[name]


def _is_in(directory: Path, name: str, module: ModuleType) -> bool:
    """Return whether a module is in the directory itself, not in an environment below it, and not in one of our packages."""
    parts, spec = name.split("."), getattr(module, "__spec__", None)
    is_there = spec is not None and spec.has_location and str(spec.origin).startswith(str(directory.joinpath(*parts)))
    return is_there and parts[0] not in OUR_PACKAGES
