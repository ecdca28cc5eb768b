"""Define the options of `fakempi watch`."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser

WATCH = """\
examples:
  fakempi watch mpiexec -n 4 python work.py
  fakempi watch --after 30 mpiexec -n 4 python -m pytest tests/
  fakempi watch --keep --report hang.txt mpiexec -n 4 python work.py

The command runs on the installed MPI, not on the emulator. If no rank moves
for --after seconds, a report states where each rank is, which rank waits for
which, and the likely cause; then the job is ended. SIGUSR1 and Ctrl-C report at
once; a second Ctrl-C ends the job. SIGTERM, such as that of `timeout`, reports
and ends the job.

exit code: that of the command; 124 if the job hung and was ended.
"""


def add_watch(watch: ArgumentParser) -> None:
    """Add the options to a parser."""
    watch.add_argument("--after", type=float, default=60.0, metavar="S",
                       help="report if no rank moves for this time (default: 60)")  # fmt: skip
    watch.add_argument("--keep", action="store_true", help="report, and do not end the job")
    watch.add_argument("--report", metavar="FILE", help="append the report to a file, too")
    watch.add_argument("--hosts", action="store_true", help="ranks on several hosts: a TCP socket instead of a Unix socket")
    watch.add_argument("command", nargs=REMAINDER, metavar="COMMAND", help="mpiexec and its arguments")
