"""Define the options of `fakempi replay`."""

from __future__ import annotations

from argparse import ArgumentParser

from fakempi.apps.cli.options.models import add_figure
from fakempi.apps.cli.options.values import factor, positive

REPLAY = """\
examples:
  mpiexec -n 8 python -m fakempi.record -o recording work.py
  fakempi replay recording                            on the default machine
  fakempi run -n 64 --cpu-scale 1 --trace t.json work.py
  fakempi replay t.json                               a run on the emulator
  fakempi replay recording --cost cluster.toml --ranks-per-node 32
  fakempi replay recording --algorithms allreduce=ring,bcast=binomial
  fakempi replay recording --scale 2                  computing twice as fast
  fakempi replay recording --compare --cost old.toml --cost new.toml
                                        which algorithms and machine would help?
  fakempi replay recording --trace t.json && fakempi view t.json

The ranks compute for the recorded times, send the recorded messages, and make
the recorded collective calls by the algorithms of fakempi list. A receive from
any source takes the message that it took in the recorded run. Modeled times
are those of the cost model: compare them with each other, and with the measured
time only if the model was calibrated on that machine.

--compare replays the recording with each table of algorithms, and then with the
best three algorithms at each of the eight call sites with the longest times. A
rule cannot see a call site, as in an MPI library: an algorithm is used for all
calls of that operation on that number of ranks with a size of that site.

exit code: 0, or 2 if the recording is invalid, or cannot be replayed.

"""


def add_replay(replay: ArgumentParser) -> None:
    """Add the options to a parser."""
    replay.add_argument(
        "recording", metavar="TRACE", help="a recording, a trace of a run with --cpu-scale, or one of liballprof or DUMPI: "
        "a directory or file",
    )
    replay.add_argument(
        "--cost", dest="costs", metavar="MODEL", action="append", help="cost model of the machine; see below "
        "(default hockney); --compare: several",
    )  # fmt: skip
    replay.add_argument("--ranks-per-node", type=positive, metavar="N", help="ranks on each node")
    replay.add_argument("--algorithms", metavar="LIST", help="a table, and algorithms: mpich, allreduce=ring, ...")
    replay.add_argument("--scale", type=factor, metavar="F", default=1.0, help="ranks compute F times as fast (default 1)")
    replay.add_argument(
        "--compare", action="store_true", help="try other algorithms: the modeled time by table, and the best per call site"
    )
    replay.add_argument("--trace", metavar="FILE", help="write a trace, .json, .npz or .html")
    replay.add_argument("--json", metavar="FILE", help="write the results as JSON; - is standard output")
    replay.add_argument("--progress", action="store_true", help="report progress periodically, even without a terminal")
    add_figure(replay)
