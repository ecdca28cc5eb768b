"""The table of speed: its lines, taken with a few ranks; what is said of what is missing; and the pages that have it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import fakempi
from fakempi import Hockney
from tests.scripts import imported

pytest.importorskip("greenlet")
pytest.importorskip("resource")

ROOT = Path(__file__).parents[2]
SCRIPTS = SimpleNamespace(**imported("table", "lines", "measures", "machine", "in_simpy", "in_smpi"))
FEW = list(SCRIPTS.table.lines(large=True, ranks=8))


def pretended(measure: Any) -> float:
    """As if SMPI took 4 us, SimPy 3, a switch half a microsecond, and all else 2."""
    return {"SMPI": 4e-6, "SimPy": 3e-6, "bare": 0.5e-6}.get(measure.tool, 2e-6)


def test_every_line_can_be_measured() -> None:
    """With 8 ranks, and what SMPI takes pretended."""
    pytest.importorskip("simpy")

    def take(measure: Any) -> float:
        case = SCRIPTS.measures.CASES.get(measure[:2])
        return pretended(measure) if measure.tool == "SMPI" else float(case(measure.ranks, 0.001))

    measures = SCRIPTS.table.wanted(FEW, [])
    samples, failures = SCRIPTS.table.taken(measures, 1, take, lambda measure: None)
    assert failures == []
    assert set(samples) == set(measures)
    assert all(seconds > 0 for found in samples.values() for seconds in found)


def test_simpy_simulates_the_same_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, with costs that floats hold."""
    pytest.importorskip("simpy")
    monkeypatch.setattr(SCRIPTS.in_simpy, "COST", 0.5)
    cost = Hockney(t_s=0.25, t_w=0.25 / 8)
    for theirs, ours in ((SCRIPTS.in_simpy.ring, "ring"), (SCRIPTS.in_simpy.recursive_doubling, "sums")):
        run = fakempi.run(getattr(SCRIPTS.measures, ours), 8, 3, lambda: 0.0, cost=cost)
        assert SCRIPTS.in_simpy.simulated(theirs, 8, 3)[1] == run.time


@pytest.mark.slow
def test_smpi_simulates_linear_costs(tmp_path: Path) -> None:
    """With 16 bytes more a message, and as many messages in a call as here; what it does not know fails."""
    smpi = SCRIPTS.in_smpi
    if not smpi.installed():
        pytest.skip("SMPI is not installed: apt-get install libsimgrid-dev")
    smpi.build(tmp_path)
    message = pytest.approx(1e-6 + 24e-9, rel=1e-6)
    assert smpi.simulated(tmp_path, "ring", 8, 5)[1] / 5 == message
    assert smpi.simulated(tmp_path, "recursive_doubling", 8, 5)[1] / 15 == message
    assert smpi.simulated(tmp_path, "Allreduce", 8, 5)[1] / 15 == message
    for case in ("ring", "recursive doubling", *SCRIPTS.measures.COLLECTIVES):
        assert SCRIPTS.measures.of_smpi(tmp_path, case, 8, 0.1) > 0
    with pytest.raises(subprocess.CalledProcessError):
        smpi.simulated(tmp_path, "Alltoall", 2, 1)


def test_a_time_is_a_median_and_a_ratio_that_of_the_turns() -> None:
    """Turns that were slow as a whole change no ratio."""
    one, other = (SCRIPTS.measures.Measure(tool, "ring", 8) for tool in ("fakempi", "bare"))
    line = SCRIPTS.lines.Line("ring", one, other, simpy=other._replace(tool="SimPy"), front=True)
    samples = {one: [2.0, 40.0, 4.0], other: [1.0, 10.0, 4.0]}
    assert line.figures(samples) == {
        "seconds": 4.0, "bare switches": 2.0, "of another line": None, "SimPy takes": None, "SMPI takes": None
    }  # fmt: skip
    assert line.cells(samples) == ["ring", "4000000.0", "2.0", "", "–", ""]
    assert line.cells({}) == ["ring", "–", "–", "", "–", ""]
    assert [SCRIPTS.lines.part(number) for number in (1.26, 0.9, 0.05)] == ["1.3 ×", "0.9 ×", "1/20 of"]


def test_each_measure_is_taken_once_a_turn_and_none_of_a_tool_that_is_missing() -> None:
    """All in turns: not all of one, then all of the next."""
    order: list[Any] = []
    measures = SCRIPTS.table.wanted(FEW, ["SMPI", "SimPy"])
    assert {measure.tool for measure in measures} == {"fakempi", "bare"}
    SCRIPTS.table.taken(measures, 2, pretended, order.append)
    assert order == measures * 2
    assert len(set(measures)) == len(measures)


def test_what_fails_is_said_and_not_tried_again() -> None:
    """The line has no figure, others have theirs."""
    measures = SCRIPTS.table.wanted(FEW, ["SMPI"])
    tried: list[Any] = []

    def take(measure: Any) -> float:
        tried.append(measure)
        if measure == measures[0]:
            raise subprocess.CalledProcessError(134, "x", stderr="first\nout of memory\n")
        if measure == measures[1]:
            raise subprocess.TimeoutExpired("x", 300)
        return 1.0

    samples, failures = SCRIPTS.table.taken(measures, 3, take, lambda measure: None)
    assert failures == [
        "fakempi: ring, 2 ranks: failed with exit code 134: out of memory",
        "bare: greenlets, 2 ranks: not done after 300 s.",
    ]
    assert tried.count(measures[0]) == tried.count(measures[1]) == 1
    assert samples == {measure: [1.0] * 3 for measure in measures[2:]}


def test_what_is_missing_is_said_with_how_to_install_it() -> None:
    """In a sentence each."""
    assert SCRIPTS.table.missing({"SimPy": True, "SMPI": True}) == {}
    assert list(SCRIPTS.table.missing({"SimPy": False, "SMPI": False}).values()) == [
        'SimPy is not installed, so its column is empty: python -m pip install -e ".[bench]".',
        "SMPI is not installed, so its column is empty: apt-get install libsimgrid-dev, on Debian and Ubuntu.",
    ]


def test_a_busy_machine_is_warned_of() -> None:
    """From a quarter of the cores on."""
    assert SCRIPTS.machine.busy("now", 0.5, 2) == []
    assert SCRIPTS.machine.busy("before the first measure", 3.21, 2) == [
        "The machine was busy before the first measure: others made a load of 3.2 on 2 cores. Times are too long then, and "
        "ratios less sure: run it again when nothing else runs."
    ]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command with measures that are pretended, and no SMPI: from words to what it prints."""
    monkeypatch.setattr(SCRIPTS.in_smpi, "installed", lambda: False)
    monkeypatch.setattr(SCRIPTS.table, "in_a_process", lambda folder, effort: pretended)

    def called(*words: str) -> tuple[str, str]:
        SCRIPTS.table.main(words)
        return capsys.readouterr()

    return called


def test_the_command_prints_a_table_or_data(command: Any) -> None:
    """And, beside it, on which machine, and what is missing."""
    printed, beside = command("--quick")
    assert re.search(r"ring of Sendrecv, 1,024 ranks +│ +2.0 │ +4.0 │", printed)
    assert "SMPI is not installed" in beside
    assert f"fakempi {fakempi.__version__}, Python 3." in beside
    told = json.loads(command("--json", "--large", "--repeats", "2")[0])
    assert set(told) == {"machine", "load", "repeats", "quick", "notes", "lines", "seconds"}
    assert [line["what"] for line in told["lines"]] == [line.what for line in SCRIPTS.table.lines(large=True)]
    assert told["lines"][0] == {
        "what": "ring of `Sendrecv`, 256 ranks", "ranks": 256, "beside": "", "seconds": 2e-6, "bare switches": 4.0,
        "of another line": None, "SimPy takes": told["lines"][1]["SimPy takes"], "SMPI takes": None,
    }  # fmt: skip
    assert told["seconds"]["fakempi: ring, 1,024 ranks"] == [2e-6, 2e-6]


def test_the_command_writes_pages(command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Between marks, and as often as one likes; not rough figures, and not where there is no mark."""
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    page.write_text("a\n<!-- table of speed -->\nold\n<!-- end of table of speed -->\nb\n")
    markdown = command("--markdown", "--page", str(page))[0]
    assert page.read_text() == f"a\n<!-- table of speed -->\n{markdown}<!-- end of table of speed -->\nb\n"
    command("--page", str(page))
    assert page.read_text().count("| recursive doubling, 4,096 ranks | 2.0 | 4.0 |") == 1
    other.write_text("nothing")
    with pytest.raises(SystemExit, match="other.md has no place for a table: neither <!-- table of speed --> nor "):
        command("--page", str(other))
    for words, said in (
        (("--page", str(page), "--quick"), "--page wants figures that are not rough: run it without --quick"),
        (("--repeats", "0"), "--repeats wants a number from 1 on, not 0"),
    ):
        with pytest.raises(SystemExit):
            command(*words)
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(("page", "name"), [("docs/how_fast.md", "table of speed"), ("README.md", "short table of speed")])
def test_the_pages_have_the_tables_shape(page: str, name: str) -> None:
    """The same headings, which say what is a ratio, and the same lines, with a time each."""
    (block,) = re.findall(f"<!-- {name} -->\n(.*)<!-- end of {name} -->", (ROOT / page).read_text("utf-8"), re.DOTALL)
    rows = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("|")]
    assert tuple(rows[0]) == SCRIPTS.lines.HEADINGS
    front = name.startswith("short")
    shapes = [[line.what for line in SCRIPTS.table.lines(large) if line.front or not front] for large in (False, True)]
    assert [row[0] for row in rows[2:]] in shapes
    assert all(float(row[1]) > 0 and float(row[2]) > 0 for row in rows[2:])
    assert front or SCRIPTS.lines.LEGEND in block
