"""Files beside a script that have the name of a module which the emulator needs, such as `collectives.py` or `queue.py`.

The script gets its own, as it would from Python: a module of that name that is loaded already is hidden from ranks. And the
emulator gets its own: what its modules import in a rank's turn is looked for where no rank's files are.
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

from fakempi.script.imports import OURS, is_installed
from fakempi.script.patches import Patches
from fakempi.script.reach import NAMES_OF_PYTHON

FOUNDATION = frozenset({"collectives", "greenlet", "markdown_it", "mdurl", "numpy", "pygments", "rich", "typing_extensions"})
"""What the emulator stands on, besides the standard library."""

AT_START = frozenset({"abc", "codecs", "encodings", "genericpath", "io", "os", "posixpath", "site", "stat"})
"""Modules of Python that are loaded before any script, so that no file beside one takes their place."""


def beside(folder: str) -> dict[str, bool]:
    """Names of modules in a folder that stand for other modules elsewhere, and whether they are packages."""
    found: dict[str, bool] = {}
    try:
        files = os.listdir(folder)
    except OSError:
        return {}
    for file in files:
        name = file.partition(".")[0]
        if (name in NAMES_OF_PYTHON or name in FOUNDATION) and name not in AT_START:
            package = os.path.isfile(os.path.join(folder, file, "__init__.py"))
            if (package or file[len(name) :] in all_suffixes()) and not _is_from(folder, name):
                found[name] = package or found.get(name, False)  # which Python prefers to a file
    return found


def _is_from(folder: str, name: str) -> bool:
    """Whether the module of that name that is loaded is the one in the folder: it stands for no other.

    By whatever path, but from the folder itself: below it there may be a virtual environment.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not os.path.exists(file):
        return False
    starts = [os.path.join(folder, name), os.path.join(folder, name, "__init__")]
    paths = [start + suffix for start in starts for suffix in all_suffixes()]
    return any(os.path.exists(path) and os.path.samefile(file, path) for path in paths)


class Names:
    """The names that files beside scripts of a run have taken; `aside` is a context in which no rank has its turn."""

    def __init__(self, aside: Callable[[], AbstractContextManager[None]]) -> None:
        self.aside = aside
        self.taken: dict[str, bool] = {}

    def take(self, folder: str, patches: Patches) -> None:
        """Enter those of a folder; the first ones change how our own modules import others."""
        found = beside(folder)
        if found and not self.taken:
            patches.set(builtins, "__import__", self._importing(builtins.__import__))
            patches.set(importlib, "import_module", self._importing(importlib.import_module))
        self.taken.update(found)

    def hidden(self) -> set[str]:
        """Modules that are loaded under those names; where a package lies beside the script, with all that is in theirs."""
        tops = ((name, name.partition(".")[0]) for name in list(sys.modules))
        return {name for name, top in tops if top in self.taken and (name == top or self.taken[top])}

    def _importing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def importing(*args: Any, **kwargs: Any) -> Any:
            # What is loaded is nobody's file: numpy imports its own modules again and again.
            name = args[0] if args else ""
            if (name in sys.modules and name.partition(".")[0] not in self.taken) or not _is_ours(
                sys._getframe(1).f_globals
            ):
                return original(*args, **kwargs)
            with self.aside():
                return original(*args, **kwargs)

        return importing


def _is_ours(namespace: dict[str, Any]) -> bool:
    """Whether these are the globals of a module of ours, or of one that we stand on."""
    file = str(namespace.get("__file__"))
    return file.startswith(OURS) or (
        is_installed(file) and str(namespace.get("__name__")).partition(".")[0] in FOUNDATION
    )
