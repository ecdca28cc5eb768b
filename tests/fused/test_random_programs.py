"""Random programs give the same results, clocks, counters, findings and traces fused and emulated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import CATALOGUE
from fakempi import MPI
from fakempi.errors import RankError
from fakempi.extensions.fused import rendezvous
from tests.fused.random_programs import first_difference
from tests.fused.started_steps import between_arguments
from tests.helpers.breadth import breadth

SEEDS = 40
TIES = 100
MORE_SEEDS = breadth(200, 600)


def test_random_programs_are_the_same() -> None:
    """Collective calls, messages, polls, wildcards, sub-communicators, all cost models, traces and seeds."""
    assert [difference for seed in range(SEEDS) if (difference := first_difference(seed))] == []


def test_random_programs_with_many_simultaneous_events_are_the_same() -> None:
    """Each collective call lies between computing and receives from any source."""
    assert [found for seed in range(TIES) if (found := first_difference(seed, ties=True))] == []


@pytest.mark.sample
@pytest.mark.slow
def test_random_programs_with_started_calls_and_two_groups_are_the_same() -> None:
    """Persistent and nonblocking calls, and calls between two groups, too."""
    assert [found for seed in range(SEEDS) if (found := first_difference(seed, started=True))] == []


@pytest.mark.slow
def test_random_programs_of_calls_between_groups_are_the_same() -> None:
    """Each program has calls between groups only, by random algorithms, with blocks of any sizes."""
    assert [found for seed in range(SEEDS) if (found := first_difference(seed, groups=True))] == []


@pytest.mark.slow
def test_more_random_programs_are_the_same() -> None:
    """The same for more programs; tests/fused/random_programs.py compares any number."""
    assert [difference for seed in range(SEEDS, MORE_SEEDS) if (difference := first_difference(seed))] == []


def test_ranks_that_leave_a_call_at_one_time_continue_in_the_order_in_which_their_ends_were_known() -> None:
    """With wildcards, the order decides which message is received first. It was by rank if the last end was known first."""

    def main(comm: Any, order: list[int]) -> None:
        fakempi.compute([0, 1, 0.5, 0.5, 2.5, 2.5, 0][comm.rank] * 1e-6)
        comm.Barrier()
        comm.allgather("x" * (17 * comm.rank))
        order.append(comm.rank)

    found: dict[str, list[int]] = {}
    for fused in ("auto", "never"):
        cost = "hockney:t_s=1e-6,t_w=3e-9,eager_limit=16"
        found[fused] = []
        fakempi.run(main, 7, found[fused], cost=cost, algorithms={"allgather": "bruck_ring"}, fused=fused)
    assert found["auto"] == found["never"]


CALLS = {
    "barrier": lambda comm, mine, out, big: comm.Barrier(),
    "bcast": lambda comm, mine, out, big: comm.Bcast(mine, 2),
    "gather": lambda comm, mine, out, big: comm.Gather(mine, big, 2),
    "scatter": lambda comm, mine, out, big: comm.Scatter(big, out, 2),
    "allgather": lambda comm, mine, out, big: comm.Allgather(mine, big),
    "alltoall": lambda comm, mine, out, big: comm.Alltoall(big.copy(), big),
    "reduce": lambda comm, mine, out, big: comm.Reduce(mine, out, MPI.SUM, 2),
    "allreduce": lambda comm, mine, out, big: comm.Allreduce(mine, out),
    "scan": lambda comm, mine, out, big: comm.Scan(mine, out),
    "exscan": lambda comm, mine, out, big: comm.Exscan(mine, out),
    "reduce_scatter_block": lambda comm, mine, out, big: comm.Reduce_scatter_block(big, out),
    "reduce_scatter": lambda comm, mine, out, big: comm.Reduce_scatter(big, out, [len(out)] * comm.size),
    "allgatherv": lambda comm, mine, out, big: comm.Allgatherv(mine, [big, [len(mine)] * comm.size]),
    "alltoallv": lambda comm, mine, out, big: comm.Alltoallv(
        [big.copy(), [len(mine)] * comm.size], [big, [len(mine)] * comm.size]
    ),
}
WITHOUT_ORDER = {
    *(("allreduce", name) for name in ("bine", "k_ring", "recursive_multiplying", "swing", "trivance")),
    *(("reduce_scatter_block", name) for name in ("bine", "noncommutative", "pat", "reduce_scatterv", "swing")),
    ("reduce", "linear"), ("reduce_scatter", "noncommutative"), ("reduce_scatter", "reduce_scatterv"),
    ("scan", "doubly_pipelined_tree"), ("exscan", "doubly_pipelined_tree"),
}  # fmt: skip
"""Algorithms whose schedule may not determine the order of combining."""

WITHOUT_SCHEDULE = {("gather", "two_level")}
"""Algorithms that have a schedule for other values of their parameters only."""


def calls_of(comm: Any, operation: str, n: int, late: int) -> list[Any]:
    """Three calls in a row, by ranks that may be late."""
    found = []
    for i in range(3):
        mine, out = np.arange(n) / (comm.rank + 3), np.zeros(n)
        big = np.arange(float(n * comm.size)) * (comm.rank + 1)
        fakempi.compute(5e-7 * late * (comm.rank * i % 3))
        CALLS[operation](comm, mine, out, big)
        found.append((mine.tobytes(), out.tobytes(), big.tobytes(), MPI.Wtime()))
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", sorted(CALLS))
def test_each_algorithm_is_fused_and_exact(operation: str) -> None:
    """Every algorithm of the catalogue that has a schedule is fused, with the same clocks, bits and traces."""
    found = [each for each in CATALOGUE if each.kind == "intra" and each.operation == operation]
    for algorithm in found:
        for p, n, late, cost in ((4, 3, 1, "hockney:eager_limit=0"), (8, 9, 2, "loggp:compute_per_byte=1e-9")):
            runs = [
                fakempi.run(
                    calls_of, p, operation, n, late, cost=cost, algorithms={operation: algorithm}, fused=fused,
                    trace=p == 8,
                )
                for fused in ("auto", "never")
            ]  # fmt: skip
            traces = [run.trace for run in runs if run.trace is not None]
            rows = [[tuple(each) for part in (trace.transfers, trace.computes) for each in part] for trace in traces]
            assert rows[:1] == rows[1:], algorithm
            records = [(run.returns, run.clocks, run.sent, run.received) for run in runs]
            assert records[0] == records[1], algorithm
            emulated = runs[0].fused_calls[operation].emulated
            if algorithm.schedule is None or (operation, algorithm.name) in WITHOUT_SCHEDULE:
                assert emulated == {f"{algorithm!r} has no schedule": 3}
            elif (operation, algorithm.name) == ("gather", "linear_sync"):
                assert emulated == {f"{algorithm!r} posts receives before their round": 3}
            elif (operation, algorithm.name) == ("scan", "two_level"):
                assert emulated == {f"{algorithm!r} combines data after its messages": 3}
            elif emulated:
                assert (operation, algorithm.name) in WITHOUT_ORDER, algorithm
                assert emulated == {"its schedule does not determine the order of combining": 3}


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", ["reduce", "allreduce", "scan", "exscan"])
def test_long_operands_have_the_bits_of_the_code(operation: str) -> None:
    """Long pieces of operands are copied one by one, short ones element by element; a pipelined scan has several pieces."""
    for algorithm in (each for each in CATALOGUE if each.kind == "intra" and each.operation == operation):
        cut = {"segment_bytes": 256} if "segment_bytes" in algorithm.parameters else {}
        for p, n in ((12, 700), (8, 100)):
            options: dict[str, Any] = {"algorithms": {operation: (algorithm, cut)}}
            runs = [fakempi.run(calls_of, p, operation, n, 0, fused=fused, **options) for fused in ("auto", "never")]
            assert runs[0].returns == runs[1].returns, algorithm


BETWEEN = (
    "barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "reduce_scatter_block",
    "reduce_scatter", "allgatherv", "alltoallv", "gatherv", "scatterv",
)  # fmt: skip
NO_SCHEDULE = (
    ("allgather", "wmpi"), ("alltoall", "linear"), ("alltoall", "wmpi"), ("alltoallv", "linear"), ("alltoallv", "wmpi"),
)  # fmt: skip
"""Calls between two groups by these algorithms are emulated."""


def calls_between(comm: Any, cut: int, operation: str, n: int, late: int, log: list[int]) -> list[Any]:
    """Three calls between the first `cut` ranks and the others, with roots in either group, by ranks that may be late."""
    side, found = int(comm.rank >= cut), []
    inter = comm.Split(side, comm.rank).Create_intercomm(0, comm, 0 if side else cut)
    for i in range(3):
        number = 3 * i + 13 * i  # `between_arguments` derives from it which group has the root, sizes and the operation
        given, written = between_arguments(inter, side, operation.capitalize(), n, number)
        fakempi.compute(5e-7 * late * (comm.rank * (i + 1) % 3))
        getattr(inter, operation.capitalize())(*given)
        log.append(comm.rank)
        found.append(([array.tobytes() for array in written], MPI.Wtime()))
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", BETWEEN)
def test_each_algorithm_between_groups_is_fused_and_exact(operation: str) -> None:
    """Every algorithm whose schedule determines it; the trace and the order in which ranks continue are equal, too."""
    costs = ("hockney", "hockney:eager_limit=16,compute_per_byte=1e-8", "two_level:ranks_per_node=2,eager_limit=0")
    for algorithm in (each for each in CATALOGUE if (each.kind, each.operation) == ("inter", operation)):
        for p, cut, late, cost in ((4, 2, 1, costs[0]), (7, 3, 1, costs[1]), (8, 4, 0, costs[2]), (9, 7, 1, costs[2])):
            records = []
            for fused in ("auto", "never"):
                log: list[int] = []
                options: dict[str, Any] = {"cost": cost, "algorithms": {f"inter:{operation}": algorithm}, "trace": True}
                run = fakempi.run(calls_between, p, cut, operation, 3, late, log, fused=fused, **options)
                assert run.trace is not None
                trace = [tuple(each) for each in run.trace.transfers], [tuple(each) for each in run.trace.regions]
                records.append((run.returns, run.clocks, run.sent, run.received, log, trace))
                if fused == "auto":
                    expected: Any = (3, {})
                    if (operation, algorithm.name) in NO_SCHEDULE:
                        expected = (0, {f"{algorithm!r} has no schedule": 3})
                    elif operation == "allgatherv" and algorithm.name != "full_duplex":
                        expected = (0, {"ranks send blocks before they know all block sizes": 3})
                    assert run.fused_calls[operation] == expected, algorithm
            assert records[0] == records[1], algorithm


def test_an_algorithm_whose_code_rejects_the_case_is_emulated() -> None:
    """The code checks a part that it does not need for these sizes, so the call fails, as it does without fused calls."""
    algorithms = {"allgather": "recursive_doubling", "inter:allgather": "two_stage"}
    for fused in ("auto", "never"):
        with pytest.raises(RankError, match="recursive_doubling was requested, but p = 5 is not a power of two"):
            fakempi.run(calls_between, 6, 5, "allgather", 17, 0, [], algorithms=algorithms, fused=fused)


@pytest.mark.sample
@pytest.mark.slow
def test_the_port_rules_in_arrays_agree_with_those_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that are computed in arrays equal the same calls on the network, for ranks in step and not."""
    arrays = []
    concluded = rendezvous.FusedService._outcome

    def outcome(self: Any, *args: Any) -> Any:
        arrays.append(True)
        return concluded(self, *args)

    monkeypatch.setattr(rendezvous.FusedService, "_outcome", outcome)
    for operation in ("barrier", "allreduce", "allgather", "alltoall", "scan", "reduce_scatter_block"):
        for cost in ("hockney", "hockney:eager_limit=0", "hockney:eager_limit=16,compute_per_byte=1e-8"):
            for p, late in ((5, 0), (8, 1), (12, 2)):
                arrays.clear()
                monkeypatch.undo()
                monkeypatch.setattr(rendezvous.FusedService, "_outcome", outcome)
                computed = fakempi.run(calls_of, p, operation, 5, late, cost=cost)
                assert arrays or operation == "scan"
                monkeypatch.setattr(rendezvous.FusedService, "_may_wait", lambda *_: False)
                played = fakempi.run(calls_of, p, operation, 5, late, cost=cost)
                assert (computed.returns, computed.clocks, computed.sent) == (played.returns, played.clocks, played.sent)
