"""Define the options of commands that compare algorithms, or measure and tune machines."""

from __future__ import annotations

from argparse import ArgumentParser

from fakempi.apps.cli.options.values import factor, jobs, positive, seconds


def add_compare(compare: ArgumentParser) -> None:
    """Add the options of `fakempi compare`."""
    compare.add_argument("operation", help="an operation, such as allgather or inter:allgather")
    compare.add_argument("-n", dest="ranks", metavar="LIST", help="numbers of ranks: 16, 2..64, 6+2 (default 16)")
    compare.add_argument("--bytes", metavar="LIST", help="sizes: 1k, 1k..1M, 8,64k (default 1k)")
    compare.add_argument("--algorithms", metavar="LIST", help="only these: ring, chain(segment_bytes=4k), ./file.py")
    compare.add_argument("--default", action="store_true", help="also show the default algorithm, with its parameters")
    compare.add_argument("--distribution", metavar="LIST", help="block sizes of operations that end in v: a name, or all")
    compare.add_argument("--counts", metavar="FILE", help="custom block sizes in bytes; two lists for two groups")
    compare.add_argument(
        "--dtype", metavar="TYPE", default="", help="element type: double, int64, ... (default char, in reductions float)"
    )
    compare.add_argument("--cost", metavar="MODEL", default="hockney:eager_limit=0", help="cost model; see below")
    compare.add_argument("--measure", action="store_true", help="emulate all cases, and report claims that differ")
    compare.add_argument(
        "--bits", action="store_true", help="reductions: what the bits of a floating-point sum depend on, instead of times"
    )
    compare.add_argument(
        "--beside", metavar="FILE", dest="measured", help="also show measured times: CSV, or OSU output as FILE:ranks=N"
    )
    compare.add_argument("--placement", type=positive, metavar="N", help="use the measured times with N ranks per node")
    compare.add_argument(
        "--timing", choices=("makespan", "osu"), default="makespan", help="time of the slowest rank, or osu_bcast's average"
    )
    compare.add_argument("--csv", metavar="FILE", help="write one row per number, in seconds; - is standard output")
    compare.add_argument("--json", metavar="FILE", help="write the same rows as JSON")
    compare.add_argument("--latex", metavar="FILE", help="write a LaTeX table (booktabs) of the fastest algorithms")
    compare.add_argument("--jobs", type=jobs, metavar="N", help="processes (default: one per core for long comparisons)")
    compare.add_argument("--progress", action="store_true", help="report progress periodically, even without a terminal")
    compare.add_argument("--no-plot", dest="plot", action="store_false", help="tables only")
    add_figure(compare)
    compare.add_argument(
        "--layout", choices=("curves", "heatmap"), default="curves",
        help="figure: times as curves, or the fastest algorithm over ranks and bytes",
    )  # fmt: skip
    compare.add_argument("--speedup-over", metavar="NAME", default="", help="figure: speedups over this algorithm")
    compare.add_argument("--ratio-panel", action="store_true", help="figure: also draw the times divided by the least time")


def add_figure(command: ArgumentParser) -> None:
    """Add the options of figures."""
    command.add_argument("--figure", metavar="FILE", help="write a figure for a paper: .svg, .pdf or .png")
    command.add_argument(
        "--figure-width", metavar="W", default="", help="one or two columns, or a width such as 12cm (default one)"
    )
    command.add_argument(
        "--figure-style", metavar="NAME", default="", help="paper, slides, a style of matplotlib, or a .mplstyle file"
    )


def add_calibrate(calibrate: ArgumentParser) -> None:
    """Add the options of `fakempi calibrate`."""
    calibrate.add_argument(
        "--from", dest="sources", metavar="FILE", action="append", default=[],
        help="fit measurements instead: CSV, OSU or Intel MPI benchmarks; LEVEL:FILE sets the level (cache, socket, node, "
        "network)",
    )  # fmt: skip
    calibrate.add_argument("--placement", metavar="FILE", help="CSV with core,node[,socket[,cache]] for --from pairs")
    calibrate.add_argument(
        "--collectives", metavar="FILE", help="infer the gap from linear broadcasts in this CSV file, factors from others"
    )
    calibrate.add_argument(
        "--timing", choices=("makespan", "osu"), default="makespan", help="times of --collectives: slowest rank, or averages"
    )
    calibrate.add_argument("-o", "--output", metavar="FILE", default="-", help="the machine file (default: standard output)")
    calibrate.add_argument("--csv", metavar="FILE", help="also write the time of each measurement, for --from")
    calibrate.add_argument("--seconds", type=seconds, metavar="S", default=60, help="time for measurements (default 60)")
    calibrate.add_argument("--pairs", type=positive, metavar="N", default=4, help="pairs to measure per level (default 4)")
    calibrate.add_argument(
        "--statistic", choices=("median", "minimum"), default="median", help="of repetitions; use minimum on a busy machine"
    )
    for name in ("node", "socket", "cache"):
        calibrate.add_argument(f"--ranks-per-{name}", type=positive, metavar="N", help=f"default number of ranks per {name}")
    calibrate.add_argument("--plot", action="store_true", help="also draw measured and fitted times")
    calibrate.add_argument("--quiet", "-q", action="store_true", help="no progress")
    add_figure(calibrate)


def add_tune(tune: ArgumentParser) -> None:
    """Add the options of `fakempi tune`."""
    tune.add_argument("--cost", metavar="MODEL", required=True, help="cost model of the machine; see below")
    tune.add_argument("-n", dest="ranks", metavar="LIST", required=True, help="numbers of ranks: 2..256, or 24,48,96")
    tune.add_argument("--ranks-per-node", type=positive, metavar="N", help="ranks on each node")
    tune.add_argument(
        "--for", dest="format", choices=("openmpi", "openmpi-json", "mpich"), required=True, help="library and file format"
    )
    tune.add_argument("-o", dest="output", metavar="FILE", required=True, help="the file to write; - is standard output")
    tune.add_argument("--operations", metavar="LIST", help="only these, such as bcast,allreduce (default: all)")
    tune.add_argument(
        "--bytes", metavar="LIST", help="sizes of blocks or messages (default: 8, 32, 128, ... bytes to 8 MiB)"
    )
    tune.add_argument(
        "--margin",
        type=factor,
        metavar="PERCENT",
        default=5.0,
        help="keep the library's choice below this gain (default 5)",
    )
    tune.add_argument(
        "--commutative", action="store_true", help="all ops are commutative: choose among all reductions of Open MPI"
    )


def add_verify(verify: ArgumentParser) -> None:
    """Add the options of `fakempi verify`."""
    verify.add_argument("algorithm", metavar="FILE|NAME", help="a file that defines ALGORITHM, or operation/name")
    verify.add_argument("--ranks", metavar="N", help="largest total number of ranks (default: 40, most cases on up to 17)")
    verify.add_argument("--seconds", type=seconds, metavar="S", default=300, help="time limit (default 300)")
    verify.add_argument("--jobs", type=jobs, metavar="N", default=1, help="worker processes (default 1)")
