"""Regions of calls on objects: one outermost region per call, with the name of the call and its parts inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney, compute
from fakempi.trace.record import Region, Trace
from fakempi.trace.regions import is_nested
from fakempi.view.summary import summary

UNIT = Hockney(t_s=0, t_w=1, eager_limit=0)


def traced(main: Any, ranks: int, backend: Any = "auto", **options: Any) -> Trace:
    """The trace of a run."""
    trace = fakempi.run(main, ranks, backend=backend, trace=True, cost=UNIT, **options).trace
    assert trace is not None
    return trace


def nested(trace: Trace, rank: int) -> list[Any]:
    """The regions of a rank as text, each a list with those inside it."""
    regions = list(trace.regions)
    found: dict[int, list[Any]] = {-1: []}
    for number, one in enumerate(regions):
        if one.rank == rank:
            found[number] = [title(one)]
            found[one.parent].append(found[number])
    return found[-1]


def title(one: Region) -> str:
    return f"{one.name} ({one.algorithm})" if one.algorithm else one.name


CALLS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "barrier": (lambda c: c.barrier(), ["barrier (dissemination)"]),
    "bcast": (lambda c: c.bcast(1), ["bcast (binomial)", ["bcast (binomial)"], ["bcast (binomial)"]]),
    "gather": (lambda c: c.gather(1), ["gather (linear)", ["gather (binomial)"], ["gatherv (linear)"]]),
    "scatter": (lambda c: c.scatter([1] * 3), ["scatter (linear)", ["scatter (binomial)"], ["scatterv (linear)"]]),
    "allgather": (lambda c: c.allgather(1), ["allgather (bruck)", ["allgather (bruck)"], ["allgatherv (bruck)"]]),
    "alltoall": (lambda c: c.alltoall([1] * 3), ["alltoall (pairwise)", ["alltoall (pairwise)"], ["alltoallv (pairwise)"]]),
    "reduce": (lambda c: c.reduce(1), ["reduce (binomial)"]),
    "allreduce": (lambda c: c.allreduce(1), ["allreduce (reduce_bcast)", ["reduce (binomial)"], ["bcast (binomial)"]]),
    "scan": (lambda c: c.scan(1), ["scan (recursive_doubling)"]),
    "exscan": (lambda c: c.exscan(1), ["exscan (recursive_doubling)"]),
}


REQUESTED = {"bcast": "binomial", "allgather": "bruck", "alltoall": "pairwise"}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_objects_is_one_region(backend: Any, name: str) -> None:
    """On every rank, around its parts; all messages belong to the call of the program."""
    call, regions = CALLS[name]
    trace = traced(lambda comm: (call(comm), call(comm)), 3, backend, algorithms=REQUESTED)
    for rank in range(3):
        assert nested(trace, rank) == [regions, regions]
    assert {trace.calls[one.call].name for one in trace.regions} == {name}
    assert {trace.calls[one.call].name for one in trace.transfers} == {name}
    outermost = [one for one, part in zip(trace.regions, is_nested(trace.region_rows), strict=True) if not part]
    assert [one.parent for one in outermost] == [-1] * 6
    assert len(Counter((one.context, one.number) for one in outermost)) == 2  # the same on all ranks


def test_a_call_between_groups_is_one_region_too() -> None:
    """Except for idle ranks of the root's group."""

    def main(comm: Any) -> None:
        side = int(comm.rank > 1)
        inter = comm.Split(side).Create_intercomm(0, comm, 0 if side else 2)
        root = 0 if side else MPI.PROC_NULL if comm.rank else MPI.ROOT
        inter.bcast(1, root)
        inter.reduce(1, root=root)
        inter.allreduce(1)
        inter.allgather(1)

    trace = traced(main, 5, algorithms={"inter:bcast": "wmpi", "inter:allgather": "full_duplex"})
    without_root = [
        ["allreduce (wmpi)", ["reduce (binomial)"], ["bcast (binomial)"]],
        ["allgather (full_duplex)", ["allgather (full_duplex)"], ["allgatherv (full_duplex)"]],
    ]
    creation = [["split"], ["create_intercomm"], ["create_intercomm"]]
    assert nested(trace, 1) == [*creation, *without_root]
    for rank in 0, 2, 3, 4:
        leaders = [["create_intercomm"]] if rank in (0, 2) else []
        assert nested(trace, rank) == [
            *creation,
            *leaders,
            ["bcast (wmpi)", ["bcast (wmpi)"], ["bcast (wmpi)"]],
            ["reduce (wmpi)"] if rank == 0 else ["reduce (wmpi)", ["reduce (binomial)"]],
            *without_root,
        ]


def test_missing_counts_are_gathered_inside() -> None:
    """For a Reduce_scatter."""
    requested = {"allgather": "bruck", "reduce_scatter": "recursive_halving"}
    trace = traced(lambda comm: comm.Reduce_scatter(np.ones(3), np.ones(1)), 3, algorithms=requested)
    inside = [["allgather (bruck)"], ["reduce_scatter (recursive_halving)"]]
    assert [nested(trace, rank) for rank in range(3)] == [[["reduce_scatter (recursive_halving)", *inside]]] * 3


def test_neighbors_exchange_objects_in_a_region() -> None:
    """Like buffers."""
    trace = traced(lambda comm: comm.Create_cart([comm.size]).neighbor_alltoall([1, 2]), 3)
    assert [nested(trace, rank) for rank in range(3)] == [[["create_cart"], ["neighbors"]]] * 3


def test_a_call_has_the_algorithm_of_its_pickles() -> None:
    """For two algorithms that are selected by size."""
    trace = traced(lambda comm: comm.bcast("x" * 20_000), 8, algorithms="mpich")
    assert nested(trace, 3) == [
        [
            "bcast (scatter_recursive_doubling_allgather)",
            ["bcast (binomial)"],
            ["bcast (scatter_recursive_doubling_allgather)"],
        ]
    ]


def test_a_call_that_fails_ends_its_region() -> None:
    """Later calls are not inside it."""

    def main(comm: Any) -> None:
        with pytest.raises(ValueError, match="support objects"):
            comm.alltoall([1] * comm.size)
        comm.Barrier()

    trace = traced(main, 2, algorithms={"alltoall": "bruck"})
    assert nested(trace, 0) == [["alltoall"], ["barrier (dissemination)"]]
    assert all(one.end < float("inf") for one in trace.regions)


def test_a_summary_counts_calls() -> None:
    """Not their parts; calls in a phase count."""

    def main(comm: Any) -> None:
        with fakempi.region("phase"):
            for _ in range(5):
                comm.allreduce(comm.rank)
        comm.bcast(1)

    trace = traced(main, 64, algorithms=REQUESTED)
    lines = [line.split() for line in summary(trace).plain.splitlines()[-3:]]
    assert [words[:-3] for words in lines] == [
        ["phase", "64"], ["allreduce", "(reduce_bcast)", "320"], ["bcast", "(binomial)", "64"],
    ]  # fmt: skip
    assert is_nested(trace.region_rows).sum() == 2 * 320 + 2 * 64


def test_waiting_in_a_call_is_attributed_to_that_call() -> None:
    """For the last rank: once, not again in its parts."""

    def main(comm: Any) -> None:
        compute(10 * comm.rank)
        comm.allgather(1)

    trace = traced(main, 2)
    states = {state: found for state, found in trace.measure().waits.items() if found[0]}
    assert {state: seconds for state, (seconds, _) in states.items()} == {"wait at N x N": 10}
    assert [trace.calls[call].name for call in states["wait at N x N"][1]] == ["allgather"]
