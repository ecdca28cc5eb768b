"""How Ctrl-C and time limits end programs whose ranks catch every exception.

    python benchmarks/interrupts.py 500 greenlets run

Arguments: the number of tries; the carrier; how ("command", "command limit", "run", "run limit"); kinds of programs,
separated by commas (all, in turn, unless given); and the first seed. The table has the kind of program, the number of tries,
how many ended as expected, and the slowest of these. JOBS in the environment is the number of processes at a time, 1 by
default. If py-spy is installed, it prints where a process hangs.
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
"""Seconds after which a process counts as hanging."""


def stacks(pid: int) -> str:
    """Where the threads of a process are."""
    if shutil.which("py-spy") is None:
        return ""
    return subprocess.run(["py-spy", "dump", "-p", str(pid)], capture_output=True, text=True, timeout=60).stdout


def main(tries: int, carrier: str, how: str, kinds: str = "", first: str = "0") -> int:
    """Print the table, and the first few that went wrong; the exit code says whether any did."""
    chosen = kinds.split(",") if kinds else list(KINDS)

    def one(number: int) -> Ending:
        with tempfile.TemporaryDirectory() as folder:
            return ending(chosen[number % len(chosen)], how, carrier, number, Path(folder), PATIENCE, stacks)

    with ThreadPoolExecutor(int(os.environ.get("JOBS", "1"))) as pool:
        ends = list(pool.map(one, range(int(first), int(first) + tries)))
    print(f"{carrier}, {how}\n{'program':<12}{'tries':>7}{'ended':>7}{'slowest':>10}")
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
