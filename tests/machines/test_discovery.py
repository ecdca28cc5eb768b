"""Pairs of processes to measure: by level, disjoint where they run at a time."""

from __future__ import annotations

from fakempi.machines.discovery import ProcessLocation, choose_pairs, concurrent_pairs, inner_levels, usable_cores


def places(nodes: int, sockets: int, cores: int, caches: int = 1) -> list[ProcessLocation]:
    """A cluster that is filled in order, with a number of caches per socket; a single socket or cache is unknown."""
    return [
        ProcessLocation(
            f"host{node}",
            node * sockets * cores,
            socket if sockets > 1 else -1,
            socket * caches + core * caches // cores if caches > 1 else -1,
            cores * sockets,
        )
        for node in range(nodes)
        for socket in range(sockets)
        for core in range(cores)
    ]


def test_every_level_has_pairs() -> None:
    """At most the number requested, spread over the machine."""
    cluster = places(nodes=3, sockets=2, cores=4)
    pairs = choose_pairs(cluster, 4)
    assert {level: len(found) for level, found in pairs.items()} == {"socket": 4, "node": 4, "network": 4}
    for a, b in pairs["socket"]:
        assert cluster[a][:3] == cluster[b][:3]
    for a, b in pairs["node"]:
        assert cluster[a].node == cluster[b].node
        assert cluster[a].socket != cluster[b].socket
    assert all(cluster[a].node != cluster[b].node for a, b in pairs["network"])


def test_caches_are_a_level_of_their_own() -> None:
    """Also with more caches than pairs, where successive caches are on one socket, and on nodes with one socket."""
    cluster = places(nodes=2, sockets=2, cores=32, caches=8)
    pairs = choose_pairs(cluster, 4)
    assert {level: len(found) for level, found in pairs.items()} == {"cache": 4, "socket": 4, "node": 4, "network": 4}
    assert all(cluster[a][:4] == cluster[b][:4] for a, b in pairs["cache"])
    assert all(cluster[a].cache != cluster[b].cache for a, b in pairs["socket"])
    assert list(choose_pairs(places(1, 1, 4, caches=2), 4)) == ["node", "cache"]


def test_unknown_sockets_are_one_level() -> None:
    """Without binding, all pairs on a node have the level node."""
    assert not inner_levels(places(2, 1, 4))
    assert list(choose_pairs(places(1, 1, 2), 4)) == ["node"]
    assert choose_pairs(places(1, 1, 2), 4) == {"node": [(0, 1)]}


def test_concurrent_pairs_are_disjoint() -> None:
    """Half of the processes of a node, or one process of each of two nodes, form a pair."""
    cluster = places(nodes=2, sockets=2, cores=3)
    for level, count in (("socket", 2), ("node", 3), ("network", 6)):
        pairs = concurrent_pairs(cluster, level)
        assert len({rank for pair in pairs for rank in pair}) == 2 * len(pairs)
        assert len(pairs) == count


def test_this_process_may_use_some_core() -> None:
    """On every system."""
    assert usable_cores()
