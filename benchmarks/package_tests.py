"""Run the test suites of packages that use mpi4py on the emulator and on MPICH, and update their table of docs/packages.md.

    python -m pip install -e ".[fast,mpi]" -r benchmarks/packages.txt -r benchmarks/package_tests.txt
    python benchmarks/package_tests.py SDISTS                all suites; missing sdists are downloaded to this directory
    python benchmarks/package_tests.py SDISTS NuMPI          only these; the other rows of the table stay
    python benchmarks/package_tests.py SDISTS --quick --check   fail if fewer tests pass than on MPICH; change no row

Each suite runs under mpiexec with mpi4py and MPICH, with ranks in one process, with a process for each rank (--processes)
and, if its tests have markers of pytest-mpi or mpi-pytest, by plain pytest with the plugin. Tests run in a copy. A cell is
the number of passed tests of those that ran, the lowest of all ranks. The suites are in package_suites.py.
"""

import argparse
import os
import re
import shlex
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


def known(suite):
    """The installed version of a package, or None."""
    try:
        return version(suite.name)
    except PackageNotFoundError:
        return None


def normalized(name):
    """A name without differences of spelling."""
    return re.sub("[-_.]+", "_", name).lower()


def unpacked(suite, directory):
    """The unpacked sdist of the installed version; it is downloaded if it is not in the directory."""
    wanted = normalized(f"{suite.name}-{version(suite.name)}")
    directory.mkdir(parents=True, exist_ok=True)
    for download in (True, False):
        found = [each for each in directory.iterdir() if each.is_dir() and normalized(each.name) == wanted]
        if found or not download:
            break
        with tempfile.TemporaryDirectory() as archives:
            options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", archives]
            pip = [sys.executable, "-m", "pip", "download", *options]
            subprocess.run([*pip, f"{suite.name}=={version(suite.name)}"], check=True)
            for archive in Path(archives).iterdir():
                shutil.unpack_archive(archive, directory)
    return found[0]


def copied(suite, directory, target):
    """Copy the tests from the sdist; return their new directory."""
    name = "copy" if suite.tests == "." else Path(suite.tests).name
    return shutil.copytree(unpacked(suite, directory) / suite.tests, Path(target, name))


def command(suite, way):
    """The command that runs a suite in one of the ways."""
    words = shlex.split(suite.command.replace("-m pytest", "-m pytest -q -p no:cacheprovider"))
    if way == "plugin":
        return [sys.executable, *words, "--mpi4py=emulated"]
    if not suite.ranks:
        return [sys.executable, *words]
    if way == "mpich":
        return [str(Path(sys.executable).with_name("mpiexec")), "-n", str(suite.ranks), sys.executable, *words]
    ways = ["--processes"] if way == "processes" else []
    return [sys.executable, "-m", "fakempi", "run", "-q", *ways, "-n", str(suite.ranks), *words]


def environment(suite, way):
    """The environment of a suite; where its tests start mpirun, the directory of mpirun is the first of PATH."""
    found = {**os.environ, "OMP_NUM_THREADS": "1", "UCX_LOG_LEVEL": "error"}
    if not suite.ranks:
        fakempi = [sys.executable, "-m", "fakempi", "mpirun", "--path"]
        mpirun = str(Path(sys.executable).parent) if way == "mpich" else subprocess.check_output(fakempi, text=True).strip()
        found |= {"PATH": f"{mpirun}:{found['PATH']}"}
        found |= {"FAKEMPI_PROCESSES": "1"} if way == "processes" else {}
    return found


def run(suite, way, sdists, limit):
    """The exit code (None: time limit) and the output of a suite."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryDirectory() as target:
        process = subprocess.Popen(
            command(suite, way), cwd=copied(suite, sdists, target), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True, env=environment(suite, way),
        )  # fmt: skip
        code = exit_code(process, limit)
        out.seek(0)
        return code, out.read()


def counted(code, printed):
    """The cell of a run: passed tests of those that ran; of a script, whether it passes."""
    found = []
    for line in printed.splitlines():
        counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)\b", line)}
        skipped = counts.pop("skipped", 0)
        if (counts or skipped) and re.search(r" in [\d.]+s|^=+ (all \d+ ranks|ranks? .* of \d+): ", line):
            found.append((counts.get("passed", 0), sum(counts.values())))
    if code is None:
        return "time limit"
    if not found:
        return f"exit code {code}" if code else "passes"
    passed, total = min(found)
    return f"{passed} of {total}"


def cells_of(suite, options):
    """Run a suite in all ways: {way: cell}."""
    cells = dict.fromkeys(WAYS, "no markers")
    for way in reversed(WAYS):
        if way == "plugin" and not suite.marked:
            continue
        began = monotonic()
        code, printed = run(suite, way, options.sdists, options.limit)
        cells[way] = counted(code, printed)
        print(f"{suite.name:18} {way:10} {cells[way]:20} {monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        if options.logs:
            name = re.sub("[^0-9A-Za-z]+", "_", f"{suite.name} {suite.command}"[:60])
            (options.logs / f"{name}_{way}.log").write_text(printed)
    return cells


def worse(cells):
    """The ways in which fewer tests pass than on MPICH. Where nothing passes on MPICH, nothing is compared: all ways."""

    def passed(cell):
        return 1 if cell == "passes" else int(cell.split(" of ")[0]) if " of " in cell else 0

    reference = passed(cells["mpich"])
    return [way for way in WAYS if cells[way] != "no markers" and (passed(cells[way]) < reference or not reference)]


def main():
    """Run suites as the command line specifies."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sdists", type=Path, help="directory of unpacked sdists")
    parser.add_argument("names", nargs="*", help="packages (default: all)")
    parser.add_argument("--limit", type=int, default=300, help="time limit of a run in seconds")
    parser.add_argument("--logs", type=Path, help="directory for the output of the runs")
    parser.add_argument("--quick", action="store_true", help="only the suites that .ci/full runs")
    parser.add_argument("--check", action="store_true", help="fail if fewer tests pass than on MPICH; change no row")
    options = parser.parse_args()
    failed = []
    for suite in SUITES:
        if (options.names and suite.name not in options.names) or (options.quick and not suite.quick):
            continue
        if not known(suite):
            failed.append(f"{suite.name}: not installed")
            continue
        cells = cells_of(suite, options)
        failed += [f"{suite.name} ({way}): {cells[way]}, on MPICH {cells['mpich']}" for way in worse(cells)]
        if not options.check:
            words = [suite.name, known(suite), *cells.values(), f"{date.today():%Y-%m-%d}", suite.started()]
            write(f"| {' | '.join(words)} |")
    print("\n".join(failed) or "in each way at least as many tests pass as on MPICH")
    sys.exit(bool(options.check and failed))


def key(row):
    """The package and the command of a row, which identify it."""
    cells = row.split(" | ")
    return cells[0].strip("| "), cells[-1].strip("| ")


def write(row):
    """Replace a row of the table."""
    text = PAGE.read_text(encoding="utf-8")
    head, table, tail = re.split(r"(?<=<!-- tests -->\n)(.*?)(?=<!-- end of tests -->)", text, flags=re.DOTALL)
    top, rows = table.splitlines()[:2], {key(line): line for line in table.splitlines()[2:]}
    rows[key(row)] = row
    order = [rows[found] for suite in SUITES if (found := (suite.name, suite.started())) in rows]
    PAGE.write_text(head + "\n".join([*top, *order]) + "\n" + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
