"""What `run` is handed, looked at before anything is built of it."""

from __future__ import annotations

import sys
from inspect import iscoroutinefunction, isgeneratorfunction
from math import inf
from numbers import Real
from typing import Any

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIError, MPITypeError, MPIValueError
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
