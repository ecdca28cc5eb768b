"""Allgatherv by cluster blocked ring: a blocked ring through all nodes in which no node receives its own blocks again.

The ranks are ordered by node (`nodes`: the number of ranks per node, or the node of each rank) and run the blocked ring
in that order, so in every round one process of a node sends to another node and one receives from another node. A node
does not receive its own blocks from outside: after it has received all others, its last process sends them to its
first, and they continue from there. `patterns.pipeline` defines the order of rounds, also for nodes of different sizes.
B = `block_bytes` is a number or a rule of `block_sizes`.

    p = 4, B = 1, counts 2, 1, 1, 2, nodes of ranks 0, 1 and 2, 3     blocks 01 2 | 3 45
              start     k = 0     k = 1     k = 2     k = 3     k = 4
    rank 0    01....    01...5    01..45    01.345    012345    012345
    rank 1    ..2...    .12...    012...    012..5    012.45    012345
    rank 2    ...3..    ..23..    .123..    0123..    0123.5    012345
    rank 3    ....45    ...345    ..2345    .12345    012345    012345

Rounds   at most b-1+d    Sent per rank   about all blocks except those of r+1    Scratch   none
Time     at most (b-1+d) (t_s + B t_w); the exact time is computed from the schedule. d is 0 if all nodes have the same
         number of blocks, otherwise the largest number by which a node has more blocks than the next node. The last
         process of a node N sends only the blocks that the next node lacks, and N's own blocks that the first process
         of N lacks
Fits     any p; block_bytes > 0; every rank has a node
Best     long data of very different sizes on nodes that share a network port, for any placement of ranks on nodes
Source   Träff, Ripke, Siebert, Balaji, Thakur, Gropp, A Simple, Pipelined Algorithm for Large, Irregular All-gather
         Problems, EuroPVM/MPI 2008, doi:10.1007/978-3-540-87475-1_16 (virtual ranking and improvement for clusters)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collectives.block_sizes import BLOCK_BYTES, BlockBytes, bytes_in, bytes_of, positive_blocks_only
from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import all_of, valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds
from collectives.patterns.pipeline import PipelineSchedule, gather_pieces, pipeline, shared
from collectives.tools.blocks import Layout
from collectives.tools.nodes import Nodes, Ranking
from collectives.tools.protocol import Buffer, Comm


def pipeline_schedule(case: Case) -> PipelineSchedule:
    size, layout = bytes_in(case, allgatherv_cluster_blocked_ring.parameter(case, "block_bytes")), case.layout
    counts = [layout.size(r) for r in range(case.p)]
    return PipelineSchedule(
        counts, max(1, size // case.itemsize), allgatherv_cluster_blocked_ring.parameter(case, "nodes"), case.itemsize
    )


def schedule(case: Case) -> Iterator[Round]:
    return pipeline_schedule(case).schedule()


def closed_rounds(case: Case) -> int:
    return pipeline_schedule(case).longest_chain()


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return pipeline_schedule(case).time(t_s, t_w)


def closed_sent(case: Case, rank: int) -> int:
    layout, ranking = case.layout, Ranking(allgatherv_cluster_blocked_ring.parameter(case, "nodes"), case.p)
    v = ranking.position[rank]
    after, first, last = (v + 1) % case.p, ranking.first[v], ranking.last[v]

    def elements(start: int, stop: int) -> int:
        return sum(layout.size(r) for r in ranking.order[start:stop])

    total = elements(0, case.p)
    if v < last:
        return (total - elements(after, after + 1)) * case.itemsize
    lacking = elements(first + 1, last + 1)
    return (total - elements(after, ranking.last[after] + 1) + lacking) * case.itemsize


@algorithm(
    checks_itself=True,
    schedule=schedule,
    why_unsupported=all_of(valid_nodes_only, positive_blocks_only),
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
def allgatherv_cluster_blocked_ring(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    nodes: Nodes = 1,
    block_bytes: BlockBytes = BLOCK_BYTES,
    tag: int = 0,
) -> None:
    """Gather blocks of any size to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank, itemsize = comm.Get_size(), comm.Get_rank(), recvbuf.itemsize
    Layout.of_ranks(counts, p).put(recvbuf, rank, sendbuf)
    size = bytes_of(block_bytes, [int(count) * itemsize for count in counts])
    allgatherv_cluster_blocked_ring.check(Case(p, parameters={"block_bytes": size, "nodes": nodes}))
    gather_pieces(comm, recvbuf, pipeline(tuple(counts), max(1, size // itemsize), shared(nodes)), tag)
