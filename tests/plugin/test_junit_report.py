"""`fakempi run -m pytest --junitxml`: one report for all ranks, with the failures of each of them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.plugin.test_pytest_on_ranks import on_ranks

pytest_plugins = ["pytester"]


@pytest.mark.slow
@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_on_any_rank_is_a_failure_in_the_report(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str], failing: int
) -> None:
    """The session of the other rank ends before or after that of the failing rank."""
    source = f"""
        @pytest.fixture
        def broken():
            assert comm.rank != {failing}

        def test_right():
            comm.Barrier()

        def test_wrong():
            assert comm.rank != {failing}

        def test_with_fixture(broken):
            pass
        """
    on_ranks(pytester, capsys, 2, source, "--junitxml=reports/all.xml")
    suite = next(ElementTree.parse(pytester.path / "reports" / "all.xml").iter("testsuite"))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3", "failures": "1", "errors": "1", "skipped": "0",
    }  # fmt: skip
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(cases) == ["test_right", "test_wrong", "test_with_fixture"]
    failure, error = cases["test_wrong"].find("failure"), cases["test_with_fixture"].find("error")
    assert failure is not None
    assert error is not None
    assert f"rank {failing} of 2: assert {failing} != {failing}" in failure.get("message", "")
    assert f"rank {failing} of 2: failed on setup" in error.get("message", "")


def test_the_report_of_one_rank_is_that_of_pytest(pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    """Messages name no rank if there is only one."""
    on_ranks(pytester, capsys, 1, "def test_wrong():\n    assert comm.rank == 1\n", "--junitxml=all.xml")
    (failure,) = ElementTree.parse(pytester.path / "all.xml").iter("failure")
    assert failure.get("message", "").startswith("assert 0 == 1")
