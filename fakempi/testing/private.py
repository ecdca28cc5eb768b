"""Modules that are private to each rank: the test module, conftest and whatever else of the project a test imports.

Each rank executes its own copies, as the ranks of `fakempi run` do, and by the same means. The test and the fixtures that it
asks for are found again in them, by file and name. Fixtures of installed plugins, and values of `parametrize`, are shared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.pathlib import import_path

from fakempi.mpi.base.current import running_process
from fakempi.script.imports import loaded_from
from fakempi.script.program import Program
from fakempi.testing.fixtures import is_conftest


class Copies:
    """Which modules are private, and how a rank finds its own. Made before ranks run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.files = {name: str(sys.modules[name].__file__) for name in loaded_from(str(config.rootpath))}
        self.names = {file: name for name, file in self.files.items()}

    def finder(self) -> Callable[[Any], Any]:
        """For one rank: what finds its own copy of a function or class, or the thing itself if its module is shared."""
        modules: dict[str, ModuleType] = {}

        def copy_of(thing: Any) -> Any:
            file = str(getattr(thing, "__globals__", {}).get("__file__", self.files.get(thing.__module__)))
            if file not in modules:
                name = self._name(file)
                if name is None:
                    return thing
                modules[file] = self._module(name, file)
            return _inner(_found(modules[file], thing))

        return copy_of

    def _name(self, file: str) -> str | None:
        """The name of a private module, None of a shared one."""
        return self.names.get(file, "conftest" if is_conftest(file, self.config) else None)

    def _module(self, name: str, file: str) -> ModuleType:
        there = sys.modules.get(name)
        if there is not None and there.__file__ == file:
            return there
        sys.modules.pop(name, None)
        with _outside_hypothesis():
            return import_path(
                Path(file),
                mode=self.config.getoption("importmode"),
                root=self.config.rootpath,
                consider_namespace_packages=bool(self.config.getini("consider_namespace_packages")),
            )

    def program(self, call: Callable[[Any], Any]) -> Program:
        """What a rank runs: the call, with modules of its own."""
        return _Call(call, str(self.config.rootpath))


def _found(module: ModuleType, thing: Any) -> Any:
    """What has the same name there."""
    found: Any = module
    for name in thing.__qualname__.split("."):
        if name == "<locals>":
            pytest.fail(f"isolation: {thing.__qualname__} of {module.__file__} is made in a function: ranks have no copies")
        found = getattr(found, name)
    return found


def _outside_hypothesis() -> AbstractContextManager[Any]:
    """While a module is imported: Hypothesis does not like tests that are made within an example."""
    current = getattr(sys.modules.get("hypothesis.control"), "_current_build_context", None)
    return nullcontext() if current is None else current.with_value(None)


def _inner(found: Any) -> Any:
    """The function that somebody has written, of what pytest or Hypothesis has made of it."""
    if hasattr(found, "_get_wrapped_function"):
        return found._get_wrapped_function()
    if hasattr(found, "__pytest_wrapped__"):  # a fixture, before pytest 8.4
        return found.__pytest_wrapped__.obj
    return found.hypothesis.inner_test if hasattr(found, "hypothesis") else found


class _Call(Program):
    """A script that consists of one call."""

    def __init__(self, call: Callable[[Any], Any], folder: str) -> None:
        super().__init__(["-c", ""])
        self.call, self.folder = call, folder
        self.argv, self.paths = list(sys.argv), list(sys.path)

    def _execute(self) -> None:
        process = running_process()
        sys.path[:] = self.paths
        try:
            self.call(process.comm_world)
        except SystemExit as error:
            if error.code not in (None, 0):
                process.universe.fail(process, error)
            raise
