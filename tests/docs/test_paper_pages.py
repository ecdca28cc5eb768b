"""The pages of the four papers: every number is in the output of one of the page's scripts, and tables agree cell by cell.

The outputs are the .out files of demos/, which tests/demos regenerates, and of benchmarks/, of which
tests/benchmarks/test_paper_outputs.py regenerates the quick parts.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.scripts import BENCHMARKS, imported

ROOT = Path(__file__).parents[2]
SOURCES = {
    "kang": ("benchmarks/kang_theorems", "benchmarks/kang_figures", "demos/18_step_by_step"),
    "moody": ("benchmarks/moody_figures", "benchmarks/moody_colors", "benchmarks/moody_ports"),
    "silva": ("demos/21_silva_1999", "demos/22_unequal_links"),
    "traeff": (
        "benchmarks/blocked_ring",
        "benchmarks/traeff_machines",
        "benchmarks/blocked_ring_curves",
        "demos/09_load_balance",
    ),
}
YEARS = {"1998", "1999", "2006", "2008", "2018", "2019"}
PARAMETERS = {
    "kang": {"85", "2,048"},  # the volume of the journal, and 64 x 32
    "moody": {"21,600", "0.1", "6", "7"},  # cores of Sierra, the estimated gap in us, and 8/8 * 7/8 * 6/8 * 5/8
    "silva": set(),
    "traeff": {"240", "5,784"},  # 30 x 8, and the processes in the title of the SiCortex table, there without comma
}
"""Numbers that are not results."""


def page(name: str) -> str:
    return (ROOT / "docs" / "papers" / f"{name}.md").read_text(encoding="utf-8")


def printed(script: str) -> str:
    return (ROOT / f"{script}.out").read_text(encoding="utf-8")


def numbers(text: str) -> set[str]:
    """The numbers in a text, as written; not those that are part of a word or of a longer number."""
    return {found.rstrip(",") for found in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", text)}


def quoted(text: str) -> set[str]:
    """The numbers of a page, without programs (which test_pages.py runs), code, addresses, file names and DOIs."""
    for pattern in (
        r"(?s)```(?:python|console|sh).*?```",
        r"`[^`\n]*`",
        r"\]\([^)]*\)",
        r"<[^>]*>",
        r"doi:\S+",
        r"demos/\w+",
    ):
        text = re.sub(pattern, "", text)
    return numbers(text)


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the Markdown table whose first line begins with `first`."""
    lines = text.partition(f"\n{first}")[2].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("name", SOURCES)
def test_every_number_on_a_page_is_printed_by_its_scripts(name: str) -> None:
    """Years and the listed parameters are the only exceptions."""
    known = set().union(*(numbers(printed(script)) for script in SOURCES[name]), YEARS, PARAMETERS[name])
    assert quoted(page(name)) - known == set()


@pytest.mark.parametrize("name", SOURCES)
def test_a_page_names_the_scripts_that_print_its_numbers(name: str) -> None:
    """So that a reader can run them."""
    assert [script for script in SOURCES[name] if script not in page(name) and Path(script).name not in page(name)] == []


def test_a_number_that_no_script_prints_is_found() -> None:
    """The check of this file can fail: 1.31 is not in the output for Silva & Silva."""
    changed = page("silva").replace("| 1.18 |", "| 1.31 |")
    assert quoted(changed) - numbers(printed("demos/21_silva_1999")) >= {"1.31"}


# Kang ----------------------------------------------------------------------------------------------------------------


def test_the_sentences_about_kang_s_theorems_are_those_of_the_script() -> None:
    """Examples, random cases and start-ups."""
    output, text = plain(printed("benchmarks/kang_theorems")), plain(page("kang"))
    sentence = re.search(r"Of 2,000 random cases .* and \d+ are above", output)
    assert sentence is not None
    assert sentence[0] in text
    for blocks, words in (("8 + 1 random blocks", "8 + 1 blocks"), ("100 + 28 blocks of one byte",) * 2):
        modeled, _, bound, _ = re.findall(rf"{re.escape(blocks)} +([\d,]+) +([\d,]+) +([\d,]+) +([\d,]+)", output)[0]
        assert f"{words} take {modeled} and the bound is {bound}" in text
    paper, model = re.findall(r"Eq. 2 for p = q = 16: (\d+) in the paper, (\d+) in the model", output)[0]
    assert f"{model} for p = q = 16 in the model, {paper} in the paper" in text


def test_the_tables_of_kang_s_speedups_are_those_of_the_script() -> None:
    """Fig. 5 by three ways to gather at 256 x 1, and settings 2 to 4 by block size."""
    output = printed("benchmarks/kang_figures")
    figure = output[output.index("Fig. 5 · 256 ranks") :]
    for setting, limit, *speedups in rows(page("kang"), "| Fig. 5, setting"):
        part = figure[figure.index(f"\nsetting {setting}") :]
        lines = [re.search(rf"\n {name} .*", part) for name in ("root gathering", "by a ring", "remote gather")]
        assert speedups == [line and re.findall(r"[\d.]+", line[0])[8] for line in lines]  # after the times of eight sizes
        assert re.search(rf"\n root gathering .* limit {limit}", part)
    by_block_size = output[output.index("the largest block            64 KB") :]
    for setting, *speedups in rows(page("kang"), "| setting | blocks of 1/12"):
        assert re.search(rf"\n{setting}  25:7.* {' +'.join(speedups)}", by_block_size)


def test_full_duplex_is_faster_than_root_gathering_at_all_modeled_sizes() -> None:
    """In every table of Figs. 4 and 5, at every size."""
    tables = re.findall(
        r"\n root gathering +([\d. ]+)limit.*\n full duplex +([\d. ]+)\n",
        re.sub(r" +\n", "\n", printed("benchmarks/kang_figures")),
    )
    assert len(tables) == 24
    for old, new in tables:
        pairs = list(zip(map(float, old.split()[:8]), map(float, new.split()[:8]), strict=True))
        assert len(pairs) == 8
        assert all(new < old for old, new in pairs)


# Moody ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moody() -> Any:
    """The script benchmarks/moody_figures.py and the stored points."""
    found = imported("moody_cases", "moody_figures")
    lines = (BENCHMARKS / "moody_points.jsonl").read_text(encoding="utf-8").splitlines()
    points = {
        found["moody_cases"].Case(*case): found["moody_cases"].Result(*result) for case, result in map(json.loads, lines)
    }
    return found["moody_figures"], points


def test_the_tables_of_moody_s_figures_have_the_stored_times(moody: Any) -> None:
    """Both machines; an empty cell has no stored point."""
    figures, points = moody
    case = figures.Case
    tables = page("moody").split("\n| ranks | Fig. 3")[1:]
    for machine, table in zip(("dawn", "sierra"), tables, strict=True):
        for line in table.split("\n\n")[0].splitlines()[2:]:
            ranks, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            n = int(ranks.replace(",", ""))
            wanted = [case(3, machine, name, n) for _, name, wide in figures.SORTS if not wide]
            wanted += [case(figure, machine, name, n, 5, "few") for figure in (4, 5) for name in ("bitonic", "hash")]
            times = [figures.time_of(points, one) for one in wanted]
            assert cells == ["" if time is None else figures.shown(time) for time in times]


def test_the_page_says_how_random_colors_change_the_speedup_of_hash() -> None:
    """Probability, the sets with four bins, median and smallest value at 1,024 ranks."""
    output, text = printed("benchmarks/moody_colors"), plain(page("moody"))
    table = {line.split()[0]: line.split()[1:] for line in output[output.index("1,024 ranks") :].splitlines()[1:] if line}
    assert "5/8 = " + output.splitlines()[1].split()[-1] in text
    assert f"is {table['4'][2]} for the {table['4'][0]} sets with four bins" in text
    assert f"For all sets the median is {table['all'][2]} and the smallest value is {table['all'][1]}" in text


SPEEDUPS = {
    "Bitonic over Radix at 16 ranks": ("Bitonic over Radix, keys 0 .. N-1 of 32 bits",),
    "Bitonic over Radix": ("Bitonic over Radix, keys 0 .. N-1 of 32 bits",),
    "Bitonic over the serial sorts": tuple(
        f"Bitonic over {name}" for name in ("AllgatherGroup", "AllgatherMPI", "GatherScatter")
    ),
    "Bitonic over the best Cheng": ("Bitonic over the best Cheng",),
    "Hash over Bitonic, few groups": ("Hash over Bitonic, split, few groups",),
    "Hash over Bitonic, N groups": ("Hash over Bitonic, split, N groups",),
    "Hash over Bitonic, few groups and keys": ("Hash over Bitonic, split and reorder, few groups",),
}


def test_the_table_of_moody_s_speedups_is_that_of_the_script() -> None:
    """At 16, 4,096 and 65,536 ranks."""
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")] for line in printed("benchmarks/moody_figures").splitlines()
    ]
    found = {(line[0], line[3]): line[2] for line in lines if len(line) == 4 and " over " in line[0]}
    table = rows(page("moody"), "| speedup on Dawn")
    assert [row[0] for row in table] == list(SPEEDUPS)
    for title, _, *cells, _ in table:
        sizes = ("16", "65,536") if "16 ranks" in title else ("4,096", "65,536")
        expected = [", ".join(found[name, n] for name in SPEEDUPS[title] if (name, n) in found) for n in sizes]
        assert [cell.replace(" (16 ranks)", "") for cell in cells] == expected


def test_the_page_has_the_times_with_one_and_six_ports() -> None:
    """The faster algorithm first, except for the single port."""
    table = {
        tuple(re.split(r"  +", line)[:2]): re.split(r"  +", line)[2:4]
        for line in printed("benchmarks/moody_ports").splitlines()
    }
    text = plain(page("moody"))
    for where, start in (
        (("dawn, six ports", "256"), "GatherScatter is faster at 256 ranks"),
        (("dawn, six ports", "512"), "and Bitonic at 512"),
        (("sierra", "1,024"), "GatherScatter is faster than Bitonic at 1,024 ranks"),
        (("sierra", "2,048"), "and at 2,048"),
    ):
        less, more = sorted(table[where], key=int)
        assert f"{start} ({less} and {more} us)" in text
    bitonic, tree = table["dawn, one port", "1,024"]
    assert f"at 1,024 ranks Bitonic takes {bitonic} us and GatherScatter {tree} us" in text


# Silva ---------------------------------------------------------------------------------------------------------------


def test_the_page_has_both_spreads_of_table_1() -> None:
    """The slowest process relative to the fastest: the paper calls it similar, the model does not."""
    paper, model = re.findall(
        r"fastest process: ([\d.]+) in Table 1, ([\d.]+) in the model", plain(printed("demos/21_silva_1999"))
    )[0]
    assert f'"all processes have a similar execution time" | {paper} | {model} |' in page("silva")


# Träff ---------------------------------------------------------------------------------------------------------------


def test_the_page_has_the_table_of_rounds() -> None:
    """As printed by benchmarks/blocked_ring.py."""
    _, _, after = printed("benchmarks/blocked_ring").partition("rounds of the blocked ring: p = 32, m = 32 MB, B = 64 KB")
    table = "\n".join(line.rstrip() for line in after.split("\n\n")[0].strip().splitlines())
    assert f"```text\n{table}\n```" in page("traeff")


def test_the_square_root_rule_is_within_3_percent_if_some_ranks_have_no_data() -> None:
    """Of the best power of two, for three distributions and three totals."""
    table = printed("benchmarks/blocked_ring_curves").partition("Block sizes: KB")[2].splitlines()[2:20]
    assert len(table) == 18
    name = ""
    excess: dict[str, list[float]] = {}
    for line in table:
        *start, _total, _, best, _, _, _, _, _, root, _ring = line.split()
        name = start[0] if start else name
        excess.setdefault(name, []).append(float(root) / float(best))
    assert max(max(excess[name]) for name in ("broadcast", "half", "geometric")) <= 1.03


def test_the_page_has_the_range_of_slowest_over_fastest_distribution() -> None:
    """One machine has half a block per process; the page names it separately."""
    spreads = [
        float(found) for found in re.findall(r"takes ([\d.]+) times the fastest", printed("benchmarks/traeff_machines"))
    ]
    *usual, largest = sorted(spreads)
    text = plain(page("traeff"))
    assert f"takes {usual[0]:.2f} to {usual[-1]:.2f} times as long for its slowest distribution" in text
    assert f"half a block per process, it takes {largest:.2f} times as long" in text


def test_the_page_has_the_range_of_the_blocked_ring_over_the_bound() -> None:
    """Three distributions on 4 to 128 ranks, and the largest time of the square-root rule over the best."""
    output, text = printed("benchmarks/blocked_ring"), plain(page("traeff"))
    factors = [float(one) for line in re.findall(r", blocked ring +([\d. ]+)", output) for one in line.split()]
    assert len(factors) == 18
    assert f"takes {min(factors):.2f} to {max(factors):.2f} times the bound for *broadcast*, *spike* and *linear*" in text
    lines = [line.split() for line in output.partition("block size: ")[2].split("\n\n")[0].splitlines()[2:]]
    assert len(lines) == 6
    assert f"at most {max(line[5] for line in lines)} times as long as with the best size" in text
