"""Compare load balance: one rank has half of all data. The ring is idle most of the time, the blocked ring is not.

    python demos/09_load_balance.py                      96 ranks, traced on the emulator
    python demos/09_load_balance.py --ranks 4096         computed from the claims, half a minute
    python demos/09_load_balance.py --svg balance.svg    also write the picture to a file

Träff et al. (2008) show this picture for 96 processes. With 4,096 ranks the blocked ring sends 29 million messages. They are
computed from the recurrence of the algorithm, which the tests compare with the emulator. One rank in 32 is drawn, and the
picture says so.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console

import collectives
from collectives.distributions import spike
from collectives.patterns.pipeline import PipelineSchedule
from fakempi import Hockney, phantom, run
from fakempi.trace.columns import COMPUTES, REGIONS, TRANSFERS, Columns
from fakempi.view.export import to_svg
from fakempi.view.numbers import seconds
from fakempi.view.timeline import side_by_side

T_S, T_W = 2e-6, 1e-9  # start-up time 2 us, 1 GB/s
BLOCK = 32 * 1024


def traced(name, counts, **parameters):
    """The trace of a run on the emulator, with phantom buffers."""

    def main(comm):
        mine, everything = phantom(counts[comm.Get_rank()]), phantom(sum(counts))
        collectives.find("allgatherv", name).run(comm, mine, everything, counts, **parameters)

    return run(main, len(counts), cost=Hockney(T_S, T_W, eager_limit=0), trace=True).trace


def computed(counts, block, every):
    """The transfers of one rank in `every`, by the recurrence; the ring is the case of one block per rank."""
    parts, last = [], 0
    for source, dest, begin, end in PipelineSchedule(counts, block, 1, 1).transfers(T_S, T_W):
        drawn = np.flatnonzero((source % every == 0) | (dest % every == 0))
        rows = np.zeros(drawn.size, TRANSFERS.dtype)
        rows["source"], rows["dest"], rows["start"] = source[drawn], dest[drawn], begin[drawn]
        rows["sent"] = rows["arrived"] = end[drawn]
        parts.append(rows)
        last = max(last, end.max(initial=0))
    nothing = np.zeros(0, COMPUTES.dtype), np.zeros(0, REGIONS.dtype)
    return Columns([last] * len(counts), [], [], np.concatenate(parts), *nothing)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--ranks", type=int, default=96)
    options.add_argument("--svg", metavar="FILE")
    chosen = options.parse_args()
    every = -(-chosen.ranks // 128)
    counts = spike(int(chosen.ranks * (4 if every == 1 else 1.5) * BLOCK), chosen.ranks)
    if every == 1:
        ring, blocked = traced("ring", counts), traced("blocked_ring", counts, block_bytes=BLOCK)
    else:
        ring, blocked = computed(counts, max(counts), every), computed(counts, BLOCK, every)
    what = f"{chosen.ranks} ranks, rank 0 has half of {sum(counts) / 2**20:.0f} MB, blocks of {BLOCK >> 10} KB"
    if every > 1:
        what += f"\nNot emulated: computed from the recurrence of the algorithms. One rank in {every} is drawn."
    titles = f"linear ring, {seconds(ring.time)}", f"blocked ring, {seconds(blocked.time)}"
    ranks = range(0, chosen.ranks, every)
    # On one scale the shorter run would be invisible.
    picture = side_by_side(ring, blocked, titles=titles, ranks=ranks, same_scale=False)
    Console(width=80, highlight=False).print(what, picture, sep="\n")
    if chosen.svg:
        Path(chosen.svg).write_text(to_svg(what, picture, title="python " + " ".join(sys.argv)), encoding="utf-8")
