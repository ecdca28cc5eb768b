"""Allgather by cluster ring: a ring through all nodes in which no node receives its own blocks again.

The parameter `nodes` is the number of ranks per node, or a list with the node of each rank. The ring contains the ranks in
the order of their nodes, so only the last rank of a node sends to another node, and only the first rank receives from
another node. A node does not receive the blocks of its own ranks from another node. Instead, after the node has received
the blocks of all other nodes, its last rank sends the node's own blocks to its first rank, which forwards them within the
node. With n ranks per node, there are p-n rounds with messages between nodes, and then n-1 rounds within nodes.

    p = 4, ranks 0 and 2 on one node, 1 and 3 on another: the ring is 0, 2, 1, 3. Messages between nodes: k = 0 and 1, from
    2 to 1 and from 3 to 0. In round k = 2, rank 2 sends to 0 and rank 3 to 1.
              start      k = 0      k = 1      k = 2
    rank 0    0...       0..3       01.3       0123
    rank 2    ..2.       0.2.       0.23       0123
    rank 1    .1..       .12.       012.       0123
    rank 3    ...3       .1.3       .123       0123

Rounds   p-1+d    Sent per rank   about (p-1) m bytes    Scratch   none
Time     (p-1+d) (t_s + m t_w); d is 0 if all nodes have the same number of ranks, otherwise the largest number by which
         a node has more ranks than the next node. The last of n ranks on a node sends (p - n' + n - 1) m, where the
         next node has n' ranks
Fits     any p; every rank has a node; blocks of equal size
Best     long blocks on nodes that share a network port, for any placement of ranks on nodes
Source   Träff, Ripke, Siebert, Balaji, Thakur, Gropp, A Simple, Pipelined Algorithm for Large, Irregular All-gather
         Problems, EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_16 (virtual ranking and improvement for clusters)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.patterns.pipeline import PipelineSchedule, gather_pieces, pipeline, shared
from collectives.tools.blocks import Layout
from collectives.tools.nodes import Nodes, Ranking
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    block = case.elements
    return PipelineSchedule(
        [block] * case.p, max(1, block), allgather_cluster_ring.parameter(case, "nodes"), case.itemsize
    ).schedule()


def _node_sizes(case: Case, v: int, ranking: Ranking) -> tuple[int, int]:
    """Return the numbers of ranks on the node of position v in the ring, and on the next node."""
    next_first = (ranking.last[v] + 1) % case.p
    return ranking.last[v] + 1 - ranking.first[v], ranking.last[next_first] + 1 - next_first


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    if case.p == 1:
        return 0
    ranking = Ranking(allgather_cluster_ring.parameter(case, "nodes"), case.p)
    pairs = (_node_sizes(case, v, ranking) for v in range(case.p))
    rounds = case.p - 1 + max(max(0, node_size - next_size) for node_size, next_size in pairs)
    return rounds * message(case.m, t_s, t_w)


def closed_sent(case: Case, rank: int) -> int:
    ranking = Ranking(allgather_cluster_ring.parameter(case, "nodes"), case.p)
    v = ranking.position[rank]
    if v < ranking.last[v]:
        return (case.p - 1) * case.m
    node_size, next_size = _node_sizes(case, v, ranking)
    return (case.p - next_size + node_size - 1) * case.m


@algorithm(
    schedule=schedule,
    why_unsupported=valid_nodes_only,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
def allgather_cluster_ring(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, nodes: Nodes = 1, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    gather_pieces(comm, recvbuf, pipeline((layout.largest,) * p, max(1, layout.largest), shared(nodes)), tag)
