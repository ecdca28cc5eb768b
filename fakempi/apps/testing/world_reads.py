"""Detects modules and fixtures that use COMM_WORLD before the ranks of a test run, such as `size = COMM_WORLD.Get_size()`.

Outside the ranks COMM_WORLD has one process, so the module would have rank 0 of 1 on every rank. A test that depends on such
a module or fixture gets private modules (one_test.py).
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from fakempi.apps.testing import environment
from fakempi.core.world_use import world_use

READS = pytest.StashKey["WorldReads"]()


class WorldReads:
    """The uses of COMM_WORLD and COMM_SELF in modules that are imported, in hooks of conftest, and in fixtures.

    Attributes
    ----------
    places : file -> line of its first use
    on_ranks : names of modules that a rank imported, although all ranks share them
    fixtures : the fixtures that used COMM_WORLD when they were set up outside the ranks
    count : the number of uses in fixtures so far
    test_files : the files that have been collected
    """

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.on_ranks: set[str] = set()
        self.fixtures: set[Any] = set()
        self.count = 0
        self.test_files: set[str] = set()
        self.collecting, self.setting_up, self.active = True, False, True

    def on_world(self) -> None:
        """Record a use: the module that is being imported, or the function of the project that is called."""
        if not self.active:
            return
        from fakempi.mpi.base.call_site import frame_at  # loaded by now; sessions without marked tests do not load it

        frame: FrameType | None = frame_at(1)
        caller = None
        while frame is not None:
            names, code = frame.f_globals, frame.f_code
            name = str(names.get("__name__"))
            if name.partition(".")[0] not in ("fakempi", "collectives"):
                if code.co_name == "<module>" and name != "__main__" and names.get("__spec__") is not None:
                    self._record(code.co_filename, frame.f_lineno)
                    if environment.running() is not None:
                        self.on_ranks.add(name)
                    return
                caller = caller or frame
            frame = frame.f_back
        if environment.running() is None:
            self.count += self.setting_up
            if self.collecting and caller is not None and not _is_installed(caller.f_code.co_filename):
                self._record(caller.f_code.co_filename, caller.f_lineno)

    def _record(self, file: str, line: int) -> None:
        self.places.setdefault(file, line)

    def of_fixtures(self, item: Any) -> bool:
        """Return whether the test uses a fixture that uses COMM_WORLD outside the ranks."""
        several = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {}).values()
        return any(fixturedef in self.fixtures for fixturedefs in several for fixturedef in fixturedefs)

    def of_modules(self, item: pytest.Item) -> list[str]:
        """Return the modules that use COMM_WORLD when they are imported, without those of other tests, as `file:line`."""
        own = str(item.path)
        files = [file for file in self.places if file == own or file not in self.test_files or _names(own, file)]
        return [f"{_relative(file, item.config)}:{self.places[file]}" for file in files]

    @contextmanager
    def inactive(self) -> Iterator[None]:
        """Ignore uses while ranks with private modules run."""
        before, self.active = self.active, False
        try:
            yield
        finally:
            self.active = before

    @contextmanager
    def of_setup(self) -> Iterator[None]:
        """Count uses while fixtures are set up."""
        before, self.setting_up = self.setting_up, True
        try:
            yield
        finally:
            self.setting_up = before

    def forget_modules(self) -> None:
        """Remove the modules that were imported on a rank, which have its number."""
        removed, self.on_ranks = self.on_ranks, set()
        for name in list(sys.modules):
            if any(f"{name}.".startswith(f"{one}.") for one in removed):
                del sys.modules[name]


def follow_world(config: pytest.Config) -> None:
    """Record uses of COMM_WORLD until the end of the session."""
    config.add_cleanup(partial(setattr, world_use, "observer", world_use.observer))
    world_use.observer = reads_of(config).on_world


def reads_of(config: pytest.Config) -> WorldReads:
    """Return the uses of COMM_WORLD in a session."""
    return config.stash.setdefault(READS, WorldReads())


def _is_installed(file: str) -> bool:
    from fakempi.isolation.imports import is_installed

    return is_installed(file) or not file.endswith(".py")


def _names(test: str, other: str) -> bool:
    """Return whether a test module may import another one: its text contains the other's name."""
    return any(Path(other).stem in line for line in linecache.getlines(test))


def _relative(file: str, config: pytest.Config) -> str:
    path = Path(file)
    return str(path.relative_to(config.rootpath)) if path.is_relative_to(config.rootpath) else file
