"""Files next to a script may have any name: the script imports its own, and the emulator imports its own."""

from __future__ import annotations

import builtins
import importlib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import fakempi
from fakempi.core.collectives_package import load_despite_shadowing
from fakempi.isolation import Program
from fakempi.isolation.shadowed_modules import DEPENDENCIES, LOADED_AT_STARTUP, shadowing_modules
from tests.isolation.harness import play

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


def test_a_script_imports_its_own_modules_and_collectives_work(tmp_path: Path, backend: Any) -> None:
    """Although modules of these names are loaded before or later."""
    before = collectives_of_ours(), sys.modules.get("queue"), builtins.__import__, importlib.import_module
    play(tmp_path, ALL_KINDS, 3, backend, siblings=dict.fromkeys(NAMES, "mine = comm.rank"))
    assert (collectives_of_ours(), sys.modules.get("queue"), builtins.__import__, importlib.import_module) == before


def test_a_virtual_environment_next_to_the_script_has_no_effect(
    tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Modules of the same names are loaded from below the script's directory."""
    for name in ("collectives", "queue"):
        module = importlib.import_module(name)
        assert module.__file__ is not None
        monkeypatch.setattr(module, "__file__", str(tmp_path / ".venv/lib/python3" / Path(module.__file__).name))
    play(tmp_path, ALL_KINDS, 3, backend, siblings=dict.fromkeys(NAMES, "mine = comm.rank"))


def collectives_of_ours() -> object:
    """The module that the emulator uses."""
    return importlib.import_module("collectives")


def test_packages_next_to_the_script_may_have_any_name(tmp_path: Path, backend: Any) -> None:
    """With modules named like modules of fakempi, and a script of such a name."""
    packages = {"collectives/__init__.py": "mine = comm.rank", "collectives/tools.py": "mine = comm.rank"}
    script = """
    import collectives.tools
    from collectives import tools
    comm.Barrier()
    assert collectives.tools.mine == tools.mine == comm.rank and comm.allreduce(1) == 3
    """
    play(tmp_path, script, 3, backend, siblings=packages)
    (tmp_path / "random.py").write_text((tmp_path / "work.py").read_text())
    assert fakempi.run(Program([str(tmp_path / "random.py")]), 3, backend=backend).returns == [0, 0, 0]


def test_another_copy_of_fakempi_next_to_the_script_has_no_effect(
    tmp_path: Path, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ranks share a module of ours that is loaded late, as in a script at the top of a checkout of fakempi."""
    late = "fakempi.tuning.mpich"
    monkeypatch.setitem(sys.modules, late, importlib.import_module(late))  # restored at the end
    del sys.modules[late]
    script = f"""
    import importlib
    assert len(set(comm.allgather(id(importlib.import_module("{late}"))))) == 1
    """
    play(tmp_path, script, 3, backend, siblings={"fakempi/__init__.py": "", "fakempi/tuning/__init__.py": ""})


@pytest.mark.sample
@pytest.mark.slow
def test_no_file_name_breaks_fakempi(tmp_path: Path) -> None:
    """Files with all names of Python's library in the current directory: late imports, traces and rich work."""
    names = {*sys.stdlib_module_names, *DEPENDENCIES} - LOADED_AT_STARTUP
    assert shadowed(tmp_path, names, "../fakempi_command.py") == DONE


@pytest.mark.slow
def test_no_file_name_breaks_the_command_run_as_a_module(tmp_path: Path) -> None:
    """Python itself searches that directory first."""
    names = {*DEPENDENCIES, "queue", "random", "json", "csv", "trace", "argparse", "statistics", "inspect", "dataclasses"}
    assert shadowed(tmp_path, names, "-m fakempi") == DONE


DONE = ["2 None", "2 [0, 1]", "imported collectives", "imported collectives", ""]


def shadowed(directory: Path, names: set[str], command: str) -> list[str]:
    """The output of a script next to files of these names, with errors as the last line."""
    here = directory / "here"
    here.mkdir()
    (directory / "fakempi_command.py").write_text("import sys\nfrom fakempi.apps.cli.main import main\nsys.exit(main())\n")
    for name in names:
        (here / f"{name}.py").write_text(f"raise SystemExit('imported {name}')\n")
    (here / "work.py").write_text(
        "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nprint(comm.allreduce(1), comm.gather(comm.rank))\n"
        "import fakempi\nfakempi.phantom, fakempi.load, fakempi.Torus, MPI.INT.Create_vector(2, 1, 2).Commit().Free()\n"
        "try:\n    import collectives\nexcept SystemExit as error:\n    print(error)\n"
    )
    options = ["--trace", "t.npz", "--quiet", "--algorithms", "mpich"]
    words = [sys.executable, *command.split(), "run", "-n", "2", *options, "work.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=here, env=environment, text=True, capture_output=True, timeout=270, check=False)
    return [*sorted(done.stdout.splitlines()), done.stderr]


def test_modules_loaded_from_the_directory_itself_shadow_nothing(tmp_path: Path) -> None:
    """For any path of the directory: `fakempi run -m collectives.measure` in the project's directory."""
    (tmp_path / "project").symlink_to(ROOT)
    collectives_of_ours()
    for directory in (str(ROOT), str(tmp_path / "project"), os.path.relpath(ROOT)):
        assert shadowing_modules(directory) == {}


def test_a_package_takes_precedence_over_a_file_of_the_same_name(tmp_path: Path) -> None:
    """As in Python, for any order of the directory listing."""
    (tmp_path / "queue").mkdir()
    for name in ("queue/__init__.py", "queue.py", "queue.pyc"):
        (tmp_path / name).write_text("")
    assert shadowing_modules(str(tmp_path)) == {"queue": True}


def test_names_that_shadow_nothing_cost_nothing(tmp_path: Path) -> None:
    """The same holds for directories that are no packages, and for modules that Python loads before any script."""
    (tmp_path / "queue").mkdir()
    for name in ("os.py", "work.py", "rich.txt"):
        (tmp_path / name).write_text("")
    assert shadowing_modules(str(tmp_path)) == {}
    assert shadowing_modules(str(tmp_path / "nowhere")) == {}


@pytest.mark.slow
def test_a_program_that_calls_run_keeps_its_module_collectives(tmp_path: Path) -> None:
    """In a new interpreter without fakempi; the file is loaded before our package, and after it."""
    (tmp_path / "collectives.py").write_text("mine = 1\n", encoding="utf-8")
    first = "import fakempi\nassert fakempi.run(lambda comm: comm.allreduce(1), 3).returns == [3, 3, 3]\n"
    second = "import collectives, sys\nassert collectives.mine == 1 and 'collectives.entries' in sys.modules\n"
    for text in (first + second, "import collectives\n" + first + second):
        (tmp_path / "program.py").write_text(text, encoding="utf-8")
        subprocess.run([sys.executable, "program.py"], check=True, cwd=tmp_path, timeout=270)


def test_a_package_of_that_name_is_rejected_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules and those of our package would have the same full names."""
    theirs = ModuleType("collectives")
    theirs.__file__ = "/project/collectives/__init__.py"
    monkeypatch.setitem(sys.modules, "collectives", theirs)
    monkeypatch.delitem(sys.modules, "collectives.entries", raising=False)
    words = "^/project/collectives/__init__.py has the name of fakempi's package 'collectives'. Use 'fakempi run', which "
    with pytest.raises(ImportError, match=words + r"supports both, or rename that package\.$"):
        load_despite_shadowing()
