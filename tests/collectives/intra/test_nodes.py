"""Node-aware algorithms: what they send between nodes, any parts, and placements that they reject."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from collectives import Case, UnsupportedCaseError, find
from collectives.catalogue.concurrent import merged_schedules
from collectives.catalogue.schedule import LinearPhase, PrepostedRound, Streams, Transfer
from collectives.inter_patterns.groups import with_process_numbers
from collectives.tools.nodes import placement_of, unequal_nodes
from collectives.verification.fault import EXACT
from collectives.verification.fault_search import find_faults
from fakempi.apps.emulator import Emulator
from fakempi.tuning.table import Choice

EMULATOR = Emulator()
MIXED = (0, 1, 1, 2, 0, 1, 2)


def between_nodes(operation: str, name: str, case: Case) -> list[Transfer]:
    """The transfers of a schedule between different nodes."""
    placement = placement_of(case.parameters["nodes"], case.p)
    plan = find(operation, name).plan(case)
    assert plan is not None
    return [t for transfers in plan for t in transfers if placement.node[t.source] != placement.node[t.dest]]


@pytest.mark.parametrize("operation", ["bcast", "reduce", "gather", "scatter"])
def test_on_two_levels_every_other_node_exchanges_one_message_with_its_parent(operation: str) -> None:
    """There are as many messages between nodes as nodes without the root."""
    case = Case(12, 8, root=5, parameters={"nodes": (0, 1, 2, 3) * 3})
    assert len(between_nodes(operation, "two_level", case)) == 3


def test_lanes_share_the_bytes_between_nodes() -> None:
    """Every rank of the root's node sends one piece of the message to each other node."""
    case = Case(12, 1200, parameters={"nodes": 4, "bcast": find("bcast", "linear")})
    sent = Counter({(t.source, t.nbytes): 1 for t in between_nodes("bcast", "multi_lane", case)})
    assert sent == {(rank, 300): 1 for rank in range(4)}


@pytest.mark.parametrize(("nodes", "per_node", "messages"), [(4, 4, 1), (16, 4, 2), (64, 4, 3), (9, 8, 2), (5, 1, 3)])
def test_locality_bruck_has_log_n_messages_between_nodes(nodes: int, per_node: int, messages: int) -> None:
    """N nodes of n ranks: log_n N, rounded up; on nodes of one rank it is Bruck's algorithm."""
    case = Case(nodes * per_node, 1, parameters={"nodes": per_node})
    sent = Counter(t.source for t in between_nodes("allgather", "locality_bruck", case))
    assert max(sent.values()) == messages


@pytest.mark.parametrize(
    ("operation", "name", "parts"),
    [
        ("bcast", "two_level", {"outer": "circulant", "inner": "linear"}),
        ("bcast", "multi_lane", {"scatterv": "linear", "bcast": "chain", "allgatherv": "bruck"}),
        ("reduce", "two_level", {"outer": "linear", "inner": "chain"}),
        ("allreduce", "two_level", {"reduce": "linear", "outer": "ring", "bcast": "chain"}),
        ("allreduce", "multi_lane", {"reduce_scatter": "ring", "allreduce": "recursive_doubling", "allgatherv": "bruck"}),
        ("allgather", "two_level", {"gather": "linear", "outer": "bruck", "bcast": "scatter_ring_allgather"}),
        ("gather", "two_level", {"outer": "linear", "inner": "linear"}),
        ("scatter", "two_level", {"outer": "linear", "inner": "linear"}),
        ("barrier", "two_level", {"outer": "linear", "inner": "binomial_tree"}),
        ("barrier", "smp", {"outer": "recursive_doubling", "inner": "binomial_tree", "bcast": "chain"}),
    ],
)
def test_any_parts_on_nodes_of_different_sizes(operation: str, name: str, parts: dict[str, str]) -> None:
    """Results and claims hold with other inner and outer algorithms."""
    algorithm = find(operation, name)
    values: dict[str, Any] = {"nodes": MIXED}
    for part, chosen in parts.items():
        values[part] = find(algorithm.parameters[part].operation, chosen)
    case = Case(
        7,
        0 if operation == "barrier" else 88,
        root=3 if operation in ("bcast", "reduce", "gather", "scatter") else 0,
        itemsize=8,
    )
    case = Case(case.p, case.m, root=case.root, itemsize=8, parameters=values)
    assert list(find_faults(algorithm, case, EMULATOR, [EXACT])) == []


@pytest.mark.parametrize(
    ("operation", "name"), [("allgather", "multi_lane"), ("alltoall", "multi_lane"), ("allgather", "locality_bruck")]
)
def test_unequal_nodes_are_rejected(operation: str, name: str) -> None:
    """The reason has the sizes."""
    with pytest.raises(
        UnsupportedCaseError, match=f"^{operation} {name}: nodes have 2 to 3 ranks, but must all have the same"
    ):
        find(operation, name).check(Case(7, parameters={"nodes": MIXED}))
    assert unequal_nodes(0, 4) == "nodes = 0 ranks per node is not positive"
    assert unequal_nodes([0, 1], 4) == "nodes has 2 entries, but p = 4"


def test_schedules_of_disjoint_groups_are_merged() -> None:
    """Rounds are joined; phases in which ranks wait for each other remain phases."""
    served, streams = LinearPhase([Transfer(0, 1, 3)]), Streams([Transfer(1, 0, 2)], [(1, 0)])
    merged = list(merged_schedules([([[5, 4]], [served, streams]), ([[0, 2]], [[Transfer(0, 1, 7)], [Transfer(1, 0, 7)]])]))
    assert merged == [[Transfer(5, 4, 3)], [Transfer(0, 2, 7)], [Transfer(4, 5, 2)], [Transfer(2, 0, 7)]]
    assert [type(each) for each in merged] == [LinearPhase, list, Streams, list]
    assert isinstance(merged[2], Streams)
    assert merged[2].received == [(4, 5)]


def test_a_round_with_earlier_receives_keeps_its_mark_in_a_composition() -> None:
    """Otherwise a fused call would record its receives in the wrong round."""
    early, late = PrepostedRound([Transfer(1, 0, 3)]), [Transfer(0, 1, 7)]
    merged = list(merged_schedules([([[5, 4]], [early, late]), ([[0, 2]], [late, early])]))
    assert [(type(each), [transfer[:3] for transfer in each]) for each in merged] == [
        (PrepostedRound, [(4, 5, 3)]), (list, [(0, 2, 7)]), (PrepostedRound, [(2, 0, 3)]), (list, [(5, 4, 7)]),
    ]  # fmt: skip
    assert [type(each) for each in with_process_numbers([early, late], [2, 3])] == [PrepostedRound, list]


def test_a_composition_with_linear_sync_is_not_fused() -> None:
    """Its messages are emulated: the receives are posted before their round."""
    inner = find("gather", "linear_sync")
    choice = Choice(find("allgather", "two_level"), {"nodes": 2, "gather": inner})
    with pytest.raises(UnsupportedCaseError, match="posts receives before their round"):
        list(choice.phases(4, m=8))


@pytest.mark.quick(12)
@pytest.mark.parametrize("nodes", [1, 3, 4, 9, (0, 0, 0, 1, 2, 2, 2), (0, 1, 1, 1, 1, 1, 2)])
@pytest.mark.parametrize("announce", [False, True])
@pytest.mark.parametrize(("m", "in_place"), [(0, False), (8, False), (40, True)])
def test_a_scan_on_nodes_of_different_sizes(nodes: Any, announce: bool, m: int, in_place: bool) -> None:
    """Results and claims hold with other parts, with the announcements of MPICH and without."""
    scan, chain = find("scan", "linear"), find("bcast", "chain")
    for parts in ({}, {"inner": scan}, {"outer": scan, "bcast": chain}):
        case = Case(7, m, itemsize=8, in_place=in_place, parameters={"nodes": nodes, "announce": announce, **parts})
        assert list(find_faults(find("scan", "two_level"), case, EMULATOR, [EXACT])) == []


def test_a_scan_needs_nodes_with_consecutive_ranks() -> None:
    """Otherwise the result of a node would not be that of neighbors."""
    with pytest.raises(UnsupportedCaseError, match="^scan two_level: the ranks of a node are not consecutive"):
        find("scan", "two_level").check(Case(7, parameters={"nodes": MIXED}))
