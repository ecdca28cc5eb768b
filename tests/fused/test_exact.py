"""A fused run equals an emulated run: results, clocks, counters, findings, and the order in which ranks continue."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, Hockney
from fakempi.extensions.fused import reductions, rendezvous
from fakempi.mpi.datatypes.padding import value_bytes
from tests.helpers.breadth import breadth, examples

COSTS = {
    "buffered": Hockney(),
    "unbuffered": Hockney(eager_limit=0),
    "long ones unbuffered": Hockney(t_s=1e-6, t_w=3e-9, eager_limit=16),
    "combining takes time": Hockney(compute_per_byte=1e-8),
    "unbuffered, combining takes time": Hockney(eager_limit=0, compute_per_byte=1e-9),
}
STEPS = (
    "Barrier", "Allreduce", "in place", "Allgather", "Alltoall", "Reduce_scatter_block", "ring", "ring around a barrier",
    "wildcard", "Iallreduce", "Bcast", "dup", "reversed", "two ranks", "poll",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _small_calls_are_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of few ranks are fused too."""
    monkeypatch.setattr(rendezvous, "FEWEST", 2)


def program(comm: Any, steps: list[tuple[str, list[int]]], log: list[Any]) -> list[Any]:
    """Execute steps of all kinds; before each step, a rank computes for its skew, in units of 0.5 microseconds."""
    rank, p, found = comm.rank, comm.size, []
    mine, others = np.array([1 / (rank + 3), rank]), np.zeros(2 * p)
    for kind, skews in steps:
        fakempi.compute(5e-7 * skews[rank % len(skews)])
        log.append((rank, kind))
        _step(comm, kind, rank, p, mine, others)
        found.append((others.tolist(), MPI.Wtime()))
    return found


def _step(comm: Any, kind: str, rank: int, p: int, mine: Any, others: Any) -> None:
    if kind == "Barrier":
        comm.Barrier()
    elif kind == "Allreduce":
        comm.Allreduce(mine, others[:2])
    elif kind == "in place":
        comm.Allreduce(MPI.IN_PLACE, others, MPI.SUM)
    elif kind == "Allgather":
        comm.Allgather(mine, others)
    elif kind == "Alltoall":
        comm.Alltoall(np.arange(2.0 * p) * (rank + 1), others)
    elif kind == "Reduce_scatter_block":
        comm.Reduce_scatter_block(np.arange(2.0 * p) / (rank + 1), others[:2])
    elif kind.startswith("ring"):
        requests = [comm.Irecv(others[:2], (rank - 1) % p, 3), comm.Isend(mine, (rank + 1) % p, 3)]
        if "barrier" in kind:
            comm.Barrier()
        MPI.Request.Waitall(requests)
    elif kind == "wildcard":
        status = MPI.Status()
        for i in range(p - 1 if rank == 0 else 0):
            comm.Recv(np.zeros(2), MPI.ANY_SOURCE, 5, status)
            others[i] = status.source
        if rank:
            comm.Send(mine, 0, 5)
    elif kind == "Iallreduce":
        request = comm.Iallreduce(mine, others[:2])
        comm.Barrier()
        request.Wait()
    elif kind == "Bcast":
        comm.Bcast(others[:2], p - 1)
    elif kind == "dup":
        other = comm.Dup()
        other.Allreduce(mine, others[:2])
        comm.Barrier()
        other.Free()
    elif kind == "reversed":
        other = comm.Split(0, -rank)
        other.Allgather(mine, others)
        other.Barrier()
        other.Free()
    elif kind == "two ranks" and rank < 2 <= p:
        comm.Sendrecv(mine, 1 - rank, 7, others[:2], 1 - rank, 7)
    elif kind == "poll":
        request = comm.Irecv(others[:2], (rank - 1) % p, 9)
        comm.Send(mine, (rank + 1) % p, 9)
        while not request.Test():
            fakempi.compute(1e-6)


def record(p: int, steps: list[tuple[str, list[int]]], fused: Any, **options: Any) -> tuple[Any, ...]:
    """Return results, clocks, counters, findings, and the order in which ranks continue."""
    log: list[Any] = []
    run = fakempi.run(program, p, steps, log, fused=fused, **options)
    return run.returns, run.clocks, run.sent, run.received, [str(finding) for finding in run.findings], log


def programs(longest: int, latest: int, most_skews: int) -> st.SearchStrategy[list[tuple[str, list[int]]]]:
    """Lists of up to `longest` steps, each with up to `most_skews` skews of at most `latest`, which ranks use in turn."""
    skews = st.lists(st.integers(0, latest), min_size=1, max_size=most_skews)
    return st.lists(st.tuples(st.sampled_from(STEPS), skews), min_size=1, max_size=longest)


@settings(max_examples=examples(15))
@given(st.integers(2, 9), st.sampled_from(sorted(COSTS)), programs(5, 5, 4))
def test_any_program_is_the_same_fused(p: int, cost: str, steps: list[tuple[str, list[int]]]) -> None:
    """Collectives, messages, computing, requests, wildcards, other communicators, in any order and out of step."""
    assert record(p, steps, "auto", cost=COSTS[cost]) == record(p, steps, "never", cost=COSTS[cost])


@pytest.mark.slow
@settings(max_examples=breadth(100, 200))
@given(st.integers(2, 17), st.sampled_from(sorted(COSTS)), programs(9, 9, 7))
def test_long_programs_are_the_same_fused(p: int, cost: str, steps: list[tuple[str, list[int]]]) -> None:
    """The same for more ranks and steps."""
    assert record(p, steps, "auto", cost=COSTS[cost]) == record(p, steps, "never", cost=COSTS[cost])


@pytest.mark.quick(3)
@pytest.mark.parametrize("cost", sorted(COSTS))
def test_both_backends_give_the_same_fused(cost: str, backend: Any) -> None:
    """Every kind of step twice: with ranks that start at the same time, and at different times."""
    steps = [(kind, skews) for kind in STEPS for skews in ([0], [0, 3, 1])]
    emulated = record(6, steps, "never", cost=COSTS[cost])
    assert record(6, steps, "auto", cost=COSTS[cost], backend=backend) == emulated


COMBINED = {"SUM": "dfegDiB", "PROD": "dfegDi", "MAX": "dfegiB", "MIN": "dfi", "BXOR": "iB", "LAND": "iB?"}


@pytest.mark.quick(10)
@pytest.mark.parametrize(
    ("op", "dtype"), [(getattr(MPI, op), dtype) for op, dtypes in COMBINED.items() for dtype in dtypes]
)
def test_results_are_the_same_bit_for_bit(op: Any, dtype: str) -> None:
    """Also where rounding depends on the order of operands, and with zeros of both signs and NaNs."""

    def main(comm: Any, special: bool) -> Any:
        draw = np.random.default_rng(comm.rank)
        mine = (draw.standard_normal(33) * 10 if dtype in "dfegD" else draw.integers(0, 99, 33)).astype(dtype)
        if special:
            mine[:8] = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e30, 0.0])[
                (np.arange(8) + comm.rank) % 8
            ]
        whole, block = np.zeros_like(mine), np.zeros(3, dtype)
        comm.Allreduce(mine, whole, op)
        if comm.size <= 11 and 33 % comm.size == 0:
            comm.Reduce_scatter_block(mine, block[: 33 // comm.size], op)
        return value_bytes(whole), value_bytes(block)

    for p, special in ((8, False), (8, dtype in "df"), (16, False)):
        assert (
            fakempi.run(main, p, special, fused="auto").returns == fakempi.run(main, p, special, fused="never").returns
        )


ALGORITHMS: list[dict[str, str]] = [
    {"allreduce": "ring", "alltoall": "spread", "reduce_scatter_block": "ring", "allgather": "ring", "allgatherv": "bruck"},
    {"allreduce": "rabenseifner", "alltoall": "pairwise", "reduce_scatter_block": "recursive_halving", "allgather": "bruck"},
]


def combining(comm: Any, n: int, skews: list[int], op: Any, dtype: str) -> Any:
    """Make every kind of call with n elements for each rank, in place and not; ranks are late by multiples of the skews."""
    rank, p = comm.rank, comm.size
    found: list[Any] = []
    draw = np.random.default_rng(rank)
    mine = (draw.standard_normal(n * p) * 10).astype(dtype)
    whole = np.zeros(n * p, dtype)
    for late in skews:
        fakempi.compute(5e-7 * late * (rank % 3))
        comm.Allreduce(mine[:n], whole[:n], op)
        found.append(whole.tobytes())
        comm.Allreduce(MPI.IN_PLACE, whole, op)
        found.append(whole.tobytes())
        comm.Reduce_scatter_block(mine, whole[:n], op)
        comm.Alltoall(mine, whole)
        found.append(whole.tobytes())
        comm.Alltoall(MPI.IN_PLACE, whole)
        comm.Allgather(mine[:n], whole)
        found.append((whole.tobytes(), MPI.Wtime()))
        whole[...] = mine
        sizes = [1 + (n + r) % 5 for r in range(p)]
        together = np.zeros(sum(sizes))
        comm.Allgatherv(np.full(sizes[rank], rank + 0.5), [together, sizes])
        comm.Allgatherv(MPI.IN_PLACE, [together, sizes])
        found.append((together.tobytes(), comm.allgather("x" * (rank * n % 4)), MPI.Wtime()))
    return found


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.sampled_from(ALGORITHMS), st.integers(2, 10), st.sampled_from([1, 2, 3, 7, 16, 40]), st.sampled_from(sorted(COSTS)),
    st.lists(st.integers(0, 3), min_size=1, max_size=3), st.sampled_from(["SUM", "PROD", "MAX"]), st.sampled_from("df"),
)  # fmt: skip
def test_each_algorithm_is_the_same_fused(
    algorithms: dict[str, str], p: int, n: int, cost: str, skews: list[int], op: str, dtype: str
) -> None:
    """Results bit for bit, clocks and counters: vectors that are cut evenly or not, sent buffered or not."""
    records = []
    for fused in ("auto", "never"):
        run = fakempi.run(
            combining, p, n, skews, getattr(MPI, op), dtype, fused=fused, cost=COSTS[cost], algorithms=algorithms
        )
        records.append((run.returns, run.clocks, run.sent, run.received))
    assert records[0] == records[1]


def test_long_vectors_are_combined_a_few_columns_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors of all ranks need not fit in memory at once."""
    monkeypatch.setattr(reductions, "MOST_BYTES", 1000)
    for algorithms in ALGORITHMS:
        returns = [
            fakempi.run(combining, 8, 37, [0], MPI.SUM, "d", fused=fused, algorithms=algorithms).returns
            for fused in ("auto", "never")
        ]
        assert returns[0] == returns[1]


@pytest.mark.parametrize("algorithm", ["bine", "pat", "swing"])
def test_phantoms_are_combined_in_the_same_parts(algorithm: str) -> None:
    """If an algorithm combines block by block, and that takes time, the clock has the rounding errors of each addition."""

    def main(comm: Any) -> None:
        comm.Reduce_scatter_block(fakempi.phantom(40 * comm.size, 8), fakempi.phantom(40, 8))

    cost = "hockney:t_w=3e-9,compute_per_byte=1e-8"
    for p in (5, 13):
        runs = [
            fakempi.run(main, p, cost=cost, algorithms={"reduce_scatter_block": algorithm}, fused=fused)
            for fused in ("auto", "never")
        ]
        assert runs[0].clocks == runs[1].clocks
