"""Model the eight settings of Kang et al. (2019): the blocks of each rank, and the time of each algorithm.

With one rank per node, times are the algorithms' claims, which the tests compare with the emulator. With many ranks per
node, claims do not apply, because they ignore nodes; but a ring of 1,600 ranks has 2.5 million messages. So the hops of
rings are computed from their recurrence, all ranks of a round in one numpy expression (`ShortRings`), and everything else
is emulated. tests/demos/test_kang_model.py compares the result with runs of every message.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from short_rings import ShortRings

import fakempi
from collectives import Algorithm, Case, find
from collectives.catalogue.schedule import Rounds
from collectives.tools.numbers import ceil_div
from fakempi import CostModel, Hockney, TwoLevel, presets

PUBLISHED = {1: 7.00, 2: 4.84, 3: 4.21, 4: 6.68, 5: 7.00, 6: 7.00, 7: 4.84, 8: 4.84}
SIZES = tuple(2**n for n in range(16, 24))  # 64 KB to 8 MB, of the largest block, per node
ITEM = 4  # the paper's datatype is MPI_INT
LEAST_BLOCK = 65536  # minimum block size of the blocked ring


class Cluster(NamedTuple):
    """Number of nodes and ranks per node; links inside a node are slower than the network (Cori), or as fast (even)."""

    nodes: int
    ranks_per_node: int
    even: bool = False

    @property
    def ranks(self) -> int:
        return self.nodes * self.ranks_per_node

    @property
    def cost(self) -> TwoLevel:
        cori = presets.cori(self.ranks_per_node, eager_limit=0)
        if not self.even:
            return cori
        return TwoLevel(self.ranks_per_node, intra=cori.inter, inter=cori.inter, eager_limit=0)

    def __str__(self) -> str:
        return f"{self.nodes} x {self.ranks_per_node}"


CLUSTERS = (Cluster(64, 1), Cluster(256, 1), Cluster(64, 32))


class Job(NamedTuple):
    """One point of one curve."""

    number: int
    cluster: Cluster
    size: int
    algorithm: str


def operation(number: int) -> str:
    """Settings 1 to 4 are allgathers, 5 to 8 allgathervs."""
    return "allgather" if number < 5 else "allgatherv"


def algorithms(number: int, ranks_per_node: int) -> tuple[str, ...]:
    """The curves of a setting in Figs. 4 and 5; Fig. 5 also has MPICH's gather, according to the paper and to its source.

    The gather of the source, MPIR_Allgatherv_inter_remote_gather_local_bcast, is `wmpi` with MPICH's broadcast. It is
    omitted on nodes of 32 ranks, where its messages wait in queues of 1,600 and a point takes 9 s.
    """
    old, new = "root_gathering_mpich", "full_duplex"
    if number < 5:
        return (old, new, "two_stage")
    return (old, new, "root_gathering_ring", *(("wmpi",) if ranks_per_node == 1 else ()))


def setting(number: int, ranks: int, largest: int) -> Case:
    """A setting with this number of ranks, in halves or 25 : 7, and this size of the largest block in bytes."""
    half, p, q, k = ranks // 2, ranks * 25 // 32, ranks * 7 // 32, largest // ITEM

    def rising(n: int) -> tuple[int, ...]:
        return tuple(k * i // (n - 1) for i in range(n))

    plain = Case(half, itemsize=ITEM, q=half)
    uneven = Case(p, itemsize=ITEM, q=q)
    return {
        1: replace(plain, m=k * ITEM, m_b=k * ITEM),
        2: replace(uneven, m=k * ITEM, m_b=k * ITEM),
        3: replace(uneven, m=k * ITEM, m_b=k // 4 * ITEM),
        4: replace(uneven, m=k // 4 * ITEM, m_b=k * ITEM),
        5: replace(plain, counts=(k,) * half, counts_b=(k,) * half),
        6: replace(plain, counts=rising(half), counts_b=rising(half)),
        7: replace(uneven, counts=(k,) * p, counts_b=(k,) * q),
        8: replace(uneven, counts=rising(p), counts_b=rising(q)),
    }[number]


def block_bytes(largest: int) -> int:
    """A twelfth of the largest block, which divides thirds and fourths; at least 64 KB, because each has a start-up."""
    return max(LEAST_BLOCK, ceil_div(largest, 12 * ITEM) * ITEM)


def seconds(job: Job) -> float:
    """The modeled time of one call."""
    algorithm = find(operation(job.number), job.algorithm, kind="inter")
    largest = job.size // job.cluster.ranks_per_node
    case = setting(job.number, job.cluster.ranks, largest)
    ring = "blocked_ring" if job.number in (2, 3, 4) else "ring"  # 2 to 4: parts differ by up to a third
    if job.cluster.ranks_per_node > 1:
        rings = ShortRings(case.p, job.cluster.cost, block_bytes(largest))
        return simulate(algorithm, case, job.cluster.cost, short(rings, algorithm, ring))
    link = job.cluster.cost.inter
    time = algorithm.time(replace(case, parameters=plain(algorithm, ring, block_bytes(largest))), link.t_s, link.t_w)
    assert time is not None
    return float(time)


def with_default_blocks(number: int, cluster: Cluster, gathering: str) -> float:
    """Time of full duplex at 8 MB per node with this allgatherv in the groups, and its default block size."""
    assert cluster.ranks_per_node == 1, "claims ignore nodes"
    case, link = setting(number, cluster.ranks, SIZES[-1]), cluster.cost.inter
    parameters = {"allgatherv": find("allgatherv", gathering)}
    time = find("allgather", "full_duplex", kind="inter").time(replace(case, parameters=parameters), link.t_s, link.t_w)
    assert time is not None
    return float(time)


def to_bound(number: int, ranks: int, gathering: str) -> float:
    """Time of full duplex / lower bound M, without start-ups, with one rank per node and this allgatherv in the groups."""
    algorithm = find("allgather", "full_duplex", kind="inter")
    case = setting(number, ranks, 48 * ITEM)
    found = find("allgatherv", gathering)
    found = with_blocks(found, 4 * ITEM) if gathering == "blocked_ring" else found
    time = algorithm.time(replace(case, parameters={"allgatherv": found}), 0, 1)
    assert time is not None
    return float(time) / max(case.p * case.m, case.q * case.m_b)


def plain(algorithm: Algorithm, ring: str, longest: int) -> dict[str, Any]:
    """Parameters for allgathers within the groups by rings, with every message."""
    if algorithm.name.startswith("root"):
        return {"first": True}
    if algorithm.name == "wmpi":
        return {"bcast": find("bcast", "scatter_ring_allgather")}
    found = find("allgatherv", ring)
    return {"allgatherv": with_blocks(found, longest) if ring == "blocked_ring" else found}


def short(rings: ShortRings, algorithm: Algorithm, ring: str) -> dict[str, Any]:
    """The same parameters with computed rings."""
    if algorithm.name == "root_gathering_ring":
        return {"first": True, "bcast": rings.bcast(), "gatherv": rings.gatherv()}
    if algorithm.name.startswith("root"):
        return {"first": True, "bcast": rings.bcast()}
    return {"allgather": rings.allgather(), "allgatherv": rings.allgatherv(ring)}


class SlowHop(Hockney):
    """One link between neighbors in each group takes h times as long per byte; only rings use it."""

    def __init__(self, p: int, h: float, link: Hockney) -> None:
        super().__init__(link.t_s, link.t_w, eager_limit=0)
        self.slow, self.h = ({1, 2}, {p + 1, p + 2}), h

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Ports and both processes are busy for t_s + n t_w or t_s + n h t_w."""
        time = self.t_s + nbytes * self.t_w * (self.h if {source, dest} in self.slow else 1)
        return time, time, time


def with_slow_hop(ranks: int, h: float, name: str, gathering: str = "ring") -> float:
    """The time of setting 5 at 8 MB per node with one slow hop in each group's ring; every message is emulated."""
    algorithm, case = find("allgatherv", name, kind="inter"), setting(5, ranks, SIZES[-1])
    within = {operation: find(operation, gathering) for operation in ("allgather", "allgatherv")}
    parameters = within if name == "full_duplex" else plain(algorithm, gathering, 0)
    return simulate(algorithm, case, SlowHop(case.p, h, presets.cori().inter), parameters)


def with_blocks(blocked_ring: Algorithm, longest: int) -> Algorithm:
    """The blocked ring with this block size in bytes."""

    def run(*args: Any, **options: Any) -> None:
        blocked_ring.run(*args, block_bytes=longest, **options)

    def schedule(case: Case) -> Rounds | None:
        return blocked_ring.schedule_for(replace(case, parameters={"block_bytes": longest}))

    return replace(blocked_ring, run=run, schedule=schedule)


def simulate(algorithm: Algorithm, case: Case, cost: CostModel, parameters: dict[str, Any]) -> float:
    """The time of a call on the emulator, with phantom buffers: A has ranks 0 .. p-1, B the others."""

    groups = [(group.layout, group.counts) for group in case.groups]  # created once, because layouts are long

    def main(comm: Any) -> None:
        in_a = comm.Get_rank() < case.p
        (own, _), (other, counts) = groups if in_a else groups[::-1]
        local = comm.Split(0 if in_a else 1, comm.Get_rank())
        inter = local.Create_intercomm(0, comm, case.p if in_a else 0)
        mine = fakempi.phantom(own.size(local.Get_rank()) * ITEM, ITEM)
        recvbuf = fakempi.phantom(other.size(0, other.p) * ITEM, ITEM)
        arguments = {**parameters, "first": in_a} if "first" in parameters else parameters
        algorithm.run(inter, local, mine, recvbuf, *(() if counts is None else (counts,)), **arguments)

    return float(fakempi.run(main, case.ranks, cost=cost).time)
