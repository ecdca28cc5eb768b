"""What can be typed, with examples. Nothing is imported before it is needed, so that `--help` comes at once."""

from __future__ import annotations

import argparse
from argparse import REMAINDER, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import partial
from typing import Any

from fakempi import __version__
from fakempi.cli.learn_options import LEARN, add_learn

COSTS = """\
cost models (--cost), in seconds and seconds a byte:
  hockney:t_s=1e-6,t_w=1e-9,eager_limit=64k   start-up and time a byte
  hockney:eager_limit=0                       every send waits for its receive
  two_level:ranks_per_node=32,inter.t_s=2e-6  nodes that share a network port;
                                              also inter.t_w, intra.t_s ...
  loggp:L=5e-6,o=1e-6,g=2e-6,G=1e-9           LogGP
  free                                        everything takes no time
  cori:ranks_per_node=32                      a machine; also dawn, sierra, sx8,
                                              blue_gene_p, gigabit (estimates)
  './tree.py:Tree(arity=4)'                   your own: a file, or an installed
                                              module, and a CostModel in it
"""

EXAMPLES = """\
examples:
  fakempi tour                                  what it can do, in a minute
  fakempi learn                                 MPI, in exercises
  fakempi run -n 64 work.py input.dat           an mpi4py script as it is
  fakempi list allgather                        algorithms, claims, sources
  fakempi compare bcast -n 2..64 --bytes 64k    which is best, and when
  fakempi verify ./knomial.py                   does yours do what it claims?

fakempi COMMAND --help says more, with examples.
"""

RUN = """\
examples:
  fakempi run -n 4 work.py input.dat     what you type after mpiexec -n 4 python
  fakempi run -n 1000 -m package.module  a module
  fakempi run -n 8 --prefix work.py      each line says which rank wrote it
  fakempi run -n 8 --seed 3 work.py      another order among ranks that tie
  fakempi run -n 8 --cost hockney:eager_limit=0 work.py
                                         does it rely on buffering?
  fakempi run -n 8 --computing 1 work.py what ranks compute takes time, too
  fakempi run -n 8 --timeout 60 work.py  where are they, if it takes so long?
  fakempi run -n 64 --algorithms mpich,allgather=ring work.py
  fakempi run -n 64 --algorithms 'bcast=./knomial.py(k=3)' work.py
                                         an algorithm of your own
  fakempi run -n 16 --trace t.json work.py && fakempi view t.json

Inside the script mpi4py is the emulator, even where the real one is installed.
Each rank has a copy of the script's modules and of the installed packages that
import mpi4py, or import one that does. --share NAME and --private NAME say
otherwise of a package.
What is wrong and does not stop it is listed at the end (findings).
The exit code is mpiexec's: all ranks' codes joined by or; Abort's; 1 for an
exception or a deadlock; 3 for findings, if --strict; 124 after a time-out; 130
after Ctrl-C.

"""

COMPUTING = "charge CPU time between two MPI calls, times F, to the rank's clock: measured, so not the same in each run"

CHECK = """\
examples:
  fakempi check -n 4 work.py                 all its schedules, up to 1000 runs
  fakempi check -n 4 --runs 20000 --seconds 60 work.py --size 8
  fakempi check -n 4 --html why.html work.py what fails beside what goes well
  fakempi check -n 3 --first --traces race work.py
  fakempi view race.fails.json race.passes.json
  fakempi run -n 4 --decisions z:0.0.2.1 work.py       one of them again

Tried is all that MPI leaves open: which message a receive from any source
takes, which requests Waitany and its kin give, whether a test says "not yet",
whether sends wait for their receives. Findings count as failures.
What the script prints is not shown.
The exit code is 0 if all schedules were run and are clean, 1 if one fails,
4 if those that were run are clean, 2 for wrong use.
"""

MOST_JOBS = 1024
POLL = "modelled seconds that a look in vain takes once nothing else can happen (default 1e-6)"

PAPER = "collective calls in one piece where that is exact (auto, the default); nowhere (never); or refuse others (always)"

LIST = """\
examples:
  fakempi list                   all operations and their algorithms
  fakempi list allgather         each with its claims and its source
  fakempi list inter:allgather   between two groups
  fakempi list ./knomial.py      the one that a file defines as ALGORITHM
"""

VIEW = """\
examples:
  fakempi run -n 16 --trace t.json work.py
  fakempi view t.json                      summary, timeline and wait states
  fakempi view t.json --what critical,matrix
  fakempi view t.json --by call            coloured by what the program called
  fakempi view t.json --what replay        messages travel, in six seconds;
                                           keys pause, step, and set the speed
  fakempi view t.json --ranks 0-7 --window 20us..50us --what timeline
  fakempi view -i t.json                   to look around in, in the terminal
  fakempi view t.json --html page.html     or in a browser
  fakempi view t.json --svg picture.svg    for paper; as a PDF:
  rsvg-convert -f pdf -o picture.pdf picture.svg
  fakempi view before.json after.json      two runs beside each other

A .json file opens in Perfetto (https://ui.perfetto.dev) too; .npz is smaller.
What is higher than the terminal is shown by $PAGER, or less.
"""

COMPARE = """\
examples:
  fakempi compare allgather -n 2..256 --bytes 1k
  fakempi compare bcast -n 64 --bytes 1k..1M \\
                  --algorithms 'binomial,chain(segment_bytes=4k),./knomial.py'
  fakempi compare allgatherv -n 16 --bytes 1k..64k --distribution regular,spike
  fakempi compare allgather -n 64 --bytes 8..64k --cost cori:ranks_per_node=16
  fakempi compare inter:allgather -n 6+2,12+4 --bytes 1k --default
  fakempi compare allgather -n 2..64 --measure --csv figures.csv
  fakempi compare allgatherv --counts counts.txt
  mpiexec -n 8 python -m collectives.measure bcast --csv measured.csv
  fakempi compare bcast --beside measured.csv

A number is claimed (worked out on paper) where the cost model is the papers',
as it is unless --cost is given, and otherwise measured (emulated).
A file of counts has one number a line, or a list a line with commas, or JSON.
Sizes are bytes of a rank's block, or of the whole message where there is but
one (bcast, reduce, allreduce, scan); with a distribution, of a block on
average. 1k..1M is every power of two between.

"""

VERIFY = """\
examples:
  fakempi verify ./knomial.py                  a file that defines ALGORITHM
  fakempi verify allgather/ring                one that fakempi list shows
  fakempi verify inter:allgather/full_duplex   between two groups
  fakempi verify ./knomial.py --ranks 65 --seconds 300

It is run on many cases: numbers of ranks, sizes, roots, operations, values of
its own parameters, with and without buffering, on both carriers. Results are
compared with numpy's, and messages, bytes, rounds, scratch memory and modelled
time with what it claims, exactly. What is wrong is shown in the smallest case
that shows it, with the round where paper and run part.
The exit code is 0 if all holds, 1 if not, 2 for wrong use.
"""

EXPLAIN = """\
examples:
  fakempi explain                what kinds of findings there are
  fakempi explain message-lost   what it is, a program that has it, how to mend it
"""

TOUR = """\
examples:
  fakempi tour            all stations; on a terminal Enter goes on, q leaves
  fakempi tour --fast     without stopping
  fakempi tour --list     what there is
  fakempi tour 3 4        these two

Every program is shown as it stands and run before your eyes; nothing is canned.
"""


def make_parser() -> ArgumentParser:
    """The whole command."""
    description = "MPI programs without MPI: virtual ranks in one Python process, in modelled time."
    parser = ArgumentParser("fakempi", description=description, epilog=EXAMPLES, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"fakempi {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command_name")
    _add_run(_command(commands, "run", "run an mpi4py script on virtual ranks", RUN + COSTS, _run))
    _add_check(_command(commands, "check", "run a script in every schedule that can differ", CHECK, _check))
    _add_list(_command(commands, "list", "the algorithms, with what they claim", LIST, _list))
    _add_view(_command(commands, "view", "pictures of a trace", VIEW, _view))
    _add_compare(_command(commands, "compare", "compare the algorithms of an operation", COMPARE + COSTS, _compare))
    _add_verify(_command(commands, "verify", "try whether an algorithm does what it claims", VERIFY, _verify))
    explain = _command(commands, "explain", "what a kind of finding means, and how to mend it", EXPLAIN, _explain)
    explain.add_argument("kind", nargs="?", metavar="KIND", help="as it is printed: message-lost, unsafe-send, ...")
    add_learn(_command(commands, "learn", "exercises, checked whenever you save", LEARN, _learn), _seconds, _jobs)
    _add_tour(_command(commands, "tour", "what fakempi can do, in a minute", TOUR, _tour))
    return parser


def _command(commands: Any, name: str, help: str, epilog: str, do: Any) -> ArgumentParser:
    description = help[0].upper() + help[1:] + "."
    made: ArgumentParser = commands.add_parser(
        name, help=help, description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )
    made.set_defaults(do=do)
    return made


def _add_run(run: ArgumentParser) -> None:
    run.usage = "fakempi run -n N [options] script.py [arguments]\n       fakempi run -n N [options] -m module [arguments]"
    run.add_argument("-n", "-np", dest="ranks", metavar="N", required=True, help="how many ranks")
    run.add_argument("--cost", metavar="MODEL", help="what messages cost; see below")
    run.add_argument("--carrier", choices=("auto", "greenlets", "threads"), default="auto", help="what ranks run on")
    run.add_argument("--algorithms", metavar="LIST", help="plain, mpich, openmpi, operation=name, operation=./file.py")
    run.add_argument("--trace", metavar="FILE", help="record it: .json (view, Perfetto), .npz (large ones), .html (browser)")
    run.add_argument("-i", "--interactive", action="store_true", help="look around in the run when it is over; ? says how")
    run.add_argument("--seed", type=int, metavar="S", help="break ties by chance, the same way for the same seed")
    run.add_argument("--decisions", metavar="TOKEN", help="a schedule that fakempi check has printed, such as z:0.0.2.1")
    run.add_argument("--strict", action="store_true", help="findings make it fail, with exit code 3; more is looked for")
    run.add_argument("--findings", type=_manner, metavar="text|json", default="text", help="how to list them; json:FILE too")
    run.add_argument("--computing", type=_factor, metavar="F", default=0.0, help=COMPUTING)
    run.add_argument("--poll", type=_time, metavar="S", default=1e-6, help=POLL)
    run.add_argument("--timeout", type=_seconds, metavar="S", help="end after S seconds, and say where ranks are")
    run.add_argument("--paper", choices=("auto", "never", "always"), default="auto", help=PAPER)
    run.add_argument("--kill", type=_death, metavar="R@T", action="append", help="rank R dies at T modelled seconds")
    run.add_argument("--progress", action="store_true", help="say now and then how far it is, on a terminal or not")
    run.add_argument("--share", metavar="NAME", action="append", default=[], help="a package that ranks share; see below")
    run.add_argument("--private", metavar="NAME", action="append", default=[], help="one that each rank has a copy of")
    run.add_argument("--prefix", "--tag-output", action="store_true", help="put the rank before each line")
    run.add_argument("--summary", action="store_true", help="say at the end what it took; on a terminal it does so anyway")
    run.add_argument("--quiet", "-q", action="store_true", help="no live line and no summary")
    run.add_argument("-m", dest="module", nargs=REMAINDER, help=argparse.SUPPRESS)
    run.add_argument("-c", dest="code", nargs=REMAINDER, help=argparse.SUPPRESS)
    run.add_argument("command", nargs=REMAINDER, metavar="script.py [arguments]", help="what to run, and its arguments")


def _add_check(check: ArgumentParser) -> None:
    check.usage = "fakempi check -n N [options] script.py [arguments]"
    check.add_argument("-n", "-np", dest="ranks", metavar="N", required=True, help="how many ranks")
    check.add_argument("--runs", type=partial(_whole, least=1), metavar="N", default=1000, help="most runs (default 1000)")
    check.add_argument("--seconds", type=_seconds, metavar="S", help="begin no run after S seconds")
    check.add_argument("--buffering", choices=("zero", "infinite"), help="of sends: none, or without limit (default: both)")
    check.add_argument("--mixing", type=_whole, metavar="K", help="let deviations be at most K choices apart")
    check.add_argument("--seed", type=int, metavar="S", default=0, help="of what is tried by chance")
    check.add_argument("--first", action="store_true", help="stop at the first failure")
    check.add_argument("--cost", metavar="MODEL", help="what messages cost (default: nothing)")
    check.add_argument("--carrier", choices=("auto", "greenlets", "threads"), default="auto", help="what ranks run on")
    check.add_argument("--algorithms", metavar="LIST", help="as in fakempi run")
    check.add_argument("--timeout", type=_seconds, metavar="S", help="end a run after S seconds")
    check.add_argument("--traces", metavar="NAME", help="write NAME.fails.json and NAME.passes.json of the first failure")
    check.add_argument("--html", metavar="FILE", help="write a page: the first failure beside a schedule that goes well")
    check.add_argument("--share", metavar="NAME", action="append", default=[], help="a package that ranks share")
    check.add_argument("--private", metavar="NAME", action="append", default=[], help="one that each rank has a copy of")
    check.add_argument("--quiet", "-q", action="store_true", help="no progress bar")
    check.add_argument("-m", dest="module", nargs=REMAINDER, help=argparse.SUPPRESS)
    check.add_argument("-c", dest="code", nargs=REMAINDER, help=argparse.SUPPRESS)
    check.add_argument("command", nargs=REMAINDER, metavar="script.py [arguments]", help="what to run, and its arguments")


def _add_view(view: ArgumentParser) -> None:
    view.add_argument("files", nargs="+", metavar="FILE", help="a trace, or two to compare")
    view.add_argument("-i", "--interactive", action="store_true", help="look around in it, in the terminal; ? says how")
    view.add_argument("--what", metavar="LIST", help="summary, timeline, matrix, waits, critical, blocks, replay")
    view.add_argument("--ranks", metavar="LIST", help="only these: 0-7,12")
    view.add_argument("--window", metavar="FROM..TO", help="only this time: 20us..50us")
    view.add_argument("--width", type=int, metavar="N", help="columns; those of the terminal unless given")
    view.add_argument("--height", type=int, metavar="N", help="rows for ranks; as many as fit the terminal unless given")
    view.add_argument("--by", choices=("state", "call"), default="state", help="what colours the timeline")
    view.add_argument("--no-pager", dest="pager", action="store_false", help="print it all, however high the terminal is")
    view.add_argument("--svg", metavar="FILE", help="write a picture")
    view.add_argument("--html", metavar="FILE", help="write a page for browsers, to look around in: one file")


def _add_list(lists: ArgumentParser) -> None:
    lists.add_argument("operation", nargs="?", help="an operation, such as allgather or inter:allgather, or a file")


def _add_compare(compare: ArgumentParser) -> None:
    compare.add_argument("operation", help="an operation, such as allgather or inter:allgather")
    compare.add_argument("-n", dest="ranks", metavar="LIST", help="ranks: 16, 2..64, 6+2 (default 16)")
    compare.add_argument("--bytes", metavar="LIST", help="sizes: 1k, 1k..1M, 8,64k (default 1k)")
    compare.add_argument("--algorithms", metavar="LIST", help="only these: ring, chain(segment_bytes=4k), ./file.py")
    compare.add_argument("--default", action="store_true", help="also what a call takes by itself, in each column")
    compare.add_argument("--distribution", metavar="LIST", help="how blocks differ, for operations that end in v; or all")
    compare.add_argument("--counts", metavar="FILE", help="blocks of one's own, in bytes; for two groups two lists")
    compare.add_argument("--cost", metavar="MODEL", default="hockney:eager_limit=0", help="what messages cost; see below")
    compare.add_argument("--measure", action="store_true", help="emulate all, and say where claims differ from that")
    compare.add_argument("--beside", metavar="FILE", help="show what python -m collectives.measure found beside it")
    compare.add_argument("--csv", metavar="FILE", help="write a row for each number, in seconds; - is standard output")
    compare.add_argument("--json", metavar="FILE", help="the same as JSON")
    compare.add_argument("--jobs", type=_jobs, metavar="N", help="processes (default: one a core if it takes long)")
    compare.add_argument("--no-plot", dest="plot", action="store_false", help="tables alone")


def _add_verify(verify: ArgumentParser) -> None:
    verify.add_argument("algorithm", metavar="FILE|NAME", help="a file that defines ALGORITHM, or operation/name")
    verify.add_argument("--ranks", metavar="N", help="the largest number of ranks, of both groups together (default 17)")
    verify.add_argument("--seconds", type=_seconds, metavar="S", default=50, help="try no more after S seconds (default 50)")


def _add_tour(tour: ArgumentParser) -> None:
    tour.add_argument("stations", nargs="*", metavar="STATION", help="only these, by number")
    tour.add_argument("--list", action="store_true", help="the stations, by number")
    tour.add_argument("--fast", "--no-pause", action="store_true", help="do not stop between stations")


def _manner(text: str) -> str:
    how, _, path = text.partition(":")
    if how not in ("text", "json") or (how == "text" and path):
        raise argparse.ArgumentTypeError(f"{text}: there are text, json and json:FILE")
    return text


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = -1.0
    if not 0 <= factor < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: it must be a factor of at least 0, such as 1.0")
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


def _whole(text: str, least: int = 0, most: int = 10**18) -> int:
    if not text.isdecimal() or not least <= float(text) <= most:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from {least} to {most:,}")
    return int(text)


def _jobs(text: str) -> int:
    return _whole(text, 1, MOST_JOBS)


def _run(options: Namespace) -> int:
    from fakempi.cli.running import run_script

    return run_script(options)


def _check(options: Namespace) -> int:
    from fakempi.cli.checking import check

    return check(options)


def _view(options: Namespace) -> int:
    from fakempi.cli.viewing import view

    return view(options)


def _list(options: Namespace) -> int:
    from fakempi.cli.listing import list_algorithms

    return list_algorithms(options.operation)


def _compare(options: Namespace) -> int:
    from fakempi.cli.comparing import compare

    return compare(options)


def _verify(options: Namespace) -> int:
    from fakempi.cli.verifying import verify

    return verify(options)


def _explain(options: Namespace) -> int:
    from fakempi.cli.explaining import explain

    return explain(options.kind)


def _learn(options: Namespace) -> int:
    from fakempi.cli.learning import learn

    return learn(options)


def _tour(options: Namespace) -> int:
    from fakempi.cli.touring import tour

    return tour(options, make_parser)
