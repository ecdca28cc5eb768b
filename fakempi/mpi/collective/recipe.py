"""Recipes: the stored results of preparing a collective call, for repeated calls; fused calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fakempi.mpi.base.call_matching import PERSISTENT, CallEntry, Traffic, TypeSignatures
from fakempi.mpi.collective.fused_case import FusedCase
from fakempi.mpi.collective.object_arrays import ChoiceForObjects
from fakempi.mpi.point.handle import CommState

CallBody = Callable[..., object]


class Recipe:
    """The results of preparing a call that do not depend on the rank or the time (see `cached_calls`)."""

    __slots__ = (
        "call", "choice", "facts", "keepalive", "nbytes", "op", "operation", "program", "root", "site", "sizes",
        "trace_call", "traffic", "types",
    )  # fmt: skip

    def __init__(
        self, call: str, facts: Mapping[str, object], types: TypeSignatures | None, choice: Any, op: Any, root: int | None,
        traffic: Traffic | None, operation: str, nbytes: int, program: object | None,
    ) -> None:  # fmt: skip
        self.call, self.facts, self.types, self.traffic = call, facts, types, traffic  # for call matching
        self.choice, self.op, self.root = choice, op, root  # the algorithm, its operation and its root
        self.operation, self.nbytes = operation, nbytes  # for the trace
        self.trace_call = 0  # number of the call in the trace; 0 until it is known
        self.site = ""
        self.sizes: tuple[object, ...] = ()  # block sizes, passed to the algorithm after the buffers
        self.program = program  # for fused calls
        self.keepalive: object = None  # objects whose addresses are in the key

    @property
    def is_uniform(self) -> bool:
        """Whether the call has no root, no objects, and no traffic that differs by rank."""
        return self.root is None and self.traffic is None and type(self.choice) is not ChoiceForObjects


class Start:
    """One start of a persistent call, in place of a `CallEntry`: the n-th starts of all ranks are one call.

    A start refers to the next one, not to earlier ones, so that their data are freed.
    """

    __slots__ = ("call", "fused", "next")

    def __init__(self, call: str) -> None:
        self.call = call
        self.fused: object = None  # as in a `CallEntry`
        self.next: Start | None = None


def with_recipe(comm: CommState, run: CallBody, entry: CallEntry | None, recipe: Recipe | None) -> CallBody:
    """Return the body of a call, with its recipe attached if the call may be cached."""
    universe = comm._process.universe
    if universe.recorder is not None and recipe is not None and not recipe.is_uniform:
        recipe = None  # the trace records roots and sizes of each call
    if universe.is_singleton or (universe.choices is not None and universe.choices.mode.synchronizing):
        recipe = None
    if recipe is None:
        return run
    if entry is not None:
        recipe.site = entry.sites[comm._rank]
        if len(entry.sites) == 1 and recipe.traffic is None:  # equal recipes need no comparison
            entry.recipe = recipe
    run.recipe = recipe  # type: ignore[attr-defined]  # an attribute of a function
    return run


def fused_or_emulated(
    comms: tuple[Any, ...], run: CallBody, entry: CallEntry | None, case: FusedCase, op: object, tag: int
) -> tuple[CallBody, object | None]:
    """Return a body that simulates the call from the schedule of its algorithm if possible, and the call's program."""
    fused = comms[0]._process.universe.fused
    if fused is None or entry is None:
        return run, None
    program = fused.program(case)
    return fused_work(comms, run, entry, program, op, tag), program


def fused_work(comms: tuple[Any, ...], run: CallBody, entry: CallEntry, program: object, op: object, tag: int) -> CallBody:
    """Return a body that simulates the call by its program if possible; that of a persistent call runs at each start."""
    fused = comms[0]._process.universe.fused
    assert fused is not None
    current: Any = entry
    if tag >= PERSISTENT:
        current = entry.fused = entry.fused or Start(entry.call)

    def work(*arrays: object) -> object:
        nonlocal current
        entered = current
        if tag >= PERSISTENT:
            current = entered.next = entered.next or Start(entered.call)
        return None if fused.enter(comms, entered, program, op, tag, arrays) else run(*arrays)

    return work
