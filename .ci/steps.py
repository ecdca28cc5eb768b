"""The steps of .ci/run, which .ci/full has, too. Each has a time limit.

Some run at the same time as others, since pip, mkdocs and mypy use one core only.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from script import Script, run_steps

PIP = 600  # seconds for an installation
VERSIONS = ("3.10", "3.11", "3.12", "3.13")  # of Python, as the classifiers in pyproject.toml
THIS = ".".join(platform.python_version_tuple()[:2])


def readme() -> list[dict[str, float]]:
    """The README's two commands, cut at &&: a limit for the installation, and one for the rest."""
    lines = [line for line in Path("README.md").read_text(encoding="utf-8").splitlines() if line.startswith("python -m pip")]
    if len(lines) != 2:
        sys.exit(f"README.md has {len(lines)} lines that start with 'python -m pip', expected two: try, and test")
    return [{part: PIP if " pip " in part else 1800 for part in line.split(" && ")} for line in lines]


def installed() -> dict[str, str]:
    """The supported Pythons of this machine, by version: the one that runs this, on the path, or of pyenv."""
    found = {THIS: sys.executable}
    for version in VERSIONS:
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), key=lambda path: path.stat().st_mtime)
        for path in (shutil.which(f"python{version}"), *map(str, reversed(pyenv))):
            works = path and subprocess.run([path, "-c", "import venv"], capture_output=True, timeout=60, check=False)
            if works and works.returncode == 0:  # pyenv may have a file of that name which fails
                found.setdefault(version, str(path))
    return found


def make(script: Script, name: str, python: str = sys.executable) -> None:
    command = f"{shlex.quote(python)} -m venv {script.scratch / name}"
    script.step(f"new environment: {name}", name, {command: 120}, makes=True)


def commands_of_the_readme(script: Script) -> None:
    first, second = readme()
    make(script, "try")
    script.step("first command of the README", "try", first)
    make(script, "test")
    script.step("second command of the README: tests", "test", second)


MPI = os.name != "nt"  # there is no MPICH for Windows on PyPI
EVERY = '-m "slow or not slow"'
SAMPLES = '-m "slow and sample"'
APART = "--ignore=tests/real_mpi --ignore=tests/static_types"
"""Directories that have a separate step."""


def extras(
    script: Script,
    name: str,
    python: str = sys.executable,
    names: str = "browser,dev,docs" + ",mpi" * MPI,
    limit: float = PIP,
) -> None:
    """A new environment with extras, a browser, and the site, which tests need."""
    make(script, name, python)
    script.step(f"all extras: {name}", name, {f'python -m pip install -e ".[{names}]"': limit}, makes=True)
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        script.step("a browser", name, from_the_distribution("chromium"), makes=True)
    command = f"python -m mkdocs build --strict --quiet --site-dir {script.scratch / 'site'}"
    script.step(f"site: {name}", name, {command: 300})


def from_the_distribution(names: str) -> dict[str, float]:
    """A command that installs what pip cannot, if this user may."""
    options = "-o DPkg::Lock::Timeout=60 -o Acquire::http::Timeout=30"  # without a network it would not return
    install = f"apt-get {options} update -qq && apt-get {options} install -y -qq {names}"
    return {f"({install}) > /dev/null 2>&1 || echo cannot install {names} here: tests that need it are skipped": 400}


def static_checks(script: Script, name: str, files: str = "", selection: str = EVERY) -> None:
    """The linters, mypy on some files or on all, and tests with pyright and with the stubs of mpi4py."""
    script.step(f"ruff and codespell: {name}", name, {"ruff check .": 120, "codespell": 120})
    if name != "3.10":  # the last numpy for it has stubs that know less than ours need
        script.step(f"mypy: {name}", name, {f"mypy {files}": 900})
        script.step(f"tests of static types: {name}", name, {f"python -m pytest {selection} tests/static_types": 600})


def real_mpi(script: Script, name: str, selection: str) -> None:
    """Ranks of a worker share one core: those that wait would take the others' time."""
    library = 'python -c "from mpi4py import MPI; print(MPI.Get_library_version().splitlines()[0])"'
    tests = f"python -m pytest -n auto {selection} tests/real_mpi tests/mpi/base/test_constants.py"
    script.step(f"comparison with a real MPI: {name}", name, {library: 60, tests: 1800})


PACKAGES = "fakempi collectives"
"""The files that mypy checks in .ci/run: with the tests, which are as many lines, it takes 100 s instead of 53."""


def check(script: Script) -> None:
    """The steps of .ci/run: the README's commands, the linters, and a sample of the slow tests."""
    with script.meanwhile(lambda other: extras(other, THIS)):
        commands_of_the_readme(script)
    sample = f"python -m pytest -n auto {SAMPLES} {APART} tests"
    with script.meanwhile(lambda other: static_checks(other, THIS, PACKAGES, SAMPLES)):
        script.step("sample of the slow tests", THIS, {sample: 900})
        if MPI:
            real_mpi(script, THIS, '-m "not slow or sample" tests/conformance')


if __name__ == "__main__":
    sys.exit(run_steps(check))
