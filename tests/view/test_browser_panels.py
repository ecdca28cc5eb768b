"""The page in a real browser: search results, labels, panels, and percentages.

It has the fixtures and the requirements of test_browser.py.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

import fakempi
from fakempi import phantom
from fakempi.view.page.assemble import page as assembled
from tests.view.test_browser import COST, SLOW, Open, browser, expect, hits, knot, opened, press, seen

pytestmark = pytest.mark.slow

__all__ = ["browser", "opened"]  # fixtures

LARGE = {"width": 1400, "height": 900}
TABS = ("summary", "waits", "matrix", "blocks", "critical", "findings")


def mixed(comm: Any) -> None:
    """Point-to-point calls, collectives of buffers and of objects, and a region."""
    ones, sums = np.ones(1000), np.zeros(1000)
    for turn in range(2):
        with fakempi.region("exchange"):
            fakempi.compute(1e-6 * (1 + (comm.rank + turn) % 3))
            comm.Sendrecv(phantom(8000), (comm.rank + 1) % comm.size, 7, phantom(8000), (comm.rank - 1) % comm.size, 7)
        comm.Allreduce(ones, sums)
        comm.bcast("words", root=0)
    if comm.rank == 0:
        comm.send(None, 1)
    if comm.rank == 1:
        comm.recv(source=0)
    requests = [
        comm.Isend(phantom(8), (comm.rank + 1) % comm.size, 3),
        comm.Irecv(phantom(8), (comm.rank - 1) % comm.size, 3),
    ]
    fakempi.MPI.Request.Waitall(requests)
    comm.gather(comm.rank, root=0)
    comm.scatter([0] * comm.size if comm.rank == 0 else None, root=0)
    comm.reduce(comm.rank, root=0)
    comm.alltoall([0] * comm.size)
    comm.Barrier()


def partly_stuck(comm: Any) -> None:
    """Some ranks are blocked early, others compute until the run ends."""
    comm.Barrier()
    if comm.rank < 2:
        comm.recv(source=1 - comm.rank, tag=5)
    else:
        fakempi.compute(1e-5)


def mostly(comm: Any) -> None:
    """A rank computes for all but a thousandth of the time."""
    fakempi.compute(999e-6)
    comm.Sendrecv(phantom(0), 1 - comm.rank, 0, phantom(0), 1 - comm.rank, 0)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files: a run with many calls, two runs, two deadlocks, a run that computes nearly always, an embedded run."""
    directory = tmp_path_factory.mktemp("pages")
    runs = {
        "mixed": fakempi.run(mixed, 8, cost=COST, trace=True),
        "slow": fakempi.run(mixed, 8, cost=SLOW, trace=True),
        "mostly": fakempi.run(mostly, 2, cost=COST, trace=True),
    }
    traces: dict[str, Any] = {name: run.trace for name, run in runs.items()}
    for name, program, ranks in (("knot", knot, 4), ("stuck", partly_stuck, 6)):
        with pytest.raises(fakempi.DeadlockError) as caught:
            fakempi.run(program, ranks, cost=COST, trace=True)
        traces[name] = caught.value.trace
    for name, trace in traces.items():
        trace.save(directory / f"{name}.html")
    both = assembled(traces["mixed"], traces["slow"], titles=["fast", "slow"])
    (directory / "both.html").write_text(both, encoding="utf-8")
    (directory / "compact.html").write_text(assembled(traces["mixed"], compact=True), encoding="utf-8")
    frame = '<p style="height:200px">above</p><iframe src="mixed.html" width="1000" height="700"></iframe>'
    frame += '<p style="height:3000px">below</p>'
    ready = "<script>document.documentElement.dataset.ready = ''</script>"
    (directory / "embedding.html").write_text(f"<!DOCTYPE html><body>{frame}{ready}", encoding="utf-8")
    return {path.stem: path for path in directory.iterdir()}


# -- search -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("bcast", 16),  # of pickled objects: two messages to each rank, and regions inside the call
        ("allreduce", 16),  # with messages of the algorithm
        ("gather", 8),  # not the gatherv inside it
        ("gatherv", 0),
        ("sendrecv", 16),  # it sends and receives
        ("send", 1),  # not Isend and Sendrecv
        ("isend", 8),
        ("irecv", 8),
        ("recv", 1),
        ("exchange", 16),  # a region
        ("MPI_Barrier", 8),
        ("comm.reduce()", 8),  # not allreduce
    ],
)
def test_a_name_finds_its_calls(opened: Open, words: str, count: int) -> None:
    """One hit for each call on each rank: no messages, no calls inside it, no calls whose names contain the name."""
    page = opened("mixed")
    page.fill("#search", words)
    found = f"{count} result{'s' * (count > 1)}" if count else f"No call, file or region matches “{words}”."
    expect(page.locator("#hits")).to_have_text(found)
    assert page.locator("#found [role=option]").count() == count


@pytest.mark.sample
def test_results_are_listed_and_visited_by_keys(opened: Open) -> None:
    """Each with its rank, call and time. The list marks the current one; Escape closes it; a click goes to one."""
    page = opened("mixed")
    page.keyboard.press("/")
    page.keyboard.type("allreduce")
    entries = page.locator("#found [role=option]")
    texts = entries.all_inner_texts()
    assert all(
        re.match(r"rank \d\s+allreduce \(\w+\), Allreduce at test_browser_panels.py:\d+\s+[\d.]+ µs$", text)
        for text in texts
    ), texts
    expect(page.locator("#search")).to_have_attribute("aria-expanded", "true")
    for key, number in (("ArrowDown", 1), ("Enter", 2), ("ArrowDown", 3), ("ArrowUp", 2)):
        page.keyboard.press(key)
        expect(page.locator("#hits")).to_have_text(f"{number} of 16")
        expect(page.locator("#search")).to_have_attribute("aria-activedescendant", f"hit-{number - 1}")
        expect(page.locator("#found [aria-selected=true]")).to_have_count(1)
    expect(page.locator("#chosen")).to_contain_text("allreduce")
    entries.nth(7).click()
    expect(page.locator("#hits")).to_have_text("8 of 16")
    rank = texts[7].split()[1]
    expect(page.locator("#timeline")).to_have_attribute("data-selected", rank)
    page.keyboard.press("Escape")
    expect(page.locator("#found")).to_be_hidden()
    expect(page.locator("#timeline")).to_be_focused()


def test_a_search_finds_blocked_calls_and_calls_of_both_runs(opened: Open) -> None:
    """A receive that never completed is a call; with two runs, results name their run."""
    page = opened("stuck")
    hits(page, "recv").to_have_text("1 of 2")
    expect(page.locator("#found [role=option]").first).to_contain_text("blocked")
    page = opened("both")
    hits(page, "gather").to_have_text("1 of 16")
    texts = page.locator("#found [role=option]").all_inner_texts()
    assert [sum(text.startswith(f"{name}: rank") for text in texts) for name in ("fast", "slow")] == [8, 8]


# -- labels -----------------------------------------------------------------------------------------------------------

RECORD = """() => {
  const draw = CanvasRenderingContext2D.prototype.fillText;
  window.words = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.words.push(text);
    return draw.call(this, text, ...place);
  };
}"""


@pytest.mark.parametrize("width", [1400, 700, 400])
def test_a_label_is_drawn_whole_or_not_at_all(opened: Open, width: int) -> None:
    """At every zoom: nothing ends in an ellipsis, and each word is one of those that a bar or a region can have."""
    page = opened("mixed", viewport={"width": width, "height": 1400})
    page.evaluate(RECORD)
    page.focus("#timeline")
    for key in "k+++++++++":
        press(page, key) if key == "+" else page.keyboard.press(key)
        seen(page)
    words = set(page.evaluate("window.words"))
    names = "exchange|allreduce|bcast|gather|scatter|reduce|alltoall|barrier"
    whole = re.compile(rf"(to|from) \d|computes|rank|all|\d|[\d.]+ (s|ms|µs|ns)|({names})( \(\w+\))?")
    assert [one for one in words if not whole.fullmatch(one)] == []
    assert any("(" in one for one in words)
    assert not [one for one in words if "…" in one]


def test_a_label_that_has_no_space_is_left_out(opened: Open) -> None:
    """In the whole run, short calls have no label; closer, they have."""
    page = opened("mixed", "#t=0..2e-5", viewport={"width": 400, "height": 1400})
    page.evaluate(RECORD)
    page.focus("#timeline")
    press(page, "0")
    seen(page)
    far = set(page.evaluate("window.words"))
    page.evaluate("window.words = []")
    for _ in range(6):
        press(page, "+")
    seen(page)
    near = set(page.evaluate("window.words"))
    assert not any(one.startswith("computes") for one in far)
    assert near - far


def test_nodes_of_the_graph_contain_their_texts(opened: Open) -> None:
    """The boxes are as wide as the widest text."""
    page = opened("knot")
    assert (
        page.evaluate("""() => [...document.querySelectorAll("#waits g")].filter(one => {
      const box = one.querySelector("rect").getBBox();
      return [...one.querySelectorAll("text")].some(text => {
        const { x, width } = text.getBBox();
        return text.textContent.includes("…") || x < box.x || x + width > box.x + box.width;
      });
    }).length""")
        == 0
    )


# -- panels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mixed", "knot", "stuck", "both"])
def test_no_panel_is_cut_and_no_tab_resizes_the_timeline(opened: Open, name: str) -> None:
    """At 1400 x 900; lists have as many rows as fit, and a button shows all."""
    page = opened(name, viewport=LARGE)
    sizes = set()
    for tab in TABS:
        page.click(f"#tab-{tab}")
        seen(page)
        hidden = "document.querySelector('.panels').scroll{0} - document.querySelector('.panels').client{0}"
        assert [page.evaluate(hidden.format(side)) for side in ("Width", "Height")] == [0, 0], tab
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        sizes.add(json.dumps(page.locator("#timeline").bounding_box()))
    assert len(sizes) == 1


def test_the_open_tab_is_visible_in_a_narrow_window(opened: Open) -> None:
    """The row of tabs scrolls to it."""
    page = opened("knot", viewport={"width": 390, "height": 844})
    tab, row = (page.locator(which).bounding_box() for which in ("[role=tab][aria-selected=true]", ".tabs"))
    assert row["x"] <= tab["x"]
    assert tab["x"] + tab["width"] <= row["x"] + row["width"]


def test_a_button_shows_all_rows_of_a_list(opened: Open) -> None:
    """It is there if there are more rows than fit."""
    page = opened("mixed", "#tab=critical", viewport=LARGE)
    rows = page.locator("#panel-critical table").last.locator("tbody tr")
    few = rows.count()
    page.click("#panel-critical .more")
    expect(page.locator("#panel-critical .more")).to_have_count(0)
    assert rows.count() > few


@pytest.mark.parametrize(("tab", "names"), [("matrix", {"from rank", "to rank"}), ("blocks", {"rank", "block of rank"})])
def test_matrix_and_blocks_have_axes_and_fill_their_panel(opened: Open, tab: str, names: set[str]) -> None:
    """Both axes have a name and a label for each rank; the drawing takes more than half of the panel."""
    page = opened("mixed", viewport=LARGE)
    page.evaluate(RECORD)
    page.click(f"#tab-{tab}")
    seen(page)
    words = page.evaluate("window.words")
    assert names <= set(words)
    assert all(words.count(str(rank)) >= 2 for rank in range(8))
    canvas, panel = (page.locator(which).bounding_box() for which in (f"#panel-{tab} canvas", ".panels"))
    assert canvas["width"] * canvas["height"] > 0.5 * panel["width"] * panel["height"]


# -- percentages ------------------------------------------------------------------------------------------------------


def legend(page: Any) -> dict[str, str]:
    """The percentages of the legend, once it has been written."""
    page.wait_for_timeout(300)  # it is written after the last change
    found: dict[str, str] = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll("#legend em")]
      .map(one => [one.previousElementSibling.textContent, one.textContent]))""")
    return found


def column(page: Any, panel: str, head: str = "share", index: int = 0) -> dict[str, str]:
    """The first column of a table and the one with this head; empty without such a table."""
    found: dict[str, str] = page.evaluate(
        """([panel, head, index]) => {
      const table = document.querySelectorAll(`#panel-${panel} table`)[index];
      if (!table) return {};
      const at = [...table.querySelectorAll("th")].findIndex(one => one.textContent === head);
      const rows = [...table.querySelectorAll("tbody tr")];
      return Object.fromEntries(rows.map(one => [one.cells[0].textContent, one.cells[at].textContent]));
    }""",
        [panel, head, index],
    )
    return found


@pytest.mark.parametrize("name", ["mixed", "knot", "stuck", "mostly", "both"])
def test_percentages_of_legend_and_tables_agree(opened: Open, name: str) -> None:
    """By state, by wait and by call; a state of 0% may be missing in the legend."""
    page = opened(name, "#tab=summary", viewport=LARGE)
    shown, states = legend(page), column(page, "summary", index=1)
    assert {state: share for state, share in states.items() if state in shown or share != "0%"} == shown
    page.check("[value=wait]", force=True)
    page.click("#tab-waits")
    waits = column(page, "waits")
    shown = legend(page)
    assert waits == {state: share for state, share in shown.items() if state != "busy" and (state in waits or share != "0%")}
    page.check("[value=call]", force=True)
    page.click("#tab-summary")
    if page.locator("#panel-summary .more").count():
        page.click("#panel-summary .more")
    calls = {call.split()[0]: share for call, share in column(page, "summary", index=2).items()}
    shown = legend(page)
    assert calls.items() >= {call: share for call, share in shown.items() if call in calls}.items()


def test_a_share_close_to_one_is_the_same_everywhere(opened: Open) -> None:
    """More than 99 % is not 100 %, in the legend and in the table."""
    page = opened("mostly", "#tab=summary")
    assert legend(page) == {"communicating": "<1%", "computing": ">99%"}
    assert column(page, "summary", index=1)["computing"] == ">99%"
