"""`fakempi view` on a terminal: all of it at once where it fits, and page by page where it does not."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from rich.console import Console

import fakempi
from fakempi.cli import main, paging


class Screen(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        """It is."""
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns and 24 lines, without colours; the pager marks its lines."""
    given = {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1", "TERM": "xterm", "PAGER": "sed s/^/paged:/"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)


def viewed(*words: str) -> list[str]:
    """What `fakempi view` writes to a terminal itself."""
    screen = Screen()
    with redirect_stdout(screen):
        assert main(["view", *words]) == 0
    return screen.getvalue().splitlines()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with a run of 200 ranks."""
    path = tmp_path_factory.mktemp("traces") / "t.npz"
    found = fakempi.run(lambda comm: comm.Barrier(), 200, cost=fakempi.Hockney(1e-6, 1e-9), trace=True).trace
    assert found is not None
    found.save(path)
    return str(path)


def test_the_usual_view_is_as_high_as_the_terminal(
    trace: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks are folded until all is seen at once, with a line left for the prompt."""
    for lines in (50, 60):
        monkeypatch.setenv("LINES", str(lines))
        assert lines - 8 <= len(viewed(trace)) < lines
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("words", "pager", "paged"), [
    ([], "", True), (["--no-pager"], "", False), ([], "cat", False), ([], "no-such-pager -x", False),
])  # fmt: skip
def test_what_does_not_fit_is_paged(
    words: list[str], pager: str, paged: bool, trace: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what $PAGER says; not with --no-pager, and not where there is none."""
    if pager:
        monkeypatch.setenv("PAGER", pager)
    written = viewed(trace, *words)
    lines = capfd.readouterr().out.splitlines()
    assert bool(lines) == paged
    assert all(line.startswith("paged:") for line in lines)
    assert bool(written) != paged


def test_a_file_and_a_pipe_are_not_paged(
    trace: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor cut to the terminal's height."""
    monkeypatch.setenv("PAGER", "false")
    assert main(["view", trace, "--what", "timeline,summary"]) == 0
    assert capfd.readouterr().out.count("\n") > 30


def test_less_keeps_colours_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It ends by itself if all fits, and leaves what it showed."""
    monkeypatch.delenv("LESS", raising=False)
    assert paging._paged(["sh", "-c", "echo $LESS; cat"], "text\n")
    monkeypatch.setenv("LESS", "i")
    assert paging._paged(["sh", "-c", "echo $LESS"], "")
    assert capfd.readouterr().out == "FRX\ntext\ni\n"
    assert not paging._paged([str(tmp_path)], "")


def test_a_timeline_has_the_rows_that_are_left() -> None:
    """Of 40 lines, what the others do not need; if that is hardly any, as many as fit alone."""
    out = Console(file=io.StringIO(), width=80, height=40, force_terminal=True)
    assert paging.rows_left(out, ["one line"]) == 40 - 2 - paging.AROUND
    assert paging.rows_left(out, ["\n" * 40]) == 32


