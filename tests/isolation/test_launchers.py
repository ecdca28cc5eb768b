"""Ranks have the environment variables of a launcher: of MPICH's mpiexec, or of Open MPI or Slurm on request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import isolation
from fakempi.errors import MPIValueError
from fakempi.isolation import Program
from fakempi.isolation.settings.launchers import LAUNCHERS, OF_LAUNCHERS
from fakempi.processes.program import ProcessProgram
from tests.isolation.harness import COMM, IN_PROCESSES, Capture, play

SHOW = """
import os
names = sorted(name for name in os.environ if name.startswith(("PMI", "MPI_LOCAL", "OMPI", "SLURM", "PMIX", "GFORTRAN")))
text = " ".join(f"{name}={os.environ[name]}" for name in names)
comm.Barrier()
print(text)
assert all(os.getenv(name) == value for name, _, value in (word.partition("=") for word in text.split()))
"""


def played(directory: Path, mpi: str, nprocs: int, cost: Any) -> None:
    """Run a script that prints its variables."""
    script = directory / "work.py"
    script.write_text(COMM + SHOW, encoding="utf-8")
    made = (ProcessProgram if IN_PROCESSES else Program)([str(script)], mpi=mpi)
    fakempi.run(made, nprocs, cost=cost)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests may run within a job of Slurm or under a launcher."""
    for name in list(os.environ):
        if OF_LAUNCHERS.fullmatch(name) or name.startswith(("SLURM", "OMPI", "GFORTRAN")):
            monkeypatch.delenv(name)


def test_variables_of_mpich_are_set(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """By default, with the nodes of the cost model; the environment is restored at the end."""
    before = dict(os.environ)
    play(tmp_path, SHOW, 2, backend)
    expected = (
        "GFORTRAN_UNBUFFERED_PRECONNECTED=y MPI_LOCALNRANKS=2 MPI_LOCALRANKID={0} PMI_HOSTNAME=node0 PMI_RANK={0} PMI_SIZE=2"
    )
    assert sorted(capsys.readouterr().out.splitlines()) == [expected.format(rank) for rank in (0, 1)]
    assert dict(os.environ) == before


def test_variables_of_open_mpi_are_set(tmp_path: Path, capsys: Capture) -> None:
    """Local ranks follow from the nodes of the cost model."""
    played(tmp_path, "openmpi", 3, fakempi.TwoLevel(ranks_per_node=2))
    *_, last = sorted(capsys.readouterr().out.splitlines(), key=lambda line: line.partition("WORLD_RANK=")[2])
    assert last == (
        "OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=1 OMPI_COMM_WORLD_NODE_RANK=0 OMPI_COMM_WORLD_RANK=2 "
        "OMPI_COMM_WORLD_SIZE=3 OMPI_UNIVERSE_SIZE=3 PMIX_RANK=2"
    )


def test_variables_of_slurm_are_set(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job is that around fakempi, if there is one; its step is ours."""
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_PROCID", "9")
    played(tmp_path, "slurm", 3, fakempi.TwoLevel(ranks_per_node=2))
    lines = [dict(word.split("=") for word in line.split()) for line in capsys.readouterr().out.splitlines()]
    found = {line["SLURM_PROCID"]: line for line in lines}["2"]
    assert [found[f"SLURM_{name}"] for name in ("NTASKS", "LOCALID", "NODEID", "NNODES", "TASKS_PER_NODE", "JOB_ID")] == [
        "3", "0", "1", "2", "2,1", "4711"
    ]  # fmt: skip
    assert [found[f"SLURM_{name}"] for name in ("NPROCS", "NODELIST", "GTIDS")] == ["3", "node0,node1", "2"]


def test_variables_of_a_launcher_around_fakempi_are_removed(
    tmp_path: Path, backend: Any, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They describe another run. Settings and the job are kept. The environment is restored at the end."""
    for name in ("PMI_FD", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "SLURM_JOB_ID", "OMPI_MCA_btl", "PMIX_RANK"):
        monkeypatch.setenv(name, "7")
    before = dict(os.environ)
    script = "import os\nprint(*sorted(name for name, value in os.environ.items() if value == '7'))\ncomm.Barrier()"
    play(tmp_path, script, 2, backend)
    assert capsys.readouterr().out == "OMPI_MCA_btl SLURM_JOB_ID\n" * 2
    assert dict(os.environ) == before


def test_a_rank_may_change_its_variables(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Others keep theirs, after every switch, and so do programs that they start."""
    script = """
    import os, subprocess
    if comm.rank == 0:
        os.environ["PMI_RANK"] = "mine"
    elif comm.rank == 1:
        del os.environ["PMI_RANK"]
    found = set()
    for _ in range(3):
        comm.Barrier()
        found.add(os.environ.get("PMI_RANK"))
        comm.Barrier()
    started = subprocess.run(["sh", "-c", "echo ${PMI_RANK-none} $PMI_SIZE"], capture_output=True, text=True, timeout=60)
    comm.Barrier()
    expected = {0: "mine", 1: "none"}.get(comm.rank, "2")
    print(found, started.stdout.strip(), os.system('test "${PMI_RANK-none}" = ' + expected))
    """
    play(tmp_path, script, 3, backend)
    assert sorted(capsys.readouterr().out.splitlines()) == ["{'2'} 2 3 0", "{'mine'} mine 3 0", "{None} none 3 0"]


def test_spawned_ranks_have_variables_of_their_world(tmp_path: Path, backend: Any, capsys: Capture) -> None:
    """Their ranks begin at 0."""
    script = """
    import os, sys
    parent = MPI.Comm.Get_parent()
    if parent == MPI.COMM_NULL:
        parent = comm.Spawn(sys.executable, [__file__], maxprocs=2)
    parent.Barrier()
    print(*(os.environ.get(name) for name in ("PMI_RANK", "PMI_SIZE", "PMI_SPAWNED")))
    """
    play(tmp_path, script, 1, backend)
    assert sorted(capsys.readouterr().out.splitlines()) == ["0 1 None", "0 2 1", "1 2 1"]


def test_an_unknown_launcher_is_an_error() -> None:
    """It names the known ones, also under the earlier name of `Program`."""
    with pytest.raises(MPIValueError, match=f"mpi is 'lam', but must be one of {', '.join(LAUNCHERS)}"):
        isolation.program(["-c", "pass"], mpi="lam")
