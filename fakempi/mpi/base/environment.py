"""The environment of a rank: clock, node, version, Init and Finalize."""

from __future__ import annotations

import threading
from time import perf_counter

from fakempi.core.kernel.agenda import Time
from fakempi.core.network.parameters import MAX_SECONDS
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.constants import SUBVERSION, THREAD_MULTIPLE, THREAD_SERIALIZED, VERSION
from fakempi.mpi.base.current import current_process, outside, running_process
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.resource_tracker import report_after_finalize, track, untrack


def compute(seconds: float) -> None:
    """Advance the clock of the running rank, as if it computed for that time.

    Parameters
    ----------
    seconds
        Modeled time. The call takes no real time.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: fakempi.compute(2 * comm.rank), 3).clocks
    [0, 2, 4]
    """
    try:
        sensible = 0 <= seconds <= MAX_SECONDS
    except TypeError:
        raise mpi_error(ERR_ARG, f"cannot compute for {seconds!r} seconds.", MPITypeError) from None
    if not sensible:
        raise mpi_error(ERR_ARG, f"cannot compute for {seconds!r} seconds.", MPIValueError)
    process = running_process()
    if process.meter is None:
        advance_clock(process, seconds)
    else:
        with process.meter:
            advance_clock(process, seconds)


def advance_clock(process: Process, seconds: Time) -> None:
    """Advance the clock of the running process by computing time."""
    loop = process.loop
    if seconds:
        if process.universe.recorder is not None:
            process.universe.recorder.computed(process.number, loop.now, loop.now + seconds)
        loop.sleep_until(loop.now + seconds)


MAX_CLOCK_READS = 1_000_000
"""Calls of Wtime at the same modeled time after which a rank counts as waiting for time to pass."""


def Wtime() -> float:
    """Return the clock of the running rank, in modeled seconds since the start of the run.

    The clock advances when the rank communicates or computes (`fakempi.compute`, or any code with `run(cpu_scale=...)`). A
    rank that reads the same time a million times is treated as a rank that polls. Outside a run the result is real time plus
    the time of `fakempi.compute`.
    """
    process = running_process()
    loop = process.loop
    process.universe.clock_reads += 1
    if process.universe.is_singleton:
        return perf_counter() + float(loop.now)
    if process.meter is not None:
        with process.meter:
            return float(loop.now)
    if process.clock_read_at != loop.now:
        process.clock_read_at, process.clock_reads = loop.now, 0
    process.clock_reads += 1
    if process.clock_reads > MAX_CLOCK_READS:
        process.task.reason = None
        loop.poll()
        process.clock_read_at = loop.now  # reads at the new time are counted from here
    return float(loop.now)


def Wtick() -> float:
    """Return a resolution of the clock in seconds; modeled time has the resolution of a float."""
    return 1e-9


def Get_processor_name() -> str:
    """Return the node of the running rank; outside a run, the name of the machine."""
    process = running_process()
    return str(process.universe.cost.node_name(process.number))


def Get_version() -> tuple[int, int]:
    """Return the version of the MPI standard that fakempi follows."""
    return VERSION, SUBVERSION


def Get_library_version() -> str:
    """Return a description of fakempi."""
    return "fakempi: an MPI emulator in one Python process"


def Get_abi_version() -> tuple[int, int]:
    """Return (-1, -1): there is no binary interface."""
    return -1, -1


def Get_abi_info() -> Info:
    """Return the sizes in bytes of MPI's integer types."""
    return Info.Create({f"mpi_{name}_size": "8" for name in ("aint", "count", "offset")})


def Get_abi_fortran_info() -> Info:
    """Return INFO_NULL: Fortran programs cannot call fakempi."""
    return Info(INFO_NULL)


def Get_hw_resource_info() -> Info:
    """Return an empty Info: ranks cannot be restricted to kinds of hardware."""
    return Info.Create()


def get_vendor() -> tuple[str, tuple[int, int, int]]:
    """Return a neutral name, so that programs take no path for a particular MPI library."""
    return "fakempi", (0, 1, 0)


def Init() -> None:
    """Initialize MPI. A rank is initialized when it starts, unless `mpi4py.rc.initialize` is false."""
    process = running_process()
    _check_not_finalized(process)
    if not process.initialized:
        process.initialized = True
        _track_finalize(process)


def Init_thread(required: int = THREAD_MULTIPLE) -> int:
    """Initialize MPI, and return the level of thread support, at most the required one."""
    process, required = running_process(), integer("required", required)
    _check_not_finalized(process)
    if not process.initialized:
        process.initialized, process.thread_level = True, required
        _track_finalize(process)
    return Query_thread()


def _check_not_finalized(process: Process) -> None:
    """Report Init or Finalize after Finalize."""
    if process.finalized and not process.universe.is_singleton:
        report_after_finalize(process)


def _track_finalize(process: Process) -> None:
    """Record that a rank that has called Init must call Finalize, unless `mpi4py.rc.finalize` is true."""
    if not (process.options or {}).get("finalize"):
        track("missing-finalize", process)


def Finalize() -> None:
    """Finalize MPI: the rank makes no more MPI calls."""
    process = running_process()
    _check_not_finalized(process)
    process.finalized = True
    untrack("missing-finalize", process)
    if not process.universe.is_singleton:
        for task in (process.task, *(process.threads or ())):
            task.acts_for = None  # later calls of this rank are reported; calls of other ranks become no slower


def Is_initialized() -> bool:
    """Whether MPI is initialized: from the start, unless `mpi4py.rc.initialize` is false."""
    process = current_process() or outside.process
    return process is None or bool(process.initialized)


def Is_finalized() -> bool:
    """Whether the running rank has called Finalize."""
    return bool(running_process().finalized)


def Query_thread() -> int:
    """Return the level of thread support: THREAD_MULTIPLE, outside a run THREAD_SERIALIZED; less if less was required."""
    process = current_process() or outside.process
    required = None if process is None else process.thread_level
    highest = THREAD_SERIALIZED if current_process() is None else THREAD_MULTIPLE
    return highest if required is None else min(highest, required)


def Is_thread_main() -> bool:
    """Whether this is the main thread of a rank, not one that the rank has started."""
    process = current_process()
    if process is None:
        return threading.current_thread() is threading.main_thread()
    return not process.started(process.loop.running)


def Pcontrol(level: int) -> None:
    """Do nothing: there is no profiler to control."""
    integer("level", level)
