"""`fakempi view`: every view of a trace that `fakempi run` wrote, files, two traces, and usage errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakempi.apps.cli import main
from fakempi.apps.cli.viewing import VIEWS
from tests.cli.test_running import Capture, execute
from tests.helpers.loops import for_each

SCRIPT = """
import time
time.sleep(1e-6 * comm.rank)
comm.allreduce(comm.rank)
comm.Barrier()
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A trace file of four ranks."""
    path = tmp_path_factory.mktemp("traces") / "t.json"
    assert execute(SCRIPT, "--trace", str(path)) == 0
    return str(path)


@pytest.fixture(autouse=True, params=["80", "160"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The width of the terminal."""
    monkeypatch.setenv("COLUMNS", request.param)
    return int(request.param)


@pytest.mark.parametrize("what", ["", *VIEWS, "critical,matrix"])
def test_every_view_fits_the_terminal(trace: str, what: str, width: int, capsys: Capture) -> None:
    """No view is empty."""
    assert main(["view", trace, *(["--what", what] if what else [])]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) > (1 if what in ("findings", "end") else 3)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= width


def test_ranks_and_times_can_be_selected(trace: str, capsys: Capture) -> None:
    """Only these rows are shown."""
    assert main(["view", trace, "--what", "timeline", "--ranks", "1-2", "--window", "1us..3us"]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:3]]
    assert rows == ["1", "2"]


def test_two_traces_are_compared(trace: str, tmp_path: Path, capsys: Capture) -> None:
    """Each has its name."""
    other = tmp_path / "other.npz"
    assert execute(SCRIPT, "--trace", str(other), "--cost", "hockney:t_s=2e-6") == 0
    assert main(["view", trace, str(other)]) == 0
    out = capsys.readouterr().out
    assert "t.json" in out
    assert "other.npz" in out
    assert "ratio" in out


def test_pictures_and_pages_are_written(trace: str, tmp_path: Path, capsys: Capture) -> None:
    """Nothing is printed then."""
    svg, html = tmp_path / "a.svg", tmp_path / "a.html"
    assert main(["view", trace, "--svg", str(svg), "--html", str(html)]) == 0
    assert capsys.readouterr() == ("", "")
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert "Wait" in html.read_text(encoding="utf-8")


@for_each(
    ("words", "error"),
    [
        (["nowhere.json"], "there is no file 'nowhere.json'. To record a trace, run: fakempi run -n N --trace "),
        (["TRACE", "--what", "tmeline"], "view 'tmeline' is unknown. Did you mean timeline? Known: summary, "),
        (["TRACE", "--ranks", "2-9"], "'2-9' is not within the ranks 0-3."),
        (["TRACE", "--window", "5us"], "'5us' is not a time window: use 2us..5us."),
        (["TRACE", "--window", "5us..2us"], "'5us..2us' ends before it begins."),
        (["TRACE", "--window", "2s..3s"], "--window 2s..3s starts at 2 s, but the run ends at "),
        (["TRACE", "--svg", "x.png"], "--svg x.png: the file's name must end in .svg."),
        (["TRACE", "--html", "x.txt"], "--html x.txt: the file's name must end in .html."),
        (["TRACE", "--window", "x..2us"], "'x' is not a time: use 2us, 1.5ms or 3e-6."),
        (["TRACE", "TRACE", "TRACE"], "3 files are too many: give one to show it, or two to compare them."),
        (["TRACE", "--what", "replay", "--svg", "x.svg"], "a replay is shown alone, in the terminal: use --what replay "),
        ([__file__], f"{__file__}: the name of a trace file must end in .json"),
    ],
)
def test_usage_errors_are_reported_in_one_line(trace: str, words: list[str], error: str, capsys: Capture) -> None:
    """The exit code is 2."""
    assert main(["view", *(trace if word == "TRACE" else word for word in words)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakempi view: {error}")
