"""The options of a run (`RunOptions`), and checks of them, of the program and of the number of ranks."""

from __future__ import annotations

import _thread
import sys
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from inspect import iscoroutinefunction, isgeneratorfunction
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

from fakempi.core.network.cost import MAX_PROCESSES, CostModel, format_count
from fakempi.core.network.guard import examine, failure_message
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.parameters import MAX_SECONDS
from fakempi.core.reports.suppressions import Suppressions
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG

if TYPE_CHECKING:
    from typing_extensions import TypeVarTuple

    from fakempi.tuning.requests import AlgorithmRequest
    from fakempi.tuning.table import Table

    Ts = TypeVarTuple("Ts")  # the arguments of `main` after its communicator

T = TypeVar("T")  # the result of `main`

BackendName: TypeAlias = Literal["auto", "greenlets", "threads"]
Fused: TypeAlias = Literal["auto", "never", "always"]
Progress: TypeAlias = bool | Literal["always"]
CheckBuffers: TypeAlias = bool | Literal["sends"] | None
Algorithms: TypeAlias = "str | Mapping[str, AlgorithmRequest | Table] | Table | None"

DETECTION_DELAY = 1e-3
"""Modeled seconds from the death of a process until the others are informed, unless `run` specifies another number."""

DEFAULT_COST = Hockney()
"""The cost model of runs that specify none, which nothing changes: making one takes a tenth of the time of an empty run."""

VALUES: dict[str, tuple[object, ...]] = {
    "progress": (True, False, "always"),
    "fused": ("auto", "never", "always"),
    "check_buffers": (True, False, None, "sends"),
}
"""The values of options that have few."""


@dataclass(frozen=True)
class RunOptions:
    """The options of `run`, whose docstring describes them. An invalid value raises an error.

    `run(main, 4, **options)` passes them to a run. There, `Universe.options` has them: the part of fakempi that implements
    an option reads it there.
    """

    cost: CostModel | str | None = None
    backend: BackendName = "auto"
    trace: bool = False
    seed: int | None = None
    algorithms: Algorithms = None
    strict: bool = False
    progress: Progress = False
    timeout: float | None = None
    cpu_scale: float = 0.0
    kill: Mapping[int, float] | None = None
    detection_delay: float = DETECTION_DELAY
    check_buffers: CheckBuffers = None
    poll_cost: float = 1e-6
    schedule: Any = None  # a token, or the `Choices` of modelcheck, a higher package
    fused: Fused = "auto"
    ignore: str | Sequence[str] | Suppressions | None = None

    def __post_init__(self) -> None:
        """Check the values that can be checked without the program and the number of ranks."""
        for name, known in VALUES.items():
            if (value := getattr(self, name)) not in known:
                *first, last = map(repr, known)
                raise MPIValueError(ERR_ARG, f"run: {name} must be {', '.join(first)} or {last}, not {value!r}.")
        if self.timeout is not None:
            if self.timeout != inf:
                check_seconds("timeout", self.timeout, "positive", sys.float_info.max)
            check_threads("timeout=")
        check_seconds("poll_cost", self.poll_cost, "finite", MAX_SECONDS)
        check_factor("cpu_scale", self.cpu_scale)

    @classmethod
    def from_command_line(cls, values: Mapping[str, Any], **others: Any) -> RunOptions:
        """Return the options of a command line, and `others`. Cost models and algorithms are texts."""
        from fakempi.core.options import algorithms, cost_model  # few runs need it

        given = given_options(cls, {**values, **others})
        for name, parse in (("cost", cost_model), ("algorithms", algorithms)):
            if name in given:
                given[name] = parse(given[name])
        return cls(**given)

    def steered(self, choices: Any, trace: bool = False, cost: CostModel | None = None) -> RunOptions:
        """Return the options of a run with these choices, and with a cost model if there is none.

        `replace` would check all options again, in every run of a search.
        """
        changed = copy(self)
        vars(changed).update(schedule=choices, trace=trace or self.trace, cost=self.cost or cost)
        return changed

    def keys(self) -> Iterable[str]:
        """Return the names of the options."""
        return self.__dataclass_fields__

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    @cached_property
    def suppressions(self) -> Suppressions:
        """The suppressions of findings: one object, which records the ones that are used."""
        return Suppressions.of(self.ignore)

    @property
    def checked_buffers(self) -> CheckBuffers:
        """Which buffers are checked: by default all of a strict run."""
        return self.strict if self.check_buffers is None else self.check_buffers


def given_options(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are options of a kind, a dataclass. One that is None or an empty text was not given."""
    return {name: values[name] for name in kind.__dataclass_fields__ if values.get(name) not in (None, "")}


class PassedOptions(TypedDict, total=False):
    """The options of `run` that `explore` passes on to it, for type checkers."""

    cost: CostModel | str | None
    backend: BackendName
    trace: bool
    algorithms: Algorithms
    progress: Progress
    timeout: float | None
    cpu_scale: float
    kill: Mapping[int, float] | None
    detection_delay: float
    check_buffers: CheckBuffers
    poll_cost: float
    fused: Fused


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
        return DEFAULT_COST
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


def check_seconds(name: str, value: Any, kind: str, maximum: float) -> None:
    """Raise unless a value is a number of seconds up to the maximum, and at least 0; of the kind "positive", above 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MPITypeError(ERR_ARG, f"run: {name} must be a number of seconds, not {value!r}.")
    if not 0 <= value <= maximum or (kind == "positive" and value == 0):  # type: ignore[operator]  # a Real has no order for mypy
        raise MPIValueError(ERR_ARG, f"run: {name} must be a {kind} number of seconds, not {value!r}.")


def check_factor(name: str, value: Any) -> None:
    """Raise unless a value is a factor of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise MPITypeError(ERR_ARG, f"run: {name} must be a factor such as 1.0, not {value!r}.")
    if not 0 <= value <= MAX_SECONDS:  # type: ignore[operator]  # a Real has no order for mypy
        raise MPIValueError(ERR_ARG, f"run: {name} must be a factor of at least 0, not {value!r}.")
