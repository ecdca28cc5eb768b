"""`python -m tests.modelcheck.oracle 5000`: compare `explore` with the interpreter on 5,000 random programs.

Exit code 1 if a program disagrees; the first one is shown, shrunk to the smallest program that still disagrees.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from time import monotonic

from tests.modelcheck.oracle.campaign import Campaign
from tests.modelcheck.oracle.compare import MODES

EVERY = 20.0
"""Seconds between two lines of progress."""


def main() -> int:
    """The command."""
    parser = ArgumentParser("python -m tests.modelcheck.oracle")
    parser.add_argument("count", type=int, nargs="?", default=1000, help="number of programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--mode", choices=[mode.name for mode in MODES], action="append", help="these modes only")
    parser.add_argument("--all", action="store_true", help="continue after a disagreement")
    parser.add_argument("--lenient", action="store_true", help="allow Iprobe to miss a message that a probe has returned")
    given = parser.parse_args()
    modes = [mode for mode in MODES if mode.name in given.mode] if given.mode else None
    campaign = Campaign(given.seed, modes, lenient=given.lenient)
    shown = monotonic()
    for number in range(given.start, given.start + given.count):
        problem = campaign.compare(number)
        if problem is not None:
            sys.stdout.write(f"program {number} of seed {given.seed} disagrees.\n{problem}\n\n")
            if not given.all:
                break
        if monotonic() > shown + EVERY:
            shown = monotonic()
            sys.stdout.write(f"{campaign}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{campaign}\n")
    return 1 if campaign.problems else 0


if __name__ == "__main__":
    sys.exit(main())
