"""Values of an algorithm's parameters to verify it with, the defaults first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import isqrt
from typing import Any

from collectives import entries
from collectives.block_sizes import smallest, square_root
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.costs import Costs
from collectives.tools.nodes import Nodes
from collectives.verification.plan.parameter_values import SMALL_BYTES, other_values

Choice = dict[str, Any]


def parameter_choices(algorithm: Algorithm, p: int = 1) -> list[Choice]:
    """Return sets of values for the algorithm's parameters on p ranks."""
    if algorithm.kind == "inter":
        return _with_first(algorithm, _with_others(algorithm, _inter_choices(algorithm)))
    return _with_others(algorithm, [{}, *_combined_choices(algorithm, p)])


def _combined_choices(algorithm: Algorithm, p: int) -> list[Choice]:
    """Return values of parameters that depend on p or on each other."""
    if "nodes" in algorithm.parameters:
        return _with_nodes(algorithm, p)
    if "dims" in algorithm.parameters:
        return [{"dims": dims} for dims in torus_choices(p)]
    if "costs" in algorithm.parameters:
        return [{"costs": costs} for costs in cost_choices(p)]
    if algorithm.name == "blocked_ring":
        sizes = [*SMALL_BYTES, smallest(at_least=7), square_root(30, 1)]
        return [{"block_bytes": size} for size in sizes]
    return _parts(PARTS.get(algorithm.name, ()), algorithm)


def _with_others(algorithm: Algorithm, choices: list[Choice]) -> list[Choice]:
    """Add choices that change one parameter each, for the parameters that no choice changes."""
    others = algorithm.parameters.keys() - {"first"}.union(*choices)
    single = [{name: value} for name in algorithm.parameters if name in others for value in other_values(algorithm, name)]
    return [*choices, *single]


def invalid_choices(algorithm: Algorithm) -> list[Choice]:
    """Return values that an algorithm may reject."""
    numbers = ("nodes", "k", "radix", "aggregation", "ports")
    invalid: list[Choice] = [{name: 0} for name in algorithm.parameters if name.endswith("_bytes") or name in numbers]
    others: list[Choice] = [{"costs": -1}, {"dims": (3,)}]
    return [*invalid, *(choice for choice in others if choice.keys() <= algorithm.parameters.keys())]


def node_choices(p: int) -> list[Nodes]:
    """Return placements of p ranks: one, two, three or all on a node, round robin, nodes of growing size, irregular."""
    round_robin = tuple(r % 2 for r in range(p))
    growing = tuple(f"node{isqrt(r)}" for r in range(p))
    mixed = tuple(r * r * 7 % 11 // 4 for r in range(p))
    return [1, 2, 3, p, round_robin, growing, growing[::-1], mixed]


def torus_choices(p: int) -> list[tuple[int, ...]]:
    """Return tori of p ranks with even extents: all with two dimensions, and one with three."""
    shapes = [(a, p // a) for a in range(1, p + 1) if p % a == 0] + [(2, 2, p // 4)] * (p % 4 == 0)
    return [dims for dims in shapes if all(extent % 2 == 0 or extent == 1 for extent in dims)]


def cost_choices(p: int) -> list[Costs]:
    """Return send costs of p ranks: alternating, increasing, decreasing, and irregular (t_s, t_w) pairs."""
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
"""Parts of composed algorithms by name; parts that an algorithm does not have are skipped."""


def _parts(named: Sequence[Mapping[str, str]], algorithm: Algorithm) -> list[Choice]:
    return [
        {part: entries.find(part, name) for part, name in choice.items() if part in algorithm.parameters} for choice in named
    ]


def _with_nodes(algorithm: Algorithm, p: int) -> list[Choice]:
    choices: list[Choice] = []
    parts = [{}, *({name: other} for name, other in _other_parts(algorithm))]
    for nodes, size, part in zip(node_choices(p), itertools.cycle([4, 1, 24, 100]), itertools.cycle(parts), strict=False):
        blocked = {"block_bytes": size} if "block_bytes" in algorithm.parameters else {}
        choices.append({"nodes": nodes, **blocked, **part})
    return choices


def _other_parts(algorithm: Algorithm) -> Iterator[tuple[str, Algorithm]]:
    """Yield another algorithm for each parameter that is an algorithm; it has a schedule and no parameter `nodes`."""
    for name, default in algorithm.parameters.items():
        if isinstance(default, Algorithm):
            others = (a for a in other_values(algorithm, name) if a.schedule is not None and "nodes" not in a.parameters)
            yield from ((name, other) for other in itertools.islice(others, 1))


def _inter_choices(algorithm: Algorithm) -> list[Choice]:
    """Return values for the parameters of an algorithm between two groups."""
    choices: list[Choice] = [{}]
    if "receive_order" in algorithm.parameters:
        choices.append({"receive_order": "rank"})
    if {"allgather", "allgatherv"} <= algorithm.parameters.keys():
        choices += _parts([{"allgather": "bruck", "allgatherv": "bruck"}, {"allgatherv": "blocked_ring"}], algorithm)
    if "segment_bytes" in algorithm.parameters:
        choices.append({"segment_bytes": 1})
        choices += [{"segment_bytes": 24, **part} for part in _parts([{"bcast": "chain"}], algorithm)]
        choices += _parts([{"gather": "linear", "bcast": "binomial"}], algorithm)
    if "gatherv" in algorithm.parameters:
        choices += _parts([{"gatherv": "binomial", "allgather": "ring"}], algorithm)
    if "reduce" in algorithm.parameters:
        choices += _parts([{"reduce": name} for name in ("linear", "chain", "rabenseifner")], algorithm)
    if "startup_bytes" in algorithm.parameters:
        choices += [{"startup_bytes": 1}, {"startup_bytes": 10}]
    if "reduce_scatter" in algorithm.parameters:
        choices += _parts([{"reduce_scatter": name} for name in ("recursive_halving", "reduce_scatterv")], algorithm)
    if "bcast" in algorithm.parameters and algorithm.name in ("wmpi", "joined"):
        choices += _parts([{"bcast": name} for name in ("scatter_ring_allgather", "linear", "circulant")], algorithm)
    if "barrier" in algorithm.parameters:
        choices += _parts([{"barrier": name} for name in ("recursive_doubling", "binomial_tree", "linear")], algorithm)
    return choices


def _with_first(algorithm: Algorithm, choices: list[Choice]) -> list[Choice]:
    """Add the values of `first`, which assigns roles to the two groups: True, False, or determined by the algorithm."""
    if "first" not in algorithm.parameters:
        return choices
    return [{}, {"first": False}, *({**choice, "first": True} for choice in choices)]
