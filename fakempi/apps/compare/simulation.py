"""The makespan of an algorithm from its schedule, without running its code on any rank.

All ranks start at time 0, and there are no other messages. There are four methods, and the first that applies is used:
rounds in arrays (`extensions.fused.array_clocks`), points in time in arrays (`instants`), rounds on a network with links
(`link_simulation`), and an event simulation of the steps of each rank. All give the same time as a run of the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields

import numpy as np

from collectives import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.message_count import TooManyMessages, expected_messages
from collectives.catalogue.schedule import Seconds
from fakempi.apps.compare.budget import MOST_SIMULATED
from fakempi.apps.compare.instants import makespan_by_instants
from fakempi.apps.compare.link_simulation import makespan_on_links
from fakempi.core.gc_tuning import fewer_collections
from fakempi.core.kernel.agenda import Agenda
from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.express import Express
from fakempi.core.network.matching import Mailbox
from fakempi.extensions.fused.array_clocks import Costs, TimedRounds, Undetermined
from fakempi.extensions.fused.programs import ScheduleArrays, SchedulePhase
from fakempi.extensions.fused.reductions import Reduction, Unsupported
from fakempi.extensions.fused.step_simulator import StepSimulator
from fakempi.mpi.collective.fused_case import REDUCING
from fakempi.tuning import Choice
from fakempi.tuning.table import is_user_defined


class LimitedSchedule(ScheduleArrays):
    """A schedule whose phases raise `TooManyMessages` after `most` messages, for methods that store all of them."""

    most: int | None = None

    def phases(self) -> Iterator[SchedulePhase]:
        """The phases of the schedule that have transfers."""
        count = 0
        for phase in super().phases():
            count += phase.transfers.shape[1]
            if self.most is not None and count > self.most:
                raise TooManyMessages(count)
            yield phase

    def limit(self, algorithm: Algorithm, case: Case, most: int) -> None:
        """From now on, allow at most `most` messages; raises `TooManyMessages` if more are expected."""
        self.most = most
        if self._stored is None and (expected := expected_messages(algorithm, case, self.lengths)) > most:
            raise TooManyMessages(expected)


def simulated_makespan(algorithm: Algorithm, case: Case, cost: CostModel, most: int = MOST_SIMULATED) -> Seconds | None:
    """Return the time until the last rank has finished; None if only a run of the algorithm's code can determine it.

    That is the case for two groups of ranks, for a user-defined algorithm or cost model, without a schedule, and if the
    schedule does not determine the steps of each rank or the operands that a reduction combines. Raises `TooManyMessages` if
    more than `most` messages would have to be stored.
    """
    if case.q or algorithm.kind != "intra" or not type(cost).__module__.startswith("fakempi."):
        return None
    arguments = {each.name: getattr(case, each.name) for each in fields(case) if each.name not in ("p", "parameters")}
    choice = Choice(algorithm, case.parameters, is_user_defined(algorithm, case.parameters))
    schedule = LimitedSchedule(case.p, lambda: choice.phases(case.p, **arguments))
    if schedule.why_not:
        return None
    try:
        blocks = algorithm.operation.startswith("reduce_scatter")
        elements = case.layout.size(0, case.p) if blocks else case.elements
        if cost.compute_per_byte and elements and algorithm.operation in REDUCING:
            schedule.limit(algorithm, case, most)
            # Raises Unsupported if the schedule does not determine when which pieces of the operands are combined.
            Reduction(schedule, algorithm.operation, case.itemsize, elements)
        with fewer_collections(case.p):
            with suppress(Undetermined):
                return _in_arrays(schedule, cost)  # stores nothing
            schedule.limit(algorithm, case, most)
            for method in (makespan_by_instants, makespan_on_links):
                with suppress(Undetermined):
                    return method(schedule, cost)  # type: ignore[no-any-return]  # both methods return Any
            return _step_by_step(schedule, cost)
    except (Unsupported, UnsupportedCaseError):
        return None


def _in_arrays(schedule: ScheduleArrays, cost: CostModel) -> float:
    """Return the makespan, computed in arrays; raises `Undetermined` if arrays cannot represent the order of transfers."""
    parameters = (*(cost.linear or ()), cost.compute_per_byte)
    # `Express.serves` requires `cost.linear`, so parameters[0] is t_s.
    if not Express.serves(cost) or not schedule.has_rounds_only or not parameters[0] > 0:
        raise Undetermined("transfers use more than two ports, or are posted together")
    if not all(type(each) in (int, float) for each in parameters):
        raise Undetermined("a cost is not an int or a float")
    costs = Costs._make((*parameters, cost.eager_limit or -1))
    rounds = TimedRounds(schedule.p, (each.round for each in schedule.phases()), costs)
    return float(np.max(rounds.outcome_in_step(0.0).ends))


def _step_by_step(schedule: ScheduleArrays, cost: CostModel) -> Seconds | None:
    """Return the makespan by an event simulation of the steps of all ranks; None if some of them never finish."""
    agenda, eager_limit = Agenda(), cost.eager_limit or -1  # with a limit of 0 not even an empty message is eager
    network = (Express if Express.serves(cost) else Delivery)(agenda, cost, lambda envelope, receive: None)
    numbers = [network.ports.add_process() for _ in range(schedule.p)]
    boxes = [Mailbox(number, network.into[number]) for number in numbers]
    ranks = [
        StepSimulator(
            agenda, network, rank, network.out[rank], boxes[rank], boxes, boxes.__getitem__, eager_limit,
            cost.compute_per_byte, schedule.steps(rank), 0,
        )
        for rank in numbers
    ]  # fmt: skip
    for rank in ranks:
        agenda.run_at(0, rank)
    while (item := agenda.pop()) is not None:
        item()
    ends = [rank.ended_at for rank in ranks]
    return None if None in ends else max(ends)  # type: ignore[type-var]  # None is excluded
