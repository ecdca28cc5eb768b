"""The speed table: its measurements with few ranks, messages about missing tools, and the pages that contain it."""

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
from tests.helpers.packages import needs
from tests.helpers.scripts import imported

pytest.importorskip("greenlet", reason="there is no greenlet: python -m pip install greenlet")
pytest.importorskip("resource")

ROOT = Path(__file__).parents[2]
SCRIPTS = SimpleNamespace(**imported("table", "table_rows", "measures", "machine", "in_simpy", "in_smpi"))
FEW = list(SCRIPTS.table.rows(large=True, ranks=8))


def simulated_sample(measure: Any) -> float:
    """Simulated samples: SMPI 4 us, SimPy 3 us, a switch 0.5 us, everything else 2 us."""
    return {"SMPI": 4e-6, "SimPy": 3e-6, "bare": 0.5e-6}.get(measure.tool, 2e-6)


def test_every_row_can_be_measured() -> None:
    """With 8 ranks; samples of SMPI are simulated."""
    needs("simpy")

    def take(measure: Any) -> float:
        case = SCRIPTS.measures.CASES.get(measure[:2])
        return simulated_sample(measure) if measure.tool == "SMPI" else float(case(measure.ranks, 0.001))

    measures = SCRIPTS.table.needed(FEW, [])
    samples, failures = SCRIPTS.table.taken(measures, 1, take, lambda measure: None)
    assert failures == []
    assert set(samples) == set(measures)
    assert all(seconds > 0 for found in samples.values() for seconds in found)


def test_simpy_simulates_the_same_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly, with costs that floats represent exactly."""
    needs("simpy")
    monkeypatch.setattr(SCRIPTS.in_simpy, "COST", 0.5)
    cost = Hockney(t_s=0.25, t_w=0.25 / 8)
    for theirs, ours in ((SCRIPTS.in_simpy.ring, "ring"), (SCRIPTS.in_simpy.recursive_doubling, "sums")):
        run = fakempi.run(getattr(SCRIPTS.measures, ours), 8, 3, lambda: 0.0, cost=cost)
        assert SCRIPTS.in_simpy.simulated(theirs, 8, 3)[1] == run.time


@pytest.mark.slow
def test_smpi_simulates_linear_costs(tmp_path: Path) -> None:
    """With 16 bytes more per message and the same number of messages per call; an unknown program fails."""
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


def test_times_and_ratios_are_medians_over_rounds() -> None:
    """A round that is slow as a whole does not change the ratio."""
    one, other = (SCRIPTS.measures.Measure(tool, "ring", 8) for tool in ("fakempi", "bare"))
    row = SCRIPTS.table_rows.Row("ring", one, other, simpy=other._replace(tool="SimPy"), in_readme=True)
    samples = {one: [2.0, 40.0, 4.0], other: [1.0, 10.0, 4.0]}
    assert row.figures(samples) == {
        "seconds": 4.0, "per bare switch": 2.0, "per reference": None, "SimPy per fakempi": None, "SMPI per fakempi": None
    }  # fmt: skip
    assert row.cells(samples) == ["ring", "4000000.0", "2.0", "", "–", ""]
    assert row.cells({}) == ["ring", "–", "–", "", "–", ""]
    assert [SCRIPTS.table_rows.as_factor(number) for number in (1.26, 0.9, 0.05)] == ["1.3 ×", "0.9 ×", "1/20 of"]


def test_each_round_takes_each_measurement_once_except_those_of_missing_tools() -> None:
    """Measurements alternate; samples of one are not taken in a row."""
    order: list[Any] = []
    measures = SCRIPTS.table.needed(FEW, ["SMPI", "SimPy"])
    assert {measure.tool for measure in measures} == {"fakempi", "bare"}
    SCRIPTS.table.taken(measures, 2, simulated_sample, order.append)
    assert order == measures * 2
    assert len(set(measures)) == len(measures)


def test_a_failed_measurement_is_reported_and_not_repeated() -> None:
    """Its row has no figure; other rows have theirs."""
    measures = SCRIPTS.table.needed(FEW, ["SMPI"])
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
        "bare: greenlets, 2 ranks: not finished after 300 s.",
    ]
    assert tried.count(measures[0]) == tried.count(measures[1]) == 1
    assert samples == {measure: [1.0] * 3 for measure in measures[2:]}


def test_a_missing_tool_is_reported_with_its_install_command() -> None:
    """One sentence per tool."""
    assert SCRIPTS.table.missing({"SimPy": True, "SMPI": True}) == {}
    assert list(SCRIPTS.table.missing({"SimPy": False, "SMPI": False}).values()) == [
        'SimPy is not installed, so its column is empty: python -m pip install -e ".[bench]".',
        "SMPI is not installed, so its column is empty: apt-get install libsimgrid-dev, on Debian and Ubuntu.",
    ]


def test_a_loaded_machine_causes_a_warning() -> None:
    """If other processes use more than a quarter of the cores."""
    assert SCRIPTS.machine.load_warning("now", 0.5, 2) == []
    assert SCRIPTS.machine.load_warning("before the first measurement", 3.21, 2) == [
        "Other processes caused a load average of 3.2 on 2 cores before the first measurement, so times are too long and "
        "ratios less accurate than on an idle machine."
    ]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """The command with simulated samples and without SMPI, as a function from arguments to its output."""
    monkeypatch.setattr(SCRIPTS.in_smpi, "installed", lambda: False)
    monkeypatch.setattr(SCRIPTS.table, "in_a_process", lambda directory, effort: simulated_sample)

    def called(*arguments: str) -> tuple[str, str]:
        SCRIPTS.table.main(arguments)
        return capsys.readouterr()

    return called


def test_the_command_prints_a_table_or_data(command: Any) -> None:
    """And, on stderr, the machine and the missing tools."""
    printed, stderr = command("--quick")
    assert re.search(r"ring of Sendrecv, 1,024 ranks +│ +2.0 │ +4.0 │", printed)
    assert "SMPI is not installed" in stderr
    assert f"fakempi {fakempi.__version__}, Python 3." in stderr
    data = json.loads(command("--json", "--large", "--repeats", "2")[0])
    assert set(data) == {"machine", "load", "repeats", "quick", "notes", "rows", "seconds"}
    assert [row["label"] for row in data["rows"]] == [row.label for row in SCRIPTS.table.rows(large=True)]
    assert data["rows"][0] == {
        "label": "ring of `Sendrecv`, 256 ranks", "ranks": 256, "reference": "", "seconds": 2e-6, "per bare switch": 4.0,
        "per reference": None, "SimPy per fakempi": data["rows"][1]["SimPy per fakempi"], "SMPI per fakempi": None,
    }  # fmt: skip
    assert data["seconds"]["fakempi: ring, 1,024 ranks"] == [2e-6, 2e-6]


def test_other_scripts_follow_the_table(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each heading is the command to repeat one."""
    assert all((ROOT / "benchmarks" / script.split()[0]).is_file() for script in SCRIPTS.table.OTHERS)
    monkeypatch.setattr(SCRIPTS.table, "OTHERS", ["machine.py --long"])  # it measures nothing
    printed = command("--quick", "--fused")[0]
    assert printed.index("1,024 ranks") < printed.index("$ python benchmarks/machine.py --long\n")


def test_the_command_writes_pages(command: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Between comments, repeatedly; it rejects rough figures and pages without the comments."""
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    page.write_text("a\n<!-- table of speed -->\nold\n<!-- end of table of speed -->\nb\n")
    markdown = command("--markdown", "--page", str(page))[0]
    assert page.read_text() == f"a\n<!-- table of speed -->\n{markdown}<!-- end of table of speed -->\nb\n"
    command("--page", str(page))
    assert page.read_text().count("| recursive doubling, 4,096 ranks | 2.0 | 4.0 |") == 1
    other.write_text("nothing")
    with pytest.raises(SystemExit, match="other.md has no place for a table: expected <!-- table of speed --> or "):
        command("--page", str(other))
    for arguments, message in (
        (("--page", str(page), "--quick"), "--page needs accurate figures: run it without --quick"),
        (("--repeats", "0"), "--repeats must be at least 1, not 0"),
        (("--fused", "--json"), "--fused prints text: run it without --json"),
    ):
        with pytest.raises(SystemExit):
            command(*arguments)
        assert message in capsys.readouterr().err


def rows_of(page: str, name: str) -> tuple[str, list[list[str]]]:
    """The text between the marks of a table, and its cells."""
    (block,) = re.findall(f"<!-- {name} -->\n(.*)<!-- end of {name} -->", (ROOT / page).read_text("utf-8"), re.DOTALL)
    return block, [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in block.splitlines() if line[:1] == "|"]


def test_the_page_has_the_headings_and_rows_of_the_table() -> None:
    """Each row has a time and a ratio."""
    block, (headings, _, *rows) = rows_of("docs/how_fast.md", "table of speed")
    assert tuple(headings) == SCRIPTS.table_rows.HEADINGS
    assert [row[0] for row in rows] in [[row.label for row in SCRIPTS.table.rows(large)] for large in (False, True)]
    assert all(float(row[1]) > 0 and float(row[2]) > 0 for row in rows)
    assert SCRIPTS.table_rows.LEGEND in block


def test_the_readme_has_some_rows_of_the_page_in_four_columns() -> None:
    """One for each tool that fakempi is compared with, with the figures of the page."""
    _, (_, _, *all_rows) = rows_of("docs/how_fast.md", "table of speed")
    _, (headings, _, *rows) = rows_of("README.md", "short table of speed")
    assert tuple(headings) == SCRIPTS.table_rows.SHORT
    expected = []
    for row in all_rows:
        if row[0] in [one.label for one in SCRIPTS.table.rows(False) if one.in_readme]:
            factors = [(tool, factor) for tool, factor in zip(("SimPy", "SMPI"), row[4:], strict=True) if factor.strip()]
            expected += [[row[0], f"{row[1]} µs", *factors[0]], *(["", "", *each] for each in factors[1:])]
    assert [[cell.strip() for cell in row] for row in rows] == expected
