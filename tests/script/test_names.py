"""Files beside a script may have any name: the script gets its own, and so does the emulator."""

from __future__ import annotations

import builtins
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import fakempi
from fakempi.own_collectives import keep_apart
from fakempi.script import program
from fakempi.script.names import AT_START, FOUNDATION, beside
from tests.script.harness import play

ROOT = Path(__file__).parents[2]
ALL_KINDS = """
    import collectives, queue, rich, trace, view, numpy_helper
    assert [module.mine for module in (collectives, queue, rich, trace, view, numpy_helper)] == [comm.rank] * 6
    assert comm.allreduce(comm.rank) == 3 and comm.bcast([1]) == [1]
    comm.Barrier()
    half = comm.Split(comm.rank % 2)
    assert comm.allgather(half.rank) == [0, 0, 1] and collectives.mine == comm.rank
"""
NAMES = ("collectives.py", "queue.py", "rich.py", "trace.py", "view.py", "numpy_helper.py")


def test_a_script_gets_its_own_and_collectives_work(tmp_path: Path, carrier: str) -> None:
    """Though modules of these names are loaded, or will be."""
    before = collectives_of_ours(), sys.modules.get("queue"), builtins.__import__, importlib.import_module
    play(tmp_path, ALL_KINDS, 3, carrier, beside=dict.fromkeys(NAMES, "mine = comm.rank"))
    assert (collectives_of_ours(), sys.modules.get("queue"), builtins.__import__, importlib.import_module) == before


def test_so_it_does_with_a_virtual_environment_beside_it(
    tmp_path: Path, carrier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules of the same names are then loaded from below the script's folder."""
    for name in ("collectives", "queue"):
        module = importlib.import_module(name)
        assert module.__file__ is not None
        monkeypatch.setattr(module, "__file__", str(tmp_path / ".venv/lib/python3" / Path(module.__file__).name))
    play(tmp_path, ALL_KINDS, 3, carrier, beside=dict.fromkeys(NAMES, "mine = comm.rank"))


def collectives_of_ours() -> object:
    """The module that the emulator uses."""
    return importlib.import_module("collectives")


def test_packages_beside_the_script_have_any_names_too(tmp_path: Path, carrier: str) -> None:
    """Modules in them that are called as modules in ours, and a script of such a name."""
    packages = {"collectives/__init__.py": "mine = comm.rank", "collectives/tools.py": "mine = comm.rank"}
    script = """
    import collectives.tools
    from collectives import tools
    comm.Barrier()
    assert collectives.tools.mine == tools.mine == comm.rank and comm.allreduce(1) == 3
    """
    play(tmp_path, script, 3, carrier, beside=packages)
    (tmp_path / "random.py").write_text((tmp_path / "work.py").read_text())
    assert fakempi.run(program([str(tmp_path / "random.py")]), 3, carrier=carrier).returns == [0, 0, 0]


def test_no_name_at_all_gets_in_our_way(tmp_path: Path, carrier: str) -> None:
    """Files of all names of Python's library in the folder one is in: late imports, traces and rich included."""
    assert shadowed(tmp_path, {*sys.stdlib_module_names, *FOUNDATION} - AT_START, "../fakempi_command.py", carrier) == DONE


def test_nor_does_it_if_the_command_is_run_as_a_module(tmp_path: Path) -> None:
    """Where Python itself looks into that folder first."""
    names = {*FOUNDATION, "queue", "random", "json", "csv", "trace", "argparse", "statistics", "inspect", "dataclasses"}
    assert shadowed(tmp_path, names, "-m fakempi", "auto") == DONE


DONE = ["2 None", "2 [0, 1]", "imported collectives", "imported collectives", ""]


def shadowed(folder: Path, names: set[str], command: str, carrier: str) -> list[str]:
    """What a script prints beside which there are files of these names, with errors as the last line."""
    here = folder / "here"
    here.mkdir()
    (folder / "fakempi_command.py").write_text("import sys\nfrom fakempi.cli.main import main\nsys.exit(main())\n")
    for name in names:
        (here / f"{name}.py").write_text(f"raise SystemExit('imported {name}')\n")
    (here / "work.py").write_text(
        "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nprint(comm.allreduce(1), comm.gather(comm.rank))\n"
        "import fakempi\nfakempi.phantom, fakempi.load, fakempi.Torus, MPI.INT.Create_vector(2, 1, 2).Commit().Free()\n"
        "try:\n    import collectives\nexcept SystemExit as error:\n    print(error)\n"
    )
    options = ["--carrier", carrier, "--trace", "t.npz", "--quiet", "--algorithms", "mpich"]
    words = [sys.executable, *command.split(), "run", "-n", "2", *options, "work.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=here, env=environment, text=True, capture_output=True, timeout=600, check=False)
    return [*sorted(done.stdout.splitlines()), done.stderr]


def test_what_is_loaded_from_the_folder_itself_stands_for_nothing_else(tmp_path: Path) -> None:
    """By whatever path the folder is named: `fakempi run -m collectives.measure` in the project's own folder."""
    (tmp_path / "project").symlink_to(ROOT)
    collectives_of_ours()
    assert beside(str(ROOT)) == beside(str(tmp_path / "project")) == beside(os.path.relpath(ROOT)) == {}


def test_where_a_package_and_a_file_have_a_name_it_is_the_packages(tmp_path: Path) -> None:
    """As Python has it; in whatever order the folder lists them."""
    (tmp_path / "queue").mkdir()
    for name in ("queue/__init__.py", "queue.py", "queue.pyc"):
        (tmp_path / name).write_text("")
    assert beside(str(tmp_path)) == {"queue": True}


def test_names_that_stand_for_nothing_else_cost_nothing(tmp_path: Path) -> None:
    """Nor do folders that are no packages, nor what Python has loaded before any script."""
    (tmp_path / "queue").mkdir()
    for name in ("os.py", "work.py", "rich.txt"):
        (tmp_path / name).write_text("")
    assert beside(str(tmp_path)) == {}
    assert beside(str(tmp_path / "nowhere")) == {}


def test_a_program_that_calls_run_keeps_its_own_collectives(tmp_path: Path) -> None:
    """In an interpreter of its own, which has loaded nothing of ours; the file is loaded before ours, and afterwards."""
    (tmp_path / "collectives.py").write_text("mine = 1\n", encoding="utf-8")
    first = "import fakempi\nassert fakempi.run(lambda comm: comm.allreduce(1), 3).returns == [3, 3, 3]\n"
    second = "import collectives, sys\nassert collectives.mine == 1 and 'collectives.entries' in sys.modules\n"
    for text in (first + second, "import collectives\n" + first + second):
        (tmp_path / "program.py").write_text(text, encoding="utf-8")
        subprocess.run([sys.executable, "program.py"], check=True, cwd=tmp_path)


def test_a_package_of_that_name_is_refused_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules and ours would have the same full names."""
    theirs = ModuleType("collectives")
    theirs.__file__ = "/project/collectives/__init__.py"
    monkeypatch.setitem(sys.modules, "collectives", theirs)
    monkeypatch.delitem(sys.modules, "collectives.entries", raising=False)
    words = "^fakempi has a package 'collectives' of its own, as /project/collectives/__init__.py is called: fakempi run "
    with pytest.raises(ImportError, match=words + r"keeps them apart\.$"):
        keep_apart()
