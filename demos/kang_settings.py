"""The eight settings of Kang et al. (2019) in the model: who has what, and how long each algorithm takes.

One rank a node: times are the algorithms' claims, which the tests hold equal to the emulator's. Many ranks a node: claims
know nothing of nodes, so the emulator runs, but a ring of 1,600 is 2.5 million messages a time. There the ring's hops are
taken from their recurrence, all ranks of a round in one numpy line (`ShortRings`), and everything else is simulated.
tests/demos/test_kang_model.py compares that with running every message.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from short_rings import ShortRings

import fakempi
from collectives import Algorithm, Case, find
from collectives.catalogue.schedule import Schedule
from collectives.tools.numbers import ceil_div
from fakempi import CostModel, Hockney, TwoLevel, presets

PUBLISHED = {1: 7.00, 2: 4.84, 3: 4.21, 4: 6.68, 5: 7.00, 6: 7.00, 7: 4.84, 8: 4.84}
SIZES = tuple(2**n for n in range(16, 24))  # 64 KB to 8 MB, of the largest block, per node
ITEM = 4  # the paper's datatype is MPI_INT
LEAST_BLOCK = 65536  # of the blocked ring


class Cluster(NamedTuple):
    """So many nodes with so many ranks each; inside a node links are slower than the network (Cori), or as fast."""

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
    """The curves of a setting in Figs. 4 and 5. Two more in Fig. 5 are how MPICH gathers, by the paper and by its source.

    The latter, MPIR_Allgatherv_inter_remote_gather_local_bcast, is `wmpi` with MPICH's broadcast. On nodes of 32 ranks its
    messages wait in queues of 1,600, which takes 9 s a point: left out.
    """
    old, new = "root_gathering_mpich", "full_duplex"
    if number < 5:
        return (old, new, "two_stage")
    return (old, new, "root_gathering_ring", *(("wmpi",) if ranks_per_node == 1 else ()))


def setting(number: int, ranks: int, largest: int) -> Case:
    """A setting on so many ranks, in halves or 25 : 7, with a largest block of so many bytes."""
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
    """Thirds and fourths of a block come out even in twelfths; but not under 64 KB, for every block has its start-up."""
    return max(LEAST_BLOCK, ceil_div(largest, 12 * ITEM) * ITEM)


def seconds(job: Job) -> float:
    """The modelled time of one call."""
    algorithm = find(operation(job.number), job.algorithm, kind="inter")
    largest = job.size // job.cluster.ranks_per_node
    case = setting(job.number, job.cluster.ranks, largest)
    ring = "blocked_ring" if job.number in (2, 3, 4) else "ring"  # received parts differ by a third, or by an element
    if job.cluster.ranks_per_node > 1:
        rings = ShortRings(case.p, job.cluster.cost, block_bytes(largest))
        return simulate(algorithm, case, job.cluster.cost, short(rings, algorithm, ring))
    link = job.cluster.cost.inter
    time = algorithm.time(replace(case, parameters=plain(algorithm, ring, block_bytes(largest))), link.t_s, link.t_w)
    assert time is not None
    return float(time)


def to_bound(number: int, ranks: int, gathering: str) -> float:
    """Full duplex to the lower bound M without start-ups, one rank a node; by what gathers in the groups."""
    algorithm = find("allgather", "full_duplex", kind="inter")
    case = setting(number, ranks, 48 * ITEM)
    found = find("allgatherv", gathering)
    found = with_blocks(found, 4 * ITEM) if gathering == "blocked_ring" else found
    time = algorithm.time(replace(case, parameters={"allgatherv": found}), 0, 1)
    assert time is not None
    return float(time) / max(case.p * case.m, case.q * case.m_b)


def plain(algorithm: Algorithm, ring: str, longest: int) -> dict[str, Any]:
    """Parameters: the gathering within the groups by rings, every message of them."""
    if algorithm.name.startswith("root"):
        return {"first": True}
    if algorithm.name == "wmpi":
        return {"bcast": find("bcast", "scatter_ring_allgather")}
    found = find("allgatherv", ring)
    return {"allgatherv": with_blocks(found, longest) if ring == "blocked_ring" else found}


def short(rings: ShortRings, algorithm: Algorithm, ring: str) -> dict[str, Any]:
    """Parameters: the same with rings in short form."""
    if algorithm.name == "root_gathering_ring":
        return {"first": True, "bcast": rings.bcast(), "gatherv": rings.gatherv()}
    if algorithm.name.startswith("root"):
        return {"first": True, "bcast": rings.bcast()}
    return {"allgather": rings.allgather(), "allgatherv": rings.allgatherv(ring)}


class SlowHop(Hockney):
    """One link between neighbours of either group takes h times as long for a byte; it is in the way of rings alone."""

    def __init__(self, p: int, h: float, link: Hockney) -> None:
        super().__init__(link.t_s, link.t_w, eager_limit=0)
        self.slow, self.h = ({1, 2}, {p + 1, p + 2}), h

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Ports and both processes are busy for t_s + n t_w or t_s + n h t_w."""
        time = self.t_s + nbytes * self.t_w * (self.h if {source, dest} in self.slow else 1)
        return time, time, time


def with_slow_hop(ranks: int, h: float, name: str, gathering: str = "ring") -> float:
    """The time of setting 5 at 8 MB a node where one hop of the groups' rings is slow; every message is emulated."""
    algorithm, case = find("allgatherv", name, kind="inter"), setting(5, ranks, SIZES[-1])
    within = {operation: find(operation, gathering) for operation in ("allgather", "allgatherv")}
    parameters = within if name == "full_duplex" else plain(algorithm, gathering, 0)
    return simulate(algorithm, case, SlowHop(case.p, h, presets.cori().inter), parameters)


def with_blocks(blocked_ring: Algorithm, longest: int) -> Algorithm:
    """The blocked ring with blocks of so many bytes."""

    def run(*args: Any, **options: Any) -> None:
        blocked_ring.run(*args, block_bytes=longest, **options)

    def schedule(case: Case) -> Schedule | None:
        return blocked_ring.plan(replace(case, parameters={"block_bytes": longest}))

    return replace(blocked_ring, run=run, schedule=schedule)


def simulate(algorithm: Algorithm, case: Case, cost: CostModel, parameters: dict[str, Any]) -> float:
    """The time of a call on the emulator: A is ranks 0 .. p-1, B the others; payloads without contents."""

    groups = [(group.layout, group.counts) for group in case.groups]  # made once: a layout is as long as its counts

    def main(comm: Any) -> None:
        in_a = comm.Get_rank() < case.p
        (own, _), (other, counts) = groups if in_a else groups[::-1]
        local = comm.Split(0 if in_a else 1, comm.Get_rank())
        inter = local.Create_intercomm(0, comm, case.p if in_a else 0)
        mine = fakempi.phantom(own.size(local.Get_rank()) * ITEM, ITEM)
        recvbuf = fakempi.phantom(other.size(0, other.p) * ITEM, ITEM)
        said = {**parameters, "first": in_a} if "first" in parameters else parameters
        algorithm.run(inter, local, mine, recvbuf, *(() if counts is None else (counts,)), **said)

    return float(fakempi.run(main, case.ranks, cost=cost).time)
