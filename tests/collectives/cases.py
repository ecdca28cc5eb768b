"""Cases to try an algorithm on: a fixed handful for every p, and a Hypothesis strategy for the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from math import isqrt

from hypothesis import strategies as st

from collectives import Algorithm, Case, find
from collectives.block_sizes import BlockBytes, smallest, square_root
from collectives.distributions import DISTRIBUTIONS, random
from collectives.tools.nodes import Nodes

ROOTED = {"bcast", "gather", "gatherv", "scatter", "scatterv", "reduce"}
UNEVEN = {"gatherv", "scatterv", "allgatherv", "reduce_scatter"}
PAIRED = {"alltoallv", "alltoallw"}
REDUCING = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"}
NEVER_IN_PLACE = {"barrier", "bcast"}

Traffic = tuple[tuple[int, ...], ...]


def distributions(p: int, size: int) -> dict[str, tuple[int, ...]]:
    """Block sizes as Träff et al. (2008) name them, about `size` elements per rank, and three odd ones."""
    total = p * size
    return {
        **{name: sizes(total, p) for name, sizes in DISTRIBUTIONS.items()},
        "random": random(total, p, seed=p),
        "last": (0,) * (p - 1) + (total,),
        "none": (0,) * p,
    }


def traffics(p: int, size: int) -> dict[str, Traffic]:
    """Who has how much for whom: all the same, nothing, only to the right, by distance, any, and one row for all."""
    ranks = range(p)
    return {
        "regular": ((size,) * p,) * p,
        "none": ((0,) * p,) * p,
        "right": tuple(tuple(size * (s == (r + 1) % p) for s in ranks) for r in ranks),
        "distance": tuple(tuple(size * abs(r - s) for s in ranks) for r in ranks),
        "any": tuple(tuple((3 * r + 5 * s * s) % (size + 2) for s in ranks) for r in ranks),
        "one": tuple((size,) * p if r == p // 2 else (0,) * p for r in ranks),
    }


def both_ways(traffic: Traffic) -> Traffic:
    """What in place needs: as much from r to s as back."""
    p = len(traffic)
    return tuple(tuple(traffic[min(r, s)][max(r, s)] for s in range(p)) for r in range(p))


def node_choices(p: int) -> list[Nodes]:
    """Where p ranks are: one, two, three on a node or all, dealt out in turn, in nodes of all sizes, in no order."""
    dealt = tuple(r % 2 for r in range(p))
    growing = tuple(f"node{isqrt(r)}" for r in range(p))
    mixed = tuple(r * r * 7 % 11 // 4 for r in range(p))
    return [1, 2, 3, p, dealt, growing, growing[::-1], mixed]


def parameter_choices(algorithm: Algorithm, p: int = 1) -> list[dict[str, object]]:
    """Values for the algorithm's named parameters on p ranks, the defaults first."""
    if "nodes" in algorithm.parameters:
        found: list[dict[str, object]] = [{}]
        for nodes, size in zip(node_choices(p), itertools.cycle([4, 1, 24, 100]), strict=False):
            blocked: dict[str, object] = {"block_bytes": size} if "block_bytes" in algorithm.parameters else {}
            found.append({"nodes": nodes, **blocked})
        return found
    if "segment_bytes" in algorithm.parameters:
        return [{}, {"segment_bytes": 1}, {"segment_bytes": 24}, {"segment_bytes": 100}]
    if "block_bytes" in algorithm.parameters:
        sizes: list[BlockBytes] = [1, 24, 100, smallest(at_least=7), square_root(30, 1)]
        return [{}] + [{"block_bytes": size} for size in sizes]
    if algorithm.name == "gather_bcast":
        gather = "gather" if algorithm.operation == "allgather" else "gatherv"
        return [
            {},
            {gather: find(gather, "linear"), "bcast": find("bcast", "scatter_ring_allgather")},
            {"bcast": find("bcast", "circulant")},
            {"bcast": find("bcast", "scatter_recursive_doubling_allgather")},
        ]
    if algorithm.name == "reduce_bcast":
        return [
            {},
            {"reduce": find("reduce", "rabenseifner"), "bcast": find("bcast", "scatter_ring_allgather")},
            {"reduce": find("reduce", "chain"), "bcast": find("bcast", "scatter_recursive_doubling_allgather")},
        ]
    if algorithm.name == "reduce_scatterv":
        return [
            {},
            {"reduce": find("reduce", "linear"), "scatterv": find("scatterv", "linear")},
            {"reduce": find("reduce", "rabenseifner")},
        ]
    return [{}]


def some_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    """A handful of cases on p ranks that the algorithm serves: sizes, roots, item sizes, distributions, parameters."""
    for case in _plain_cases(algorithm.operation, p):
        for parameters in parameter_choices(algorithm, p):
            candidate = replace(case, parameters=parameters)
            if algorithm.fits(candidate) is None:
                yield candidate


def _plain_cases(operation: str, p: int) -> Iterator[Case]:
    if operation == "barrier":
        yield Case(p)
        return
    for plain in _sized_cases(operation, p):
        for root in sorted({0, p // 2, p - 1}) if operation in ROOTED else [0]:
            for in_place in [False] if operation in NEVER_IN_PLACE else [False, True]:
                for commutative in [True, False] if operation in REDUCING else [True]:
                    case = replace(plain, root=root, in_place=in_place, commutative=commutative)
                    if in_place and case.traffic is not None:
                        case = replace(case, traffic=both_ways(case.traffic))
                    yield case


def _sized_cases(operation: str, p: int) -> Iterator[Case]:
    if operation in UNEVEN:
        for counts in distributions(p, 5).values():
            yield Case(p, counts=counts, itemsize=4)
    elif operation in PAIRED:
        for traffic in traffics(p, 5).values():
            yield Case(p, traffic=traffic, itemsize=4)
    else:
        for elements, itemsize in ((0, 8), (1, 1), (3, 16), (8 * p, 8), (61, 4)):
            yield Case(p, elements * itemsize, itemsize=itemsize)


@st.composite
def drawn_cases(draw: st.DrawFn, algorithm: Algorithm, largest_p: int = 40) -> Case:
    """Any case that the algorithm serves."""
    operation = algorithm.operation
    p = draw(st.integers(1, largest_p))
    if operation == "barrier":
        case = Case(p)
        return case if algorithm.fits(case) is None else _made_to_fit(algorithm, case)
    case = Case(
        p,
        root=draw(st.integers(0, p - 1)) if operation in ROOTED else 0,
        itemsize=draw(st.sampled_from([1, 2, 4, 8, 16])),
        in_place=operation not in NEVER_IN_PLACE and draw(st.booleans()),
        commutative=operation not in REDUCING or algorithm.fits(Case(1, commutative=False)) is not None,
        parameters=draw(st.sampled_from(parameter_choices(algorithm, p))),
    )
    if case.commutative is False:
        case = replace(case, commutative=draw(st.booleans()))
    if operation in UNEVEN:
        case = replace(case, counts=tuple(draw(st.lists(st.integers(0, 20), min_size=p, max_size=p))))
    elif operation in PAIRED:
        rows = st.lists(st.integers(0, 9), min_size=p, max_size=p).map(tuple)
        traffic = tuple(draw(st.lists(rows, min_size=p, max_size=p)))
        case = replace(case, traffic=both_ways(traffic) if case.in_place else traffic)
    else:
        case = replace(case, m=draw(st.integers(0, 100)) * case.itemsize)
    return case if algorithm.fits(case) is None else _made_to_fit(algorithm, case)


def _made_to_fit(algorithm: Algorithm, case: Case) -> Case:
    """The same case on the next smaller number of ranks that the algorithm serves."""
    for p in range(case.p, 0, -1):
        counts = None if case.counts is None else case.counts[:p]
        traffic = None if case.traffic is None else tuple(row[:p] for row in case.traffic[:p])
        smaller = replace(case, p=p, root=min(case.root, p - 1), counts=counts, traffic=traffic)
        if algorithm.fits(smaller) is None:
            return smaller
    raise AssertionError(f"{algorithm!r} does not even serve one rank")
