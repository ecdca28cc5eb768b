"""Node-aware algorithms on a machine without nodes: there, each is the same as another algorithm.

If every rank has its own node, or all ranks share one, there is nothing to do within nodes, and only the part between nodes
remains. The default table chooses that part as it chooses the default algorithm.
"""

from __future__ import annotations

from typing import Final

from collectives import Algorithm, Case
from fakempi.apps.compare.timing import as_called
from fakempi.core.network.cost import CostModel
from fakempi.tuning import NodesOfRanks
from fakempi.tuning.parsing import Key

WITHOUT_PARTS: Final = {"cluster_ring": "ring", "cluster_blocked_ring": "blocked_ring", "locality_bruck": "bruck"}
"""Algorithms that do not have the default algorithm as a part, and what they are on a machine without nodes."""

DIFFERENT: Final = {("scan", "two_level")}
"""Operation and algorithm: sends results to the next node even if each rank is a node."""


def flat_equivalent(algorithm: Algorithm, key: Key, case: Case, cost: CostModel) -> str | None:
    """Return the name of the algorithm that a node-aware algorithm is in this case; None if nodes matter."""
    if "nodes" not in algorithm.parameters or (algorithm.operation, algorithm.name) in DIFFERENT:
        return None
    if case.q or NodesOfRanks.of([cost.node(rank) for rank in range(case.p)]) is not None:
        return None
    return WITHOUT_PARTS.get(algorithm.name) or as_called(None, key, case, cost)[0].name
