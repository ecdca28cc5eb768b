"""`python -m tests.fuzz 2000` runs 2000 random programs, `--minutes 30` runs as many as possible in that time.

After each batch one program is interrupted at a random time, in a separate process.
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
from tests.fuzz.test_threads import BACKENDS

BATCH = 200
"""Programs between two checks of the clock."""

seen: Counter[str] = Counter()


def check_program(program: Any) -> None:
    """Run and check one program."""
    assert list(differences(program, BACKENDS)) == []
    found = outcome(program, BACKENDS[0])
    seen[found[0] if isinstance(found[0], str) else "all went well"] += 1


def check_programs(count: int, start: int) -> None:
    """Run this number of programs, which are the same for the same start."""
    some = settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    some(seed(start)(given(programs)(check_program)))()


def interrupt(start: int) -> None:
    """Run one program on each backend; it must end with Ctrl-C's exit code."""
    for backend in BACKENDS:
        with TemporaryDirectory() as directory:
            code, said = interrupted(start, backend, Path(directory))
        assert code == 130, (start, backend, said)
        seen["interrupted"] += 1


if __name__ == "__main__":
    parser = ArgumentParser("python -m tests.fuzz")
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=randrange(10**6))
    requested = parser.parse_args()
    sys.stdout.write(f"seed {requested.seed}\n")
    if requested.minutes is None:
        check_programs(requested.count, requested.seed)
    else:
        end, batch = monotonic() + 60 * requested.minutes, 0
        while monotonic() < end:
            check_programs(BATCH, requested.seed + batch)
            interrupt(requested.seed + batch)
            batch += 1
    kinds = ", ".join(f"{name}: {number}" for name, number in seen.most_common())
    sys.stdout.write(f"{sum(seen.values())} programs on {' and '.join(BACKENDS)}: 0 hangs, 0 differences.\n{kinds}\n")
