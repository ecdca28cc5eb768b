"""`python -m tests.fuzz 2000`: so many random programs, or `--minutes 30`: as many as there is time for. For nights.

After each batch one program is interrupted at a random moment, in a process of its own.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from random import randrange
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from hypothesis import HealthCheck, given, seed, settings

from tests.fuzz.programs import differences, outcome, programs
from tests.fuzz.signals import interrupted
from tests.fuzz.test_threads import CARRIERS

BATCH = 200
"""Programs between two looks at the clock."""

seen: Counter[str] = Counter()


def one(program: Any) -> None:
    """Look at one program."""
    assert list(differences(program, CARRIERS)) == []
    found = outcome(program, CARRIERS[0])
    seen[found[0] if isinstance(found[0], str) else "all went well"] += 1


def look_at(count: int, start: int) -> None:
    """So many programs, the same for the same start."""
    some = settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    some(seed(start)(given(programs)(one)))()


def interrupt(start: int) -> None:
    """One program on each carrier, which must end with Ctrl-C's exit code."""
    for carrier in CARRIERS:
        with TemporaryDirectory() as folder:
            code, said = interrupted(start, carrier, Path(folder))
        assert code == 130, (start, carrier, said)
        seen["interrupted"] += 1


if __name__ == "__main__":
    parser = ArgumentParser("python -m tests.fuzz")
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=randrange(10**6))
    asked = parser.parse_args()
    sys.stdout.write(f"seed {asked.seed}\n")
    if asked.minutes is None:
        look_at(asked.count, asked.seed)
    else:
        end, batch = monotonic() + 60 * asked.minutes, 0
        while monotonic() < end:
            look_at(BATCH, asked.seed + batch)
            interrupt(asked.seed + batch)
            batch += 1
    kinds = ", ".join(f"{name}: {number}" for name, number in seen.most_common())
    sys.stdout.write(f"{sum(seen.values())} programs on {' and '.join(CARRIERS)}: 0 hangs, 0 differences.\n{kinds}\n")
