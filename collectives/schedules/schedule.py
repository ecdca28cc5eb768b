"""Schedules as data: the steps of every rank, with buffer ranges and dependencies.

A schedule describes an implementation of a collective without its code: each rank has a list of steps, and each step names
the steps of the same rank that must end, or start, before it starts. Steps that are not ordered may run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.monitor import Monitor, ignore
from collectives.schedules.step import UNKNOWN, Range, Step
from collectives.tools.plurals import counted

if TYPE_CHECKING:
    from collectives.catalogue.algorithm import Algorithm
    from collectives.schedules.faults import Fault


@dataclass(frozen=True)
class Schedule:
    """The steps of all ranks.

    Attributes
    ----------
    ranks : the number of ranks
    steps : for each rank its steps
    buffers : for each rank the sizes of its buffers in bytes, by name; "input" and "output" are the arguments of the call
    aliases : for each rank, the buffers that are parts of other buffers: `{"input": ("output", 8)}` if the input starts at
        byte 8 of the output
    name, operation, root : name, operation and root of the collective, as far as known
    groups : sizes p and q of groups A and B, for a collective between two groups. A is ranks 0 to p-1 and includes the root
    counts : bytes of each rank's block, if blocks differ in size; for alltoallv one row per rank: the bytes that it sends to
        each rank (with `groups`: to each rank of the other group)
    commutative : whether reductions may combine operands in any order
    buffering : "infinite" if a send may end before its receive starts, "zero" if it waits for the receive to start
    labels : names of steps in the file, by rank and index
    """

    ranks: int
    steps: Sequence[Sequence[Step]]
    buffers: Sequence[Mapping[str, int]]
    aliases: Sequence[Mapping[str, tuple[str, int]]] = ()
    name: str = ""
    operation: str = ""
    root: int = 0
    counts: Sequence[int] | Sequence[Sequence[int]] | None = None
    commutative: bool = True
    buffering: Literal["zero", "infinite"] = "zero"
    groups: tuple[int, int] | None = None
    labels: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.steps) == len(self.buffers) == self.ranks:
            raise InvalidScheduleError(
                f"{self.ranks} ranks, but steps of {len(self.steps)} and buffers of {len(self.buffers)} ranks"
            )
        if self.aliases and len(self.aliases) != self.ranks:
            raise InvalidScheduleError(f"{self.ranks} ranks, but aliases of {len(self.aliases)} ranks")
        for rank in range(self.ranks):
            sizes = self.buffers[rank]
            for name, (whole, offset) in self.aliases_of(rank).items():
                if not {name, whole} <= {*sizes} or whole in self.aliases_of(rank) or offset + sizes[name] > sizes[whole]:
                    raise InvalidScheduleError(f"rank {rank}: buffer {name!r} is not part of {whole!r} at offset {offset}")
        if not 0 <= self.root < self.ranks:
            raise InvalidScheduleError(f"root {self.root} is not one of the {self.ranks} ranks")
        if self.groups is not None and (min(self.groups) < 1 or sum(self.groups) != self.ranks):
            raise InvalidScheduleError(
                f"groups of {self.groups[0]} and {self.groups[1]} ranks, but there are {self.ranks} ranks"
            )
        if self.groups is not None and self.root >= self.groups[0]:
            size = counted(self.groups[0], "rank")
            raise InvalidScheduleError(f"root {self.root} is not in the first group, which has {size}")
        for rank, index, step in self:
            for problem in self._problems(rank, step):
                raise InvalidScheduleError(f"{self.place(rank, index)}: {step}: {problem}")
        for rank in range(self.ranks):
            self.order(rank)

    def __iter__(self) -> Iterator[tuple[int, int, Step]]:
        """All steps as (rank, index, step)."""
        for rank, steps in enumerate(self.steps):
            for index, step in enumerate(steps):
                yield rank, index, step

    def _problems(self, rank: int, step: Step) -> Iterator[str]:
        """Yield reasons why a step is invalid."""
        if step.kind in ("send", "recv") and not 0 <= step.peer < self.ranks:
            yield f"there {'is' if self.ranks == 1 else 'are'} only {counted(self.ranks, 'rank')}"
        for span in (step.source, step.target):
            if span is not None and span.buffer != UNKNOWN:
                size = self.buffers[rank].get(span.buffer)
                if size is None:
                    yield f"rank {rank} has no buffer {span.buffer!r}"
                elif span.offset < 0 or span.nbytes < 0 or span.stop > size:
                    yield f"the buffer has {size} bytes"
        if step.kind in ("copy", "reduce") and (not step.source or not step.target):
            yield "source and target are required"
        elif step.source and step.target and step.source.nbytes != step.target.nbytes:
            yield "source and target differ in size"
        for other in (*step.after, *step.after_start):
            if not 0 <= other < len(self.steps[rank]):
                yield f"it depends on step {other}, but rank {rank} has {len(self.steps[rank])} steps"

    def place(self, rank: int, index: int) -> str:
        """Name a step for messages: by its label in the file, or by its number."""
        return f"rank {rank}, {self.labels.get((rank, index)) or f'step {index}'}"

    def order(self, rank: int) -> list[int]:
        """Return the indices of a rank's steps in an order that respects all dependencies."""
        steps = self.steps[rank]
        unmet = [len({*step.after}) + len({*step.after_start}) for step in steps]
        successors: list[list[int]] = [[] for _ in steps]
        for index, step in enumerate(steps):
            for predecessor in (*{*step.after}, *{*step.after_start}):
                successors[predecessor].append(index)
        ready = [index for index in reversed(range(len(steps))) if not unmet[index]]
        order = []
        while ready:
            order.append(ready.pop())
            for index in reversed(successors[order[-1]]):
                unmet[index] -= 1
                if not unmet[index]:
                    ready.append(index)
        if len(order) < len(steps):
            stuck = next(index for index, count in enumerate(unmet) if count)
            raise InvalidScheduleError(f"{self.place(rank, stuck)}: its dependencies form a cycle")
        return order

    @property
    def has_ranges(self) -> bool:
        """Whether the buffer ranges of all data are known: a GOAL file may give sizes only."""
        return any(self.buffers) and all(
            span.buffer != UNKNOWN for _, _, step in self for span in (step.source, step.target) if span
        )

    def sides(self, rank: int) -> tuple[range, range]:
        """The ranks of a rank's group, and of the group whose data it receives; without `groups`, both are all ranks."""
        if self.groups is None:
            return range(self.ranks), range(self.ranks)
        first, second = range(self.groups[0]), range(self.groups[0], self.ranks)
        return (first, second) if rank in first else (second, first)

    def aliases_of(self, rank: int) -> Mapping[str, tuple[str, int]]:
        """The buffers of a rank that are parts of other buffers: name -> (containing buffer, offset)."""
        return self.aliases[rank] if self.aliases else {}

    def resolve(self, rank: int, span: Range) -> Range:
        """Translate a range of an alias to the buffer that contains the alias; return any other range unchanged."""
        alias = self.aliases_of(rank).get(span.buffer)
        return span if alias is None else Range(alias[0], span.offset + alias[1], span.nbytes)

    def without_aliases(self) -> Schedule:
        """Return the schedule with each range of an alias replaced by the same range of the containing buffer."""
        if not any(self.aliases):
            return self

        def resolved(rank: int, step: Step) -> Step:
            source, target = (span and self.resolve(rank, span) for span in (step.source, step.target))
            return replace(step, source=source, target=target)

        return replace(self, steps=[[resolved(rank, step) for step in steps] for rank, steps in enumerate(self.steps)])

    def verify(self, operation: str = "", *, ordered: bool | None = None, monitor: Monitor = ignore) -> list[Fault]:
        """Return the faults of the schedule: reasons why it does not implement the operation. No faults: an empty list.

        Parameters
        ----------
        operation : "allreduce", "broadcast", ...; by default the attribute `operation`
        ordered : whether operands must be combined in rank order; by default true unless the schedule is `commutative`
        monitor : called as the verification proceeds; see collectives.schedules.monitor, which also has a time limit
        """
        ordered = not self.commutative if ordered is None else ordered
        if not operation and self.operation.endswith(".json"):  # a file does not choose other files that are read
            raise InvalidScheduleError(f"its operation is {self.operation!r}: name the contract yourself, as operation")
        faults: list[Fault] = _functions["verify"](self, operation or self.operation, ordered=ordered, monitor=monitor)
        return faults

    def algorithm(self) -> Algorithm:
        """Return an algorithm that executes the schedule; it can be run, compared, traced and fused like any other one."""
        algorithm: Algorithm = _functions["algorithm"](self)
        return algorithm

    def save(self, path: str | Path) -> None:
        """Write the schedule; the suffix determines the format: .json, .goal or .xml (MSCCL)."""
        _functions["save"](self, Path(path))


_functions: dict[str, Callable[..., Any]] = {}


def register_functions(**functions: Callable[..., Any]) -> None:
    """Register the functions that `verify`, `algorithm` and `save` call; they are in modules that import this module."""
    _functions.update(functions)
