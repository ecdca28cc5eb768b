"""fakempi runs MPI programs without MPI: thousands of virtual ranks in one process, in modeled time.

core/         kernel (tasks and time), network (mailboxes, ports, cost models), hooks, reports, `run`
mpi/          the MPI calls of a rank's program
MPI           the mpi4py-shaped namespace
extensions/   features that observe or change a run: fused collectives, CPU time, time limits, threads, buffer checks
isolation/    an unmodified script on every rank as if it were a process
processes/    the same, with an operating-system process for each rank
modelcheck/   all schedules of a program: `explore`
tuning/       choice of the algorithm of a collective call
machines/     cost models from measurements, and the accuracy of their predictions
trace/        the events of a run, as columns
recordings/   recorded runs of applications, which `fakempi replay` executes
view/         pictures of a run: terminal, HTML page, SVG
apps/         command line, pytest plugin, notebook, course, terminal viewer
compare       public names of the comparison of algorithms
watch         reports of a program on a real MPI that hangs: `enable`
record        the command that records a program on a real MPI
errors/       every exception

    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Get_rank() ** 2, 4).returns
    [0, 1, 4, 9]

The word PYTEST_DONT_REWRITE in this docstring stops a warning of pytest: this package is imported before pytest in
`fakempi run -m pytest`, too early for pytest to rewrite its assertions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Public name -> module that defines it. Modules are imported on first use, so that `import fakempi` is fast.
_MODULES = {
    "MPI": "fakempi.MPI",
    "compare": "fakempi.compare",
    "strategies": "fakempi.apps.strategies",
    "watch": "fakempi.watch",
    "Run": "fakempi.core.run_result",
    "run": "fakempi.core.world",
    "explore": "fakempi.modelcheck.search.explore",
    "Exploration": "fakempi.modelcheck.search.exploration",
    "Trace": "fakempi.trace.record",
    "ScheduleError": "fakempi.errors",
    "OutcomesDifferError": "fakempi.errors",
    "load": "fakempi.trace.record",
    "compute": "fakempi.mpi.base.environment",
    "die": "fakempi.mpi.failures.kill",
    "phantom": "fakempi.mpi.buffers.phantom",
    "region": "fakempi.mpi.base.region",
    "result": "fakempi.mpi.diagnostics.results",
    "CostModel": "fakempi.core.network.cost",
    "Dragonfly": "fakempi.core.network.models.dragonfly",
    "FatTree": "fakempi.core.network.models.fat_tree",
    "FileServer": "fakempi.core.network.files",
    "ZeroCost": "fakempi.core.network.models.zero_cost",
    "Hockney": "fakempi.core.network.models.hockney",
    "Link": "fakempi.core.network.cost",
    "LogGP": "fakempi.core.network.models.loggp",
    "Torus": "fakempi.core.network.models.torus",
    "TwoGroups": "fakempi.core.network.models.two_groups",
    "TwoLevel": "fakempi.core.network.models.two_level",
    "presets": "fakempi.core.network.models.presets",
    "DeadlockError": "fakempi.errors",
    "Finding": "fakempi.errors.records",
    "FindingsError": "fakempi.errors",
    "InternalError": "fakempi.errors",
    "LivelockError": "fakempi.errors",
    "MPIFindingWarning": "fakempi.errors",
    "RankError": "fakempi.errors",
    "RunError": "fakempi.errors",
    "RunTimeoutError": "fakempi.errors",
    "TraceError": "fakempi.errors",
}
# Public name -> package that it needs and that fakempi does not require. `from fakempi import *` leaves these names out.
_OPTIONAL = {"strategies": "hypothesis"}
__all__ = sorted([*(_MODULES.keys() - _OPTIONAL.keys()), "__version__"])

if TYPE_CHECKING:
    from fakempi import MPI as MPI
    from fakempi import compare as compare
    from fakempi import watch as watch
    from fakempi.apps import strategies as strategies
    from fakempi.core.network.cost import CostModel as CostModel
    from fakempi.core.network.cost import Link as Link
    from fakempi.core.network.files import FileServer as FileServer
    from fakempi.core.network.models import presets as presets
    from fakempi.core.network.models.dragonfly import Dragonfly as Dragonfly
    from fakempi.core.network.models.fat_tree import FatTree as FatTree
    from fakempi.core.network.models.hockney import Hockney as Hockney
    from fakempi.core.network.models.loggp import LogGP as LogGP
    from fakempi.core.network.models.torus import Torus as Torus
    from fakempi.core.network.models.two_groups import TwoGroups as TwoGroups
    from fakempi.core.network.models.two_level import TwoLevel as TwoLevel
    from fakempi.core.network.models.zero_cost import ZeroCost as ZeroCost
    from fakempi.core.run_result import Run as Run
    from fakempi.core.world import run as run
    from fakempi.errors import DeadlockError as DeadlockError
    from fakempi.errors import FindingsError as FindingsError
    from fakempi.errors import InternalError as InternalError
    from fakempi.errors import LivelockError as LivelockError
    from fakempi.errors import MPIFindingWarning as MPIFindingWarning
    from fakempi.errors import OutcomesDifferError as OutcomesDifferError
    from fakempi.errors import RankError as RankError
    from fakempi.errors import RunError as RunError
    from fakempi.errors import RunTimeoutError as RunTimeoutError
    from fakempi.errors import ScheduleError as ScheduleError
    from fakempi.errors import TraceError as TraceError
    from fakempi.errors.records import Finding as Finding
    from fakempi.modelcheck.search.exploration import Exploration as Exploration
    from fakempi.modelcheck.search.explore import explore as explore
    from fakempi.mpi.base.environment import compute as compute
    from fakempi.mpi.base.region import region as region
    from fakempi.mpi.buffers.phantom import phantom as phantom
    from fakempi.mpi.diagnostics.results import result as result
    from fakempi.mpi.failures.kill import die as die
    from fakempi.trace.record import Trace as Trace
    from fakempi.trace.record import load as load


if not TYPE_CHECKING:  # so that type checkers report names that do not exist

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name not in _MODULES:
            raise AttributeError(f"module 'fakempi' has no attribute {name!r}")
        import_module("fakempi.core.collectives_package").load_despite_shadowing()
        module = import_module(_MODULES[name])
        value = module if module.__name__.endswith(f".{name}") and not hasattr(module, name) else getattr(module, name)
        globals()[name] = value
        return value


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext fakempi` in a notebook: the cell magic `%%mpi`."""
    from fakempi.apps.notebook import load

    load(shell)


def __dir__() -> list[str]:
    # help(), inspect.getmembers and completion get the value of every name listed here, so that each must be importable.
    return sorted([*__all__, *(name for name, package in _OPTIONAL.items() if _is_installed(package))])


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # an import hook rejects it; a module of this name was made without a specification
        return False
