"""A broadcast gets faster, rung by rung: what a timeline shows, the next algorithm uses.

    python demos/12_broadcast_ladder.py

Eight ranks, one port each way, 1 us to start a message and 1 GB/s. All timelines have the same scale.
"""

from screen import asked, console

import collectives
from collectives import Case
from fakempi import Hockney, phantom, run
from fakempi.view.numbers import seconds
from fakempi.view.timeline import timeline

P, T_S, T_W = 8, 1e-6, 1e-9
SHORT, LONG, PIECE = 64, 1_048_576, 32_768
WHOLE, CUT = {"segment_bytes": LONG}, {"segment_bytes": PIECE}

LADDER = (  # what, the algorithm and its parameters, what one sees
    ("root sends to all", "linear", {}, "Only the root sends. The others wait for 6 of 7 messages."),
    ("chain", "chain", WHOLE, "Everybody passes it on to the right. No faster: one message at a time."),
    ("pipelined chain", "chain", CUT, "The same chain, in 32 pieces that follow each other: nearly all are busy."),
    ("binomial tree", "binomial", {}, "Whoever has it sends: 1, 2, 4 at a time. The fewest rounds for short messages."),
    ("scatter, allgather", "scatter_ring_allgather", {}, "Everybody gets an eighth, then the eighths go round."),
    ("two trees", "two_tree", CUT, "Pieces go down two trees in turn: leaves here are inner ranks there."),
)


def broadcast(comm, algorithm, m, parameters):
    """Of a message without contents: what it costs is the same."""
    algorithm.run(comm, phantom(m), **parameters)


def main():
    out = console()
    traces, rows = [], []
    for what, name, parameters, _ in LADDER:
        algorithm = collectives.find("bcast", name)
        cells = []
        for m in (SHORT, LONG):
            done = run(broadcast, P, algorithm, m, parameters, cost=Hockney(T_S, T_W, eager_limit=0), trace=True)
            claim = algorithm.time(Case(P, m, parameters=parameters), T_S, T_W)
            cells += [done.time, claim]
        traces.append(done.trace)
        rows.append((what, cells, algorithm.card["Time"].split("; ")[name == "two_tree"].split(" for segments")[0]))
    longest = max(trace.time for trace in traces)
    for (what, _, _, words), trace in zip(LADDER, traces, strict=True):
        out.print(words)
        out.print(timeline(trace, width=80, end=longest, title=f"{what}, {seconds(trace.time)}"))
        out.print()

    out.print(f"{'':18}   {SHORT} bytes             {LONG:,} bytes", style="bold")
    out.print(f"{'':18}   modelled   claimed   modelled   claimed", style="bold")
    best = [min(cells[at] for _, cells, _ in rows) for at in (0, 2)]
    for what, cells, _ in rows:
        short, short_claim, long, long_claim = cells
        out.print(
            f"{what:18} {seconds(short):>10}{'*' if short == best[0] else ' '}{seconds(short_claim):>9}"
            f" {seconds(long):>10}{'*' if long == best[1] else ' '}{seconds(long_claim):>9}"
        )
    out.print()
    out.print("The claims, for p ranks, m bytes and n pieces of at most b:")
    for what, _, formula in rows:
        out.print(f"{what:18} {formula}")


if __name__ == "__main__":
    asked(__doc__)
    main()
