"""Checks of the arguments of `run`, and its errors when memory or threads are exhausted."""

from __future__ import annotations

import _thread
import sys
from inspect import GEN_CREATED, getgeneratorstate, iscoroutinefunction, isgeneratorfunction
from math import inf
from numbers import Real
from traceback import walk_tb
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from fakempi.core.kernel import threads
from fakempi.core.network.cost import MAX_PROCESSES, MAX_SECONDS, CostModel, format_count
from fakempi.core.network.guard import examine, failure_message
from fakempi.core.network.models.hockney import Hockney
from fakempi.errors import MPIError, MPITypeError, MPIValueError, RunError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.paths import short_path

if TYPE_CHECKING:
    from typing_extensions import TypeVarTuple

    Ts = TypeVarTuple("Ts")  # the arguments of `main` after its communicator

T = TypeVar("T")  # the result of `main`

BackendName: TypeAlias = Literal["auto", "greenlets", "threads"]
Fused: TypeAlias = Literal["auto", "never", "always"]
Progress: TypeAlias = bool | Literal["always"]
CheckBuffers: TypeAlias = bool | Literal["sends"] | None


def checked_cost(main: Any, nprocs: Any, cost: CostModel | str | None) -> CostModel:
    """Check the function, the number of ranks and the cost model; return the cost model."""
    if not callable(main):
        raise MPITypeError(ERR_ARG, f"run: main must be a function that takes a communicator, not {main!r}.")
    if iscoroutinefunction(main) or isgeneratorfunction(main):
        kind = f"{main.__name__} is a coroutine or generator function: a call of it runs nothing"
        raise MPITypeError(ERR_ARG, f"run: main must be a function, and {kind}.")
    if isinstance(nprocs, bool) or not hasattr(nprocs, "__index__"):
        raise MPITypeError(ERR_ARG, f"run: nprocs must be an integer, not {nprocs!r}.")
    if nprocs < 1:
        raise MPIValueError(ERR_ARG, f"run: nprocs is {nprocs}; there must be at least 1 rank.")
    if nprocs > MAX_PROCESSES:
        raise MPIValueError(ERR_ARG, f"run: nprocs is {format_count(nprocs)}; there can be at most {MAX_PROCESSES:,} ranks.")
    if cost is None:
        return Hockney()
    if isinstance(cost, str):
        from fakempi.core.options import cost_model  # imported here, since few runs need it

        cost = cost_model(cost)
    if not isinstance(cost, CostModel):
        raise MPITypeError(ERR_ARG, f"run: cost must be a cost model such as Hockney(...), not {cost!r}.")
    examine(cost)
    for name in ("node", "location"):
        try:
            place = getattr(cost, name)(nprocs - 1)  # a placement must have a node for each rank
            hash(tuple(place.items()) if name == "location" else place)
        except MPIError:
            raise
        except Exception as error:
            raise MPIValueError(ERR_ARG, failure_message(cost, f"{name}({nprocs - 1})", error)) from error
    return cost


def check_monitoring(progress: Any, timeout: Any) -> None:
    """Check `progress=` and `timeout=`."""
    if progress not in (False, True, "always"):
        raise MPIValueError(ERR_ARG, f"run: progress must be True, False or 'always', not {progress!r}.")
    if timeout is not None and timeout != inf and not checked_seconds("timeout", timeout, sys.float_info.max) > 0:
        raise MPIValueError(ERR_ARG, f"run: timeout must be a positive number of seconds, not {timeout!r}.")
    if timeout is not None:
        check_threads("timeout=")


def check_threads(what: str) -> None:
    """Raise if an option needs threads of the operating system and a library has replaced Python's threads.

    gevent and eventlet do that (`monkey.patch_all()`). Their threads share one thread of the operating system, in which a
    rank that waits for another one, or computes too long, stops all of them.
    """
    replaced = getattr(_thread.start_new_thread, "__module__", None) or "another library"
    if replaced.partition(".")[0] not in ("_thread", "fakempi"):
        library = replaced.partition(".")[0]
        problem = f"run: {what} needs threads of the operating system, and {library} has replaced Python's threads"
        advice = "call monkey.patch_all(thread=False), or use backend='greenlets' without timeout="
        raise MPIValueError(ERR_ARG, f"{problem}: {advice}.")


def checked_seconds(name: str, value: Any, maximum: float = MAX_SECONDS) -> Any:
    """Return a number of seconds from 0 to the maximum, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MPITypeError(ERR_ARG, f"run: {name} must be a number of seconds, not {value!r}.")
    if not 0 <= value <= maximum:  # type: ignore[operator]  # a Real has no order for mypy
        kind = "positive" if name == "timeout" else "finite"
        raise MPIValueError(ERR_ARG, f"run: {name} must be a {kind} number of seconds, not {value!r}.")
    return value


def checked_buffers(value: Any) -> Any:
    """Return a value of `check_buffers`, or raise."""
    if isinstance(value, str) and value != "sends":
        raise MPIValueError(ERR_ARG, f"run: check_buffers must be True, False, None or 'sends', not {value!r}.")
    return value


def checked_factor(name: str, value: Any) -> float:
    """Return a factor of at least 0, or raise."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MPITypeError(ERR_ARG, f"run: {name} must be a factor such as 1.0, not {value!r}.")
    if not 0 <= value <= MAX_SECONDS:  # type: ignore[operator]  # a Real has no order for mypy
        raise MPIValueError(ERR_ARG, f"run: {name} must be a factor of at least 0, not {value!r}.")
    return float(value)


def may_fuse(fused: Any) -> bool:
    """Return whether collective calls may be fused, or raise if the value is unknown."""
    if fused not in ("auto", "never", "always"):
        raise MPIValueError(ERR_ARG, f"run: fused must be 'auto', 'never' or 'always', not {fused!r}.")
    return bool(fused != "never")


PREFIXES = {GeneratorType: "gi", CoroutineType: "cr", AsyncGeneratorType: "ag"}
"""Types of generators and coroutines, and the prefix of their attributes: `gi_code`, `cr_code`, `ag_code`."""

COROUTINES = tuple(PREFIXES)
"""The types of objects that a coroutine or generator function returns when it is called."""


def not_started(name: str, result: Any) -> str:
    """Return the message for a coroutine or generator that a rank returned without starting it; empty if intended."""
    code = getattr(result, f"{PREFIXES[type(result)]}_code")
    if isinstance(result, GeneratorType) and (getgeneratorstate(result) != GEN_CREATED or code.co_name == "<genexpr>"):
        return ""
    if isinstance(result, CoroutineType):
        result.close()  # otherwise Python warns about it, too
    kind, place = type(result).__name__.replace("_", " "), f"{short_path(code.co_filename)}:{code.co_firstlineno}"
    return f"run: {name} returned the {kind} {code.co_name} ({place}), which has not been started: run it in main."


def resource_error(error: BaseException, nprocs: int) -> BaseException:
    """Return the error to raise when Python has no more memory or threads; any other error is returned unchanged."""
    if isinstance(error, MemoryError) and not error.args:
        return MemoryError(f"run: there is not enough memory for {nprocs:,} ranks and their data.")
    return RunError(no_more_threads(nprocs, 0)) if str(error) == "can't start new thread" else error


def could_not_start_thread(error: BaseException) -> bool:
    """Return whether the thread of a task could not be started, rather than one that the program starts."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    return type(error) is RuntimeError and threads._start_thread.__code__ in codes


def no_more_threads(nprocs: int, started: int) -> str:
    """Return the message for a system that starts no more threads."""
    so_far = f" after {started:,} of {nprocs:,} ranks" if started else ""
    return f"run: the system cannot start more threads{so_far}. Use backend='greenlets', which needs none, or fewer ranks."
