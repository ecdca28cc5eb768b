"""Cost models of other people: what they say is looked at before it is believed, and where they fail is said.

A transfer may be priced in the middle of anything, also while another process has the baton, so what a model raises is
nobody's failure but the model's. A price that is negative or no number would let time run backwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import inf
from traceback import walk_tb
from types import CodeType
from typing import Any, NoReturn

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError
from fakempi.wire.cost import MOST, CostModel, Link, Time, check

ENDS = ("its ports are free", "its sender is done", "all has arrived")

Refuse = Callable[[str, BaseException | None], NoReturn]
"""Ends everything with a sentence, and with what a model has raised."""


def trusted(model: CostModel) -> bool:
    """Whether it is one of ours and made of nothing but ours."""
    return type(model).__module__.startswith("fakempi.") and model.in_order


def examine(model: CostModel) -> None:
    """Refuse one that can be seen to make no sense before it is asked anything."""
    model.validate()
    name = type(model).__name__
    if model.places is not None:
        check(name, minimum=1, places=model.places)
    if model.linear is not None:
        if not isinstance(model.linear, tuple) or len(model.linear) != 2:
            raise MPITypeError(ERR_ARG, f"{name}: linear={model.linear!r} should be two numbers, (t_s, t_w).")
        check(name, t_s=model.linear[0], t_w=model.linear[1])
    elif getattr(model.transfer, "__func__", None) is CostModel.transfer:
        raise MPIValueError(ERR_ARG, f"{name} must say what a transfer costs: override transfer().")


class Guard:
    """Asks a model, and passes on what makes sense."""

    def __init__(self, model: CostModel, refuse: Refuse) -> None:
        self.model, self.refuse = model, refuse

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Three times that are finite and not negative."""
        try:
            given = self.model.transfer(source, dest, nbytes)
        except Exception as error:
            self.refuse(failed(self.model, f"transfer({source}, {dest}, {nbytes})", error), error)
        try:
            hold, sent, arrived = given
            fine = 0 <= hold <= MOST and 0 <= sent <= MOST and 0 <= arrived <= MOST
        except (TypeError, ValueError):
            self._refuse(source, dest, nbytes, f"{given!r}, and not three numbers: the seconds until {', '.join(ENDS)}.")
        if not fine:
            time, end = next(each for each in zip((hold, sent, arrived), ENDS, strict=True) if not 0 <= each[0] <= MOST)
            seconds = f"more than {MOST:g}" if MOST < time < inf else time
            self._refuse(source, dest, nbytes, f"{seconds} seconds until {end}.")
        return hold, sent, arrived

    def _refuse(self, source: int, dest: int, nbytes: int, what: str) -> NoReturn:
        code = _code(self.model, "transfer")
        where = f" at {os.path.basename(code.co_filename)}:{code.co_firstlineno}" if code is not None else ""
        call = f"transfer({source}, {dest}, {nbytes})"
        self.refuse(f"cost model {type(self.model).__name__}: {call}{where} gave {what}", None)

    def node(self, process: int) -> Any:
        """Something that can be looked up."""
        try:
            node = self.model.node(process)
            hash(node)
        except Exception as error:
            self.refuse(failed(self.model, f"node({process})", error), error)
        return node

    def route(self, source: int, dest: int) -> Sequence[Any] | None:
        """Names that can be looked up."""
        try:
            names = self.model.route(source, dest)
            names = None if names is None else list(names)
            hash(tuple(names or ()))
        except Exception as error:
            self.refuse(failed(self.model, f"route({source}, {dest})", error), error)
        return names

    def link(self, name: Any) -> Link:
        """A link whose numbers make sense."""
        try:
            link = self.model.link(name)
            check(f"link {name!r}", t_w=link.t_w, gap=link.gap)
            check(f"link {name!r}", minimum=1, width=link.width)
        except Exception as error:
            self.refuse(failed(self.model, f"link({name!r})", error), error)
        return link


def failed(model: CostModel, call: str, error: BaseException) -> str:
    """What a model has raised, and in which line."""
    code = _code(model, call.partition("(")[0])
    where = place_of(error, None if code is None else code.co_filename)
    words = str(error).rstrip(".")
    return f"cost model {type(model).__name__}: {call} raised {type(error).__name__} at {where}{words and ': '}{words}."


def _code(model: CostModel, method: str) -> CodeType | None:
    bound: Any = getattr(model, method)
    return getattr(getattr(bound, "__func__", bound), "__code__", None)


def place_of(error: BaseException, file: str | None = None) -> str:
    """The line that raised an error: the last one in that file, if it is named and was come by, else the last of all."""
    lines = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    name, line = ([each for each in lines if each[0] == file] or lines)[-1]
    return f"{os.path.basename(name)}:{line}"
