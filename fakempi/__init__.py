"""fakempi runs MPI programs without MPI: thousands of virtual ranks in one process, in modelled time.

kernel/       time and tasks                    wire/    envelopes, mailboxes, ports, cost models
mpi/          what a rank's program touches     checks/  what is wrong with a program
trace/        what happened, view/ pictures     world    builds all of it, starts the ranks: `run`
MPI           the mpi4py-shaped namespace       errors   every exception of ours
watch/        how far a run is, and time-outs   own_models  cost models from files
choices/      what MPI leaves open, steered     exploring/  all schedules: `explore`

    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Get_rank() ** 2, 4).returns
    [0, 1, 4, 9]

PYTEST_DONT_REWRITE: pytest warns of a plugin's package that is there before it, as this one is in `fakempi run -m pytest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Where each public name lives. They are imported when first used, so that `import fakempi` costs next to nothing.
_HOMES = {
    "MPI": "fakempi.MPI",
    "Run": "fakempi.world",
    "run": "fakempi.world",
    "explore": "fakempi.exploring.explore",
    "ScheduleError": "fakempi.errors",
    "OutcomesDiffer": "fakempi.errors",
    "load": "fakempi.traces",
    "compute": "fakempi.mpi.base.environment",
    "die": "fakempi.mpi.failures.death",
    "phantom": "fakempi.mpi.buffers.phantom",
    "region": "fakempi.mpi.base.region",
    "CostModel": "fakempi.wire.cost",
    "Dragonfly": "fakempi.wire.models.dragonfly",
    "FatTree": "fakempi.wire.models.fat_tree",
    "FileServer": "fakempi.wire.files",
    "Free": "fakempi.wire.models.free",
    "Hockney": "fakempi.wire.models.hockney",
    "Link": "fakempi.wire.cost",
    "LogGP": "fakempi.wire.models.loggp",
    "Torus": "fakempi.wire.models.torus",
    "TwoGroups": "fakempi.wire.models.two_groups",
    "TwoLevel": "fakempi.wire.models.two_level",
    "presets": "fakempi.wire.models.presets",
    "DeadlockError": "fakempi.errors",
    "Finding": "fakempi.checks.findings",
    "FindingsError": "fakempi.errors",
    "InternalError": "fakempi.errors",
    "LivelockError": "fakempi.errors",
    "MPIFindingWarning": "fakempi.errors",
    "RankError": "fakempi.errors",
    "RunError": "fakempi.errors",
    "RunTimeout": "fakempi.errors",
    "TraceError": "fakempi.errors",
}
__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from fakempi import MPI as MPI
    from fakempi.checks.findings import Finding as Finding
    from fakempi.errors import DeadlockError as DeadlockError
    from fakempi.errors import FindingsError as FindingsError
    from fakempi.errors import InternalError as InternalError
    from fakempi.errors import LivelockError as LivelockError
    from fakempi.errors import MPIFindingWarning as MPIFindingWarning
    from fakempi.errors import OutcomesDiffer as OutcomesDiffer
    from fakempi.errors import RankError as RankError
    from fakempi.errors import RunError as RunError
    from fakempi.errors import RunTimeout as RunTimeout
    from fakempi.errors import ScheduleError as ScheduleError
    from fakempi.errors import TraceError as TraceError
    from fakempi.exploring.explore import explore as explore
    from fakempi.mpi.base.environment import compute as compute
    from fakempi.mpi.base.region import region as region
    from fakempi.mpi.buffers.phantom import phantom as phantom
    from fakempi.mpi.failures.death import die as die
    from fakempi.traces import load as load
    from fakempi.wire.cost import CostModel as CostModel
    from fakempi.wire.cost import Link as Link
    from fakempi.wire.files import FileServer as FileServer
    from fakempi.wire.models import presets as presets
    from fakempi.wire.models.dragonfly import Dragonfly as Dragonfly
    from fakempi.wire.models.fat_tree import FatTree as FatTree
    from fakempi.wire.models.free import Free as Free
    from fakempi.wire.models.hockney import Hockney as Hockney
    from fakempi.wire.models.loggp import LogGP as LogGP
    from fakempi.wire.models.torus import Torus as Torus
    from fakempi.wire.models.two_groups import TwoGroups as TwoGroups
    from fakempi.wire.models.two_level import TwoLevel as TwoLevel
    from fakempi.world import Run as Run
    from fakempi.world import run as run


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'fakempi' has no attribute {name!r}")
    import_module("fakempi.own_collectives").keep_apart()
    home = import_module(_HOMES[name])
    value = home if home.__name__ in (f"fakempi.{name}", f"fakempi.wire.models.{name}") else getattr(home, name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext fakempi` in a notebook: the cell magic `%%mpi`."""
    from fakempi.notebook import load

    load(shell)


def __dir__() -> list[str]:
    return __all__
