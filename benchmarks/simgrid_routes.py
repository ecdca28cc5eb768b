"""Compare link contention in fakempi and in SimGrid: the time until all messages have arrived, over the same links.

    python benchmarks/simgrid_routes.py            (a minute)

simgrid 4.1 was used, which pip builds from source: that needs a compiler, Boost's headers and pybind11 below version 3.

Both use the same routes: a link out of each rank, the links that the cost model names, and a link into each rank, all of the
same speed and without start-up and latency, so only the sharing of links differs. In fakempi a link serves one message after
the other, the one that has waited longest first, and a rank sends one message at a time. In SimGrid all messages in transit
share the bandwidth of the links, max-min fair. If all links are equally busy, or one is the bottleneck of all messages, both
take the same time. Otherwise a message that waits in fakempi leaves links idle, of which it would use a part in SimGrid.

`least` is a lower bound for any sharing: the time of the busiest link. A link of width k is a link with k times the
bandwidth in SimGrid, where the links of the ranks limit each message to one k-th of it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

import fakempi
from fakempi import MPI, Dragonfly, FatTree, Torus, TwoGroups, phantom
from fakempi.core.network.models.linked import Linked

NBYTES, T_W = 10**6, 1e-9
Traffic = list[tuple[int, int]]

NETWORKS: dict[str, Callable[[], Linked]] = {
    "torus 4 x 4 x 4": lambda: Torus((4, 4, 4), t_s=0, t_hop=0, t_w=T_W),
    "torus 16": lambda: Torus(16, t_s=0, t_hop=0, t_w=T_W),
    "fat tree 4 x 4 x 4, fixed tables": lambda: FatTree((4, 4, 4), static=True, t_s=0, t_hop=0, t_w=T_W),
    "fat tree 4 x 4 x 4, half as wide": lambda: FatTree((4, 4, 4), links=(1, 2, 4), t_s=0, t_hop=0, t_w=T_W),
    "dragonfly 4 x 4 x 4": lambda: Dragonfly(4, 4, 4, t_s=0, t_hop=0, t_w=T_W),
    "two groups, 3 unequal links": lambda: TwoGroups(32, (T_W, 2 * T_W, 4 * T_W), t_s=0, t_w=T_W),
}


def neighbors_by_rank(cost: Linked) -> Traffic:
    """Every rank to all ranks at distance one link, or, if there are none, to the nearest, by increasing rank."""
    ranks = size(cost)
    nearest = min(cost.hops(0, other) for other in range(1, ranks) if cost.hops(0, other))
    return [(a, b) for a in range(ranks) for b in range(ranks) if a != b and 0 < cost.hops(a, b) <= nearest]


def neighbors(cost: Linked) -> Traffic:
    """The same messages in the same order on every rank: by direction on a torus, otherwise by distance to the right."""

    def place(message: tuple[int, int]) -> Any:
        a, b = message
        first = cost.path(a, b)[0]
        return (a, first[1:]) if isinstance(cost, Torus) else (a, (b - a) % size(cost))  # type: ignore[index]  # a tuple

    return sorted(neighbors_by_rank(cost), key=place)


def permutation(seed: int) -> Callable[[Linked], Traffic]:
    """A random permutation of the ranks."""

    def traffic(cost: Linked) -> Traffic:
        dests = list(range(size(cost)))
        Random(seed).shuffle(dests)
        return [(source, dest) for source, dest in enumerate(dests) if source != dest]

    return traffic


PATTERNS: dict[str, Callable[[Linked], Traffic]] = {
    "ring": lambda cost: [(i, (i + 1) % size(cost)) for i in range(size(cost))],
    "all to one": lambda cost: [(i, 0) for i in range(1, size(cost))],
    "bisection exchange": lambda cost: [(i, (i + size(cost) // 2) % size(cost)) for i in range(size(cost))],
    "nearest neighbors": neighbors,
    "the same, by rank": neighbors_by_rank,
    "random permutation, 1": permutation(1),
    "random permutation, 2": permutation(2),
    "random permutation, 3": permutation(3),
}


def size(cost: Linked) -> int:
    """Number of ranks: one per node."""
    return cost.places or 64


def routes(cost: Linked, traffic: Traffic) -> list[list[Any]]:
    """Names of all links of each message, including those of the ranks."""
    return [[("out", a), *cost.route(a, b), ("in", b)] for a, b in traffic]


def bandwidth(cost: Linked, name: Any) -> float:
    """Bytes per second of a link over its whole width."""
    if name[0] in ("out", "in"):
        return 1 / T_W
    link = cost.link(name)
    return link.width / link.t_w


def busiest_link_seconds(cost: Linked, traffic: Traffic) -> float:
    """Seconds of the busiest link."""
    load = Counter(name for route in routes(cost, traffic) for name in route)
    return max(count * NBYTES / bandwidth(cost, name) for name, count in load.items())


def fakempi_seconds(cost: Linked, traffic: Traffic) -> float:
    """Seconds in fakempi, with all messages posted at once."""

    def main(comm: Any) -> None:
        requests = [comm.Irecv(phantom(NBYTES), a) for a, b in traffic if b == comm.rank]
        requests += [comm.Isend(phantom(NBYTES), b) for a, b in traffic if a == comm.rank]
        MPI.Request.Waitall(requests)

    return fakempi.run(main, size(cost), cost=cost).time


def simgrid_seconds(case: tuple[str, str]) -> float:
    """Seconds in SimGrid, with two actors per message. A process can have only one engine."""
    import simgrid

    cost = NETWORKS[case[0]]()
    traffic = PATTERNS[case[1]](cost)
    options = ["--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:0"]
    engine = simgrid.Engine(["routes", "--log=root.thresh:warning", *options])
    zone = engine.netzone_root
    hosts = [zone.add_host(f"rank{rank}", 1e9).seal() for rank in range(size(cost))]
    links: dict[Any, Any] = {}
    for (a, b), route in zip(traffic, routes(cost, traffic), strict=True):
        for name in route:
            if name not in links:
                links[name] = zone.add_link(f"link{len(links)}", bandwidth(cost, name)).set_latency(0.0).seal()
        zone.add_route(hosts[a], hosts[b], [simgrid.LinkInRoute(links[name]) for name in route], False)
    zone.seal()

    def sends(number: int) -> None:
        simgrid.Mailbox.by_name(str(number)).put("x", NBYTES)

    def receives(number: int) -> None:
        simgrid.Mailbox.by_name(str(number)).get()

    for number, (a, b) in enumerate(traffic):
        hosts[a].add_actor(f"s{number}", sends, number)
        hosts[b].add_actor(f"r{number}", receives, number)
    engine.run()
    return float(engine.clock)


NOTES = [
    "Reasons for differences:",
    "The same, by rank. In fakempi a rank sends one message at a time, in the order in which it posts them; in SimGrid it "
    "sends all at once, and each gets a share of the bandwidth. Among four ranks that send to each other by increasing "
    "rank, ranks 1 to 3 send to rank 0 first. The last of them waits for 2 ms and then needs 3 ms: 5 instead of 3. On a "
    "torus of 16, rank 15 waits for 1 ms, because rank 1 sends to rank 0 first, too: 3 instead of 2. On 4 x 4 x 4, waits of "
    "this kind follow one another. If all ranks have the same order of directions, none waits.",
    "Half as wide. In fakempi a message occupies one link of a bundle; in SimGrid it has a share of all links. In "
    "permutation 1 one bundle of four links has 13 messages: four rounds instead of 13/4. In the other two, 12 messages "
    "need all four links upward and all four downward in each of three rounds; a message that waits for one leaves "
    "another one idle, which costs a fourth round.",
    "All to one over unequal links. In fakempi a message over a slow link occupies the receiver's port for as long as the "
    "link: 31 messages of its own group, and 11, 11 and 10 over links that take 1, 2 and 4 ms: 31 + 11 + 22 + 40 = 104. In "
    "SimGrid other messages use the rest of the port's bandwidth.",
]


def main() -> int:
    """Print both times side by side."""
    console = Console(width=110, highlight=False)
    cases = [(network, pattern) for network in NETWORKS for pattern in PATTERNS]
    try:
        import simgrid  # noqa: F401
    except ImportError:
        console.print("simgrid is not installed: its column is empty.")
        theirs: list[float | None] = [None] * len(cases)
    else:
        with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            theirs = list(pool.imap(simgrid_seconds, cases))
    table = Table(title=f"{NBYTES:,} bytes per message at 1 GB/s: ms until all have arrived", title_justify="left")
    for column in ("network", "pattern", "messages", "least", "fakempi", "SimGrid", "ratio"):
        table.add_column(column, justify="left" if column in ("network", "pattern") else "right")
    for (network, pattern), seconds in zip(cases, theirs, strict=True):
        cost = NETWORKS[network]()
        traffic = PATTERNS[pattern](cost)
        ours = fakempi_seconds(cost, traffic)
        cells = ("-", "-") if seconds is None else (f"{seconds * 1e3:.2f}", f"{ours / seconds:.2f}")
        first = network if pattern == next(iter(PATTERNS)) else ""
        bound = f"{busiest_link_seconds(cost, traffic) * 1e3:.2f}"
        table.add_row(first, pattern, str(len(traffic)), bound, f"{ours * 1e3:.2f}", *cells)
    console.print(table)
    console.print("", *NOTES, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
