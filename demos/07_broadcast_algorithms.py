"""Compare the timelines and modeled times of six broadcast algorithms.

    python demos/07_broadcast_algorithms.py

Eight ranks with one port in each direction, a start-up time of 1 us and 1 GB/s. All timelines have the same scale.
"""

from screen import arguments, console

import collectives
from collectives import Case
from fakempi import Hockney, phantom, run
from fakempi.view.numbers import seconds
from fakempi.view.timeline import timeline

P, T_S, T_W = 8, 1e-6, 1e-9
SHORT, LONG, PIECE = 64, 1_048_576, 32_768
WHOLE, CUT = {"segment_bytes": LONG}, {"segment_bytes": PIECE}

ALGORITHMS = (  # title, algorithm, parameters, explanation
    ("root sends to all", "linear", {}, "Only the root sends. Every other rank is idle during 6 of the 7 messages."),
    ("chain", "chain", WHOLE, "Every rank forwards the message to the right. No faster: one message at a time."),
    ("pipelined chain", "chain", CUT, "The same chain with 32 segments: nearly all ranks are busy."),
    ("binomial tree", "binomial", {}, "Every rank that has the message sends it: 1, 2, 4 at a time. Fewest rounds."),
    ("scatter, allgather", "scatter_ring_allgather", {}, "Every rank receives an eighth, then a ring gathers the eighths."),
    ("two trees", "two_tree", CUT, "Segments alternate between two trees; a leaf of one is an inner rank of the other."),
)


def broadcast(comm, algorithm, m, parameters):
    """Broadcast a phantom buffer, which costs the same as a real one."""
    algorithm.run(comm, phantom(m), **parameters)


def main():
    out = console()
    traces, rows = [], []
    for title, name, parameters, _ in ALGORITHMS:
        algorithm = collectives.find("bcast", name)
        cells = []
        for m in (SHORT, LONG):
            done = run(broadcast, P, algorithm, m, parameters, cost=Hockney(T_S, T_W, eager_limit=0), trace=True)
            claim = algorithm.time(Case(P, m, parameters=parameters), T_S, T_W)
            cells += [done.time, claim]
        traces.append(done.trace)
        rows.append((title, cells, algorithm.card["Time"].split("; ")[name == "two_tree"].split(" for segments")[0]))
    longest = max(trace.time for trace in traces)
    for (title, _, _, explanation), trace in zip(ALGORITHMS, traces, strict=True):
        out.print(explanation)
        out.print(timeline(trace, width=80, end=longest, title=f"{title}, {seconds(trace.time)}"))
        out.print()

    out.print(f"{'':18}   {SHORT} bytes             {LONG:,} bytes", style="bold")
    out.print(f"{'':18}   modeled   claimed   modeled   claimed", style="bold")
    best = [min(cells[at] for _, cells, _ in rows) for at in (0, 2)]
    for title, cells, _ in rows:
        short, short_claim, long, long_claim = cells
        out.print(
            f"{title:18} {seconds(short):>10}{'*' if short == best[0] else ' '}{seconds(short_claim):>9}"
            f" {seconds(long):>10}{'*' if long == best[1] else ' '}{seconds(long_claim):>9}"
        )
    out.print()
    out.print("The claims, for p ranks, m bytes and n segments of at most b bytes:")
    for title, _, formula in rows:
        out.print(f"{title:18} {formula}")


if __name__ == "__main__":
    arguments(__doc__)
    main()
