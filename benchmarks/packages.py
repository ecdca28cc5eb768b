"""Run packages that use mpi4py on the emulator and on MPICH, and update the table of docs/packages.md.

    python -m pip install -r benchmarks/packages.txt       in a new environment, with fakempi
    python benchmarks/packages.py                          all packages, a few minutes
    python benchmarks/packages.py emcee deap               only these; the other rows of the table stay
    python benchmarks/packages.py emcee --show             also print what the runs printed

For each package, the script runs a small program of benchmarks/package_programs, or a command of the package, in three ways:
with ranks in one process, with a process for each rank (--processes), and under mpiexec with mpi4py and the wheel of MPICH.
A run passes if it ends with code 0 and prints what the run on MPICH prints. For pytest, passed tests are counted.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "packages.md"
PROGRAMS = "benchmarks/package_programs"
WAYS = ("fakempi", "processes", "mpich")


@dataclass(frozen=True)
class Package:
    """A package and the command that tries it; `command` follows `fakempi run -n RANKS` or `mpiexec -n RANKS python`."""

    name: str
    command: str
    ranks: int = 3


def program(name, file, ranks=3, launch=""):
    """A package that is tried with a program of this repository."""
    return Package(name, f"{launch}{PROGRAMS}/{file}.py", ranks)


PACKAGES = [
    Package("mpi4py", "-m mpi4py.bench ringtest -q"),
    program("mpi4py.futures", "futures", launch="-m mpi4py.futures "),
    program("schwimmbad", "schwimmbad_pool"),
    program("mpipool", "mpipool_executor"),
    program("emcee", "emcee_pool"),
    program("zeus-mcmc", "zeus_chains", 2),
    program("dynesty", "dynesty_pool"),
    program("nautilus-sampler", "nautilus_pool", launch="-m mpi4py.futures "),
    program("ultranest", "ultranest_sampler", 2),
    program("cobaya", "cobaya_mcmc", 2),
    program("mpi_list", "mpi_list_reduce"),
    program("mpi-master-slave", "master_slave_queue"),
    program("mpiarray", "mpiarray_sum"),
    program("NuMPI", "numpi_reductions"),
    program("distwq", "distwq_calls"),
    program("libensemble", "libensemble_random"),
    program("pylops-mpi", "pylops_blocks"),
    program("mpinum", "mpinum_windows"),
    program("mpiutils", "mpiutils_map"),
    program("deap", "deap_evolution"),
    program("pyGSTi", "pygsti_probabilities", 2),
    program("yt", "yt_parallel", 2),
    program("mpiplus", "mpiplus_distribute"),
    program("brainiak", "brainiak_searchlight"),
    program("quimb", "quimb_launcher", launch="-m mpi4py.futures "),
    program("mpi-sppy", "mpisppy_scenarios"),
    program("mpipartition", "mpipartition_cubes", 2),
    program("fluiddyn", "fluiddyn_ranks"),
    program("litebird_sim", "litebird_observations"),
    program("simplempi", "simplempi_loop"),
    program("mpilock", "mpilock_counter"),
    program("Platypus-Opt", "platypus_pool"),
    program("spotpy", "spotpy_sampling"),
    program("ptmcmcsampler", "ptmcmc_tempering"),
    program("smcpy", "smcpy_likelihood"),
    program("snowline", "snowline_fit", 2),
    program("mpi-print", "mpi_print_ranks"),
    program("mpi4py-fft", "mpi4py_fft_forward"),
    program("nifty8", "nifty_sum"),
    program("qutip", "qutip_map", launch="-m mpi4py.futures "),
    program("TreeCorr", "treecorr_pairs"),
    program("westpa", "westpa_manager"),
    program("pypesto", "pypesto_starts", launch="-m mpi4py.futures "),
    program("pyspod", "pyspod_variance"),
    program("ipie", "ipie_shared"),
    program("dask-mpi", "dask_client", 4),
]


def installed(package):
    """The version of a package, or None."""
    try:
        return version(package.name.partition(".")[0])
    except PackageNotFoundError:
        return None


def exit_code(process, limit):
    """Wait for a process that leads a session; None if it was ended at the time limit."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        return None


def run(package, way, limit):
    """The exit code (None: time limit) and the output of a package in one of the three ways."""
    launch = [sys.executable, "-m", "fakempi", "run", "-q", "-n", str(package.ranks)]
    launch += ["--processes"] if way == "processes" else []
    if way == "mpich":
        launch = [str(Path(sys.executable).with_name("mpiexec")), "-n", str(package.ranks), sys.executable]
    words = [str(ROOT / word) if word.startswith(PROGRAMS) else word for word in package.command.split()]
    with tempfile.TemporaryDirectory() as cwd, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            [*launch, *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "UCX_LOG_LEVEL": "error"},  # UCX writes its warnings to stdout
        )  # fmt: skip
        code = exit_code(process, limit)
        out.seek(0)
        err.seek(0)
        return code, out.read(), err.read()


def comparable(printed):
    """The lines of output that must agree; of pytest, the numbers of passed tests."""
    counts = re.findall(r"\d+ passed", printed)
    return sorted(set(counts)) or sorted(line.strip() for line in printed.splitlines() if line.strip())


def outcome(code, printed, reference):
    """The result of one run as a word."""
    if code is None:
        return "time limit"
    if code:
        return f"exit code {code}"
    if reference is None:
        return "runs"
    return "passes" if comparable(printed) == reference else "other output"


def results(package, limit, show):
    """The results of a package: {way: word}."""
    found, reference = {}, None
    for way in reversed(WAYS):
        code, printed, errors = run(package, way, limit)
        if way == "mpich" and code == 0:
            reference = comparable(printed)
        found[way] = outcome(code, printed, reference)
        print(f"{package.name:18} {way:10} {found[way]}", file=sys.stderr, flush=True)
        if show or found[way] not in ("passes", "runs"):
            print(f"{printed[-1500:]}{errors[-2500:]}", file=sys.stderr, flush=True)
    return found


def row(package, found, known):
    """One row of the table; a result that is not a pass links to its reason."""
    name = package.name
    words = [found[way] for way in WAYS]
    cells = [word if word in ("passes", "runs") else f"[{word}](#{anchor(name)})" for word in words]
    return f"| {name} | {known} | {' | '.join(cells)} | {date.today():%Y-%m-%d} | `-n {package.ranks} {package.command}` |"


def anchor(name):
    """The anchor of the section on a package."""
    return re.sub(r"[^\w-]", "", name.lower())


def main():
    """Run packages as the command line specifies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="packages (default: all)")
    parser.add_argument("--limit", type=int, default=120, help="time limit of a run in seconds")
    parser.add_argument("--show", action="store_true", help="print the output of every run")
    options = parser.parse_args()
    for package in PACKAGES:
        known = installed(package)
        if (options.names and package.name not in options.names) or known is None:
            continue
        write(package.name, row(package, results(package, options.limit, options.show), known))


def write(name, new):
    """Replace a row of the table."""
    text = PAGE.read_text(encoding="utf-8")
    head, table, tail = re.split(r"(?<=<!-- table -->\n)(.*?)(?=<!-- end of table -->)", text, flags=re.DOTALL)
    rows = {line.split("|")[1].strip(): line for line in table.splitlines()[2:]}
    rows[name] = new
    order = [rows[each.name] for each in PACKAGES if each.name in rows]
    PAGE.write_text(head + "\n".join([*table.splitlines()[:2], *order]) + "\n" + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
