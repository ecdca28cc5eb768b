"""How long one algorithm takes in one case: as it claims, and as the emulator measures it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from collectives import Algorithm, Case, DoesNotFit
from collectives.trials.calls import prepared, two_groups
from fakempi.errors import RankError
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.operations.op import SUM
from fakempi.tuning import Placement, SendCosts, resolve, startup_bytes
from fakempi.tuning.parts import facts_of
from fakempi.tuning.words import Key
from fakempi.wire.cost import CostModel
from fakempi.world import run

ROUNDING = Fraction(1, 10**9)
"""What is closer than this, as a share, is equal: a run adds up thousands of floats that a claim multiplies."""


@dataclass(frozen=True)
class Figure:
    """A time in the model's seconds: `claimed` on paper, `measured` on the emulator, or both; or why there is none.

    `taken` is the algorithm's name, where it was not said which; `parts` are operations inside of it that are by the table.
    """

    claimed: Any = None
    measured: Any = None
    refused: str = ""
    taken: str = ""
    parts: tuple[str, ...] = ()

    @property
    def seconds(self) -> Any:
        """What was measured, else what is claimed; None if the algorithm refuses."""
        return self.claimed if self.measured is None else self.measured

    @property
    def how(self) -> str:
        """Where the seconds come from: "claimed" or "measured"."""
        return "" if self.seconds is None else "claimed" if self.measured is None else "measured"

    @property
    def differ(self) -> bool | None:
        """Whether claim and measurement are two things; None if there are not both."""
        if self.claimed is None or self.measured is None:
            return None
        one, other = Fraction(self.claimed), Fraction(self.measured)
        return abs(one - other) > ROUNDING * max(one, other)


def figure(algorithm: Algorithm, case: Case, cost: CostModel, measure: bool = False) -> Figure:
    """By its claim, where that holds for the cost model; by a run without contents where it does not, or if asked to."""
    try:
        algorithm.check(case)
        claimed = claim(algorithm, case, cost)
        if measure or claimed is None:
            return Figure(claimed, measured(algorithm, case, cost))
        return Figure(claimed)
    except DoesNotFit as reason:
        return Figure(refused=str(reason).partition(": ")[2])


def as_called(algorithm: Algorithm | None, key: Key, case: Case, cost: CostModel) -> tuple[Algorithm, Case]:
    """The algorithm and its case with all parameters that a call on a communicator would give it; None is the default."""
    kind, operation = key
    table = resolve()
    nodes = None if kind == "inter" else Placement.of([cost.node(rank) for rank in range(case.p)])
    facts = facts_of(kind, operation, case, startup_bytes(cost.linear), nodes)
    if algorithm is not None and "costs" in algorithm.parameters and cost.linear is None:
        facts = facts._replace(costs=SendCosts.of(cost.transfer, range(case.p), facts.nbytes))
    if algorithm is None:
        choice = table.choose(facts)
        roles = {"first": True} if "first" in choice.algorithm.parameters else {}
        return choice.algorithm, replace(case, parameters={**roles, **case.parameters, **choice.parameters})
    return algorithm, replace(case, parameters=table.completed(algorithm, case.parameters, facts))


def claims_hold(cost: CostModel) -> bool:
    """Whether it is the model of the papers, for which claims are exact."""
    return cost.linear is not None and cost.duplex and cost.ports == 1 and cost.eager_limit == 0


def claim(algorithm: Algorithm, case: Case, cost: CostModel) -> Any:
    """What the algorithm claims; None if it does not, or not for such a cost model, or if the time depends on the data."""
    if cost.linear is None or not claims_hold(cost) or algorithm.kind not in ("intra", "inter"):
        return None
    return algorithm.time(case, *cost.linear, cost.compute_per_byte)


def measured(algorithm: Algorithm, case: Case, cost: CostModel) -> Any:
    """How long it takes on the emulator."""

    def program(comm: Any) -> None:
        comms = two_groups(comm, case.p) if case.q else (comm,)
        prepared(algorithm, case, comm.Get_rank(), comms, phantom, SUM)()

    try:
        return run(program, case.ranks, cost=cost).time
    except RankError as error:
        if isinstance(error.exception, DoesNotFit):
            raise error.exception from None
        raise
