"""Calibrate this machine, predict broadcasts, measure them, and draw both: python benchmarks/this_machine.py [DIRECTORY].

    python benchmarks/this_machine.py DIRECTORY --ranks 2 --seconds 50

Needs mpi4py, an MPI library and matplotlib. Writes this_machine.toml, measured.csv and two figures to the directory, and
prints the load of the machine and a table of modeled and measured times, which docs/machines.md shows.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import machine

from fakempi.apps.cli import main as fakempi

DIRECTORY = Path(__file__).parents[1] / "docs" / "assets" / "machines"
ALGORITHMS = "binomial,chain(segment_bytes=64k),scatter_ring_allgather"


def under_mpi(ranks, *words):
    """Run a module of Python on a number of processes."""
    sibling = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(sibling) if sibling.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        sys.exit("benchmarks/this_machine.py: there is no mpiexec: pip install mpi4py mpich")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([mpiexec, "-n", str(ranks), sys.executable, "-m", *words], check=True, env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", nargs="?", type=Path, default=DIRECTORY)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=50)
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    os.chdir(options.directory)  # so that the figures' titles have file names only
    model, measured = "this_machine.toml", "measured.csv"
    facts = machine.machine()
    load = os.getloadavg()[0]
    words = ["--seconds", str(options.seconds), "--statistic", "minimum", "--quiet", "-o", model]
    under_mpi(options.ranks, "fakempi", "calibrate", *words, "--figure", "fit.svg")
    cases = ["--algorithms", ALGORITHMS, "--bytes", "8..1M"]
    under_mpi(options.ranks, "collectives.measure", "bcast", *cases, "--csv", measured)
    figure = ["--figure", "broadcasts.svg", "--figure-width", "two"]
    fakempi(["compare", "bcast", "--cost", model, "--beside", measured, "--no-plot", *figure])
    print(f"\n{machine.sentence(facts)}; load average before: {load:.1f}, after: {os.getloadavg()[0]:.1f}")
    if options.ranks > facts["cores"]:
        print(f"oversubscribed: {options.ranks} processes on {facts['cores']} cores")


if __name__ == "__main__":
    main()
