"""Random topologies and exchanges with neighbors: Cartesian, graph, and distributed graphs with loops and parallel edges."""

from __future__ import annotations

from functools import partial
from math import prod
from random import Random
from typing import Any

from tests.real_mpi.random.calling import MODES, call
from tests.real_mpi.random.observing import Op, Program, as_hex, attempt, filled
from tests.real_mpi.random.type_trees import DatatypeBuilder, meaning

RANKS = 4
TYPES: list[Any] = [
    ["basic", "INT"],
    ["basic", "CHAR"],
    ["resized", 0, 8, ["basic", "SHORT"]],
    ["vector", 2, 1, 2, ["basic", "INT"]],
]
CALLS = (
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
    "neighbor_allgather",
    "neighbor_alltoall",
)


def program(seed: int) -> Program:
    """A topology, questions about it, and exchanges on it."""
    rng = Random(f"neighborhoods {seed}")
    ranks = rng.randint(1 if rng.random() < 0.1 else 2, RANKS)
    ops: list[Op] = [{"op": "questions", "seed": rng.randrange(1000)}]
    for _ in range(rng.randint(1, 3)):
        ops.append(
            {
                "op": rng.choice(CALLS),
                "mode": rng.choice(MODES),
                "count": rng.choice((0, 1, 2)),
                "seed": rng.randrange(1000),
                "type": rng.choice(TYPES),
            }
        )
    derived = rng.choice(("", "", "dup", "idup", "sub"))
    return {"ranks": ranks, "topology": _topology(rng, ranks), "derived": derived, "ops": ops}


def _topology(rng: Random, ranks: int) -> list[Any]:
    kind = rng.choice(("cart", "cart", "graph", "adjacent", "adjacent", "dist"))
    if kind == "cart":
        shapes = [[a, b, c][:n] for n in (1, 2, 3) for a in (1, 2, 3, 4) for b in (1, 2, 3) for c in (1, 2)]
        dims = rng.choice([each for each in shapes if prod(each) <= ranks] + [[]])
        return [kind, dims, [rng.random() < 0.5 for _ in dims]]
    if kind == "graph":
        neighbors: list[list[int]] = [[] for _ in range(ranks)]
        for _ in range(rng.randint(0, 5)):
            a, b = rng.randrange(ranks), rng.randrange(ranks)
            neighbors[a].append(b)
            if a != b:
                neighbors[b].append(a)
        if not neighbors[0]:  # mpi4py takes a leading 0 of the index for the beginning, not for the end, of a node's edges
            neighbors[0].append(0)
        return [kind, neighbors]
    edges = [(rng.randrange(ranks), rng.randrange(ranks), rng.randint(0, 5)) for _ in range(rng.randint(0, 7))]
    weighted = rng.random() < 0.5
    if kind == "adjacent":
        into = [[(a, w) for a, b, w in edges if b == rank] for rank in range(ranks)]
        out = [[(b, w) for a, b, w in edges if a == rank] for rank in range(ranks)]
        return [kind, into, out, weighted]
    by_rank: list[list[Any]] = [[] for _ in range(ranks)]  # any rank may specify any edge
    for edge in edges:
        by_rank[rng.randrange(ranks)].append(edge)
    return [kind, by_rank, weighted]


def create_topology(MPI: Any, comm: Any, topology: list[Any], rank: int) -> Any:
    """The communicator with the topology; COMM_NULL for ranks outside."""
    kind, *args = topology
    if kind == "cart":
        return comm.Create_cart(*args)
    if kind == "graph":
        ends, total = [], 0
        for each in args[0]:
            total += len(each)
            ends.append(total)
        return comm.Create_graph(ends, [other for each in args[0] for other in each])
    if kind == "adjacent":
        into, out, weighted = args
        sources, destinations = [each for each, _ in into[rank]], [each for each, _ in out[rank]]
        if not weighted:
            return comm.Create_dist_graph_adjacent(sources, destinations)
        here, there = [w for _, w in into[rank]], [w for _, w in out[rank]]
        return comm.Create_dist_graph_adjacent(sources, destinations, here, there)
    edges = args[0][rank]
    sources, destinations, weights = [a for a, _, _ in edges], [b for _, b, _ in edges], [w for _, _, w in edges]
    if not args[1]:
        return comm.Create_dist_graph(sources, [1] * len(edges), destinations)
    return comm.Create_dist_graph(sources, [1] * len(edges), destinations, weights)


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """One observation for each operation; the order of neighbors of a general distributed graph is not defined."""
    graph = create_topology(MPI, comm, program["topology"], rank)
    if graph == MPI.COMM_NULL:
        return [None] * len(program["ops"])
    graph = _derived(MPI, graph, program)
    ordered = program["topology"][0] != "dist"
    found = [attempt(MPI, partial(_perform, MPI, graph, op, graph.Get_rank(), ordered)) for op in program["ops"]]
    graph.Free()
    return found


def _derived(MPI: Any, graph: Any, program: Program) -> Any:
    """A duplicate, which has the same topology, or the part of a grid along all dimensions but the first."""
    kind = program["derived"]
    if not kind or (kind == "sub" and (program["topology"][0] != "cart" or not graph.Get_dim())):
        return graph
    if kind == "sub":
        made = graph.Sub([axis > 0 for axis in range(graph.Get_dim())])
    elif kind == "dup":
        made = graph.Dup()
    else:
        made, request = graph.Idup()
        request.Wait()
    graph.Free()
    return made


def _perform(MPI: Any, graph: Any, op: Op, rank: int, ordered: bool) -> Any:
    if op["op"] == "questions":
        return _questions(MPI, graph, op, ordered)
    into, out = list(graph.inedges), list(graph.outedges)
    if op["op"].islower():
        blocks = _exchange_objects(graph, op, rank, out, ordered)
        return blocks if ordered else sorted(zip(into, blocks, strict=True), key=repr)
    with DatatypeBuilder(MPI) as make:
        return _exchange(MPI, graph, op, rank, into, out, ordered, make)


def _exchange_objects(graph: Any, op: Op, rank: int, out: list[int], ordered: bool) -> list[Any]:
    if op["op"] == "neighbor_allgather":
        return list(graph.neighbor_allgather([rank, "x"]))
    return list(graph.neighbor_alltoall([[rank, other, number if ordered else 0] for number, other in enumerate(out)]))


def _exchange(
    MPI: Any, graph: Any, op: Op, rank: int, into: list[int], out: list[int], ordered: bool, make: DatatypeBuilder
) -> Any:
    datatype, extent, seed, name = make.build(op["type"]), meaning(op["type"]).extent, op["seed"], op["op"]
    varying = name[-1] in "vw"
    gather = "allgather" in name

    def count(source: int, target: int) -> int:
        if not varying:
            return int(op["count"])
        return int((3 * source + (0 if gather else 5 * target) + seed) % 3)

    sent = [count(rank, rank)] if gather else [count(rank, other) for other in out]
    got = [count(other, rank) for other in into]
    source = bytearray()
    for number, n in enumerate(sent):
        mark = 0 if gather else 7 * max(out[number], 0) + (number if ordered else 0)  # PROC_NULL is negative
        source += filled(n * extent, seed + 31 * rank + mark)
    ends = [sum(got[: number + 1]) for number in range(len(got))]
    starts = [end - n for end, n in zip(ends, got, strict=True)]
    target = bytearray(b"\xee" * (sum(got) * extent))
    gaps = [sum(sent[:number]) for number in range(len(sent))]
    if name == "Neighbor_alltoallw":
        send: Any = [source, sent, [each * extent for each in gaps], [datatype] * len(sent)]
        receive: Any = [target, got, [each * extent for each in starts], [datatype] * len(got)]
    else:
        send = (
            [source, sent, gaps, datatype]
            if name == "Neighbor_alltoallv"
            else [source, sent[0] if sent else op["count"], datatype]
        )
        receive = [target, got, starts, datatype] if varying else [target, op["count"], datatype]
    call(graph, name, op["mode"], send, receive)
    blocks = [as_hex(target[at * extent : end * extent]) for at, end in zip(starts, ends, strict=True)]
    return blocks if ordered else sorted(zip(into, blocks, strict=True))


def _questions(MPI: Any, graph: Any, op: Op, ordered: bool) -> Any:
    rng = Random(op["seed"])
    into, out = list(graph.inedges), list(graph.outedges)
    found: list[Any] = [graph.Get_rank(), graph.Get_size(), graph.Is_inter(), graph.indegree, graph.outdegree]
    found += [into, out] if ordered else [sorted(into), sorted(out)]
    kind = graph.Get_topology()
    if kind == MPI.CART:
        dims = graph.Get_dim()
        found += [dims, graph.Get_topo(), [graph.Get_coords(each) for each in range(graph.Get_size())]]
        found += [graph.Shift(axis, step) for axis in range(dims) for step in (-2, -1, 0, 1, 2)]
        found.append(attempt(MPI, lambda: graph.Get_cart_rank([rng.randint(-2, 4) for _ in range(dims)])))
        found.append(attempt(MPI, lambda: graph.Get_coords(graph.Get_size())))
        found.append(attempt(MPI, lambda: graph.Shift(dims, 1)))
        part = graph.Sub([rng.random() < 0.5 for _ in range(dims)])
        found += [part.Get_rank(), part.Get_size(), part.Get_topo()]
        part.Free()
        found.append(attempt(MPI, lambda: graph.Cart_map([rng.randint(1, 2) for _ in range(dims)], [True] * dims)))
        found.append(
            attempt(MPI, lambda: MPI.Compute_dims(rng.randint(1, 30), [rng.choice((0, 0, 2, 3)) for _ in range(dims)]))
        )
    elif kind == MPI.GRAPH:
        found += [graph.Get_dims(), graph.Get_topo()]
        found += [graph.Get_neighbors(each) for each in range(graph.Get_size())]
        found.append(attempt(MPI, lambda: graph.Get_neighbors(graph.Get_size())))
    else:
        found.append(graph.Get_dist_neighbors_count())
        sources, destinations, weights = graph.Get_dist_neighbors()
        if weights is not None:
            sources, destinations = (
                list(zip(sources, weights[0], strict=True)),
                list(zip(destinations, weights[1], strict=True)),
            )
        found += (
            [weights is None, sources, destinations] if ordered else [weights is None, sorted(sources), sorted(destinations)]
        )
    return found
