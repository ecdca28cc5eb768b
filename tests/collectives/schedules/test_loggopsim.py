"""The comparison with LogGOPSim: what was recorded with its program, the loop that explains it, and the page."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path

import pytest

from collectives.schedules import Schedule, goal
from tests.collectives.schedules import loggopsim
from tests.collectives.schedules.loggopsim import COLUMNS, DEFAULTS, EXAMPLES, FAMILIES, example, ours, theirs
from tests.collectives.schedules.loggopsim_rules import RULES, Ladder, Parameters
from tests.collectives.schedules.units_oracle import random_units

RECORDED = Path(loggopsim.__file__).with_suffix(".out").read_text(encoding="utf-8")
PAGE = (Path(__file__).parents[3] / "docs" / "schedules.md").read_text(encoding="utf-8")


def recorded(name: str) -> tuple[str, str]:
    """The times of an example in LogGOPSim and in fakempi, as in the record."""
    found = re.search(rf"^{re.escape(name)} +LogGOPSim ([\d, ]+\d) +fakempi ([\d, ]+)$", RECORDED, re.MULTILINE)
    assert found
    return found[1], found[2]


def numbers(times: str) -> list[int]:
    return [int(time.replace(",", "")) for time in times.split(", ")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_the_recorded_times(name: str) -> None:
    """Ours, and those that LogGOPSim's program had with its own rules. The page has the example with both."""
    real, here = recorded(name)
    assert ours(example(name), DEFAULTS) == numbers(here)
    assert Ladder(example(name), DEFAULTS).ends == numbers(real)
    separator = ";" if "," in real.replace(",", "", 1) else ","
    assert f"`{EXAMPLES[name]}`: LogGOPSim {real}{separator} fakempi {here}." in " ".join(PAGE.split())


def test_the_page_has_the_recorded_times_of_collectives() -> None:
    table = RECORDED.partition("time of the last rank")[2].partition("schedules of the catalogue")[0]
    rows = re.findall(r"^([\w. ]+?) +([\d,]+) +([\d,]+)(?:   all ranks|   last rank|)$", table, re.MULTILINE)
    assert len(rows) == 12
    for name, real, here in rows:
        words = " ".join(name.split()[:2]).replace("_", "[_ ]")
        pattern = rf"^\| {words}.* \| {real} \| {here} \| "
        assert re.search(pattern, PAGE, re.MULTILINE), name
    found = re.search(r"^(\d+) schedules of .* all ranks (\d+), of the last rank (\d+)$", RECORDED, re.MULTILINE)
    assert found
    assert f"Of {found[1]} schedules" in PAGE
    assert f"{found[3]} have the same time of the last rank in both simulators, and {found[2]} the same" in PAGE


@pytest.mark.parametrize("partners", FAMILIES)
def test_the_recorded_numbers_of_random_schedules(partners: bool) -> None:
    """The loop with LogGOPSim's rules has the times of its program, with our rules it has ours; the page has the numbers."""
    lines = RECORDED.partition(f"schedules, {FAMILIES[partners]}\n")[2].splitlines()[: len(RULES) + 3]
    counts = {line[:34].strip(): line[34:].split() for line in lines}
    assert counts["LogGOPSim = loop, no rule changed"] == counts[f"and {RULES[-1]}"] == ["300"] * len(COLUMNS)
    rows = [" | ".join(row) for name, row in counts.items() if name != "LogGOPSim = loop, no rule changed"]
    shown = re.findall(r"^\| [\w' -]+ \| (\d+ \| \d+ \| \d+ \| \d+) \|$", PAGE, re.MULTILINE)
    assert partners or shown == rows


def same_as_the_loop(seed: int) -> None:
    """Compare the times of a random schedule with those of the loop in which all rules are ours."""
    for partners in FAMILIES:
        schedule = random_units(seed, partners)
        for parameters in COLUMNS:
            assert Ladder(schedule, parameters, RULES).ends == ours(schedule, parameters), (partners, parameters)


@pytest.mark.parametrize("seed", range(8))
def test_with_all_rules_changed_the_loop_has_our_times(seed: int) -> None:
    same_as_the_loop(seed)


def test_every_rule_matters() -> None:
    """In some schedule, times differ if only this rule is that of LogGOPSim."""
    schedules = [random_units(seed, partners=False) for seed in range(10)]
    for rule in RULES:
        others = {*RULES} - {rule}
        pairs = ((Ladder(one, each, others).ends, Ladder(one, each, RULES).ends) for one in schedules for each in COLUMNS)
        assert any(one != other for one, other in pairs), rule


@pytest.mark.skipif(sys.platform == "win32", reason="the program of this test starts with #!")
def test_a_program_is_run_with_the_options_of_loggopsim(tmp_path: Path) -> None:
    program = tmp_path / "simulator"
    program.write_text(f"#!{sys.executable} -IS\nimport sys\nfor i in 0, 1: print(f'Host {{i}}: {{sys.argv[2 * i + 4]}}')\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    schedule = goal.read("num_ranks 2 rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }")
    assert theirs(program, schedule, DEFAULTS) == [DEFAULTS.L, DEFAULTS.o]


def test_a_report_has_the_lines_of_the_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the loop in place of LogGOPSim's program."""

    def simulator(schedule: Schedule, parameters: Parameters) -> list[int]:
        return Ladder(schedule, parameters).ends

    monkeypatch.setattr(loggopsim, "catalogue", lambda: [example("ends"), example("sent")])
    monkeypatch.setattr(loggopsim, "COLLECTIVES", loggopsim.COLLECTIVES[:1])
    path = tmp_path / "two.goal"
    path.write_text("num_ranks 2 rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }")
    lines = "\n".join(loggopsim.report(simulator, 2, [path])).splitlines()
    missing = {line[:34].strip() for line in lines} - {line[:34].strip() for line in RECORDED.splitlines()}
    assert {line for line in missing if not line[:1].isdigit()} == {"two.goal"}
    assert "2 schedules of the catalogue on 16 ranks: equal times of all ranks 0, of the last rank 1" in lines
    assert [line.split()[-4:] for line in lines if line.startswith(("LogGOPSim = loop", "  and order"))] == [["2"] * 4] * 4
