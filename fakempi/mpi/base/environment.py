"""The environment of a rank: its clock, its node, its version, beginning and end."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import SUBVERSION, THREAD_MULTIPLE, THREAD_SERIALIZED, VERSION
from fakempi.mpi.base.current import current_process, outside, running_process
from fakempi.mpi.base.duties import done, owes, tell_late
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.wire.cost import MOST


def compute(seconds: float) -> None:
    """Let the running rank compute for so many seconds of virtual time.

    Parameters
    ----------
    seconds
        How long, by the rank's own clock; nobody waits for it in real time.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: fakempi.compute(2 * comm.rank), 3).clocks
    [0, 2, 4]
    """
    try:
        sensible = 0 <= seconds <= MOST
    except TypeError:
        raise complaint(ERR_ARG, f"cannot compute for {seconds!r} seconds.", MPITypeError) from None
    if not sensible:
        raise complaint(ERR_ARG, f"cannot compute for {seconds!r} seconds.", MPIValueError)
    process = running_process()
    if process.meter is None:
        spend(process, seconds)
    else:
        with process.meter:
            spend(process, seconds)


def spend(process: Any, seconds: Any) -> None:
    """The running process computes for so long."""
    loop = process.loop
    if seconds:
        if process.universe.recorder is not None:
            process.universe.recorder.computed(process.number, loop.now, loop.now + seconds)
        loop.sleep_until(loop.now + seconds)


GLANCES = 1_000_000
"""Looks at a clock that stands still before they count as waiting for it to move."""


def Wtime() -> float:
    """The running rank's virtual clock, in seconds since the start of the run.

    It moves when the rank communicates or computes (`fakempi.compute`, or anything with `run(computing=...)`), not while it
    looks. Whoever looks a million times at the same moment waits for time to pass, and is treated like one who polls.
    Outside a run, where nothing is modelled, it is real time, and what was spent in `fakempi.compute`.
    """
    process = running_process()
    loop = process.loop
    process.universe.glances += 1
    if process.universe.alone:
        return perf_counter() + float(loop.now)
    if process.meter is not None:
        with process.meter:
            return float(loop.now)
    if process.glanced_at != loop.now:
        process.glanced_at, process.glances = loop.now, 0
    process.glances += 1
    if process.glances > GLANCES:
        loop.running.reason = None
        loop.poll()
        process.glanced_at = loop.now  # it waits for more of it
    return float(loop.now)


def Wtick() -> float:
    """The resolution of the clock: virtual time has the resolution of a float."""
    return 1e-9


def Get_processor_name() -> str:
    """The node that the running rank is placed on; outside a run, the machine's name."""
    process = running_process()
    return str(process.universe.cost.node_name(process.number))


def Get_version() -> tuple[int, int]:
    """The version of the MPI standard whose calls are here."""
    return VERSION, SUBVERSION


def Get_library_version() -> str:
    """What this is."""
    return "fakempi: an MPI emulator in one Python process"


def Get_abi_version() -> tuple[int, int]:
    """That of the binary interface: there is none."""
    return -1, -1


def Get_abi_info() -> Info:
    """How many bytes the integers have that MPI has types of its own for."""
    return Info.Create({f"mpi_{name}_size": "8" for name in ("aint", "count", "offset")})


def Get_abi_fortran_info() -> Info:
    """INFO_NULL: no Fortran program calls this MPI."""
    return Info(INFO_NULL)


def Get_hw_resource_info() -> Info:
    """Kinds of hardware that a rank may be restricted to: none are known, so there is nothing in it."""
    return Info.Create()


def get_vendor() -> tuple[str, tuple[int, int, int]]:
    """A neutral name, so that programs take no vendor's special path."""
    return "fakempi", (0, 1, 0)


def Init() -> None:
    """A rank is initialized when it starts, unless it said otherwise (`mpi4py.rc.initialize`)."""
    process = running_process()
    _check_once(process)
    if not process.initialized:
        process.initialized = True
        _owe_finalize(process)


def Init_thread(required: int = THREAD_MULTIPLE) -> int:
    """As `Init`, with a level of thread support, of which as much is given as there is."""
    process = running_process()
    _check_once(process)
    if not process.initialized:
        process.initialized, process.thread_level = True, required
        _owe_finalize(process)
    return Query_thread()


def _check_once(process: Any) -> None:
    """Who has finalized does not do so again, nor begin anew."""
    if process.finalized and not process.universe.alone:
        tell_late(process)


def _owe_finalize(process: Any) -> None:
    """Who initializes by hand finalizes by hand, unless it has asked mpi4py to do that."""
    if not (process.options or {}).get("finalize"):
        owes("missing-finalize", process)


def Finalize() -> None:
    """The rank says that it will make no more MPI calls."""
    process = running_process()
    _check_once(process)
    process.finalized = True
    done("missing-finalize", process)
    if not process.universe.alone:
        for task in (process.task, *(process.threads or ())):
            task.acts_for = None  # so that its calls are told, without a look at each call of others


def Is_initialized() -> bool:
    """Whether MPI may be called, which is so from the start, unless a rank said otherwise (`mpi4py.rc.initialize`)."""
    process = current_process() or outside.process
    return process is None or bool(process.initialized)


def Is_finalized() -> bool:
    """Whether the running rank has called Finalize."""
    return bool(running_process().finalized)


def Query_thread() -> int:
    """All threads of a rank may call MPI, unless it has asked for less. Outside a run any thread may, one at a time."""
    process = current_process() or outside.process
    asked = None if process is None else process.thread_level
    most = THREAD_SERIALIZED if current_process() is None else THREAD_MULTIPLE
    return most if asked is None else min(most, asked)


def Is_thread_main() -> bool:
    """Whether this is the thread that runs a rank, and not one that the rank has started."""
    process = current_process()
    if process is None:
        return threading.current_thread() is threading.main_thread()
    return not process.started(process.loop.running)


def Pcontrol(level: int) -> None:
    """Nothing: there is no profiler to control."""


