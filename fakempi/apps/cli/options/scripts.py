"""Define the options of `fakempi run` and `fakempi check`."""

from __future__ import annotations

from argparse import REMAINDER, SUPPRESS, ArgumentParser
from functools import partial

from fakempi.apps.cli.options.models import add_figure
from fakempi.apps.cli.options.values import (
    compared,
    death,
    death_at_call,
    factor,
    format_name,
    integer,
    jobs,
    positive,
    seconds,
    seconds_or_zero,
)

CPU_SCALE = "charge the CPU time between two MPI calls, times F, to the rank's clock; measured, so it varies between runs"
POLL_COST = "modeled cost, in seconds, of an unsuccessful test or probe when no other rank can run (default 1e-6)"
HASH_SEEDS = (
    "each rank has its own hashes of texts, as under mpiexec: finds communication in the order of a set; implies --processes"
)
FUSED = (
    "simulate a collective call from the schedule of its algorithm: auto (default) where the result is exact; never; "
    "always, with an error where it is not exact"
)
BACKEND = "run ranks on greenlets (fast) or on threads; auto (default): greenlets if that package is installed"
MIXING = "bounded mixing: combine non-default choices at most K decisions apart"
LAUNCHER = "set the environment variables of this launcher, such as PMI_RANK (default mpich)"
IGNORE = "suppress findings of this kind, or kinds with commas: message-lost,file-leak"
COMPARE_OUTPUT = (
    "what to compare between schedules: output (default) with its order, lines in any order, or none; across: also results "
    "between the numbers of ranks (none,across)"
)
KILL_CALL = "rank R dies at its K-th call of a method of a communicator, request, message, window or file"
SKEW = "instead of a search: one run per rank, which is 1 ms late at every MPI call"
KILL_EACH = (
    "instead of a search: each rank dies at each of its MPI calls, in at most --runs runs; programs with ULFM must survive"
)
ACROSS = "compare results between the numbers of ranks: those of fakempi.result, or the output of rank 0"
TOLERANCE = "with --compare across: relative tolerance of floating-point numbers (default 1e-9)"


def add_run(run: ArgumentParser) -> None:
    """Add the options of `fakempi run`."""
    run.usage = "fakempi run -n N [options] script.py [arguments]\n       fakempi run -n N [options] -m module [arguments]"
    _add_ranks(run)
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
        "--findings", type=format_name, metavar="text|json", default="text",
        help="format of findings; json:FILE writes a file",
    )  # fmt: skip
    run.add_argument("--ignore", metavar="KIND", action="append", default=[], help=IGNORE)
    run.add_argument("--compare", choices=("across",), help=ACROSS)
    run.add_argument("--tolerance", type=factor, metavar="R", help=TOLERANCE)
    run.add_argument("--cpu-scale", type=factor, metavar="F", default=0.0, help=CPU_SCALE)
    run.add_argument("--poll-cost", type=seconds_or_zero, metavar="S", default=1e-6, help=POLL_COST)
    run.add_argument("--timeout", type=seconds, metavar="S", help="stop after S seconds, and show where each rank is")
    run.add_argument("--fused", choices=("auto", "never", "always"), default="auto", help=FUSED)
    run.add_argument("--kill", type=death, metavar="R@T", action="append", help="rank R dies at T modeled seconds")
    run.add_argument("--kill-call", type=death_at_call, metavar="R@K", action="append", help=KILL_CALL)
    run.add_argument("--skew", type=integer, metavar="R", action="append", help="rank R is 1 ms late at every MPI call")
    run.add_argument("--progress", action="store_true", help="report progress periodically, even without a terminal")
    run.add_argument("--processes", action="store_true", help="run each rank in a process (also FAKEMPI_PROCESSES=1)")
    run.add_argument(
        "--debug", type=int, metavar="RANK", action="append", default=[], help="run a rank under pdb; implies --processes"
    )
    run.add_argument("--hash-seeds", action="store_true", help=HASH_SEEDS)
    port_help = "with --debug: wait for an editor (debugpy) on this port instead of pdb"
    port = partial(integer, minimum=1024, maximum=65000)
    run.add_argument("--debug-port", type=port, metavar="N", default=0, help=port_help)
    run.add_argument("--mpirun", action="store_true", help="put fakempi's mpirun and mpiexec on the PATH of the script")
    run.add_argument("--prefix", "--tag-output", action="store_true", help="print the rank before each line")
    run.add_argument("--summary", action="store_true", help="print a summary, with fused calls, even without a terminal")
    run.add_argument("--quiet", "-q", action="store_true", help="no progress line and no summary")
    _add_script(run)


def _add_ranks(command: ArgumentParser) -> None:
    command.add_argument(
        "-n", "-np", dest="ranks", metavar="N", required=True, help="number of ranks, or several, smallest first: 1..16,64"
    )
    command.add_argument(
        "--all", dest="all_numbers", action="store_true", help="of several numbers, do not stop at the first that fails"
    )
    minimum = "skip the numbers of -n below N, on which the program cannot run"
    command.add_argument("--min-ranks", type=positive, metavar="N", default=1, help=minimum)


def _add_script(command: ArgumentParser) -> None:
    command.add_argument("--share", metavar="NAME", action="append", default=[], help="share a package between ranks")
    command.add_argument("--private", metavar="NAME", action="append", default=[], help="give each rank a copy of a package")
    command.add_argument("--full-traceback", action="store_true", help="show fakempi's frames in tracebacks, too")
    command.add_argument("--mpi", choices=("mpich", "openmpi", "slurm"), default="mpich", help=LAUNCHER)
    command.add_argument("-m", dest="module", nargs=REMAINDER, help=SUPPRESS)
    command.add_argument("-c", dest="code", nargs=REMAINDER, help=SUPPRESS)
    command.add_argument("command", nargs=REMAINDER, metavar="script.py [arguments]", help="the script and its arguments")


def add_check(check: ArgumentParser) -> None:
    """Add the options of `fakempi check`."""
    check.usage = (
        "fakempi check -n N [options] script.py [arguments]\n       fakempi check -n N [options] -m module [arguments]"
    )
    _add_ranks(check)
    check.add_argument("--runs", type=positive, metavar="N", default=1000, help="maximum number of runs (default 1000)")
    check.add_argument("--seconds", type=seconds, metavar="S", help="start no further run after S seconds")
    check.add_argument("--jobs", type=jobs, metavar="N", default=1, help="worker processes (default 1)")
    check.add_argument(
        "--buffering", choices=("zero", "infinite", "size"), help="buffer sends never, always, or up to a size"
    )
    check.add_argument(
        "--collectives", choices=("minimal", "synchronizing"), help="wait only for needed data, or for all ranks"
    )
    check.add_argument("--data", choices=("early", "late"), help="move data of nonblocking calls early, or late")
    check.add_argument("--mixing", type=integer, metavar="K", help=MIXING)
    check.add_argument("--polls", type=integer, metavar="K", help="most unsuccessful tests in a row (default: 2 to 16)")
    check.add_argument("--compare", type=compared, metavar="WHAT", default="output", help=COMPARE_OUTPUT)
    check.add_argument("--tolerance", type=factor, metavar="R", help=TOLERANCE)
    check.add_argument("--skew", action="store_true", help=SKEW)
    check.add_argument("--kill-each", action="store_true", help=KILL_EACH)
    check.add_argument("--seed", type=int, metavar="S", default=0, help="seed of the random part of the search")
    check.add_argument("--first", action="store_true", help="stop at the first failure")
    check.add_argument("--cost", metavar="MODEL", help="cost model (default: zero_cost); see fakempi run --help")
    check.add_argument("--backend", choices=("auto", "greenlets", "threads"), default="auto", help=BACKEND)
    check.add_argument("--algorithms", metavar="LIST", help="as for fakempi run")
    check.add_argument("--timeout", type=seconds, metavar="S", help="stop a run after S seconds")
    check.add_argument("--traces", metavar="NAME", help="write NAME.fails.json and NAME.passes.json for the first failure")
    check.add_argument("--html", metavar="FILE", help="write a page with the first failure and a schedule that passes")
    add_figure(check)
    check.add_argument("--ignore", metavar="KIND", action="append", default=[], help=IGNORE)
    check.add_argument("--quiet", "-q", action="store_true", help="no progress bar")
    _add_script(check)
