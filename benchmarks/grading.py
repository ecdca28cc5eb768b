"""CPU time to grade a correct submission of all exercises of the course: `fakempi learn --grade`, with its child processes.

    python benchmarks/grading.py [TREE ...] [--repeats N]

Each TREE is a copy of the repository; by default it is this one. Copies are measured alternately, so that other work on the
machine affects them equally. Lines begin with the file of fakempi that was imported: an installed package may come first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

try:
    import resource
except ImportError:  # Windows
    raise SystemExit("grading.py: this system does not report the CPU time of child processes.") from None

HERE = Path(__file__).parents[1]
FILE = "import fakempi; print(fakempi.__file__)"
EXERCISES = Path("fakempi", "apps", "course", "exercises")


def submission(tree: Path, directory: Path) -> None:
    """Write the solutions of all exercises to a directory, under the names of a student's files."""
    directory.mkdir(parents=True)
    for solution in sorted((tree / EXERCISES).glob("*/solution.py")):
        text = solution.read_text(encoding="utf-8")
        (directory / f"{solution.parent.name}.py").write_text(text, encoding="utf-8")


def printed(tree: Path, *words: str) -> str:
    """Return the output of a Python command that imports fakempi from a tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, *words]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, cwd=tree).stdout


def cpu_seconds() -> float:
    """Return the CPU time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(tree: Path, directory: Path) -> tuple[float, Any]:
    """Return the CPU seconds of one grading, and its record."""
    start = cpu_seconds()
    output = printed(tree, "-m", "fakempi", "learn", "--grade", str(directory), "--json", "--jobs", "1")
    seconds = cpu_seconds() - start
    [record] = json.loads(output)
    failed = [result["name"] for result in record["results"] if result["result"] != "pass"]
    if failed:
        raise SystemExit(f"grading.py: {tree}: these solutions do not pass: {', '.join(failed)}")
    return seconds, record


def main() -> None:
    """Print the CPU seconds of each tree."""
    parser = argparse.ArgumentParser(description="CPU time of `fakempi learn --grade` for a correct submission")
    parser.add_argument("trees", nargs="*", type=Path, default=[HERE], metavar="TREE")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    options = parser.parse_args()
    trees = [tree.resolve() for tree in options.trees]
    seconds: dict[Path, list[float]] = {tree: [] for tree in trees}
    for _ in range(options.repeats):
        for tree in trees:
            with TemporaryDirectory() as scratch:
                directory = Path(scratch, "class", "ann")
                submission(tree, directory)
                used, record = measure(tree, directory)
            seconds[tree].append(used)
    for tree, found in seconds.items():
        every = ", ".join(f"{each:.2f}" for each in found)
        print(f"{printed(tree, '-c', FILE).strip()}: median {median(found):.2f}, smallest {min(found):.2f} CPU s ({every})")
    print(f"{record['of']} exercises, all passed")


if __name__ == "__main__":
    main()
