"""Run the test suites of packages that use mpi4py on the emulator and on MPICH, and update their table of docs/packages.md.

    python -m pip install -e ".[fast,mpi]" -r benchmarks/packages.txt -r benchmarks/package_tests.txt
    python benchmarks/package_tests.py SDISTS                all suites; SDISTS is a directory of unpacked sdists
    python benchmarks/package_tests.py SDISTS NuMPI          only these; the other rows of the table stay

`python -m pip download --no-deps --no-binary :all: NuMPI==0.18.1` downloads an sdist. Each suite runs under mpiexec with
mpi4py and MPICH, with ranks in one process, and with a process for each rank (--processes). Tests run in a copy, so that the
installed package is imported. A cell is the number of passed tests of those that ran, the lowest of all ranks.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import monotonic

from package_suites import SUITES
from packages import exit_code

PAGE = Path(__file__).parents[1] / "docs" / "packages.md"
WAYS = ("fakempi", "processes", "plugin", "mpich")


def copied(suite, directory, target):
    """Copy the tests from the unpacked sdist of the installed version; return their new directory."""
    wanted = normalized(f"{suite.name}-{version(suite.name)}")
    root = next(each for each in directory.iterdir() if each.is_dir() and normalized(each.name) == wanted)
    return shutil.copytree(root / suite.tests, Path(target, "copy" if suite.tests == "." else Path(suite.tests).name))


def known(suite):
    """The installed version of a package, or None."""
    try:
        return version(suite.name)
    except PackageNotFoundError:
        return None


def normalized(name):
    """A name without differences of spelling."""
    return re.sub("[-_.]+", "_", name).lower()


def command(suite, way):
    """The command that runs a suite in one of the ways."""
    words = suite.command.replace("-m pytest", "-m pytest -q -p no:cacheprovider").split()
    if way == "plugin":
        return [sys.executable, *words, "--mpi4py=emulated"]
    if way == "mpich":
        return [str(Path(sys.executable).with_name("mpiexec")), "-n", str(suite.ranks), sys.executable, *words]
    ways = ["--processes"] if way == "processes" else []
    return [sys.executable, "-m", "fakempi", "run", "-q", *ways, "-n", str(suite.ranks), *words]


def run(suite, way, sdists, limit):
    """The exit code (None: time limit) and the output of a suite."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryDirectory() as target:
        process = subprocess.Popen(
            command(suite, way), cwd=copied(suite, sdists, target), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1", "UCX_LOG_LEVEL": "error"},
        )  # fmt: skip
        code = exit_code(process, limit)
        out.seek(0)
        return code, out.read()


def counted(code, printed):
    """The cell of a run: passed tests of those that ran."""
    found = []
    for line in printed.splitlines():
        counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?)\b", line)}
        if counts and re.search(r" in [\d.]+s", line):
            found.append((counts.get("passed", 0), sum(counts.values())))
    if code is None:
        return "time limit"
    if not found:
        return f"exit code {code}" if code else "passes"
    passed, total = min(found)
    return f"{passed} of {total}"


def main():
    """Run suites as the command line specifies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sdists", type=Path, help="directory of unpacked sdists")
    parser.add_argument("names", nargs="*", help="packages (default: all)")
    parser.add_argument("--limit", type=int, default=300, help="time limit of a run in seconds")
    parser.add_argument("--logs", type=Path, help="directory for the output of the runs")
    parser.add_argument("--dry", action="store_true", help="do not change the table")
    options = parser.parse_args()
    for suite in SUITES:
        if options.names and suite.name not in options.names or not known(suite):
            continue
        cells = dict.fromkeys(WAYS, "")
        for way in reversed(WAYS):
            if way == "plugin" and not suite.marked:
                cells[way] = "no markers"
                continue
            began = monotonic()
            code, printed = run(suite, way, options.sdists, options.limit)
            cells[way] = counted(code, printed)
            print(f"{suite.name:18} {way:10} {cells[way]:20} {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            if options.logs:
                (options.logs / f"{suite.name}_{way}.log").write_text(printed)
        words = [suite.name, version(suite.name), *cells.values(), f"{date.today():%Y-%m-%d}"]
        if options.dry:
            continue
        write(suite.name, f"| {' | '.join(words)} | `-n {suite.ranks} {suite.command}` in `{suite.tests}` |")


def write(name, row):
    """Replace a row of the table."""
    text = PAGE.read_text(encoding="utf-8")
    head, table, tail = re.split(r"(?<=<!-- tests -->\n)(.*?)(?=<!-- end of tests -->)", text, flags=re.DOTALL)
    top, rows = table.splitlines()[:2], {line.split("|")[1].strip(): line for line in table.splitlines()[2:]}
    rows[name] = row
    order = [rows[suite.name] for suite in SUITES if suite.name in rows]
    PAGE.write_text(head + "\n".join([*top, *order]) + "\n" + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
