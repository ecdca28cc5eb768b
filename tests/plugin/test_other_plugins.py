"""Sessions in which marked tests do not run on virtual ranks: under mpiexec, or with other plugins for the same markers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fakempi.apps.testing.alias import Alias
from tests.helpers.packages import needs
from tests.plugin.harness import run_pytest
from tests.real_mpi.processes import mpiexec

pytest_plugins = ["pytester"]

OTHER = """
import pytest

def pytest_configure(config):
    config.addinivalue_line("markers", "mpi: mine")

def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("mpi") or item.get_closest_marker("parallel"):
            item.add_marker(pytest.mark.skip(reason="theirs"))

@pytest.fixture
def mpi_tmp_path():
    return "theirs"
"""
MARKED = """
@pytest.mark.mpi(ranks=2)
def test_mpi(mpi_tmp_path):
    assert mpi_tmp_path != "theirs"
    assert MPI.COMM_WORLD.Get_size() == 2

@pytest.mark.parallel(nprocs=3)
def test_parallel(comm):
    assert comm.size == 3

def test_plain(mpi_tmp_path):
    pass
"""


def another_plugin(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, module: str) -> list[str]:
    """Write a plugin with the module name of a real one; return the options that load it."""
    path = pytester.path / "elsewhere" / Path(*module.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True)
    (path.parent / "__init__.py").touch()
    path.write_text(OTHER, encoding="utf-8")
    monkeypatch.syspath_prepend(str(pytester.path / "elsewhere"))
    return ["-p", module]


NAMES = {"pytest_mpi": "pytest-mpi", "pytest_isolate_mpi._plugin": "pytest-isolate-mpi", "pytest_mpi.plugin": "mpi-pytest"}


@pytest.mark.parametrize("module", NAMES)
def test_other_plugins_keep_their_marker(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    """They run marked tests, and the header mentions it."""
    options = another_plugin(pytester, monkeypatch, module)
    source = "\n@pytest.mark.mpi(ranks=2)\ndef test_mpi(): ...\n\n@pytest.mark.parallel\ndef test_parallel(): ...\n"
    result, text = run_pytest(pytester, source, *options, "-rs")
    result.assert_outcomes(skipped=2)
    how = "use --mpi4py=emulated to run them on virtual ranks"
    assert f"fakempi: inactive: {NAMES[module]} runs marked tests ({how})" in text


def test_comm_without_virtual_ranks_names_the_plugin_that_runs_the_test(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test is marked, so the message must not say that a marker is missing."""
    options = another_plugin(pytester, monkeypatch, "pytest_mpi")
    Path(pytester.path, "elsewhere", "pytest_mpi.py").write_text("", encoding="utf-8")
    _, text = run_pytest(pytester, "\n@pytest.mark.mpi(ranks=2)\ndef test_mpi(comm): ...\n", *options)
    assert "comm needs virtual ranks, but pytest-mpi runs this test: pass --mpi4py=emulated" in text


@pytest.mark.parametrize("module", NAMES)
def test_marked_tests_run_on_virtual_ranks_if_mpi4py_is_emulated(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    """The other plugin is removed, and its fixtures do not hide ours."""
    result, _ = run_pytest(pytester, MARKED, *another_plugin(pytester, monkeypatch, module), "--mpi4py=emulated")
    result.assert_outcomes(passed=3)


def installed_mpi4py(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Write a package mpi4py, as if installed, with this module MPI."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "mpi4py"]:
        monkeypatch.delitem(sys.modules, name)
    package = pytester.path / "elsewhere" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = 'theirs'\n", encoding="utf-8")
    (package / "MPI.py").write_text(text, encoding="utf-8")
    # Without mpi4py, the session of this test has the emulator in its place.
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if not isinstance(finder, Alias)])
    monkeypatch.syspath_prepend(str(package.parent))


USES = """
from mpi4py import MPI as found
import mpi4py.MPI

@pytest.mark.mpi(ranks=3)
def test_it(comm):
    assert mpi4py.MPI is found
    assert found.COMM_WORLD.allreduce(comm.rank) == 3
"""


def test_an_mpi4py_without_a_library_is_emulated(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without marked tests; then the last lines report it."""
    installed_mpi4py(pytester, monkeypatch, "raise RuntimeError('cannot load MPI library\\nlibmpi.so: not there')\n")
    run_pytest(pytester, USES)[0].assert_outcomes(passed=1)
    pytester.path.joinpath(f"{pytester.path.name[:-1]}.py").unlink()
    source = "\ndef test_plain():\n    from mpi4py import MPI\n    assert MPI.COMM_WORLD.Get_size() == 1\n"
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(passed=1)
    assert "fakempi: mpi4py is emulated; the installed mpi4py has no MPI library (cannot load MPI library)" in text


def test_a_plugin_that_imports_an_mpi4py_without_a_library_can_be_loaded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If fakempi's plugin is loaded first."""
    installed_mpi4py(pytester, monkeypatch, "raise RuntimeError('cannot load MPI library')\n")
    pytester.makepyfile(**{"elsewhere/imports_it": "from mpi4py import MPI"})
    result, _ = run_pytest(pytester, USES, "-p", "fakempi", "-p", "imports_it", "--mpi4py=emulated")
    result.assert_outcomes(passed=1)


def test_a_plugin_that_has_imported_mpi4py_keeps_its_modules(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later imports load the emulator; after the session, the original modules are restored."""
    installed_mpi4py(pytester, monkeypatch, "COMM_WORLD = 'the real one'\n")
    import mpi4py.MPI as real

    result, _ = run_pytest(pytester, USES, "--mpi4py=emulated")
    result.assert_outcomes(passed=1)
    assert sys.modules["mpi4py.MPI"] is real


@pytest.mark.sample
@pytest.mark.slow  # two new processes
def test_under_mpiexec_marked_tests_run_on_its_processes(pytester: pytest.Pytester) -> None:
    """Two processes, and no virtual ranks in either."""
    needs("mpi4py")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.mpi(ranks=[2, 3])
        def test_it(comm, mpi_ranks, mpi_tmp_path):
            from mpi4py import MPI
            assert comm is MPI.COMM_WORLD and comm.Get_size() == mpi_ranks == 2
            assert comm.bcast(str(mpi_tmp_path)) == str(mpi_tmp_path)
            assert comm.allreduce(comm.rank) == 1
        """
    )
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", "-rs"]
    command = [mpiexec(), "-n", "2", sys.executable, "-m", "pytest", *options]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=pytester.path, timeout=270).stdout
    assert text.count("1 passed, 1 skipped") == 2
    assert text.count("fakempi: inactive: marked tests run on the 2 ranks of mpiexec") == 2
    assert text.count("needs 3 ranks, but pytest runs on 2") == 2
