"""Rings on clusters of multi-core nodes, and the blocked ring as a simulation of one (Träff et al. 2008)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, UnsupportedCaseError, find
from collectives.patterns.pipeline import PipelineSchedule
from collectives.simulation import irregular
from collectives.tools.nodes import Nodes, Ranking
from collectives.verification.choices import node_choices
from fakempi import Hockney, TwoLevel
from tests.collectives.traced import allgatherv, gathered, messages
from tests.helpers.breadth import examples

RING, CLUSTER = find("allgather", "ring"), find("allgather", "cluster_ring")
BLOCKED, CLUSTER_BLOCKED = find("allgatherv", "blocked_ring"), find("allgatherv", "cluster_blocked_ring")

counts_of_ranks = st.lists(st.sampled_from([0, 0, 1, 2, 3, 7, 20]), min_size=1, max_size=9).map(tuple)


def node_of(nodes: Nodes, p: int) -> Sequence[object]:
    """The node of each rank."""
    return [rank // nodes for rank in range(p)] if isinstance(nodes, int) else nodes


@st.composite
def clusters(draw: st.DrawFn) -> tuple[tuple[int, ...], Nodes]:
    """Counts, and the placement of the ranks: even and uneven nodes, in order and mixed."""
    counts = draw(counts_of_ranks)
    drawn = st.lists(st.sampled_from("abc"), min_size=len(counts), max_size=len(counts)).map(tuple)
    nodes = draw(st.one_of(st.sampled_from(node_choices(len(counts))), drawn))
    return counts, nodes


@given(clusters(), st.integers(1, 9))
@settings(max_examples=examples(40), deadline=None)
def test_one_process_of_a_node_sends_to_others_and_one_receives(cluster: tuple[tuple[int, ...], Nodes], block: int) -> None:
    """The same process in all rounds, and only to the next node."""
    counts, nodes = cluster
    p, where = len(counts), node_of(nodes, len(counts))
    case = Case(p, counts=counts, parameters={"nodes": nodes, "block_bytes": block})
    off = [(t.source, t.dest) for transfers in CLUSTER_BLOCKED.schedule_for(case) or () for t in transfers]
    off = [(source, dest) for source, dest in off if where[source] != where[dest]]
    assert len({source for source, _ in off}) == len({where[source] for source, _ in off})
    assert len({dest for _, dest in off}) == len({where[dest] for _, dest in off})
    assert len({(where[source], where[dest]) for source, dest in off}) == len({where[source] for source, _ in off})


@given(clusters(), st.integers(1, 9))
@settings(max_examples=examples(30), deadline=None)
def test_a_node_never_receives_a_block_that_it_has(cluster: tuple[tuple[int, ...], Nodes], block: int) -> None:
    """Every node receives exactly the bytes that it lacks, once."""
    counts, nodes = cluster
    where = node_of(nodes, len(counts))
    run = allgatherv(CLUSTER_BLOCKED, counts, trace=True, nodes=nodes, block_bytes=block)
    taken: Counter[object] = Counter()
    for source, dest, nbytes, *_ in messages(run):
        if where[source] != where[dest]:
            taken[where[dest]] += nbytes
    for node in set(where):
        assert taken[node] == sum(count for count, at in zip(counts, where, strict=True) if at != node)


@pytest.mark.parametrize("backend", ["auto", "threads"])
@given(cluster=clusters(), block=st.integers(1, 9))
@settings(max_examples=12, deadline=None)
def test_results_and_times_on_both_backends(backend: Any, cluster: tuple[tuple[int, ...], Nodes], block: int) -> None:
    """numpy's result in exactly the claimed time."""
    counts, nodes = cluster
    run = allgatherv(CLUSTER_BLOCKED, counts, t_s=5, backend=backend, nodes=nodes, block_bytes=block)
    case = Case(len(counts), counts=counts, parameters={"nodes": nodes, "block_bytes": block})
    assert run.time == CLUSTER_BLOCKED.time(case, 5, 1)


@given(cluster=clusters(), block=st.integers(1, 9))
@settings(max_examples=examples(25), deadline=None)
def test_the_schedule_has_the_transfers_of_the_emulator(cluster: tuple[tuple[int, ...], Nodes], block: int) -> None:
    """Source, destination, begin and end: the data of a picture where a run would take too long."""
    counts, nodes = cluster
    run = allgatherv(CLUSTER_BLOCKED, counts, t_s=5, trace=True, nodes=nodes, block_bytes=block)
    walked = [
        transfer
        for rounds in PipelineSchedule(counts, block, nodes, 1).transfers(5.0, 1.0)
        for transfer in zip(*(part.tolist() for part in rounds), strict=True)
    ]
    emulated = [(source, dest, start, end) for source, dest, _, start, end in messages(run)]
    assert sorted(walked) == sorted(emulated)


@given(counts_of_ranks, st.integers(1, 9))
@settings(max_examples=examples(15), deadline=None)
def test_one_rank_per_node_or_one_node_gives_the_blocked_ring(counts: tuple[int, ...], block: int) -> None:
    """The same messages at the same times."""
    plain = messages(allgatherv(BLOCKED, counts, t_s=5, trace=True, block_bytes=block))
    for nodes in (1, len(counts)):
        run = allgatherv(CLUSTER_BLOCKED, counts, t_s=5, trace=True, nodes=nodes, block_bytes=block)
        assert messages(run) == plain


@pytest.mark.parametrize("p", [1, 2, 3, 5, 8])
def test_with_one_block_each_the_cluster_rings_are_equal(p: int) -> None:
    """The regular ring is the irregular one with equal blocks; with one rank per node it is the plain ring."""
    for nodes in node_choices(p):
        regular = gathered(CLUSTER, Case(p, 7, parameters={"nodes": nodes}), trace=True)
        blocks = allgatherv(CLUSTER_BLOCKED, (7,) * p, trace=True, nodes=nodes, block_bytes=7)
        assert messages(regular) == messages(blocks)
    alone = gathered(CLUSTER, Case(p, 7, parameters={"nodes": 1}), trace=True)
    assert messages(alone) == messages(gathered(RING, Case(p, 7), trace=True))


@given(counts=counts_of_ranks, block=st.integers(1, 9))
@settings(max_examples=examples(20), deadline=None)
def test_the_simulation_and_the_direct_code_send_the_same_messages(counts: tuple[int, ...], block: int) -> None:
    """A process simulates a node of ceil(m_i / B) processes: source, destination, bytes, order, begin and end agree."""
    simulated = irregular(CLUSTER)
    direct = allgatherv(BLOCKED, counts, t_s=5, trace=True, block_bytes=block)
    assert messages(allgatherv(simulated, counts, t_s=5, trace=True, block_bytes=block)) == messages(direct)


def test_a_simulation_needs_an_allgather_with_one_port_per_node() -> None:
    """Allgathers in which several processes of a node send to others at once, or that need scratch memory, are rejected."""
    for name, reason in (
        ("recursive_doubling", r"rank 0 would have 2 sends and 2 receives at the same time: the allgather must let "),
        ("bruck", r"an allgather that needs scratch memory cannot be simulated"),
    ):
        with pytest.raises(fakempi.RankError, match=reason):
            allgatherv(irregular(find("allgather", name)), (2, 2), block_bytes=1)


def test_a_simulated_plain_ring_sends_a_node_its_own_blocks() -> None:
    """The plain ring ignores nodes and sends a process its own blocks: the cost that the cluster ring avoids."""
    counts = (6, 2, 2)
    plain = allgatherv(irregular(RING), counts, block_bytes=2)
    improved = allgatherv(irregular(CLUSTER), counts, block_bytes=2)
    assert [nbytes for _, nbytes in improved.received] == [4, 8, 8]
    assert [nbytes for _, nbytes in plain.received] == [8, 8, 8]


def test_cyclic_placement_needs_the_virtual_ranking() -> None:
    """6 nodes of 4, with rank r on node r mod 6: the plain ring queues for network ports, the cluster ring does not."""
    p, m = 24, 1000
    where = tuple(rank % 6 for rank in range(p))
    cost = TwoLevel(placement=where, intra=Hockney(0, 0), inter=Hockney(10, 1), eager_limit=0)
    ring = gathered(RING, Case(p, m), cost=cost)
    cluster = gathered(CLUSTER, Case(p, m, parameters={"nodes": where}), cost=cost)
    assert ring.time == 10 + 4 * (p - 1) * m  # transfers are sequential, start-ups overlap
    assert cluster.time == (p - 4) * (10 + m)


def test_the_virtual_ranking_goes_through_each_node_once() -> None:
    """Nodes in the order of their first rank, ranks of a node in rank order."""
    ranking = Ranking((2, 0, 2, 1, 0), 5)
    assert ranking.order == [0, 2, 1, 4, 3]
    assert [ranking.order[place] for place in ranking.position] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("algorithm", [CLUSTER, CLUSTER_BLOCKED], ids=["regular", "blocked"])
@pytest.mark.parametrize(
    ("nodes", "reason"),
    [(0, "nodes = 0 ranks per node is not positive"), ((0, 1), "nodes has 2 entries, but p = 3")],
)
def test_invalid_nodes_are_rejected(algorithm: Algorithm, nodes: Nodes, reason: str) -> None:
    """`why_unsupported` and the call reject them, before any message is sent."""
    counts = (1, 1, 1) if algorithm is CLUSTER_BLOCKED else None
    case = Case(3, 1, counts, parameters={"nodes": nodes})
    with pytest.raises(UnsupportedCaseError, match=f"^allgatherv? {algorithm.name}: {reason}$"):
        algorithm.check(case)
    with pytest.raises(fakempi.RankError, match=reason):
        gathered(algorithm, case)
