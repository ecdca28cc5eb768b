"""Who runs the tests that are marked: this plugin, the ranks that pytest itself was started on, or another plugin."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from fakempi.testing import alias

OTHERS = {
    "pytest_mpi": ("pytest-mpi", "mpi"),
    "pytest_mpi.plugin": ("mpi-pytest", "parallel"),
    "pytest_isolate_mpi._plugin": ("pytest-isolate-mpi", "mpi"),
}
"""Plugins that run marked tests themselves: by their module, their name and their marker."""

FORKING = ("pytest_isolate_mpi._plugin",)
"""Those that run marked tests elsewhere, wherever they are."""

HINTS = (
    "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_SIZE", "ALPS_APP_PE", "PALS_RANKID",
)  # fmt: skip
"""What launchers of MPI programs leave in the environment. Only where one is there, mpi4py is asked."""


@dataclass
class Situation:
    """Where pytest is.

    Attributes
    ----------
    process : of `fakempi run`, if pytest runs on its ranks
    comm : the world that pytest itself runs on, if that is one of several ranks or of `fakempi run`
    owners : plugins that marked tests are left to, by marker
    taken_off : whether there are others that were taken off, since they have nothing to run tests on
    """

    process: Any = None
    comm: Any = None
    owners: dict[str, str] = field(default_factory=dict)
    taken_off: bool = False

    def in_words(self) -> str:
        """A line for pytest's header; empty where nothing is special."""
        if self.owners:
            names = " and ".join(sorted(set(self.owners.values())))
            return f"stands aside, {names} runs marked tests (--mpi4py=emulated: they run on virtual ranks)"
        if self.comm is not None:
            started = "fakempi run" if self.process is not None else "mpiexec"
            return f"stands aside, marked tests run on the {self.comm.Get_size()} ranks of {started}"
        return ""


SITUATION = pytest.StashKey[Situation]()


def of(config: pytest.Config) -> Situation:
    """As it was found; if the plugin came too late for that, nothing is special."""
    return config.stash.setdefault(SITUATION, Situation())


def find_out(config: pytest.Config, without_mpi: bool) -> Situation:
    """Where this pytest is. Where there is to be no MPI, other plugins are taken off; on our ranks, who starts mpiexec."""
    process = running()
    plugins = {getattr(plugin, "__name__", ""): plugin for plugin in config.pluginmanager.get_plugins()}
    others = [name for name in OTHERS if name in plugins]
    off = others if without_mpi else [name for name in others if process is not None and name in FORKING]
    for name in off:
        config.pluginmanager.unregister(plugins[name])
    if process is not None:
        return Situation(process, process.comm_world, taken_off=bool(off))
    if without_mpi:
        return Situation(taken_off=bool(off))
    return Situation(comm=_launched(), owners={OTHERS[name][1]: OTHERS[name][0] for name in others})


def running() -> Any:
    """The process of ours that runs this pytest, None outside a run; nothing of ours is imported for that."""
    current = sys.modules.get("fakempi.mpi.base.current")
    return None if current is None else current.current_process()


def keep_modules_private() -> None:
    """Where ranks run scripts, who finds modules for them comes first; pytest's own finder has just put itself before it."""
    stage = sys.modules.get("fakempi.script.stage")
    finder: Any = None if stage is None else stage.STAGE.finder
    if finder in sys.meta_path:
        sys.meta_path.remove(finder)
        sys.meta_path.insert(0, finder)


def _launched() -> Any:
    """The world of a real MPI, if this is one of several processes that it has started."""
    if not any(hint in os.environ for hint in HINTS):
        return None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):
        return None
    if alias.emulates(MPI) or MPI.COMM_WORLD.Get_size() == 1:
        return None
    return MPI.COMM_WORLD
