"""Parts that nobody asked for are by the table, emulated and on paper; nodes and costs come from the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, find
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import make_case
from fakempi.compare.jobs import Job
from fakempi.errors import RankError
from fakempi.mpi.buffers.phantom import phantom
from fakempi.tuning import Facts, Placement, Sizes, resolve
from fakempi.tuning.parts import BY_TABLE, facts_of
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.two_level import TwoLevel

EXACT = Hockney(8.0, 0.5, eager_limit=0)
COMPOSED = [
    each for each in CATALOGUE
    if each.kind in ("intra", "inter") and any(isinstance(part, Algorithm) for part in each.parameters.values())
]  # fmt: skip


def asked(name: str, **parameters: Any) -> Any:
    """What a call gets by an allgather between groups."""
    return resolve({"inter:allgather": (name, parameters)}).choose(Facts("allgather", 3, 8, kind="inter", q=2, nbytes_b=8))


@pytest.mark.parametrize("algorithm", COMPOSED, ids=repr)
@given(data=st.data())
def test_claims_and_runs_take_the_same_parts(algorithm: Algorithm, data: st.DataObject) -> None:
    """Exactly the same time, for short and long messages, even blocks and uneven ones."""
    p = data.draw(st.integers(1, 6))
    q = data.draw(st.integers(1, 6)) if algorithm.kind == "inter" else 0
    nbytes = data.draw(st.sampled_from([1, 24, 400])) * max(q, 1)
    spread = DISTRIBUTIONS[data.draw(st.sampled_from(["regular", "spike", "half"]))]
    case = make_case(algorithm.operation, p, q, nbytes, spread)
    if "first" in algorithm.parameters:
        case = Case(**{**vars(case), "parameters": {"first": True}})
    found = Job(algorithm, case, EXACT, measure=True, key=(algorithm.kind, algorithm.operation)).do()
    assert not found.differ
    assert found.parts or found.refused


def test_a_part_that_is_asked_for_is_taken() -> None:
    """And the others are by the table."""
    parameters = asked("full_duplex", allgather="ring").parameters
    assert parameters["allgather"] is find("allgather", "ring")
    assert parameters["allgatherv"].name == BY_TABLE


def test_who_says_how_to_cut_means_the_part_in_the_file() -> None:
    """It would be lost on a part that cuts as it likes."""
    assert "bcast" not in asked("root_gathering_best", segment_bytes=100).parameters
    assert asked("root_gathering_best").parameters["bcast"].name == BY_TABLE


def test_a_name_may_promise_a_part() -> None:
    """Gathering around a ring, or all as MPICH does it, whichever table is in use."""
    facts = Facts("allgatherv", 8, kind="inter", q=8)
    ring = resolve({"inter:allgatherv": "root_gathering_ring"}).choose(facts).parameters
    assert "gatherv" not in ring
    by_mpich = asked("root_gathering_mpich").parameters["bcast"]
    binomial, scattered = find("bcast", "binomial"), find("bcast", "scatter_recursive_doubling_allgather")
    for nbytes, part in ((12288, binomial), (65536, scattered)):
        assert by_mpich.time(Case(16, nbytes), 8, 1) == part.time(Case(16, nbytes), 8, 1)


def test_a_part_that_the_table_has_no_answer_to_is_refused() -> None:
    """Who asks for an algorithm that does not fit as a part is told so, and nothing is sent."""

    def program(comm: fakempi.MPI.Intracomm) -> None:
        inter = comm.Split(comm.rank // 3).Create_intercomm(0, comm, 3 if comm.rank < 3 else 0)
        inter.Allgather(np.zeros(1000), np.zeros(3000))

    with pytest.raises(RankError, match="recursive_doubling was asked for, but p = 3 is not a power of two"):
        fakempi.run(program, 6, algorithms={"allgather": "recursive_doubling", "inter:allgather": "full_duplex"})


@pytest.mark.parametrize("nbytes", [8, 4096])
def test_a_call_takes_what_compare_says(nbytes: int, carrier: str) -> None:
    """The default of both is one."""

    def program(comm: fakempi.MPI.Intracomm) -> None:
        inter = comm.Split(comm.rank // 5).Create_intercomm(0, comm, 5 if comm.rank < 5 else 0)
        inter.Allgather(phantom(nbytes), phantom(nbytes * (3 if comm.rank < 5 else 5)))

    case = Case(5, nbytes, q=3, m_b=nbytes)
    run = fakempi.run(program, 8, cost=EXACT, carrier=carrier)
    assert run.time == Job(None, case, EXACT, key=("inter", "allgather")).do().claimed


# -- sizes and nodes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "limit"), [(None, 0.037), ("mpich", 0.037)])
def test_one_long_block_does_not_stop_the_ring(table: str | None, limit: float) -> None:
    """32 MB of one rank to 32: 1,040 ms by whole blocks, 36.7 in pieces."""
    counts = [32_000_000, *[0] * 31]

    def program(comm: fakempi.MPI.Intracomm) -> None:
        comm.Allgatherv(phantom(counts[comm.rank]), [phantom(sum(counts)), counts])

    assert fakempi.run(program, 32, cost=Hockney(2e-6, 1e-9, eager_limit=0), algorithms=table).time < limit


def test_nodes_come_from_the_machine() -> None:
    """Asked for without them, a ring through the nodes knows where ranks are; what is given counts."""
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


def test_a_placement_is_one_for_all_who_are_alike() -> None:
    """Compared by identity, and None where it makes no difference."""
    assert Placement.of(["a", "b", "a"]) is not None
    assert [Placement.of(names) for names in ([0, 0], [0, 1], [0])] == [None, None, None]


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=9))
def test_sizes_say_what_brucks_algorithm_takes_at_most(counts: list[int]) -> None:
    """Its rounds and the longest runs."""
    sizes = Sizes.of(counts)
    time = find("allgatherv", "bruck").time(Case(len(counts), counts=tuple(counts)), 0, 1)
    assert time is not None
    assert time <= sizes.runs
    assert (sizes.total, sizes.largest, sizes.smallest) == (sum(counts), max(counts), min(counts))


def test_the_facts_of_a_case_are_those_of_a_call() -> None:
    """Without what not all ranks would know."""
    assert facts_of("intra", "gatherv", Case(3, counts=(1, 2, 3))) == Facts("gatherv", 3)
    facts = facts_of("intra", "allgatherv", Case(3, counts=(1, 2, 3), itemsize=4))
    assert facts == Facts("allgatherv", 3, 24, sizes=Sizes.of([4, 8, 12]))
    reduced = facts_of("inter", "allreduce", Case(3, 40, q=2, m_b=40, itemsize=4))
    assert reduced == Facts("allreduce", 3, 40, 10, kind="inter", q=2, nbytes_b=40)
