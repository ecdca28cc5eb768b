"""The estimated time of an algorithm on any cost model: its schedule with the price of each message.

If claims hold for the cost model (`compare.timing`), the time is the claim, which is exact. Otherwise the transfers of the
schedule are evaluated in order: a transfer begins when both ranks have reached its round and their ports are free; up to the
eager limit it does not wait for its receiver. It occupies the links of its route one after the other. The actual order of
arrival at a port or link may differ from the order of the schedule, so this is an estimate, in one pass over the messages.

Alltoall `linear` has no schedule, because the order of its messages depends on timing. It is estimated as `spread`, which
sends the same messages, one at a time. Where claims hold, both take (p-1) (t_s + m t_w).
"""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter

from collectives import Algorithm, Case, find
from collectives.catalogue.schedule import Combining, Rounds
from fakempi.apps.compare.budget import MOST_EVALUATED, MOST_SIMULATED, count_messages
from fakempi.apps.compare.timing import claim, claims_hold, emulated_time
from fakempi.core.network.cost import CostModel
from fakempi.core.network.parameters import Time
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG

LINEAR, SPREAD = find("alltoall", "linear"), find("alltoall", "spread")


def estimate(algorithm: Algorithm, case: Case, cost: CostModel) -> Time:
    """Return the estimated seconds of a case that the algorithm accepts."""
    algorithm = stand_in(algorithm)
    if claims_hold(cost):
        claimed = claim(algorithm, case, cost)
        if claimed is not None:
            return float(claimed)
    schedule = algorithm.schedule_for(case)
    return float(emulated_time(algorithm, case, cost)) if schedule is None else evaluated(schedule, case.p, cost)


def check_messages(algorithm: Algorithm, case: Case, cost: CostModel) -> None:
    """Raise MPIValueError if an estimate would take the evaluation of too many messages, for hours."""
    algorithm = stand_in(algorithm)
    if claims_hold(cost) and algorithm.closed_time is not None and algorithm.closed_time(case, 1, 1) is not None:
        return
    most = MOST_EVALUATED if algorithm.schedule is not None else MOST_SIMULATED // 2
    if (count := count_messages(algorithm, case, most)) > most:
        raise MPIValueError(
            ERR_ARG,
            f"{algorithm.operation} {algorithm.name} sends at least {count:,} messages on {case.p:,} ranks, more than "
            f"{most:,}, and has no formula for this cost model: use fewer ranks, other operations or another cost model.",
        )


def stand_in(algorithm: Algorithm) -> Algorithm:
    """The algorithm whose schedule is evaluated."""
    return SPREAD if algorithm is LINEAR else algorithm


def evaluated(schedule: Rounds, p: int, cost: CostModel) -> Time:
    """Return the seconds until the last of p processes is done."""
    clock: list[Time] = [0.0] * p
    out: list[Time] = [0.0] * p
    into: list[Time] = [0.0] * p if cost.duplex else out
    links = Links(cost) if cost.shares else None
    eager, combining = cost.eager_limit, cost.compute_per_byte
    alone = cost.ports == 1
    for transfers in schedule:
        if isinstance(transfers, Combining):
            for rank, nbytes in transfers.combined.items():
                clock[rank] += nbytes * combining
        done: list[tuple[Time, int]] = []
        ready = []
        for source, dest, nbytes, combined, *_ in transfers:
            begin = clock[source] if nbytes <= eager else max(clock[source], clock[dest])
            ready.append((begin, source, dest, nbytes, combined))
        if links is not None:
            ready.sort(key=itemgetter(0))  # first come, first served
        combines = []
        for begin, source, dest, nbytes, combined in ready:
            ports, sent, arrives = cost.transfer(source, dest, nbytes)
            latency = cost.latency(source, dest, nbytes) if arrives > ports else 0
            if alone:
                begin = max(begin, out[source], into[dest] - latency)
            late = links.wait(source, dest, nbytes, begin) if links is not None else 0
            out[source], into[dest] = begin + ports + late, begin + latency + ports + late
            done += ((begin + sent + late, source), (begin + arrives + late, dest))
            if combined and combining:
                combines.append((dest, combined * combining))
        for end, rank in done:
            if end > clock[rank]:
                clock[rank] = end
        for rank, seconds in combines:
            clock[rank] += seconds
    return max(clock)


class Links:
    """The times at which the links of a network are free."""

    def __init__(self, cost: CostModel) -> None:
        self.cost = cost
        self.free: dict[Hashable, list[Time]] = {}
        self.links: dict[Hashable, tuple[Time, Time]] = {}

    def wait(self, source: int, dest: int, nbytes: int, begin: Time) -> Time:
        """Occupy the links of a route from a time on; return the total time for which the transfer waits for them."""
        cost, now = self.cost, begin
        names = cost.route(source, dest)
        if names is None:  # the ports of the nodes, for as long as those of the processes
            source_node, dest_node = cost.node(source), cost.node(dest)
            if source_node == dest_node:
                return 0
            held = cost.transfer(source, dest, nbytes)[0]
            pair = (source_node, "out") if cost.duplex else source_node, (dest_node, "in") if cost.duplex else dest_node
            slots = [self._slots(name, cost.network_ports) for name in pair]
            now = max(begin, *(min(times) for times in slots))
            for times in slots:
                times[times.index(min(times))] = now + held
            return now - begin
        for name in names:
            if name not in self.links:
                link = cost.link(name)
                self.links[name] = link.t_w, link.gap
                self._slots(name, link.width)
            times, (t_w, gap) = self.free[name], self.links[name]
            first = times.index(min(times))
            now = max(now, times[first])
            times[first] = now + gap + nbytes * t_w
        return now - begin

    def _slots(self, name: Hashable, width: int) -> list[Time]:
        return self.free.setdefault(name, [0.0] * width)
