"""`import mpi4py` with --mpi4py=auto: the emulator if tests are marked to run on ranks, also if mpi4py is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace

import pytest

from fakempi.apps.testing.marked_files import marked_file, may_select
from tests.helpers.packages import needs
from tests.plugin.harness import INSTALLED, run_pytest
from tests.plugin.test_other_plugins import another_plugin, installed_mpi4py
from tests.real_mpi.processes import mpiexec

pytest_plugins = ["pytester"]

REAL = """
class Comm:
    def Get_size(self):
        return 1

    def Get_rank(self):
        return 0

COMM_WORLD = Comm()
"""
"""A package mpi4py that works, with one process."""

MODULE_LEVEL = """
import package
from mpi4py import MPI

size = MPI.COMM_WORLD.Get_size()

@pytest.mark.mpi(ranks=[2, 3])
def test_size(mpi_ranks):
    assert size == package.size() == MPI.COMM_WORLD.Get_size() == mpi_ranks
"""

PACKAGE = "from mpi4py import MPI\ndef size(): return MPI.COMM_WORLD.Get_size()\n"

UNMARKED = '''
"""A test with @pytest.mark.mpi would run on ranks."""
from mpi4py import MPI

def test_plain():
    assert MPI.COMM_WORLD.Get_size() == 1 and hasattr(MPI, "Comm") and not hasattr(MPI, "Win")  # pytest.mark.mpi
'''


@pytest.fixture
def working(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    installed_mpi4py(pytester, monkeypatch, REAL)
    pytester.makepyfile(package=PACKAGE)


@pytest.mark.usefixtures("working")
def test_marked_tests_get_the_emulator(pytester: pytest.Pytester) -> None:
    """In the test module, in the package under test and in conftest, without an option."""
    pytester.makeconftest("import package\nfrom mpi4py import MPI\nassert hasattr(MPI, 'Win')\n")
    result, text = run_pytest(pytester, MODULE_LEVEL)
    result.assert_outcomes(passed=2)
    reason = "test_marked_tests_get_the_emulator.py has tests marked to run on ranks"
    assert f"fakempi: mpi4py is emulated: {reason}; to change it: --mpi4py=installed" in text


@pytest.mark.usefixtures("working")
def test_a_session_without_marked_tests_keeps_the_installed_mpi4py(pytester: pytest.Pytester) -> None:
    """Marks in strings and comments do not count."""
    result, text = run_pytest(pytester, UNMARKED)
    result.assert_outcomes(passed=1)
    why = "no selected test is marked to run on ranks; to change it: --mpi4py=emulated"
    assert f"fakempi: mpi4py is the installed one: {why}" in text
    assert "mpi4py is" not in run_pytest(pytester, "\ndef test_nothing(): pass\n")[1]


@pytest.mark.usefixtures("working")
def test_a_session_that_deselects_marked_tests_keeps_the_installed_mpi4py(pytester: pytest.Pytester) -> None:
    result, _ = run_pytest(pytester, MODULE_LEVEL + UNMARKED.partition('"""\n')[2], "-m", "not mpi")
    result.assert_outcomes(passed=1, deselected=2)


@pytest.mark.usefixtures("working")
@pytest.mark.parametrize("where", ["option", "file"])
def test_the_header_has_the_choice_of_the_user(pytester: pytest.Pytester, where: str) -> None:
    pytester.makeini("[pytest]\nmpi4py = installed\n")
    result, text = run_pytest(pytester, MODULE_LEVEL, *["--mpi4py=emulated"] * (where == "option"))
    result.assert_outcomes(**{"passed" if where == "option" else "failed": 2})
    header = {"option": "emulated: --mpi4py=emulated", "file": "the installed one: mpi4py = installed in tox.ini"}[where]
    assert f"fakempi: mpi4py is {header}\n" in text
    assert ("to change it, pass --mpi4py=emulated" in text) == (where == "file")


@pytest.mark.usefixtures("working")
def test_marks_that_no_test_file_contains_are_found_after_collection(pytester: pytest.Pytester) -> None:
    """By then modules have bound the installed mpi4py, so each rank imports its own."""
    pytester.makepyfile(helpers="import pytest\non_ranks = pytest.mark.mpi(ranks=[2, 3])\n")
    source = "from helpers import on_ranks\n" + MODULE_LEVEL.replace("@pytest.mark.mpi(ranks=[2, 3])", "@on_ranks")
    result, text = run_pytest(pytester, source)
    result.assert_outcomes(passed=2)
    assert "modules of this process use the installed mpi4py, so the ranks of marked tests import their own" in text
    result, text = run_pytest(pytester, source, "--mpi-isolation=none")
    result.assert_outcomes(failed=2)
    assert "is the real mpi4py in this process" in text


@pytest.mark.usefixtures("working")
def test_marks_that_no_test_file_contains_count_before_the_first_import(pytester: pytest.Pytester) -> None:
    """The test itself imports mpi4py."""
    pytester.makepyfile(helpers="import pytest\non_ranks = pytest.mark.mpi(ranks=3)\n")
    test = "\n@on_ranks\ndef test_it():\n    import package\n    assert package.size() == 3\n"
    result, text = run_pytest(pytester, "from helpers import on_ranks\n" + test)
    result.assert_outcomes(passed=1)
    assert "import their own" not in text


@pytest.mark.skipif(not INSTALLED, reason="fakempi's plugin is loaded by a name, before others; pip install -e .")
@pytest.mark.usefixtures("working")
def test_a_package_that_another_plugin_has_imported(pytester: pytest.Pytester) -> None:
    """Its plugin was loaded before ours, so the package has the installed mpi4py, except on ranks with their own modules."""
    pytester.makepyfile(**{"elsewhere/its_plugin": "import package\n"})
    pytester.syspathinsert()
    source = MODULE_LEVEL.replace("size ==", "")
    result, text = run_pytest(pytester, source, "-p", "its_plugin")
    result.assert_outcomes(passed=2)
    assert "fakempi: package imported the installed mpi4py before; to load this plugin first: pytest -p fakempi" in text


@pytest.mark.usefixtures("working")
def test_another_plugin_for_the_marks_keeps_the_installed_mpi4py(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = another_plugin(pytester, monkeypatch, "pytest_mpi.plugin")
    result, text = run_pytest(pytester, UNMARKED + "\n@pytest.mark.parallel\ndef test_it(): ...\n", *options)
    result.assert_outcomes(passed=1, skipped=1)
    assert "mpi-pytest runs marked tests (use --mpi4py=emulated" in text


def test_an_mpi4py_that_is_not_installed_is_emulated(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fakempi.apps.testing.alias._spec_from_other_finders", lambda *_: None)
    monkeypatch.delitem(sys.modules, "mpi4py", raising=False)  # another test may have imported it
    pytester.makepyfile(package=PACKAGE)
    result, text = run_pytest(pytester, MODULE_LEVEL)
    result.assert_outcomes(passed=2)
    assert "fakempi: mpi4py is emulated: it is not installed\n" in text


LAUNCHED = """
import pytest, sys
from mpi4py import MPI
size = MPI.COMM_WORLD.Get_size()

@pytest.mark.mpi(ranks=[1, 2])
def test_size(mpi_ranks):
    assert size == mpi_ranks and MPI.Get_library_version().startswith("fakempi") == (sys.argv[-1] == "--emulated")
"""


def in_new_process(pytester: pytest.Pytester, source: str, *command: str, **variables: str) -> str:
    """Run pytest in a new process, where mpi4py is the installed one; return its output."""
    pytester.makepyfile(test_it=source)
    pytester.makeconftest("def pytest_addoption(parser): parser.addoption('--emulated', action='store_true')")
    fast = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", *["-p", "fakempi"] * (not INSTALLED)]
    line = [*(command or [sys.executable]), "-m", "pytest", *fast]
    line += [] if command else ["--emulated"]
    run = subprocess.run(
        line, capture_output=True, text=True, check=False, cwd=pytester.path, timeout=270, env={**os.environ, **variables}
    )
    return run.stdout + run.stderr


def test_a_real_mpi4py_in_a_batch_script(pytester: pytest.Pytester) -> None:
    """Slurm sets SLURM_PROCID there, too; nothing has started several processes."""
    needs("mpi4py")
    text = in_new_process(pytester, LAUNCHED, SLURM_PROCID="0", SLURM_NTASKS="4", SLURM_JOB_ID="1")
    assert "2 passed" in text, text
    assert "mpi4py is emulated: test_it.py has tests marked" in text


@pytest.mark.sample
@pytest.mark.slow  # new processes
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_real_mpi4py_under_mpiexec(pytester: pytest.Pytester, ranks: int) -> None:
    """Several processes are the ranks of marked tests; one process runs virtual ranks, as without mpiexec."""
    needs("mpi4py")
    source = LAUNCHED.replace('sys.argv[-1] == "--emulated"', f"{ranks} == 1")
    text = in_new_process(pytester, source, mpiexec(), "-n", str(ranks), sys.executable)
    assert text.count("1 passed, 1 skipped") == (2 if ranks == 2 else 0), text
    assert ("2 passed" in text) == (ranks == 1)
    assert "import their own" not in text


@pytest.mark.slow  # new processes
def test_a_real_mpi4py_with_workers_of_xdist(pytester: pytest.Pytester) -> None:
    """Workers decide as the main process does."""
    needs("mpi4py")
    needs("xdist")
    source = LAUNCHED.replace('sys.argv[-1] == "--emulated"', "True")
    text = in_new_process(pytester, source, PYTEST_ADDOPTS="-n 1")
    assert "2 passed" in text, text
    assert "mpi4py is emulated: test_it.py has tests marked" in text


@pytest.mark.parametrize(
    ("expression", "selected"),
    [("", True), ("mpi", True), ("not mpi", False), ("not slow", True), ("slow and not mpi", False),
     ("fast or (mpi and slow)", True), ("mpi and", True), ("not slow and fast", True)],
)  # fmt: skip
def test_a_selection_by_marks(expression: str, selected: bool) -> None:
    """Other marks of the tests are unknown, and an invalid expression is reported by pytest."""
    assert may_select(expression, "mpi") == selected


def test_files_are_those_that_pytest_collects(pytester: pytest.Pytester) -> None:
    """Below the arguments or `testpaths`, without virtual environments; conftests above them count, too."""
    marked, plain = "import pytest\npytestmark = pytest.mark.mpi\n", "import mpi4py\n"
    pytester.makepyfile(**{
        "tests/test_plain": plain, "tests/deep/test_it": marked, "env/test_other": marked, "env/pyvenv": "",
        "tests/helper": marked, "top/conftest": marked, "top/below/test_b": plain, "tests/broken/test_no": f"{marked}(",
    })  # fmt: skip
    (pytester.path / "env" / "pyvenv.cfg").touch()
    pytester.makeini("[pytest]\ntestpaths = tests*\n")
    config = pytester.parseconfig()

    def found(*arguments: str, pyargs: bool = False) -> tuple[str, bool]:
        return marked_file(config, Namespace(file_or_dir=list(arguments), pyargs=pyargs, markexpr=""))

    assert found() == (os.path.join("tests", "deep", "test_it.py"), True)
    assert found("tests/test_plain.py::test_a", "no_path") == ("", True)
    assert found("env") == ("", False)
    assert found("tests/broken") == ("", False)
    assert found("tests/helper.py")[0] == os.path.join("tests", "helper.py")
    assert found("top/below")[0] == os.path.join("top", "conftest.py")
    pytester.syspathinsert()
    assert found("tests.deep", pyargs=True)[0] == os.path.join("tests", "deep", "test_it.py")
