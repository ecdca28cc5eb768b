"""Decides what `import mpi4py` loads in a test session, and reports it in the header."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from fakempi.apps.testing import alias, environment
from fakempi.apps.testing.marked_files import marked_file

ALIAS = pytest.StashKey[alias.Alias]()

OTHERWISE = "to change it: --mpi4py={}"


def install_early(parser: pytest.Parser, config: pytest.Config | None) -> None:
    """Install the mpi4py finder early: plugins loaded later may import mpi4py, and fail without an MPI library."""
    if config is None or environment.running() is not None:
        return
    with suppress(AttributeError, KeyError, ValueError):  # there may be no ini file yet
        added = [*shlex.split(os.environ.get("PYTEST_ADDOPTS", "")), *config.getini("addopts")]
        options = parser.parse_known_args([*added, *config.invocation_params.args])
        _install(config, options)
        if "mpi4py" in sys.modules:  # with the emulator, the real package must not load a module of its own
            config.stash[ALIAS].settle()


def install(config: pytest.Config) -> bool:
    """Decide what `import mpi4py` loads, before conftest is imported. Return whether there is no MPI for other plugins."""
    options = config.known_args_namespace
    given = options.mpi4py or config.getini("mpi4py")
    if given not in alias.CHOICES:
        raise pytest.UsageError(f"mpi4py = {given} in the ini file: choose from {', '.join(alias.CHOICES)}")
    if environment.running() is not None:
        return bool(given == "emulated")
    _install(config, options)
    config.stash[ALIAS].settle()
    return config.stash[ALIAS].choice == "emulated" or bool(config.stash[ALIAS].unusable)


def _install(config: pytest.Config, options: Namespace) -> None:
    if ALIAS not in config.stash:
        choice, why = options.mpi4py, f"--mpi4py={options.mpi4py}"
        if not choice:
            choice = config.getini("mpi4py")
            why = f"mpi4py = {choice} in {'the ini file' if config.inipath is None else config.inipath.name}"
        config.stash[ALIAS] = alias.Alias(choice, "" if choice == "auto" else why)
        config.stash[ALIAS].install()
    if config.stash[ALIAS].choice == "auto":
        config.stash[ALIAS].decide = config.stash[ALIAS].decide and partial(_decide, config, options)


def _decide(config: pytest.Config, options: Namespace) -> tuple[bool, str]:
    """Return whether to emulate mpi4py with `--mpi4py=auto`, and the reason if test files use mpi4py."""
    if environment.launched() is not None or any(name in sys.modules for name in environment.OTHERS):
        return False, ""  # the header has another line
    marked, named = marked_file(config, options)
    if not alias.is_installed():
        return True, "it is not installed" if marked else ""
    if marked:
        return True, f"{marked} has tests marked to run on ranks; {OTHERWISE.format('installed')}"
    return False, f"no selected test is marked to run on ranks; {OTHERWISE.format('emulated')}" if named else ""


def emulate_for_marked(config: pytest.Config) -> None:
    """Emulate mpi4py from here on if a marked test was found only now, and the real one is not loaded."""
    chosen = config.stash.get(ALIAS, None)
    if chosen is not None and chosen.choice == "auto" and "mpi4py.MPI" not in sys.modules:
        chosen.emulate()


def real_in_use(config: pytest.Config) -> bool:
    """Return whether modules of this process use the real mpi4py, although the user has not chosen it."""
    chosen = config.stash.get(ALIAS, None)
    return chosen is not None and chosen.choice != "installed" and bool(alias.real_is_loaded() or chosen.users_of_real)


def header(config: pytest.Config) -> list[str]:
    """Return lines for pytest's header: what `import mpi4py` loads, and why."""
    chosen: Any = config.stash.get(ALIAS, None)
    if chosen is None or not chosen.why:
        return []
    what = {"emulated": "emulated", "installed": "the installed one", "auto": "the installed one"}[chosen.choice]
    lines = [f"fakempi: mpi4py is {what}: {chosen.why}"]
    if chosen.users_of_real:
        names = ", ".join(chosen.users_of_real[:3])
        lines.append(f"fakempi: {names} imported the installed mpi4py before; to load this plugin first: pytest -p fakempi")
    return lines


def after_collection(config: pytest.Config) -> str | None:
    """Return a line below the number of tests if marked tests cannot use the modules of this process."""
    if not real_in_use(config):
        return None
    return (
        "fakempi: modules of this process use the installed mpi4py, so the ranks of marked tests import their own, with the "
        "emulator (faster: --mpi4py=emulated)"
    )
