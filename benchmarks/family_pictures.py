"""Pictures of the schedules of algorithm families: the messages of one call on 8 ranks over time.

    python benchmarks/family_pictures.py            (seconds; writes pictures/families/*.svg)

All messages cost t_s = 1 and 1 per block, so that a picture shows rounds and sizes. The pages of the site show the pictures
(docs/hooks/families.py).
"""

from __future__ import annotations

import sys
from math import atan2, cos, sin
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import fakempi
from collectives import Case, find
from collectives.trials.calls import prepared
from docs.hooks.families import Picture, all_families
from fakempi import MPI, Hockney, phantom
from fakempi.view.export import INK, QUIET, SANS, Drawing, to_svg

DIRECTORY = Path(__file__).parents[1] / "pictures" / "families"
RANKS = 8
BYTES = 64
"""Of a message; a block has an eighth."""


WIDTH, ROW, LEFT, TOP = 640, 22, 52, 26
"""Size of a picture in pixels: the time axis, a rank's row, and the margins."""


def drawn(picture: Picture) -> Drawing:
    """Return the messages of one call: an arrow for each, from the start to the end of its transfer."""
    algorithm = find(picture.operation, picture.name)
    whole = picture.operation in ("bcast", "reduce", "allreduce", "scan", "exscan")
    nbytes = 0 if picture.operation == "barrier" else BYTES if whole else BYTES // RANKS
    case = Case(RANKS, nbytes, parameters=picture.parameters)

    def main(comm: Any) -> None:
        prepared(algorithm, case, comm.Get_rank(), (comm,), phantom, MPI.SUM)()

    run = fakempi.run(main, RANKS, cost=Hockney(1, 1 / 8, eager_limit=0), trace=True)
    assert run.trace is not None
    shapes = [f'<text x="0" y="12" font-family="{SANS}" font-weight="bold" fill="{INK}">{picture.title}</text>']
    for rank in range(RANKS):
        y = _row(rank)
        shapes.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end" font-size="11" fill="{QUIET}">{rank}</text>')
        shapes.append(f'<path d="M{LEFT} {y}H{LEFT + WIDTH}" stroke="#d5d9e0"/>')
    for transfer in run.trace.transfers:
        start, end = (LEFT + WIDTH * float(time) / float(run.time) for time in (transfer.start, transfer.arrived))
        shapes.append(_arrow(start, _row(transfer.source), end, _row(transfer.dest), transfer.nbytes))
    label = f"{float(run.time):g} units of time"
    bottom = _row(RANKS) + 4
    shapes.append(f'<text x="{LEFT + WIDTH}" y="{bottom}" text-anchor="end" font-size="11" fill="{QUIET}">{label}</text>')
    return Drawing(LEFT + WIDTH + 12, bottom + 14, "".join(shapes))


def _row(rank: int) -> float:
    return TOP + ROW * (rank + 0.5)


def _arrow(x: float, y: float, to_x: float, to_y: float, nbytes: int) -> str:
    """Return an arrow; longer messages have thicker lines."""
    wide = 1 + 2 * nbytes / BYTES
    slope = atan2(to_y - y, to_x - x)
    tips = [(to_x - 8 * cos(slope + side), to_y - 8 * sin(slope + side)) for side in (-0.35, 0.35)]
    head = " ".join(f"L{tip_x:.1f} {tip_y:.1f}" for tip_x, tip_y in tips)
    line = f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" stroke="#2a66ad" stroke-width="{wide:.2g}" opacity="0.8"/>'
    return f'<g shape-rendering="auto">{line}<path d="M{to_x:.1f} {to_y:.1f}{head}Z" fill="#2a66ad"/></g>'


def main() -> None:
    """Write a picture for each family."""
    DIRECTORY.mkdir(exist_ok=True)
    for family in all_families():
        path = DIRECTORY / f"{family.file}.svg"
        path.write_text(to_svg(*map(drawn, family.pictures)), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
