"""Recognizes failures of a rank that may come from sharing a package with other ranks, where processes would not.

Two kinds are known. A package with compiled modules uses mpi4py: its modules are shared, and keep objects of the rank that
has set them last. Or a shared package has a registry, and the modules or the script of a second rank register the same
name there again. Both are judged by the traceback, so the message says "may".
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from types import FrameType

from fakempi.isolation.imports import Finder, is_installed
from fakempi.isolation.packages.dependency_scan import SHARED, has_extension_modules

_TWICE = re.compile(r"\b(already|duplicate\w*|twice|conflict\w*)\b", re.IGNORECASE)


def explanation(error: BaseException, finder: Finder) -> str:
    """Return a message about the package that may have made a rank fail; empty if there is none."""
    if "--processes" in str(error):  # the error of a check gives this advice
        return ""
    frames = (frame for frame in _frames(error) if is_installed(os.path.abspath(frame.f_code.co_filename)))
    names = [name for name in map(_module, frames) if name.partition(".")[0] not in SHARED]
    for name in reversed(names):
        top = name.partition(".")[0]
        if _uses_mpi4py(top) and has_extension_modules(
            os.path.dirname(getattr(sys.modules.get(top), "__file__", None) or "")
        ):
            return (
                f"fakempi: the error may come from the package {top}: it uses mpi4py and has compiled modules. All ranks of "
                f"this process share its modules, and the objects that one rank has stored there. --processes gives each "
                "rank a process."
            )
    if names and finder.is_shared(names[-1]) and _TWICE.search(f"{type(error).__name__} {error}"):
        top = names[-1].partition(".")[0]
        return (
            f"fakempi: the error may come from the package {top}: all ranks of this process share it, so what each rank "
            f"registers there is registered more than once. --processes gives each rank a process."
        )
    return ""


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _uses_mpi4py(package: str) -> bool:
    """Return whether a loaded module of a package mentions mpi4py."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] == package and isinstance(file, str) and file.endswith(".py"):
            try:
                with open(file, "rb") as source:
                    if b"mpi4py" in source.read():
                        return True
            except OSError:
                continue
    return False
