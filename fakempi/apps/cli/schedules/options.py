"""Define the options of `fakempi schedule`."""

from __future__ import annotations

from argparse import ArgumentParser

from fakempi.apps.cli.options.models import add_figure
from fakempi.apps.cli.options.values import seconds

SCHEDULE = """\
examples:
  fakempi schedule show ring.xml                 steps and timeline
  fakempi schedule show allreduce/ring -n 8 --figure ring.pdf
  fakempi schedule verify ring.xml               is it an allreduce?
  fakempi schedule verify tree.goal --operation broadcast
  fakempi schedule verify halo.json --operation contract.json
  fakempi schedule run tree.goal --cost loggp:L=2.5e-6,o=1.5e-6,g=1e-6,G=6e-9
  fakempi schedule export allreduce/ring -n 8 --bytes 64k -o ring.xml
  fakempi schedule export 'bcast/chain(segment_bytes=1k)' -n 8 --bytes 8k \\
                          -o chain.goal
  fakempi schedule export inter:allgather/full_duplex -n 6+2 -o between.json
  fakempi schedule export ring.xml -o ring.json  convert a file
  fakempi run -n 8 --algorithms allreduce=./ring.xml work.py

A schedule is a file in GOAL (.goal, .bin in binary form; of LogGOPSim and
ATLAHS), in the XML of MSCCL (.xml) or in JSON (.json), or operation/name of an
algorithm of fakempi list, whose schedule for -n ranks is recorded.

show draws the steps in time, and marks the first fault if there is one.

verify executes the schedule without data, for all timings at once: messages
match, nothing deadlocks, no unordered steps access the same bytes, and every
byte of every output has exactly the contributions (parts of ranks' inputs) that
the operation requires.

A verification that takes longer than two seconds first prints about how long
it takes, and how much memory; --seconds limits the time.

exit code: 0 without faults, 1 with faults, 2 if the input is invalid or the time
limit was reached.

"""


def add_schedule(schedule: ArgumentParser) -> None:
    """Add the options to a parser."""
    schedule.usage = "fakempi schedule {show,verify,run,export} FILE|operation/name [options]"
    schedule.add_argument(
        "action", metavar="ACTION", choices=("show", "verify", "run", "export"), help="show, verify, run or export"
    )
    schedule.add_argument("source", metavar="FILE|NAME", help="a schedule file, or operation/name of an algorithm")
    schedule.add_argument(
        "-n", dest="ranks", metavar="N", help="number of ranks, for an algorithm; 6+2 for two groups (default 8)"
    )
    schedule.add_argument("--bytes", metavar="SIZE", help="size of a message or block, for an algorithm (default 1k)")
    schedule.add_argument("--root", metavar="R", default="0", help="root, for an algorithm (default 0)")
    schedule.add_argument("--operation", metavar="NAME|FILE", help="what to verify: an operation, or a contract (.json)")
    schedule.add_argument("--ordered", action="store_true", help="verify that operands are combined in rank order")
    schedule.add_argument("--seconds", type=seconds, metavar="S", default=300, help="verify: time limit (default 300)")
    schedule.add_argument("--cost", metavar="MODEL", default="hockney:eager_limit=0", help="cost model; see below")
    schedule.add_argument("-o", "--output", metavar="FILE", help="export: the file to write, .goal, .xml or .json")
    schedule.add_argument("--trace", metavar="FILE", help="run: write a trace, .json, .npz or .html")
    add_figure(schedule)
