"""What was found out about a collective call, to make it again; and its work, on paper where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi.base.agreement import Kinds, Traffic
from fakempi.mpi.collective.parcels import OnParcels

Work = Callable[..., Any]


class Recipe:
    """What was found out about a call that does not hang on who makes it, nor on when: to make it again (`again`)."""

    __slots__ = (
        "call", "choice", "facts", "kinds", "named", "nbytes", "op", "operation", "root", "seen", "sheet", "site", "sizes",
        "traffic",
    )  # fmt: skip

    def __init__(
        self, call: str, facts: dict[str, Any], kinds: Kinds | None, choice: Any, op: Any, root: int | None,
        traffic: Traffic | None, operation: str, nbytes: int,
    ) -> None:  # fmt: skip
        self.call, self.facts, self.kinds, self.traffic = call, facts, kinds, traffic  # what the roll is told
        self.choice, self.op, self.root = choice, op, root  # the algorithm, and what it combines by, and where
        self.operation, self.nbytes = operation, nbytes  # for a trace,
        self.seen = 0  # and the number that the call has there, once it is known
        self.site = ""
        self.sizes: tuple[Any, ...] = ()  # of blocks, that it wants besides the buffers
        self.sheet: Any = None  # what is known of that on paper, if it may be used
        self.named: Any = None  # what its key names by address

    @property
    def together(self) -> bool:
        """Whether it may be on paper: with a root some leave before others come; traffic and parcels are each rank's own."""
        return self.root is None and self.traffic is None and type(self.choice) is not OnParcels


def with_recipe(
    comm: Any, run: Work, entry: Any, recipe: Recipe | None, operation: str, nbytes: int, count: int, sizes: Any
) -> Work:
    """The work of a call that has such a recipe, or that has none because it is unusual."""
    universe = comm._process.universe
    paper = universe.paper
    if universe.recorder is not None:
        if paper is not None:
            paper.refuse("the run is traced")
            paper = None
        if recipe is not None and not recipe.together:
            recipe = None  # a trace names roots and sizes
    if universe.alone:
        recipe = None
    if entry is not None and paper is not None and (recipe is None or not recipe.together):
        paper.refuse("it is between two groups" if comm._between else f"{operation} is not made for it here")
    if recipe is None:
        return run
    if entry is not None:
        recipe.site = entry.places[comm._rank]
        if len(entry.places) == 1 and recipe.traffic is None:  # whoever has the same recipe need not be compared
            entry.recipe = recipe
        if paper is not None and recipe.together:
            size = comm._reach, nbytes, nbytes // count if count else 1, None if sizes is None else tuple(sizes)
            recipe.sheet = paper.sheet(recipe.choice, size)
            run = _on_paper(comm, run, entry, recipe, nbytes)
    run.recipe = recipe  # type: ignore[attr-defined]
    return run


def _on_paper(comm: Any, run: Work, entry: Any, recipe: Recipe, nbytes: int) -> Work:
    """The work of a call, in one piece for all ranks if that is possible."""
    paper, sheet = comm._process.universe.paper, recipe.sheet

    def work(*arrays: Any) -> None:
        if sheet is None:
            paper.refuse(f"nothing is known of {recipe.choice.algorithm!r} on {comm._reach} ranks with {nbytes} bytes")
        elif paper.carry_out(comm, entry, sheet, recipe.op, arrays):
            return
        run(*arrays)

    return work
