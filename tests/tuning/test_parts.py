"""Parts that were not requested come from the table, in runs and in claims; nodes and costs come from the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, find
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import make_case
from fakempi.apps.compare.jobs import TimingJob
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.errors import RankError
from fakempi.mpi.buffers.phantom import phantom
from fakempi.tuning import Facts, NodesOfRanks, Sizes, resolve
from fakempi.tuning.parts import BY_TABLE, facts_of

EXACT = Hockney(8.0, 0.5, eager_limit=0)
COMPOSED = [
    each for each in CATALOGUE
    if each.kind in ("intra", "inter") and any(isinstance(part, Algorithm) for part in each.parameters.values())
]  # fmt: skip


def choice_for(name: str, **parameters: Any) -> Any:
    """Return the choice for an allgather between groups."""
    return resolve({"inter:allgather": (name, parameters)}).choose(Facts("allgather", 3, 8, kind="inter", q=2, nbytes_b=8))


@pytest.mark.quick(6)
@pytest.mark.parametrize("algorithm", COMPOSED, ids=repr)
@given(data=st.data())
@settings(max_examples=5)
def test_claims_and_runs_use_the_same_parts(algorithm: Algorithm, data: st.DataObject) -> None:
    """Times are exactly equal, for short and long messages, equal and unequal blocks."""
    p = data.draw(st.integers(1, 6))
    q = data.draw(st.integers(1, 6)) if algorithm.kind == "inter" else 0
    nbytes = data.draw(st.sampled_from([1, 24, 400])) * max(q, 1)
    spread = DISTRIBUTIONS[data.draw(st.sampled_from(["regular", "spike", "half"]))]
    case = make_case(algorithm.operation, p, q, nbytes, spread)
    if "first" in algorithm.parameters:
        case = Case(**{**vars(case), "parameters": {"first": True}})
    found = TimingJob(algorithm, case, EXACT, measure=True, key=(algorithm.kind, algorithm.operation)).run()
    assert not found.differ
    assert found.parts or found.refused


def test_a_requested_part_is_used() -> None:
    """The other parts come from the table."""
    parameters = choice_for("full_duplex", allgather="ring").parameters
    assert parameters["allgather"] is find("allgather", "ring")
    assert parameters["allgatherv"].name == BY_TABLE


def test_a_requested_segment_size_keeps_the_default_bcast() -> None:
    """The table's choice for the bcast would ignore the segment size."""
    assert "bcast" not in choice_for("root_gathering_best", segment_bytes=100).parameters
    assert choice_for("root_gathering_best").parameters["bcast"].name == BY_TABLE


def test_parts_that_an_algorithm_is_named_after_are_kept() -> None:
    """The ring of root_gathering_ring, and MPICH's parts of root_gathering_mpich, with any table."""
    facts = Facts("allgatherv", 8, kind="inter", q=8)
    ring = resolve({"inter:allgatherv": "root_gathering_ring"}).choose(facts).parameters
    assert "gatherv" not in ring
    by_mpich = choice_for("root_gathering_mpich").parameters["bcast"]
    binomial, scattered = find("bcast", "binomial"), find("bcast", "scatter_recursive_doubling_allgather")
    for nbytes, part in ((12288, binomial), (65536, scattered)):
        assert by_mpich.time(Case(16, nbytes), 8, 1) == part.time(Case(16, nbytes), 8, 1)


def test_a_part_that_does_not_fit_raises() -> None:
    """No message is sent."""

    def program(comm: fakempi.MPI.Intracomm) -> None:
        local = comm.Split(comm.rank // 3)
        assert isinstance(local, fakempi.MPI.Intracomm)
        inter = local.Create_intercomm(0, comm, 3 if comm.rank < 3 else 0)
        inter.Allgather(np.zeros(1000), np.zeros(3000))

    with pytest.raises(RankError, match="recursive_doubling was requested, but p = 3 is not a power of two"):
        fakempi.run(program, 6, algorithms={"allgather": "recursive_doubling", "inter:allgather": "full_duplex"})


@pytest.mark.parametrize("nbytes", [8, 4096])
def test_calls_take_the_time_that_compare_shows(nbytes: int, backend: Any) -> None:
    """Both use the default table."""

    def program(comm: fakempi.MPI.Intracomm) -> None:
        local = comm.Split(comm.rank // 5)
        assert isinstance(local, fakempi.MPI.Intracomm)
        inter = local.Create_intercomm(0, comm, 5 if comm.rank < 5 else 0)
        inter.Allgather(phantom(nbytes), phantom(nbytes * (3 if comm.rank < 5 else 5)))

    case = Case(5, nbytes, q=3, m_b=nbytes)
    run = fakempi.run(program, 8, cost=EXACT, backend=backend)
    assert run.time == TimingJob(None, case, EXACT, key=("inter", "allgather")).run().claimed


# -- sizes and nodes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "limit"), [(None, 0.037), ("mpich", 0.037)])
def test_one_long_block_does_not_stop_the_ring(table: str | None, limit: float) -> None:
    """32 MB from one rank to 32 ranks: 1,040 ms with whole blocks, 36.7 ms with segments."""
    counts = [32_000_000, *[0] * 31]

    def program(comm: fakempi.MPI.Intracomm) -> None:
        comm.Allgatherv(phantom(counts[comm.rank]), [phantom(sum(counts)), counts])

    assert fakempi.run(program, 32, cost=Hockney(2e-6, 1e-9, eager_limit=0), algorithms=table).time < limit


def test_nodes_come_from_the_machine() -> None:
    """A cluster ring gets the nodes of the cost model, unless nodes are requested."""
    placement = [rank % 4 for rank in range(12)]
    cost = TwoLevel(placement=placement, eager_limit=0)

    def program(comm: fakempi.MPI.Intracomm) -> None:
        comm.Allgather(phantom(100_000), phantom(1_200_000))

    named, given, flat, default = (
        fakempi.run(program, 12, cost=cost, algorithms=algorithms).time
        for algorithms in (
            {"allgather": "cluster_ring"},
            {"allgather": ("cluster_ring", {"nodes": placement})},
            {"allgather": ("cluster_ring", {"nodes": 1})},
            None,
        )
    )
    assert named == given == default < flat / 2


def test_placements_are_compared_by_identity() -> None:
    """The placement is None if nodes do not matter."""
    assert NodesOfRanks.of(["a", "b", "a"]) is not None
    assert [NodesOfRanks.of(names) for names in ([0, 0], [0, 1], [0])] == [None, None, None]


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=9))
def test_runs_of_sizes_bound_the_time_of_brucks_algorithm(counts: list[int]) -> None:
    """Its rounds and the longest runs of blocks."""
    sizes = Sizes.of(counts)
    time = find("allgatherv", "bruck").time(Case(len(counts), counts=tuple(counts)), 0, 1)
    assert time is not None
    assert time <= sizes.runs
    assert (sizes.total, sizes.largest, sizes.smallest) == (sum(counts), max(counts), min(counts))


def test_the_facts_of_a_case_equal_those_of_a_call() -> None:
    """Without facts that some ranks do not know."""
    assert facts_of("intra", "gatherv", Case(3, counts=(1, 2, 3))) == Facts("gatherv", 3)
    facts = facts_of("intra", "allgatherv", Case(3, counts=(1, 2, 3), itemsize=4))
    assert facts == Facts("allgatherv", 3, 24, sizes=Sizes.of([4, 8, 12]))
    reduced = facts_of("inter", "allreduce", Case(3, 40, q=2, m_b=40, itemsize=4))
    assert reduced == Facts("allreduce", 3, 40, 10, kind="inter", q=2, nbytes_b=40)


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("bcast", "multi_lane"),
        ("bcast", "two_level"),
        ("allreduce", "two_level"),
        ("allgather", "multi_lane"),
        ("barrier", "two_level"),
    ],
)
def test_an_algorithm_for_nodes_is_not_a_part_of_itself(operation: str, name: str) -> None:
    """Its parts of the same operation come from the table without the request, and its nodes from the cost model."""
    cost = fakempi.TwoLevel(3, eager_limit=0)

    def main(comm: Any) -> None:
        data, result = np.full(1000, 1.0), np.empty(1000)
        {
            "bcast": lambda: comm.Bcast(data),
            "allreduce": lambda: comm.Allreduce(data, result),
            "allgather": lambda: comm.Allgather(data, np.empty(6000)),
            "barrier": lambda: comm.Barrier(),
        }[operation]()

    requested = fakempi.run(main, 6, cost=cost, algorithms={operation: name})
    assert requested.time == fakempi.run(main, 6, cost=cost, algorithms={operation: (name, {"nodes": 3})}).time
    assert requested.time != fakempi.run(main, 6, cost=cost, algorithms={operation: (name, {"nodes": 1})}).time
