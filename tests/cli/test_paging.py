"""`fakempi view` on a terminal: printed at once if it fits, otherwise page by page."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from rich.console import Console

import fakempi
from fakempi.apps.cli import main, paging


class Screen(io.StringIO):
    """A terminal that records its output."""

    def isatty(self) -> bool:
        """Return true."""
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns and 24 lines, without colors; the pager marks its lines."""
    given = {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1", "TERM": "xterm", "PAGER": "sed s/^/paged:/"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)


def viewed(*words: str) -> list[str]:
    """The output of `fakempi view` to the terminal, without the pager's."""
    screen = Screen()
    with redirect_stdout(screen):
        assert main(["view", *words]) == 0
    return screen.getvalue().splitlines()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A trace file of a run of 200 ranks."""
    path = tmp_path_factory.mktemp("traces") / "t.npz"
    found = fakempi.run(lambda comm: comm.Barrier(), 200, cost=fakempi.Hockney(1e-6, 1e-9), trace=True).trace
    assert found is not None
    found.save(path)
    return str(path)


def test_the_usual_view_is_as_high_as_the_terminal(
    trace: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks are folded until the view fits, with one line left for the prompt."""
    for lines in (50, 60):
        monkeypatch.setenv("LINES", str(lines))
        assert lines - 8 <= len(viewed(trace)) < lines
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("words", "pager", "paged"), [
    ([], "", True), (["--no-pager"], "", False), ([], "cat", False), ([], "no-such-pager -x", False),
])  # fmt: skip
def test_a_view_that_does_not_fit_is_paged(
    words: list[str], pager: str, paged: bool, trace: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command in $PAGER; not with --no-pager, and not if the command is missing."""
    if pager:
        monkeypatch.setenv("PAGER", pager)
    written = viewed(trace, *words)
    lines = capfd.readouterr().out.splitlines()
    assert bool(lines) == paged
    assert all(line.startswith("paged:") for line in lines)
    assert bool(written) != paged


def test_output_to_a_file_or_a_pipe_is_not_paged(
    trace: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not cut to the terminal's height either."""
    monkeypatch.setenv("PAGER", "false")
    assert main(["view", trace, "--what", "timeline,summary"]) == 0
    assert capfd.readouterr().out.count("\n") > 30


def test_less_keeps_colors_unless_configured_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It exits on its own if the output fits, and leaves it on the screen."""
    monkeypatch.delenv("LESS", raising=False)
    assert paging._paged(["sh", "-c", "echo $LESS; cat"], "text\n")
    monkeypatch.setenv("LESS", "i")
    assert paging._paged(["sh", "-c", "echo $LESS"], "")
    assert capfd.readouterr().out == "FRX\ntext\ni\n"
    assert not paging._paged([str(tmp_path)], "")


def test_a_timeline_uses_the_remaining_rows() -> None:
    """Of 40 lines, those that the other views do not need; if few remain, the number that fits on its own."""
    out = Console(file=io.StringIO(), width=80, height=40, force_terminal=True)
    assert paging.rows_left(out, ["one line"]) == 40 - 2 - paging.EXTRA_LINES
    assert paging.rows_left(out, ["\n" * 40]) == 32


