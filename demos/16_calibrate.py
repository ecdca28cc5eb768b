"""Fit a cost model to ping-pongs of a real cluster, and compare its predictions with measured broadcasts.

    python demos/16_calibrate.py

Students of the University of Trieste measured one node of the cluster ORFEO, with two sockets of 12 cores, and published
the figures (benchmarks/data). Hockney's model, one line for all sizes, misses the protocols of the MPI library. A
piecewise-linear model has a line for each. Ping-pongs do not show how long a message occupies its sender; linear
broadcasts do.
"""

from pathlib import Path

from rich.table import Table
from screen import arguments, console

from collectives import Case, find
from fakempi.apps.compare.benchmark_loop import loop_average
from fakempi.apps.compare.gap_inference import infer_gap
from fakempi.apps.compare.measurements import read_measurements
from fakempi.machines.calibration import calibrate
from fakempi.machines.csv_files import read_placement, read_samples
from fakempi.view.numbers import seconds

DATA = Path(__file__).parents[1] / "benchmarks" / "data" / "orfeo_thin"
SIZES = (8, 1024, 8192)
P = 12


def main():
    arguments(__doc__)
    out = console()
    samples = read_samples(str(DATA / "pairs.csv"), read_placement(str(DATA / "cores.csv")))
    found = calibrate(samples, ranks_per_socket=12)
    table = Table("level", "ping-pongs", "pieces", "held-out error", "Hockney's", box=None, pad_edge=False)
    for level in found.levels:
        pieces = len(found.model.levels[level.name].time.pieces)
        errors = f"{level.held_out.median:.1%}", f"{level.hockney.median:.1%}"
        table.add_row(level.name, str(level.points), str(pieces), *errors)
    out.print(table)

    linear = read_measurements(str(DATA / "bcast_linear.csv"), "bcast").seconds
    rows = [(key[1], key[3], time) for key, time in linear.items() if key[3] in (1, 8, 64, 1024, 8192)]
    models = {"without a gap": found.model, "with a gap": infer_gap(found.model, rows, averages=True)}
    measured = read_measurements(str(DATA / "bcast.csv"), "bcast").seconds
    table = Table("broadcast", "bytes", "measured", *models, box=None, pad_edge=False)
    for name in ("linear", "binomial"):
        for nbytes in SIZES:
            times = [loop_average(find("bcast", name), Case(P, nbytes), model) for model in models.values()]
            table.add_row(name, f"{nbytes:,}", *map(seconds, (measured[name, P, 0, nbytes, ""], *times)))
    out.print(f"\nBroadcasts on {P} cores of one socket, the average over ranks as osu_bcast prints it:\n")
    out.print(table)


if __name__ == "__main__":
    main()
