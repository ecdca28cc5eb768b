"""Measure how fast Ctrl-C and time limits end programs whose ranks catch every exception.

    python benchmarks/interrupts.py 500 greenlets run

Arguments: the number of tries; the backend; how the program is started and ended ("command", "command limit", "run", "run
limit"); the kinds of programs, separated by commas (the default is all of them, in turn); the first seed. The table has the
kind of program, the number of tries, the number of processes that ended as expected, and the longest time of these. JOBS in
the environment is the number of processes at a time, 1 by default. SHOW is the number of failed tries that are printed, 3 by
default. If py-spy is installed, the stacks of a process that does not end are printed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.fuzz.endings import KINDS, Ending, ending

PATIENCE = 15.0
"""Seconds after which a process counts as one that does not end."""


def stacks(pid: int) -> str:
    """The stacks of all threads of a process, as text."""
    if shutil.which("py-spy") is None:
        return ""
    return subprocess.run(["py-spy", "dump", "-p", str(pid)], capture_output=True, text=True, timeout=60).stdout


def main(tries: int, backend: str, how: str, kinds: str = "", first: str = "0") -> int:
    """Print the table and the first few failed tries. Return the exit code: 1 if a try has failed."""
    chosen = kinds.split(",") if kinds else list(KINDS)

    def one(number: int) -> Ending:
        with tempfile.TemporaryDirectory() as directory:
            return ending(chosen[number % len(chosen)], how, backend, number, Path(directory), PATIENCE, stacks)

    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        ends = list(pool.map(one, range(int(first), int(first) + tries)))
    print(f"{backend}, {how}\n{'program':<12}{'tries':>7}{'ended':>7}{'slowest':>10}")
    for kind in [*chosen, "all"]:
        mine = [end for end in ends if kind in (end.kind, "all")]
        good = [end for end in mine if not end.wrong]
        print(f"{kind:<12}{len(mine):>7}{len(good):>7}{max((end.seconds for end in good), default=0):>8.2f} s")
    wrong = [end for end in ends if end.wrong]
    for end in wrong[: int(os.environ.get("SHOW", "3"))]:
        print(f"\n{end.kind}, seed {end.seed}: {end.wrong}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:]))
