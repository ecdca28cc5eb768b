"""Allgather by cluster ring: the ring through all nodes, which takes in no block that a node has.

The ranks are put in the order of their nodes (`nodes`: ranks per node, or the node of each rank) and run the ring in that
order, so that in every round one process of a node sends off it and one receives from outside. A node's blocks do not come
back to it: when all others are in, its last process sends them to its first, and they go on from there. Between nodes of n
ranks that is p-n rounds, and n-1 more within them; the links between nodes are busy in each of the p-n.

    p = 4, nodes of ranks 0, 2 and 1, 3: the ring is 0, 2, 1, 3     off the nodes: 2 to 1, 3 to 0     k = 2: 2 to 0, 3 to 1
    rank 0    0...       0..3       01.3       0123
    rank 2    ..2.       0.2.       0.23       0123
    rank 1    .1..       .12.       012.       0123
    rank 3    ...3       .1.3       .123       0123

Rounds   p-1+d    Sent per rank   about (p-1) m bytes    Scratch   none
Time     (p-1+d) (t_s + m t_w); d is 0 where all nodes have as many ranks, else the most by which the next node has fewer.
         The last of n ranks on a node sends (p - n' + n - 1) m, if the next node has n'
Fits     any p; every rank on a node; blocks of equal size
Best     long blocks on nodes that share a network port, however ranks are spread over them
Source   Träff, Ripke, Siebert, Balaji, Thakur, Gropp, A Simple, Pipelined Algorithm for Large, Irregular All-gather
         Problems, EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_16 (virtual ranking and improvement for clusters)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.shapes.pipeline import OnPaper, gather_pieces, pipeline, shared
from collectives.tools.blocks import Layout
from collectives.tools.nodes import Nodes, Ranking, misfit_of_nodes
from collectives.tools.protocol import Buffer, Comm


def allgather_cluster_ring(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, nodes: Nodes = 1, tag: int = 0
) -> None:
    """Gather equal blocks to all ranks; `sendbuf` None means that the own block is in `recvbuf` already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, parameters={"nodes": nodes}))
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    gather_pieces(comm, recvbuf, pipeline((layout.largest,) * p, max(1, layout.largest), shared(nodes)), tag)


def fits(case: Case) -> str | None:
    return misfit_of_nodes(case.parameters.get("nodes", 1), case.p)


def schedule(case: Case) -> Iterator[Round]:
    each = case.elements
    return OnPaper([each] * case.p, max(1, each), ALGORITHM.parameter(case, "nodes"), case.itemsize).schedule()


def _node_sizes(case: Case, v: int, ranking: Ranking) -> tuple[int, int]:
    """How many ranks there are on the node of place v, and on the next one."""
    after = (ranking.last[v] + 1) % case.p
    return ranking.last[v] + 1 - ranking.first[v], ranking.last[after] + 1 - after


def closed_rounds(case: Case) -> int:
    if not case.m or case.p == 1:
        return 0
    ranking = Ranking(ALGORITHM.parameter(case, "nodes"), case.p)
    pairs = (_node_sizes(case, v, ranking) for v in range(case.p))
    return case.p - 1 + max(max(0, own - after) for own, after in pairs)


def closed_sent(case: Case, rank: int) -> int:
    ranking = Ranking(ALGORITHM.parameter(case, "nodes"), case.p)
    v = ranking.position[rank]
    if v < ranking.last[v]:
        return (case.p - 1) * case.m
    own, after = _node_sizes(case, v, ranking)
    return (case.p - after + own - 1) * case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return closed_rounds(case) * message(case.m, t_s, t_w)


ALGORITHM = Algorithm(
    operation="allgather",
    name="cluster_ring",
    run=allgather_cluster_ring,
    schedule=schedule,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
    parameters={"nodes": 1},
)
