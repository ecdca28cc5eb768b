"""Modules that are private to each rank: the test module, conftest, and other modules of the project that a test imports.

Each rank executes its own copies, as the ranks of `fakempi run` do. The test and its fixtures are looked up in these copies
by file and name. Fixtures of installed plugins and values of `parametrize` are shared.
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

from fakempi.apps.testing.fixtures import is_conftest
from fakempi.isolation.imports import loaded_from
from fakempi.isolation.program import Program
from fakempi.mpi.base.current import running_process


class Copies:
    """The private modules of a test, determined before the ranks run, and the lookup of a rank's copies."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.files = {name: str(sys.modules[name].__file__) for name in loaded_from(str(config.rootpath))}
        self.names = {file: name for name, file in self.files.items()}

    def finder(self) -> Callable[[Any], Any]:
        """Return a function that returns a rank's copy of a function or class, or the argument if its module is shared."""
        modules: dict[str, ModuleType] = {}

        def copy_of(obj: Any) -> Any:
            file = str(getattr(obj, "__globals__", {}).get("__file__", self.files.get(obj.__module__)))
            if file not in modules:
                name = self._name(file)
                if name is None:
                    return obj
                modules[file] = self._module(name, file)
            return _inner(_find_copy(modules[file], obj))

        return copy_of

    def _name(self, file: str) -> str | None:
        """Return the name of a private module; None if the module is shared."""
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
        """Return the program of a rank: the call, with private modules."""
        return _Call(call, str(self.config.rootpath))


def _find_copy(module: ModuleType, obj: Any) -> Any:
    """Return the object with the same qualified name in a module."""
    result: Any = module
    for name in obj.__qualname__.split("."):
        if name == "<locals>":
            pytest.fail(f"isolation: {obj.__qualname__} of {module.__file__} is local to a function: ranks have no copies")
        result = getattr(result, name)
    return result


def _outside_hypothesis() -> AbstractContextManager[Any]:
    """Leave the current Hypothesis example while a module is imported: Hypothesis rejects tests defined within one."""
    current = getattr(sys.modules.get("hypothesis.control"), "_current_build_context", None)
    return nullcontext() if current is None else current.with_value(None)


def _inner(wrapped: Any) -> Any:
    """Return the original function that pytest or Hypothesis has wrapped."""
    if hasattr(wrapped, "_get_wrapped_function"):
        return wrapped._get_wrapped_function()
    if hasattr(wrapped, "__pytest_wrapped__"):  # a fixture, before pytest 8.4
        return wrapped.__pytest_wrapped__.obj
    return wrapped.hypothesis.inner_test if hasattr(wrapped, "hypothesis") else wrapped


class _Call(Program):
    """A program that consists of one call."""

    def __init__(self, call: Callable[[Any], Any], directory: str) -> None:
        super().__init__(["-c", ""])
        self.call, self.directory = call, directory
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
