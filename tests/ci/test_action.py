"""The composite action: a small runner runs its steps as GitHub does, on a repository with tests and scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ci.action_runner import Job, read_yaml

ROOT = Path(__file__).parents[2]
ACTION = read_yaml((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}

needs_bash = pytest.mark.skipif(shutil.which("bash") is None or sys.platform == "win32", reason="the steps need bash")

TESTS = """
import pytest
from mpi4py import MPI

def test_plain():
    assert MPI.COMM_WORLD.allreduce(1) in (1, 2)

@pytest.mark.mpi(ranks=[2, 4])
def test_marked(comm):
    assert comm.size < 4, "100%, on 4 ranks"

@pytest.mark.mpi(ranks=5)
@pytest.mark.skip(reason="not yet")
def test_skipped(comm):
    assert False

@pytest.mark.parametrize("letter", ["a|b"])
@pytest.mark.mpi(ranks=[3, 5])
def test_never(comm, letter):
    pass

def test_with_a_finding():
    if MPI.COMM_WORLD.size > 1:
        MPI.COMM_WORLD.isend(1, dest=0).Wait()
"""
DEAD = "from mpi4py import MPI\nimport sys\nif len(sys.argv) < 2:\n    MPI.COMM_WORLD.recv(source=MPI.COMM_WORLD.rank)\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with tests and scripts; two scripts have the same name."""
    workspace = tmp_path / "repository"
    for name, text in {"tests/test_it.py": TESTS, "a/main.py": DEAD, "b/main.py": DEAD}.items():
        (workspace / name).parent.mkdir(parents=True)
        (workspace / name).write_text(text)
    return workspace


def run_action(repository: Path, **inputs: str) -> Job:
    """Run the action without installing anything."""
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    return Job(ROOT, repository, given).run(without=("install",))


def rows(job: Job) -> list[str]:
    """The rows of the summary's tables, without times."""
    return [re.sub(r" \d+ s \|$", "", line) for line in job.summary.splitlines() if line.startswith("| ")]


def test_no_command_contains_an_input() -> None:
    """Or a shell would execute it. Each input is a variable of a step, and each variable is that of its input."""
    passed = set()
    for step in STEPS.values():
        assert "${{" not in step["run"]
        for variable, value in step["env"].items():
            name = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", value)[1]  # type: ignore[index]  # else it fails, too
            assert variable == name.upper().replace("-", "_")
            passed.add(name)
    assert passed == ACTION["inputs"].keys()


def test_the_action_installs_itself_by_default() -> None:
    """Or what the input names."""
    assert list(STEPS) == ["install", "tests", "scripts"]
    assert STEPS["install"]["run"] == 'python -m pip install "${INSTALL:-$GITHUB_ACTION_PATH}" greenlet pytest'


def test_every_input_is_documented_with_its_default() -> None:
    """In the table of docs/continuous_integration.md."""
    text = (ROOT / "docs" / "continuous_integration.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([^|]+) \|$", text, re.MULTILINE))
    defaults = {name: entry["default"] for name, entry in ACTION["inputs"].items()}
    assert table.keys() == defaults.keys()
    assert {name: f"`{value}`" for name, value in defaults.items() if value} == {
        name: table[name] for name, value in defaults.items() if value
    }


def test_archives_contain_all_that_the_action_calls() -> None:
    """The steps call modules of the package, which the wheel and the archive of the sources contain."""
    for step in ("tests", "scripts"):
        module = re.fullmatch(rf"python -m (\S+) {step}", STEPS[step]["run"])[1]  # type: ignore[index]  # else it fails, too
        assert (ROOT / module.replace(".", "/") / "__main__.py").is_file()
    excluded = re.search(r"sdist\]\nexclude = (\[.*\])", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert excluded is not None
    assert excluded[1] == '["/.github"]'


@pytest.mark.slow
def test_the_archive_of_the_sources_contains_the_action(tmp_path: Path) -> None:
    """It is built as pip does it."""
    pytest.importorskip("hatchling", reason="to run this test: python -m pip install hatchling")
    import tarfile

    from hatchling.builders.sdist import SdistBuilder

    (archive,) = SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert names >= {"action.yml", ".ci/action", "fakempi/apps/ci/__main__.py", "fakempi/apps/testing/records/outcomes.py"}


@needs_bash
@pytest.mark.sample
@pytest.mark.slow
def test_a_test_that_ran_on_no_number_of_ranks_fails_the_action(repository: Path) -> None:
    """Here pytest is not run on its own; a finding does not replace the totals."""
    job = run_action(repository, tests="tests -p no:cacheprovider -k 'not plain or it'", ranks="2", plain_pytest="false")
    assert job.codes == {"tests": 1, "scripts": 0}
    assert rows(job)[1:] == ["| fakempi run -m pytest | 2 | passed | all 2 ranks: 3 passed, 4 skipped | message-lost |"]
    assert "- tests/test_it.py::test_never[a\\|b] ran on no number of ranks: it needs 3 or 5 ranks" in job.summary
    assert "**1 test never ran:**" in job.summary
    never = "::error file=tests/test_it.py,title=a test that never ran::tests/test_it.py::test_never[a|b] ran on no number"
    assert never in job.log
    assert "::warning file=tests/test_it.py,line=24,title=finding::message-lost: " in job.log


@needs_bash
@pytest.mark.slow
def test_the_steps_do_all_their_work_and_summarize_it(repository: Path) -> None:
    """pytest on its own runs marked tests on their numbers of ranks. Pages of scripts with the same name are separate."""
    arguments = {"tests": "-p no:cacheprovider tests", "ranks": "3", "strict": "true", "junit": "reports"}
    scripts = {"check": "a/main.py b/main.py 'b/main.py --size 8'", "check_ranks": "2", "processes": "true"}
    job = run_action(repository, **arguments, **scripts)
    assert job.codes == {"tests": 1, "scripts": 1}
    tests, scripts_head, *checked = rows(job)[1:3], *rows(job)[3:]
    assert tests[0] == "| pytest | as marked | failed (1) | 1 failed, 5 passed, 1 skipped |  |"
    assert tests[1].startswith("| fakempi run -m pytest | 3 | failed (3) | all 3 ranks: 1 failed, 2 passed, 4 skipped |")
    assert scripts_head.startswith("| script |")
    assert checked == [
        "| a/main.py | 2 | failed (1) | 2 of 2 schedules fail | a-main.html |",
        "| b/main.py | 2 | failed (1) | 2 of 2 schedules fail | b-main.html |",
        "| b/main.py --size 8 | 2 | passed | clean: all 2 schedules |  |",
    ]
    assert "never ran" not in job.summary + job.log
    failure = "line=10,title=tests/test_it.py%3A%3Atest_marked[ranks4] (pytest)::AssertionError: 100%25, on 4 ranks"
    assert failure in job.log
    assert "::error file=tests/test_it.py,line=6,title=tests/test_it.py%3A%3Atest_plain (3 ranks)::" in job.log
    assert job.outputs == {"pages": "fakempi-pages"}
    assert sorted(path.name for path in (repository / "fakempi-pages").iterdir()) == ["a-main.html", "b-main.html"]
    assert "deadlock" in (repository / "fakempi-pages" / "b-main.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in (repository / "reports").iterdir()) == ["pytest-3-ranks.xml", "pytest.xml"]


@needs_bash
@pytest.mark.slow
def test_a_test_that_hangs_is_named_and_other_commands_still_run(repository: Path) -> None:
    """pytest on its own has no limit for a test that is not marked, so it is ended; on ranks the run ends with a report."""
    text = "def test_first():\n    pass\n\ndef test_hang():\n    while True: pass\n"
    (repository / "tests" / "test_it.py").write_text(text)
    job = run_action(repository, tests="-p no:cacheprovider tests", ranks="2", timeout="20", check="a/main.py")
    assert job.codes == {"tests": 1, "scripts": 1}
    assert rows(job)[1] == ("| pytest | as marked | no end after 20 s | not ended, in tests/test_it.py::test_hang |  |")
    assert rows(job)[2].startswith("| fakempi run -m pytest | 2 | no end after 20 s | ")
    assert "fakempi: not done after 20 s" in rows(job)[2]
    assert "::error title=pytest::no end after 20 s: not ended, in tests/test_it.py::test_hang" in job.log
    assert rows(job)[4].startswith("| a/main.py | 4 | failed (1) | ")


@needs_bash
def test_the_steps_are_also_a_script(tmp_path: Path) -> None:
    """For a checkout of this repository in other systems; anything but the name of a step is an error."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "CHECK": "halo.py"}
    for arguments, code, text in ((["test"], 2, "usage: "), (["tests"], 0, "The input tests is empty: no tests are run.")):
        command = ["bash", str(ROOT / ".ci" / "action"), *arguments]
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200)
        assert ended.returncode == code
        assert text in ended.stdout


@needs_bash
@pytest.mark.slow
def test_inputs_are_never_executed_and_nothing_to_run_is_an_error(repository: Path) -> None:
    """An action without tests and scripts would always succeed."""
    assert run_action(repository).codes == {"tests": 2, "scripts": 2}
    evil = "$(touch evil) `touch evil`; touch evil #"
    job = run_action(repository, tests=evil, ranks="", check=evil, check_ranks="1", timeout=evil)
    assert job.codes == {"tests": 2, "scripts": 2}
    assert "::error title=fakempi::timeout: '$(touch evil) `touch evil`; touch evil #' is not a number of seconds" in job.log
    job = run_action(repository, tests=evil, ranks="", check=f'"{evil}"', check_ranks="1")
    assert job.codes == {"tests": 1, "scripts": 1}
    assert not list(repository.rglob("evil"))
