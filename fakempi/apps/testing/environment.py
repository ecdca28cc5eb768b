"""Detects how marked tests are run: by this plugin, on the ranks on which pytest was started, or by another plugin."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import pytest

from fakempi.apps.testing import alias

OTHERS = {
    "pytest_mpi": ("pytest-mpi", "mpi"),
    "pytest_mpi.plugin": ("mpi-pytest", "parallel"),
    "pytest_isolate_mpi._plugin": ("pytest-isolate-mpi", "mpi"),
}
"""Plugins that run marked tests: module -> (name, marker)."""

FORKING = ("pytest_isolate_mpi._plugin",)
"""Plugins that run marked tests in other processes."""

RECORD = "FAKEMPI_TEST_RECORD"
"""The environment variable that names the file in which tests are recorded for continuous integration."""

HINTS = (
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE", "ALPS_APP_PE", "PALS_RANKID",
)  # fmt: skip
"""Environment variables set by launchers of MPI programs. mpi4py is imported only if one of them is set."""

OF_STEP = "SLURM_STEP_NUM_TASKS"
"""The number of processes that srun started. In a batch script, where SLURM_PROCID is set, too, it is absent."""


@dataclass
class Environment:
    """The way in which pytest was started.

    Attributes
    ----------
    process : the process of `fakempi run`, if pytest runs on its ranks
    comm : the world communicator that pytest itself runs on, with several ranks or in `fakempi run`
    owners : marker -> other plugin that runs the tests with this marker
    removed_others : whether other plugins were unregistered, because they have no MPI to run tests on
    """

    process: Any = None
    comm: Any = None
    owners: dict[str, str] = field(default_factory=dict)
    removed_others: bool = False

    def report(self) -> str:
        """Return a line for pytest's header; empty if this plugin runs all marked tests."""
        if self.owners:
            names = " and ".join(sorted(set(self.owners.values())))
            return f"inactive: {names} runs marked tests (use --mpi4py=emulated to run them on virtual ranks)"
        if self.comm is not None:
            started = "fakempi run" if self.process is not None else "mpiexec"
            return f"inactive: marked tests run on the {self.comm.Get_size()} ranks of {started}"
        return ""


def has_pytest_mpi() -> bool:
    """Whether pytest-mpi is installed, which has options with these names. mpi-pytest, which has none, is named equally."""
    found = find_spec("pytest_mpi")
    places = [] if found is None else list(found.submodule_search_locations or ())
    return found is not None and not any(os.path.exists(os.path.join(place, "plugin.py")) for place in places)


ENVIRONMENT = pytest.StashKey[Environment]()


def of(config: pytest.Config) -> Environment:
    """Return the environment of a session; the default if the plugin was loaded too late to detect it."""
    return config.stash.setdefault(ENVIRONMENT, Environment())


def detect(config: pytest.Config, without_mpi: bool) -> Environment:
    """Detect how pytest was started. Unregister other plugins without MPI; on virtual ranks, those that fork."""
    process = running()
    plugins = {getattr(plugin, "__name__", ""): plugin for plugin in config.pluginmanager.get_plugins()}
    others = [name for name in OTHERS if name in plugins]
    off = others if without_mpi else [name for name in others if process is not None and name in FORKING]
    for name in off:
        config.pluginmanager.unregister(plugins[name])
    if process is not None:
        return Environment(process, process.comm_world, removed_others=bool(off))
    if without_mpi:
        return Environment(removed_others=bool(off))
    return Environment(comm=launched(), owners={OTHERS[name][1]: OTHERS[name][0] for name in others})


def running() -> Any:
    """Return the virtual process that runs this pytest, None outside a run. Nothing else is imported for that."""
    current: Any = sys.modules.get("fakempi.mpi.base.current")
    return rank_of_child() or (None if current is None else current.current_process())


def rank_of_child() -> Any:
    """Return the rank that this operating-system process is, with `fakempi run --processes`; otherwise None."""
    current = sys.modules.get("fakempi.mpi.base.current")
    return None if current is None else vars(current).get("rank_of_child")


def keep_modules_private() -> None:
    """Move the finder of private modules before pytest's own finder, which has just been inserted at the front."""
    isolation = sys.modules.get("fakempi.isolation.namespace")
    finder: Any = None if isolation is None else isolation.NAMESPACES.finder
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
        sys.meta_path.insert(0, finder)


def launched() -> Any:
    """Return the world of a real MPI, if this is one of several processes that a launcher started."""
    if not any(hint in os.environ for hint in HINTS) and os.environ.get(OF_STEP, "1") == "1":
        return None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return None
    if alias.emulates(MPI) or MPI.COMM_WORLD.Get_size() == 1:
        return None
    return MPI.COMM_WORLD
