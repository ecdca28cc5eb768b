"""The time of one algorithm in one case: claimed by its formula, or emulated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from collectives import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.case import Parameters
from collectives.catalogue.schedule import Seconds
from fakempi.apps.compare.benchmark_loop import loop_average, makespan
from fakempi.apps.compare.budget import MOST_EVALUATED, MOST_SIMULATED, TooManyMessages, count_messages, limited
from fakempi.apps.compare.simulation import simulated_makespan
from fakempi.core.network.cost import CostModel
from fakempi.tuning import NodesOfRanks, SendCosts, resolve, startup_bytes
from fakempi.tuning.parsing import Key
from fakempi.tuning.parts import facts_of

MAKESPAN, OSU = "makespan", "osu"
"""How a time is defined: until the last rank has finished, or the average over ranks that the OSU benchmarks print."""

ROUNDING = Fraction(1, 10**9)
"""Relative tolerance between claim and emulated time: a run adds thousands of floats, while a claim multiplies a few."""


@dataclass(frozen=True)
class CaseTime:
    """Modeled seconds of one algorithm in one case: `claimed` from a formula, `emulated` in a run, or both.

    `refused` is the reason why the algorithm rejects the case. `chosen` is the name of the algorithm that the default
    table has chosen. `parts` are the collective operations inside the algorithm whose algorithms the table has chosen.
    """

    claimed: Seconds | None = None
    emulated: Seconds | None = None
    refused: str = ""
    chosen: str = ""
    parts: tuple[str, ...] = ()
    parameters: Parameters = field(default_factory=dict)
    """Parameters that were searched, or that the default table has chosen."""
    equals: str = ""
    """The name of the algorithm that a node-aware algorithm is on a machine without nodes; the time is that algorithm's."""
    skipped: int = 0
    """If not 0, the time was not computed, or only claimed, because the algorithm sends at least this number of messages."""

    @property
    def seconds(self) -> Seconds | None:
        """The emulated time, otherwise the claimed time; None if the algorithm rejects the case."""
        return self.claimed if self.emulated is None else self.emulated

    @property
    def how(self) -> str:
        """The origin of `seconds`: "claimed" or "emulated"."""
        return "" if self.seconds is None else "claimed" if self.emulated is None else "emulated"

    @property
    def differ(self) -> bool | None:
        """Whether the claim and the emulated time differ; None if there are not both."""
        if self.claimed is None or self.emulated is None:
            return None
        claimed, emulated = Fraction(self.claimed), Fraction(self.emulated)
        return abs(claimed - emulated) > ROUNDING * max(claimed, emulated)


def case_time(
    algorithm: Algorithm,
    case: Case,
    cost: CostModel,
    measure: bool = False,
    max_messages: int | None = None,
    timing: str = MAKESPAN,
) -> CaseTime:
    """Return an algorithm's time: its claim if that holds for the cost model; otherwise simulate its schedule or its code.

    With `measure`, the code runs in any case. An algorithm that sends more than `max_messages` messages is skipped, unless
    its claim is a formula; for an algorithm without a schedule, whose messages take twice as long to emulate, the limit is
    `max_messages // 2`. By default, it is skipped if its simulation would store more than `MOST_SIMULATED` messages, or its
    code would send more. A claim is a makespan: with another `timing`, all times are emulated.
    """
    claimed = None
    try:
        algorithm.check(case)
        evaluated = MOST_EVALUATED if max_messages is None else max_messages
        claimed = claim(algorithm, case, cost, evaluated) if timing == MAKESPAN else None
        if measure or claimed is None:
            if max_messages is not None:
                check_messages(algorithm, case, max_messages)
            return CaseTime(claimed, emulated_time(algorithm, case, cost, timing, measure, max_messages))
        return CaseTime(claimed)
    except TooManyMessages as stop:
        return CaseTime(claimed, skipped=stop.count)
    except UnsupportedCaseError as reason:
        return CaseTime(refused=str(reason).partition(": ")[2])


def as_called(algorithm: Algorithm | None, key: Key, case: Case, cost: CostModel) -> tuple[Algorithm, Case]:
    """Return the algorithm, or the default one if it is None, and its case with all parameters of a collective call."""
    kind, operation = key
    table = resolve()
    nodes = None if kind == "inter" else NodesOfRanks.of([cost.node(rank) for rank in range(case.p)])
    facts = facts_of(kind, operation, case, startup_bytes(cost.linear), nodes)
    if algorithm is not None and "costs" in algorithm.parameters and cost.linear is None:
        facts = facts._replace(costs=SendCosts.of(cost.transfer, range(case.p), facts.nbytes))
    if algorithm is None:
        choice = table.choose(facts)
        roles = {"first": True} if "first" in choice.algorithm.parameters else {}
        return choice.algorithm, replace(case, parameters={**roles, **case.parameters, **choice.parameters})
    return algorithm, replace(case, parameters=table.completed(algorithm, case.parameters, facts))


def claims_hold(cost: CostModel) -> bool:
    """Return whether claims are exact: a linear cost, full duplex, one port and no eager messages, as in the papers."""
    return cost.linear is not None and cost.duplex and cost.ports == 1 and cost.eager_limit == 0


def claim(algorithm: Algorithm, case: Case, cost: CostModel, max_messages: int | None = None) -> Seconds | None:
    """Return the claimed time, or None if there is no claim, none for this cost model, or the time depends on the data.

    Raises `TooManyMessages` if the claim has to be computed from a schedule with more than `max_messages` messages.
    """
    if cost.linear is None or not claims_hold(cost) or algorithm.kind not in ("intra", "inter"):
        return None
    if max_messages is not None:
        algorithm, case = limited(algorithm, case, max_messages)
    return algorithm.time(case, *cost.linear, cost.compute_per_byte)


def check_messages(algorithm: Algorithm, case: Case, most: int) -> None:
    """Raise `TooManyMessages` if an algorithm sends more than `most` messages, or half of that without a schedule.

    Emulating a message takes 42 us if the code runs and 20 us if its schedule is simulated (alltoall, 256 ranks).
    """
    limit = most if algorithm.schedule is not None else most // 2
    if (count := count_messages(algorithm, case, limit)) > limit:
        raise TooManyMessages(count)


def emulated_time(
    algorithm: Algorithm,
    case: Case,
    cost: CostModel,
    timing: str = MAKESPAN,
    run: bool = True,
    max_messages: int | None = None,
) -> Seconds:
    """Return the time until the last rank has finished, or the average that a benchmark program prints (`OSU`).

    With `run`, the algorithm's code runs with phantom buffers; otherwise its schedule is simulated, if that is exact. There
    are at most `max_messages` messages; without it, `TooManyMessages` is raised if there are more than `MOST_SIMULATED`.
    """
    most = MOST_SIMULATED if max_messages is None else max_messages
    if not run and timing == MAKESPAN and (simulated := simulated_makespan(algorithm, case, cost, most)) is not None:
        return simulated
    if max_messages is None:
        check_messages(algorithm, case, most)
    return loop_average(algorithm, case, cost) if timing == OSU else makespan(algorithm, case, cost)
