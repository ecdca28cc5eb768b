"""Define the options of every command. A command's module is imported only when the command runs, so `--help` is fast."""

from __future__ import annotations

import argparse
from argparse import REMAINDER, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from fakempi import __version__
from fakempi.apps.cli import help_texts as texts
from fakempi.apps.cli.command_parser import CommandParser
from fakempi.apps.cli.completion.options import COMPLETION, HELP, add_completion, add_help
from fakempi.apps.cli.learn_options import LEARN, add_learn
from fakempi.apps.cli.mpirun import MPIRUN
from fakempi.apps.cli.schedules.options import SCHEDULE, add_schedule

MAX_JOBS = 1024
CPU_SCALE = "charge the CPU time between two MPI calls, times F, to the rank's clock; measured, so it varies between runs"
POLL_COST = "modeled cost, in seconds, of an unsuccessful test or probe when no other rank can run (default 1e-6)"
FUSED = (
    "simulate a collective call from the schedule of its algorithm: auto (default) where the result is exact; never; "
    "always, with an error where it is not exact"
)
BACKEND = "run ranks on greenlets (fast) or on threads; auto (default): greenlets if that package is installed"
MIXING = "bounded mixing: combine non-default choices at most K decisions apart"
LAUNCHER = "set the environment variables of this launcher, such as PMI_RANK (default mpich)"
VERSION = "print the version of fakempi (also -V), and exit"
IGNORE = "suppress findings of this kind, or kinds with commas: message-lost,file-leak"
COMPARE_OUTPUT = "what to compare between schedules: output (default) with its order, lines in any order, or none"


def make_parser() -> CommandParser:
    """Return the parser of the command `fakempi`."""
    description = "MPI programs without MPI: virtual ranks in one Python process, in modeled time."
    parser = CommandParser(
        "fakempi", description=description, epilog=texts.MAIN, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"fakempi {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command_name")
    costs = texts.cost_models()
    _add_run(_command(commands, "run", "run an mpi4py script on virtual ranks", texts.RUN + costs, _run))
    mpirun = _command(commands, "mpirun", "run a script with the options of mpirun or mpiexec", MPIRUN, _run)
    mpirun.add_argument("--version", action="version", version=f"mpiexec (fakempi) {__version__}", help=VERSION)
    _add_check(_command(commands, "check", "run a script in many or all schedules that MPI allows", texts.CHECK, _check))
    _add_list(_command(commands, "list", "list the algorithms and their claims", texts.LIST, _list))
    _add_view(_command(commands, "view", "show a trace", texts.VIEW, _view))
    _add_compare(_command(commands, "compare", "compare the algorithms of an operation", texts.COMPARE + costs, _compare))
    calibrating = _command(commands, "calibrate", "fit a cost model to a real machine", texts.CALIBRATE, _calibrate)
    _add_calibrate(calibrating)
    _add_tune(_command(commands, "tune", "write the rules of Open MPI or MPICH for a machine", texts.TUNE + costs, _tune))
    _add_verify(_command(commands, "verify", "check an algorithm's results and claims", texts.VERIFY, _verify))
    add_schedule(_command(commands, "schedule", "schedules as data: GOAL, MSCCL, JSON", SCHEDULE + costs, _schedule))
    explain = _command(commands, "explain", "explain a kind of finding and how to fix it", texts.EXPLAIN, _explain)
    explain.add_argument("kind", nargs="?", metavar="KIND", help="the kind as printed: message-lost, unsafe-send, ...")
    add_learn(_command(commands, "learn", "exercises that are checked when you save", LEARN, _learn), _seconds, _jobs)
    _add_tour(_command(commands, "tour", "a tour of the main features", texts.TOUR, _tour))
    add_completion(_command(commands, "completion", "complete commands, options and names in a shell", COMPLETION, _script))
    add_help(_command(commands, "help", "show the options of a command", HELP, _help))
    parser.commands = commands.choices
    return parser


def _command(commands: Any, name: str, help: str, epilog: str, handler: Any) -> ArgumentParser:
    description = help[0].upper() + help[1:] + "."
    parser: ArgumentParser = commands.add_parser(
        name, help=help, description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )
    parser.set_defaults(do=handler, parser=parser)
    return parser


def _add_run(run: ArgumentParser) -> None:
    run.usage = "fakempi run -n N [options] script.py [arguments]\n       fakempi run -n N [options] -m module [arguments]"
    run.add_argument("-n", "-np", dest="ranks", metavar="N", required=True, help="number of ranks")
    run.add_argument("--cost", metavar="MODEL", help="cost model of messages; see below")
    run.add_argument("--backend", choices=("auto", "greenlets", "threads"), default="auto", help=BACKEND)
    tables = "a table (plain, the default, mpich or openmpi), operation=name, operation=./file.py"
    run.add_argument("--algorithms", metavar="LIST", help=tables)
    run.add_argument(
        "--trace", metavar="FILE", help="record a trace: .json (view, Perfetto), .npz (compact), .html (browser)"
    )
    run.add_argument("-i", "--interactive", action="store_true", help="browse the trace after the run; ? lists the keys")
    run.add_argument("--seed", type=int, metavar="S", help="break ties between ranks randomly, reproducibly for a seed")
    run.add_argument("--schedule", metavar="TOKEN", help="replay a schedule that fakempi check printed, e.g. z:0.0.2.1")
    run.add_argument(
        "--strict", action="store_true", help="fail with exit code 3 if there are findings; check for more kinds"
    )
    run.add_argument(
        "--findings", type=_format, metavar="text|json", default="text", help="format of findings; json:FILE writes a file"
    )
    run.add_argument("--ignore", metavar="KIND", action="append", default=[], help=IGNORE)
    run.add_argument("--cpu-scale", type=_factor, metavar="F", default=0.0, help=CPU_SCALE)
    run.add_argument("--poll-cost", type=_time, metavar="S", default=1e-6, help=POLL_COST)
    run.add_argument("--timeout", type=_seconds, metavar="S", help="stop after S seconds, and show where each rank is")
    run.add_argument("--fused", choices=("auto", "never", "always"), default="auto", help=FUSED)
    run.add_argument("--kill", type=_death, metavar="R@T", action="append", help="rank R dies at T modeled seconds")
    run.add_argument("--progress", action="store_true", help="report progress periodically, even without a terminal")
    run.add_argument("--processes", action="store_true", help="run each rank in a process (also FAKEMPI_PROCESSES=1)")
    run.add_argument(
        "--debug", type=int, metavar="RANK", action="append", default=[], help="run a rank under pdb; implies --processes"
    )
    port_help = "with --debug: wait for an editor (debugpy) on this port instead of pdb"
    port = partial(_integer, minimum=1024, maximum=65000)
    run.add_argument("--debug-port", type=port, metavar="N", default=0, help=port_help)
    run.add_argument("--mpirun", action="store_true", help="put fakempi's mpirun and mpiexec on the PATH of the script")
    run.add_argument("--prefix", "--tag-output", action="store_true", help="print the rank before each line")
    run.add_argument("--summary", action="store_true", help="print a summary, with fused calls, even without a terminal")
    run.add_argument("--quiet", "-q", action="store_true", help="no progress line and no summary")
    _add_script(run)


def _add_script(command: ArgumentParser) -> None:
    command.add_argument("--share", metavar="NAME", action="append", default=[], help="share a package between ranks")
    command.add_argument("--private", metavar="NAME", action="append", default=[], help="give each rank a copy of a package")
    command.add_argument("--full-traceback", action="store_true", help="show fakempi's frames in tracebacks, too")
    command.add_argument("--mpi", choices=("mpich", "openmpi", "slurm"), default="mpich", help=LAUNCHER)
    command.add_argument("-m", dest="module", nargs=REMAINDER, help=argparse.SUPPRESS)
    command.add_argument("-c", dest="code", nargs=REMAINDER, help=argparse.SUPPRESS)
    command.add_argument("command", nargs=REMAINDER, metavar="script.py [arguments]", help="the script and its arguments")


def _add_check(check: ArgumentParser) -> None:
    check.usage = (
        "fakempi check -n N [options] script.py [arguments]\n       fakempi check -n N [options] -m module [arguments]"
    )
    check.add_argument("-n", "-np", dest="ranks", metavar="N", required=True, help="number of ranks")
    check.add_argument(
        "--runs", type=partial(_integer, minimum=1), metavar="N", default=1000, help="maximum number of runs (default 1000)"
    )
    check.add_argument("--seconds", type=_seconds, metavar="S", help="start no further run after S seconds")
    check.add_argument("--jobs", type=_jobs, metavar="N", default=1, help="worker processes (default 1)")
    check.add_argument(
        "--buffering", choices=("zero", "infinite", "size"), help="buffer sends never, always, or up to a size"
    )
    check.add_argument(
        "--collectives", choices=("minimal", "synchronizing"), help="wait only for needed data, or for all ranks"
    )
    check.add_argument("--data", choices=("early", "late"), help="move data of nonblocking calls early, or late")
    check.add_argument("--mixing", type=_integer, metavar="K", help=MIXING)
    check.add_argument("--polls", type=_integer, metavar="K", help="most unsuccessful tests in a row (default: 2 to 16)")
    check.add_argument("--compare", choices=("output", "lines", "none"), default="output", help=COMPARE_OUTPUT)
    check.add_argument("--seed", type=int, metavar="S", default=0, help="seed of the random part of the search")
    check.add_argument("--first", action="store_true", help="stop at the first failure")
    check.add_argument("--cost", metavar="MODEL", help="cost model (default: zero_cost); see fakempi run --help")
    check.add_argument("--backend", choices=("auto", "greenlets", "threads"), default="auto", help=BACKEND)
    check.add_argument("--algorithms", metavar="LIST", help="as for fakempi run")
    check.add_argument("--timeout", type=_seconds, metavar="S", help="stop a run after S seconds")
    check.add_argument("--traces", metavar="NAME", help="write NAME.fails.json and NAME.passes.json for the first failure")
    check.add_argument("--html", metavar="FILE", help="write a page with the first failure and a schedule that passes")
    check.add_argument("--ignore", metavar="KIND", action="append", default=[], help=IGNORE)
    check.add_argument("--quiet", "-q", action="store_true", help="no progress bar")
    _add_script(check)


def _add_view(view: ArgumentParser) -> None:
    view.add_argument("files", nargs="+", metavar="FILE", help="a trace, or two traces to compare")
    view.add_argument("-i", "--interactive", action="store_true", help="browse it in the terminal; ? lists the keys")
    view.add_argument("--what", metavar="LIST", help="summary, timeline, matrix, waits, critical, blocks, findings, replay")
    view.add_argument("--ranks", metavar="LIST", help="only these ranks: 0-7,12")
    view.add_argument("--window", metavar="FROM..TO", help="only this time: 20us..50us")
    view.add_argument("--width", type=int, metavar="N", help="columns (default: the terminal's)")
    view.add_argument("--height", type=int, metavar="N", help="rows of a timeline (default: fill the terminal)")
    view.add_argument("--by", choices=("state", "call"), default="state", help="color the timeline by state or by MPI call")
    view.add_argument("--no-pager", dest="pager", action="store_false", help="do not use a pager")
    view.add_argument("--svg", metavar="FILE", help="write an SVG figure")
    view.add_argument("--html", metavar="FILE", help="write one self-contained, interactive HTML file")
    _add_figure(view)


def _add_list(lists: ArgumentParser) -> None:
    lists.add_argument("operation", nargs="?", help="an operation, such as allgather or inter:allgather, or a file")


def _add_compare(compare: ArgumentParser) -> None:
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
    compare.add_argument(
        "--placement", type=partial(_integer, minimum=1), metavar="N", help="use the measured times with N ranks per node"
    )
    compare.add_argument(
        "--timing", choices=("makespan", "osu"), default="makespan", help="time of the slowest rank, or osu_bcast's average"
    )
    compare.add_argument("--csv", metavar="FILE", help="write one row per number, in seconds; - is standard output")
    compare.add_argument("--json", metavar="FILE", help="write the same rows as JSON")
    compare.add_argument("--jobs", type=_jobs, metavar="N", help="processes (default: one per core for long comparisons)")
    compare.add_argument("--progress", action="store_true", help="report progress periodically, even without a terminal")
    compare.add_argument("--no-plot", dest="plot", action="store_false", help="tables only")
    _add_figure(compare)


def _add_figure(command: ArgumentParser) -> None:
    command.add_argument("--figure", metavar="FILE", help="write a figure for a paper: .svg, .pdf or .png")
    command.add_argument(
        "--figure-width", metavar="W", default="one", help="one or two columns, or a width such as 12cm (default one)"
    )
    command.add_argument("--figure-style", metavar="NAME", default="", help="a style of matplotlib, or a .mplstyle file")


def _add_calibrate(calibrate: ArgumentParser) -> None:
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
    calibrate.add_argument("--seconds", type=_seconds, metavar="S", default=60, help="time for measurements (default 60)")
    calibrate.add_argument(
        "--pairs", type=partial(_integer, minimum=1), metavar="N", default=4, help="pairs to measure per level (default 4)"
    )
    calibrate.add_argument(
        "--statistic", choices=("median", "minimum"), default="median", help="of repetitions; use minimum on a busy machine"
    )
    for name in ("node", "socket", "cache"):
        calibrate.add_argument(
            f"--ranks-per-{name}", type=partial(_integer, minimum=1), metavar="N", help=f"default number of ranks per {name}"
        )
    calibrate.add_argument("--plot", action="store_true", help="also draw measured and fitted times")
    calibrate.add_argument("--quiet", "-q", action="store_true", help="no progress")
    _add_figure(calibrate)


def _add_tune(tune: ArgumentParser) -> None:
    tune.add_argument("--cost", metavar="MODEL", required=True, help="cost model of the machine; see below")
    tune.add_argument("-n", dest="ranks", metavar="LIST", required=True, help="numbers of ranks: 2..256, or 24,48,96")
    tune.add_argument("--ranks-per-node", type=partial(_integer, minimum=1), metavar="N", help="ranks on each node")
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
        type=_factor,
        metavar="PERCENT",
        default=5.0,
        help="keep the library's choice below this gain (default 5)",
    )
    tune.add_argument(
        "--commutative", action="store_true", help="all ops are commutative: choose among all reductions of Open MPI"
    )


def _add_verify(verify: ArgumentParser) -> None:
    verify.add_argument("algorithm", metavar="FILE|NAME", help="a file that defines ALGORITHM, or operation/name")
    verify.add_argument("--ranks", metavar="N", help="largest total number of ranks (default: 40, most cases on up to 17)")
    verify.add_argument("--seconds", type=_seconds, metavar="S", default=300, help="time limit (default 300)")
    verify.add_argument("--jobs", type=_jobs, metavar="N", default=1, help="worker processes (default 1)")


def _add_tour(tour: ArgumentParser) -> None:
    tour.add_argument("pages", nargs="*", metavar="PAGE", help="only these pages, by number")
    tour.add_argument("--list", action="store_true", help="list the titles")
    tour.add_argument("--fast", "--no-pause", action="store_true", help="do not pause")


def _format(text: str) -> str:
    how, _, path = text.partition(":")
    if how not in ("text", "json") or (how == "text" and path):
        raise argparse.ArgumentTypeError(f"{text} is not a format: use text, json or json:FILE")
    return text


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = -1.0
    if not 0 <= factor < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a factor of at least 0, such as 1.0")
    return factor


def _death(text: str) -> tuple[int, float]:
    rank, _, time = text.partition("@")
    try:
        return int(rank), float(time)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a rank and a time, like 3@2.5e-3") from None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number of seconds")
    return seconds


def _time(text: str) -> float:
    return 0.0 if text == "0" else _seconds(text)


def _integer(text: str, minimum: int = 0, maximum: int = 10**18) -> int:
    if not text.isdecimal() or not minimum <= float(text) <= maximum:
        raise argparse.ArgumentTypeError(f"{text} is not an integer from {minimum} to {maximum:,}")
    return int(text)


def _jobs(text: str) -> int:
    return _integer(text, 1, MAX_JOBS)


def _lazy(module: str, name: str) -> Callable[[Namespace], int]:
    """Return a function that imports a command's module and calls it."""
    return lambda options: int(getattr(import_module(f"fakempi.apps.cli.{module}"), name)(options))


_run, _check = _lazy("running", "run_script"), _lazy("checking", "check")
_view, _compare = _lazy("viewing", "view"), _lazy("comparing", "compare")
_tune = _lazy("tuning.commands", "write_rules")
_verify, _learn = _lazy("verifying", "verify"), _lazy("learning", "learn")
_script, _help = _lazy("completion.commands", "print_script"), _lazy("completion.commands", "print_help")
_schedule, _calibrate = _lazy("schedules.commands", "schedule"), _lazy("machines.calibrating", "calibrate")


def _list(options: Namespace) -> int:
    from fakempi.apps.cli.listing import list_algorithms

    return list_algorithms(options.operation)


def _explain(options: Namespace) -> int:
    from fakempi.apps.cli.explaining import explain

    return explain(options.kind)


def _tour(options: Namespace) -> int:
    from fakempi.apps.cli.touring import tour

    return tour(options, make_parser)
