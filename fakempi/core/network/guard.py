"""Checks of user-defined cost models: of their parameters, and of every value that they return.

The cost of a transfer may be computed while any process runs, so an error in the model is not a failure of that process. A
cost must be a number and not negative, because time must not run backwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import inf
from traceback import walk_tb
from types import CodeType
from typing import Any, NoReturn

from fakempi.core.network.cost import CostModel, Link
from fakempi.core.network.parameters import MAX_SECONDS, Time, check
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.errors.paths import short_path

ENDS = ("its ports are free", "its send ends", "it arrives")

Reject = Callable[[str, BaseException | None], NoReturn]
"""Ends the run with a message, and with the exception that the model has raised, if any."""


def trusted(model: CostModel) -> bool:
    """Return whether a model, and the models that it contains, are fakempi's own."""
    return type(model).__module__.startswith("fakempi.") and model.in_order


def examine(model: CostModel) -> None:
    """Raise an error if a model is invalid, before the run starts."""
    model.validate()
    name = type(model).__name__
    if model.places is not None:
        check(name, minimum=1, places=model.places)
    if model.linear is not None:
        if not isinstance(model.linear, tuple) or len(model.linear) != 2:
            raise MPITypeError(ERR_ARG, f"{name}: linear={model.linear!r} must be two numbers, (t_s, t_w).")
        check(name, t_s=model.linear[0], t_w=model.linear[1])
    elif getattr(model.transfer, "__func__", None) is CostModel.transfer:
        raise MPIValueError(ERR_ARG, f"{name} does not define the cost of a transfer: override transfer().")


class Guard:
    """Calls a model and checks the values that it returns."""

    def __init__(self, model: CostModel, reject: Reject) -> None:
        self.model, self.reject = model, reject

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return the three times of a transfer, which must be finite and not negative."""
        try:
            times = self.model.transfer(source, dest, nbytes)
        except Exception as error:
            self.reject(failure_message(self.model, f"transfer({source}, {dest}, {nbytes})", error), error)
        try:
            hold, sent, arrived = times
            fine = 0 <= hold <= MAX_SECONDS and 0 <= sent <= MAX_SECONDS and 0 <= arrived <= MAX_SECONDS
        except (TypeError, ValueError):
            expected = f"three numbers: the seconds until {', '.join(ENDS)}"
            self._reject(source, dest, nbytes, f"{times!r}, which is not {expected}.")
        if not fine:
            pairs = zip((hold, sent, arrived), ENDS, strict=True)
            time, end = next(pair for pair in pairs if not 0 <= pair[0] <= MAX_SECONDS)
            seconds = f"more than {MAX_SECONDS:g}" if MAX_SECONDS < time < inf else time
            self._reject(source, dest, nbytes, f"{seconds} seconds until {end}.")
        return hold, sent, arrived

    def latency(self, source: int, dest: int, nbytes: int) -> Time:
        """Return the latency of a transfer, which must be finite and not negative."""
        try:
            latency = self.model.latency(source, dest, nbytes)
        except Exception as error:
            self.reject(failure_message(self.model, f"latency({source}, {dest}, {nbytes})", error), error)
        try:
            fine = 0 <= latency <= MAX_SECONDS
        except TypeError:
            fine = False
        if not fine:
            self._reject(source, dest, nbytes, f"{latency!r}, which is not a number of seconds.", "latency")
        return latency

    def _reject(self, source: int, dest: int, nbytes: int, problem: str, method: str = "transfer") -> NoReturn:
        code = _code(self.model, method)
        where = f" at {short_path(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""
        call = f"{method}({source}, {dest}, {nbytes})"
        self.reject(f"cost model {type(self.model).__name__}: {call}{where} returned {problem}", None)

    def node(self, process: int) -> Any:
        """Return the node of a process, which must be hashable."""
        try:
            node = self.model.node(process)
            hash(node)
        except Exception as error:
            self.reject(failure_message(self.model, f"node({process})", error), error)
        return node

    def route(self, source: int, dest: int) -> Sequence[Any] | None:
        """Return the names of links, which must be hashable."""
        try:
            names = self.model.route(source, dest)
            names = None if names is None else list(names)
            hash(tuple(names or ()))
        except Exception as error:
            self.reject(failure_message(self.model, f"route({source}, {dest})", error), error)
        return names

    def link(self, name: Any) -> Link:
        """Return a link, whose numbers must be valid."""
        try:
            link = self.model.link(name)
            check(f"link {name!r}", t_w=link.t_w, gap=link.gap, latency=link.latency)
            check(f"link {name!r}", minimum=1, width=link.width)
        except Exception as error:
            self.reject(failure_message(self.model, f"link({name!r})", error), error)
        return link


def failure_message(model: CostModel, call: str, error: BaseException) -> str:
    """Return the message for an exception that a model has raised, with the line."""
    code = _code(model, call.partition("(")[0])
    where = line_of(error, None if code is None else code.co_filename)
    text = str(error).rstrip(".")
    return f"cost model {type(model).__name__}: {call} raised {type(error).__name__} at {where}{text and ': '}{text}."


def _code(model: CostModel, method: str) -> CodeType | None:
    bound: Any = getattr(model, method)
    return getattr(getattr(bound, "__func__", bound), "__code__", None)


def line_of(error: BaseException, file: str | None = None) -> str:
    """Return the line that raised an error: the innermost one in that file, if there is one, else the innermost of all."""
    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    name, line = ([entry for entry in lines if entry[0] == file] or lines)[-1]
    return f"{os.path.basename(name)}:{line}"
