"""Lower bounds where a transfer of n bytes takes t_s + n t_w and a process has one output port and one input port.

There are two bounds; the larger one is returned. Latency: data needs `ceil(log2 p)` successive messages to get from one
process to p, or from p to one, because the number of processes that have it at most doubles per message. Bandwidth: the
busiest port transfers a certain number of bytes in at least one message. For reductions whose result is on all processes
or distributed: E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn, "Collective communication: theory, practice, and
experience", Concurrency and Computation 19(13), 2007, doi 10.1002/cpe.1206.
"""

from __future__ import annotations

from fractions import Fraction

from collectives import Case
from collectives.catalogue.schedule import Seconds
from collectives.tools.numbers import ceil_log2


def lower_bound(operation: str, case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Return the larger of the latency bound and the bandwidth bound, in seconds."""
    nbytes = _between_groups(operation, case) if case.q else _within_group(operation, case)
    if case.ranks == 1 or (operation != "barrier" and not nbytes):
        return 0
    return max(ceil_log2(reached(operation, case)) * t_s, t_s + nbytes * t_w)


def reached(operation: str, case: Case) -> int:
    """Return the largest number of processes that data from one process must reach, including that process."""
    if operation in ("alltoallv", "alltoallw", "gatherv", "scatterv"):
        return 2  # blocks may be empty
    if not case.q:
        return case.p
    if operation == "barrier":
        return max(case.p, case.q) + 1
    if operation in ("bcast", "gather", "scatter", "reduce"):
        return case.q + 1
    return max(case.p * bool(_total(case, 1)), case.q * bool(_total(case, 0))) + 1


def _total(case: Case, group: int) -> int:
    """Return the total number of bytes of a group."""
    side = case.groups[group]
    return side.layout.size(0, side.p) * side.itemsize


def _within_group(operation: str, case: Case) -> Seconds:
    """Return the bytes that the busiest port must transfer within one group."""
    p, m, layout = case.p, case.m, case.layout
    sizes = [layout.size(rank) * case.itemsize for rank in range(p)] if case.counts is not None else [m] * p
    match operation:
        case "bcast" | "reduce" | "scan" | "exscan":
            return m
        case "allreduce":
            return Fraction(2 * (p - 1) * m, p)
        case "gather" | "gatherv" | "scatter" | "scatterv":
            return sum(sizes) - sizes[case.root]
        case "allgather" | "allgatherv":
            return sum(sizes) - min(sizes)
        case "reduce_scatter" | "reduce_scatter_block":
            return Fraction((p - 1) * sum(sizes), p)
        case "alltoall" | "alltoallv" | "alltoallw":
            if case.traffic is None:
                return (p - 1) * m
            out = [sum(row) - row[r] for r, row in enumerate(case.traffic)]
            into = [sum(column) - column[r] for r, column in enumerate(zip(*case.traffic, strict=True))]
            return int(max(out + into)) * case.itemsize
    return 0


def _between_groups(operation: str, case: Case) -> Seconds:
    """Return the bytes that the busiest port must transfer between two groups; the root is in group A."""
    a, b = _total(case, 0), _total(case, 1)
    match operation:
        case "bcast":
            return case.m
        case "reduce":
            return case.m_b
        case "allreduce":
            # An element of A's result: p operands become one by p-1 messages, and q processes have it after q more.
            # The same holds for B's result, over p + q ports. Each port also receives a whole result, which may be less.
            return max(Fraction(case.m), Fraction(case.m_b), Fraction((case.ranks - 1) * (case.m + case.m_b), case.ranks))
        case "gather" | "gatherv":
            return b
        case "scatter" | "scatterv":
            return b if case.counts_b is not None else case.m * case.q
        case "allgather" | "allgatherv":
            return max(a, b)
        case "reduce_scatter" | "reduce_scatter_block":
            # An element of A's result takes p messages to its owner in B, one of B's takes q messages to A, over p + q
            # ports. The ranks of a small group own more elements.
            return max(Fraction(case.p * a + case.q * b, case.ranks), Fraction(max(a, b), min(case.p, case.q)))
        case "alltoall":
            return max(case.p, case.q) * max(case.m, case.m_b)
        case "alltoallv" | "alltoallw":
            tables = [table for table in (case.traffic, case.traffic_b) if table]
            rows = [sum(row) for table in tables for row in table]
            columns = [sum(column) for table in tables for column in zip(*table, strict=True)]
            return int(max(rows + columns)) * case.itemsize
    return 0
