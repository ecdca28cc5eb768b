"""From measured messages to a file of rules for Open MPI and MPICH: calibrate, compare, tune.

    python demos/17_tune.py

The same commands work in a shell. The measurements are those of demo 16: ping-pongs and broadcasts on one node with two
sockets of 12 cores. The rules name an algorithm only where it saves at least 5 % of the modeled time of the library's own
choice; elsewhere the library decides.
"""

import csv
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from screen import arguments, console

from fakempi.apps.cli import main as fakempi

DATA = Path(__file__).parents[1] / "benchmarks" / "data" / "orfeo_thin"
RANKS, SIZES = ("12", "24"), ("8", "8192", "262144")


def some_broadcasts(path):
    """Copy the measured broadcasts of two numbers of ranks and three sizes, so that the comparison is short."""
    rows = list(csv.reader((DATA / "bcast.csv").read_text(encoding="utf-8").splitlines()))
    with open(path, "w", encoding="utf-8", newline="") as file:
        chosen = [row for row in rows if row[2] in RANKS and row[3] in SIZES]
        csv.writer(file, lineterminator="\n").writerows([rows[0], *chosen])


def show(out, *words):
    """Print a command, and run it."""
    out.print(f"\n$ fakempi {' '.join(words)}", markup=False, soft_wrap=True)
    fakempi(words)


def main():
    arguments(__doc__)
    out = console()
    before = os.getcwd()
    with TemporaryDirectory() as directory:
        os.chdir(directory)
        for name in ("pairs.csv", "cores.csv"):
            Path(name).write_text((DATA / name).read_text(encoding="utf-8"), encoding="utf-8")
        some_broadcasts("measured.csv")
        files = ["--from", "pairs.csv", "--placement", "cores.csv", "--ranks-per-socket", "12"]
        show(out, "calibrate", *files, "-o", "thin.toml")
        show(out, "compare", "bcast", "--cost", "thin.toml", "--beside", "measured.csv", "--no-plot")
        cases = ["--cost", "thin.toml", "-n", "12,24", "--bytes", "8,8k,256k", "--operations", "bcast"]
        show(out, "tune", *cases, "--for", "openmpi", "-o", "rules.txt")
        lines = Path("rules.txt").read_text(encoding="utf-8").splitlines()
        out.print("", *(line for line in lines if not line.startswith("#")), sep="\n", markup=False, soft_wrap=True)
        show(out, "tune", *cases, "--for", "mpich", "-o", "rules.json")
        rules = json.loads(Path("rules.json").read_text(encoding="utf-8"))
        out.print("\nRules for 12 to 23 ranks in rules.json:")
        for size, rule in rules["collective=bcast"]["comm_type=intra"]["comm_size<=23"].items():
            first = next(iter(rule))
            out.print(f"{size}: {first if first.startswith('algorithm=') else 'the rules of MPICH'}", markup=False)
        os.chdir(before)  # some systems do not remove the current directory


if __name__ == "__main__":
    main()
