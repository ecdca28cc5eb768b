"""Suppressed findings in tests on ranks."""

from __future__ import annotations

import pytest

from tests.plugin.harness import run_pytest

pytest_plugins = ["pytester"]

LOST = """
@pytest.mark.mpi(ranks=2)
def test_lost(comm):
    if comm.rank == 0:
        comm.send(1, 1){}

@pytest.mark.mpi(ranks=2)
def test_other(comm):
    comm.barrier(){}
"""
KNOWN = "  # fakempi: ignore[message-lost]"


def test_a_comment_suppresses_warnings_and_failures(pytester: pytest.Pytester) -> None:
    """In plain and strict sessions, and in all schedules. A comment that suppresses nothing is named at the end."""
    for options in ([], ["--mpi-strict"], ["--mpi-explore=20"]):
        result, text = run_pytest(pytester, LOST.format(KNOWN, KNOWN), *options)
        result.assert_outcomes(passed=2, warnings=0)
        assert "fakempi: 1 suppression matches no finding: " in text
        assert ".py:11 (message-lost)" in text
        assert "suppression" not in run_pytest(pytester, LOST.format(KNOWN, KNOWN), *options, "-k", "other")[1]


def test_an_entry_and_an_option_suppress_warnings_and_failures(pytester: pytest.Pytester) -> None:
    """pyproject.toml is that of the root directory; the command that repeats a failed test has the option."""
    run_pytest(pytester, LOST.format("", ""), "--mpi-strict")[0].assert_outcomes(passed=1, failed=1)
    run_pytest(pytester, LOST.format("", ""), "--mpi-strict", "--mpi-ignore=message-lost")[0].assert_outcomes(passed=2)
    _, text = run_pytest(pytester, LOST.format("", "; assert 0"), "--mpi-ignore=message-lost")
    assert "--mpi-ignore=message-lost" in text.partition("replay: ")[2]
    pytester.makepyprojecttoml('[[tool.fakempi.ignore]]\nkind = "message-lost"\nfunction = "test_lost"')
    run_pytest(pytester, LOST.format("", ""), "--mpi-strict")[0].assert_outcomes(passed=2)


def test_unknown_kinds_are_errors(pytester: pytest.Pytester) -> None:
    """On the command line and in comments."""
    result, _ = run_pytest(pytester, LOST.format("", ""), "--mpi-ignore=message-lst")
    assert "--mpi-ignore=message-lst: the kind 'message-lst' is unknown; did you mean message-lost?" in result.stderr.str()
    result, text = run_pytest(pytester, LOST.format("  # fakempi: ignore[message]", ""))
    assert result.ret == 1
    assert "the kind 'message' is unknown" in text
