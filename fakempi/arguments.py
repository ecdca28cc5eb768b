"""What `run` is handed, looked at before anything is built of it; and what it says when the machine has no more to give."""

from __future__ import annotations

import os
import sys
from inspect import GEN_CREATED, getgeneratorstate, iscoroutinefunction, isgeneratorfunction
from math import inf
from numbers import Real
from traceback import walk_tb
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIError, MPITypeError, MPIValueError, RunError
from fakempi.kernel import threads
from fakempi.wire.cost import MOST, MOST_PROCESSES, CostModel, many
from fakempi.wire.guard import examine, failed
from fakempi.wire.models.hockney import Hockney


def checked(main: Any, nprocs: Any, cost: CostModel | str | None) -> CostModel:
    """Complain about arguments that do not fit; the cost model that is meant."""
    if not callable(main):
        raise MPITypeError(ERR_ARG, f"run: main must be a function that takes a communicator, not {main!r}.")
    if iscoroutinefunction(main) or isgeneratorfunction(main):
        raise MPITypeError(ERR_ARG, f"run: calling {main.__name__} only makes a coroutine or generator, and runs nothing.")
    if isinstance(nprocs, bool) or not hasattr(nprocs, "__index__"):
        raise MPITypeError(ERR_ARG, f"run: nprocs must be a whole number, not {nprocs!r}.")
    if nprocs < 1:
        raise MPIValueError(ERR_ARG, f"run: nprocs is {nprocs}; there must be at least 1 rank.")
    if nprocs > MOST_PROCESSES:
        raise MPIValueError(ERR_ARG, f"run: nprocs is {many(nprocs)}; there can be at most {MOST_PROCESSES:,} ranks.")
    if cost is None:
        return Hockney()
    if isinstance(cost, str):
        from fakempi.options import cost_model  # not before it is needed

        cost = cost_model(cost)
    if not isinstance(cost, CostModel):
        raise MPITypeError(ERR_ARG, f"run: cost must be a cost model such as Hockney(...), not {cost!r}.")
    examine(cost)
    try:
        cost.node(nprocs - 1)  # a placement must name everybody's node
    except MPIError:
        raise
    except Exception as error:
        raise MPIValueError(ERR_ARG, failed(cost, f"node({nprocs - 1})", error)) from error
    return cost


def check_watch(progress: Any, timeout: Any) -> None:
    """Complain about what cannot be shown or waited for."""
    if progress not in (False, True, "always"):
        raise MPIValueError(ERR_ARG, f"run: progress must be True, False or 'always', not {progress!r}.")
    if timeout is not None and timeout != inf and not seconds("timeout", timeout, sys.float_info.max) > 0:
        raise MPIValueError(ERR_ARG, f"run: timeout must be a positive number of seconds, not {timeout!r}.")


def seconds(name: str, value: Any, most: float = MOST) -> Any:
    """A number of seconds that makes sense."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MPITypeError(ERR_ARG, f"run: {name} must be a number of seconds, not {value!r}.")
    if not 0 <= value <= most:  # type: ignore[operator]  # a Real has no order for mypy
        kind = "positive" if name == "timeout" else "finite"
        raise MPIValueError(ERR_ARG, f"run: {name} must be a {kind} number of seconds, not {value!r}.")
    return value


def factor(name: str, value: Any) -> float:
    """A factor of 0 or more."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MPITypeError(ERR_ARG, f"run: {name} must be a factor such as 1.0, not {value!r}.")
    if not 0 <= value <= MOST:  # type: ignore[operator]  # a Real has no order for mypy
        raise MPIValueError(ERR_ARG, f"run: {name} must be a factor of at least 0, not {value!r}.")
    return float(value)


def on_paper(paper: Any) -> bool:
    """Whether collective calls may be carried out in one piece."""
    if paper not in ("auto", "never", "always"):
        raise MPIValueError(ERR_ARG, f"run: paper must be 'auto', 'never' or 'always', not {paper!r}.")
    return bool(paper != "never")


PREFIXES = {GeneratorType: "gi", CoroutineType: "cr", AsyncGeneratorType: "ag"}
"""Of the names of their attributes."""

NOT_BEGUN = tuple(PREFIXES)
"""What calling a function may give in place of running it."""


def has_not_begun(name: str, result: Any) -> str:
    """What to say of one of these that a rank's program has returned, if nothing of it has run; empty if it may be meant."""
    code = getattr(result, f"{PREFIXES[type(result)]}_code")
    if isinstance(result, GeneratorType) and (getgeneratorstate(result) != GEN_CREATED or code.co_name == "<genexpr>"):
        return ""
    if isinstance(result, CoroutineType):
        result.close()  # or Python warns of it, too
    kind, place = type(result).__name__.replace("_", " "), f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    return f"run: {name} returned the {kind} {code.co_name} ({place}), of which nothing has run: let main run it to its end."


def out_of(error: BaseException, nprocs: int) -> BaseException:
    """What to raise in place of an error by which Python says that there is no more memory, or no thread; else the same."""
    if isinstance(error, MemoryError) and not error.args:
        return MemoryError(f"run: there is not enough memory for {nprocs:,} ranks and what they hold.")
    return RunError(no_thread(nprocs, 0)) if str(error) == "can't start new thread" else error


def without_thread(error: BaseException) -> bool:
    """Whether it was to be the thread of a task that could not be started, not one of the program's own."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    return type(error) is RuntimeError and threads._start_thread.__code__ in codes


def no_thread(nprocs: int, begun: int) -> str:
    """What to say then."""
    so_far = f"; {begun:,} of {nprocs:,} ranks have begun" if begun else ""
    return f"run: the system gives no more threads{so_far}. On carrier='greenlets' ranks need none; or take fewer of them."
