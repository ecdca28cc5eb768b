"""Values to try for an algorithm's own parameters, the defaults first."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any

from collectives import entries
from collectives.block_sizes import smallest, square_root
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.costs import Costs
from collectives.tools.nodes import Nodes

Choice = dict[str, Any]

SMALL_BYTES = (1, 24, 100)
"""Small enough that short messages are cut into many pieces."""

ALTERNATIVES = 3
"""Other algorithms to try in place of a part."""


def parameter_choices(algorithm: Algorithm, p: int = 1) -> list[Choice]:
    """Values for the algorithm's named parameters on p ranks."""
    if algorithm.kind == "inter":
        return _with_first(algorithm, _between(algorithm))
    if "nodes" in algorithm.parameters:
        return _with_nodes(algorithm, p)
    if "costs" in algorithm.parameters:
        return [{}, *({"costs": costs} for costs in cost_choices(p))]
    if algorithm.name == "blocked_ring":
        sizes = [*SMALL_BYTES, smallest(at_least=7), square_root(30, 1)]
        return [{}, *({"block_bytes": size} for size in sizes)]
    parts = _parts(PARTS.get(algorithm.name, ()), algorithm)
    return [{}, *(parts or _one_at_a_time(algorithm))]


def invalid_choices(algorithm: Algorithm) -> list[Choice]:
    """Values that an algorithm may refuse."""
    found: list[Choice] = [{name: 0} for name in algorithm.parameters if name.endswith("_bytes") or name == "nodes"]
    return [*found, *([{"costs": -1}] if "costs" in algorithm.parameters else [])]


def node_choices(p: int) -> list[Nodes]:
    """Where p ranks are: one, two, three on a node or all, dealt out in turn, in nodes of all sizes, in no order."""
    dealt = tuple(r % 2 for r in range(p))
    growing = tuple(f"node{isqrt(r)}" for r in range(p))
    mixed = tuple(r * r * 7 % 11 // 4 for r in range(p))
    return [1, 2, 3, p, dealt, growing, growing[::-1], mixed]


def cost_choices(p: int) -> list[Costs]:
    """What p ranks take to send: some fast and some slow, ever slower, ever faster, in no order by start-up and byte."""
    mixed = tuple((r * r * 7 % 11, 1 + r % 3) for r in range(p))
    return [tuple(1 + 9 * (r % 2) for r in range(p)), tuple(range(p)), tuple(range(p, 0, -1)), mixed]


PARTS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "gather_bcast": (
        {"gather": "linear", "gatherv": "linear", "bcast": "scatter_ring_allgather"},
        {"bcast": "circulant"},
        {"bcast": "scatter_recursive_doubling_allgather"},
    ),
    "reduce_bcast": (
        {"reduce": "rabenseifner", "bcast": "scatter_ring_allgather"},
        {"reduce": "chain", "bcast": "scatter_recursive_doubling_allgather"},
    ),
    "reduce_scatterv": ({"reduce": "linear", "scatterv": "linear"}, {"reduce": "rabenseifner"}),
}
"""Parts by name, for algorithms that are made of others; those that an algorithm does not have are left out."""


def _parts(named: Sequence[Mapping[str, str]], algorithm: Algorithm) -> list[Choice]:
    return [
        {part: entries.find(part, name) for part, name in choice.items() if part in algorithm.parameters} for choice in named
    ]


def _with_nodes(algorithm: Algorithm, p: int) -> list[Choice]:
    found: list[Choice] = [{}]
    for nodes, size in zip(node_choices(p), itertools.cycle([4, 1, 24, 100]), strict=False):
        blocked = {"block_bytes": size} if "block_bytes" in algorithm.parameters else {}
        found.append({"nodes": nodes, **blocked})
    return found


def _one_at_a_time(algorithm: Algorithm) -> list[Choice]:
    """For every parameter some other values, all other parameters as they are."""
    return [{name: value} for name, default in algorithm.parameters.items() for value in _others(name, default)]


def _others(name: str, default: Any) -> list[Any]:
    if isinstance(default, Algorithm):
        same = [a for a in entries.CATALOGUE if (a.operation, a.kind) == (default.operation, default.kind)]
        return [a for a in same if a.name != default.name][:ALTERNATIVES]
    if name.endswith("_bytes"):
        return list(SMALL_BYTES)
    if isinstance(default, bool):
        return [not default]
    # The arity of a tree, the radix of an exchange: what is larger should do as well. Of less nobody can know.
    return [default + 1, 2 * default + 1] if isinstance(default, int) and default > 1 else []


def _between(algorithm: Algorithm) -> list[Choice]:
    """Of an algorithm between two groups."""
    found: list[Choice] = [{}]
    if "receive_order" in algorithm.parameters:
        found.append({"receive_order": "rank"})
    if {"allgather", "allgatherv"} <= algorithm.parameters.keys():
        found += _parts([{"allgather": "bruck", "allgatherv": "bruck"}, {"allgatherv": "blocked_ring"}], algorithm)
    if "segment_bytes" in algorithm.parameters:
        found.append({"segment_bytes": 1})
        found += [{"segment_bytes": 24, **part} for part in _parts([{"bcast": "chain"}], algorithm)]
        found += _parts([{"gather": "linear", "bcast": "binomial"}], algorithm)
    if "gatherv" in algorithm.parameters:
        found += _parts([{"gatherv": "binomial", "allgather": "ring"}], algorithm)
    if "reduce" in algorithm.parameters:
        found += _parts([{"reduce": name} for name in ("linear", "chain", "rabenseifner")], algorithm)
    if "startup_bytes" in algorithm.parameters:
        found += [{"startup_bytes": 1}, {"startup_bytes": 10}]
    if "reduce_scatter" in algorithm.parameters:
        found += _parts([{"reduce_scatter": name} for name in ("recursive_halving", "reduce_scatterv")], algorithm)
    if "bcast" in algorithm.parameters and algorithm.name in ("wmpi", "joined"):
        found += _parts([{"bcast": name} for name in ("scatter_ring_allgather", "linear", "circulant")], algorithm)
    if "barrier" in algorithm.parameters:
        found += _parts([{"barrier": name} for name in ("recursive_doubling", "binomial_tree", "linear")], algorithm)
    return found if len(found) > 1 else [{}, *_one_at_a_time(algorithm)]


def _with_first(algorithm: Algorithm, found: list[Choice]) -> list[Choice]:
    """An algorithm whose groups have roles is told them, either way, or left to find them."""
    if "first" not in algorithm.parameters:
        return found
    return [{}, {"first": False}, *({**choice, "first": True} for choice in found)]
