"""The page in a real browser: search results, labels, panels, percentages, the wheel in a frame, the wait-for graph as a file, keys, and accessibility.

It has the fixtures and the requirements of test_browser.py. The last test also needs axe-core: npm install --global axe-core
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
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
from tests.view.test_browser import COST, SLOW, Open, browser, expect, hits, knot, middle, opened, press, seen

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
    requests = [comm.Isend(phantom(8), (comm.rank + 1) % comm.size, 3), comm.Irecv(phantom(8), (comm.rank - 1) % comm.size, 3)]
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
    """The files: a run with many calls, two runs, two deadlocks, a run that computes nearly all the time, an embedded run."""
    directory = tmp_path_factory.mktemp("pages")
    runs = {"mixed": fakempi.run(mixed, 8, cost=COST, trace=True), "slow": fakempi.run(mixed, 8, cost=SLOW, trace=True), "mostly": fakempi.run(mostly, 2, cost=COST, trace=True)}
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
    frame = '<p style="height:200px">above</p><iframe src="mixed.html" width="1000" height="700"></iframe><p style="height:3000px">below</p>'
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
    """One hit for each call on each rank: neither its messages nor calls inside it, nor calls whose names contain the name."""
    page = opened("mixed")
    page.fill("#search", words)
    found = f"{count} result{'s' * (count > 1)}" if count else f"No call, file or region matches “{words}”."
    expect(page.locator("#hits")).to_have_text(found)
    assert page.locator("#found [role=option]").count() == count


def test_results_are_listed_and_visited_by_keys(opened: Open) -> None:
    """Each with its rank, call and time. The list marks the current one; Escape closes it; a click goes to one."""
    page = opened("mixed")
    page.keyboard.press("/")
    page.keyboard.type("allreduce")
    entries = page.locator("#found [role=option]")
    texts = entries.all_inner_texts()
    assert all(re.match(r"rank \d\s+allreduce \(\w+\), Allreduce at test_browser_panels.py:\d+\s+[\d.]+ µs$", text) for text in texts), texts
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
    whole = re.compile(r"(to|from) \d|computes|rank|all|\d|[\d.]+ (s|ms|µs|ns)|(exchange|allreduce|bcast|gather|scatter|reduce|alltoall|barrier)( \(\w+\))?")
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
    assert page.evaluate("""() => [...document.querySelectorAll("#waits g")].filter(one => {
      const box = one.querySelector("rect").getBBox();
      return [...one.querySelectorAll("text")].some(text => {
        const { x, width } = text.getBBox();
        return text.textContent.includes("…") || x < box.x || x + width > box.x + box.width;
      });
    }).length""") == 0


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
    found: dict[str, str] = page.evaluate("""() => Object.fromEntries([...document.querySelectorAll("#legend span")]
      .filter(one => one.querySelector("em")).map(one => [one.querySelector("b").textContent, one.querySelector("em").textContent]))""")
    return found


def column(page: Any, panel: str, head: str = "share", index: int = 0) -> dict[str, str]:
    """The first column of a table and the one with this head; empty without such a table."""
    found: dict[str, str] = page.evaluate(
        """([panel, head, index]) => {
      const table = document.querySelectorAll(`#panel-${panel} table`)[index];
      if (!table) return {};
      const at = [...table.querySelectorAll("th")].findIndex(one => one.textContent === head);
      return Object.fromEntries([...table.querySelectorAll("tbody tr")].map(one => [one.cells[0].textContent, one.cells[at].textContent]));
    }""",
        [panel, head, index],
    )
    return found


@pytest.mark.parametrize("name", ["mixed", "knot", "stuck", "mostly", "both"])
def test_percentages_of_legend_and_tables_agree(opened: Open, name: str) -> None:
    """By state with the summary, by wait with the wait states, by call with the calls; a state of 0% may be missing in the legend."""
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


# -- the wheel --------------------------------------------------------------------------------------------------------


def test_the_wheel_scrolls_an_embedding_page_until_the_timeline_has_the_focus(opened: Open) -> None:
    """After a click it zooms; after a click elsewhere it scrolls again. A hint says so."""
    page = opened("embedding", viewport=LARGE)
    frame = page.frames[1]
    frame.wait_for_selector("html[data-ready]")
    timeline = frame.locator("#timeline")
    whole = timeline.get_attribute("data-range")

    def point() -> tuple[float, float]:
        box = timeline.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.mouse.move(*point())
    page.mouse.wheel(0, 60)
    page.wait_for_function("() => scrollY > 0")
    expect(frame.locator("#hint")).to_contain_text("Click")
    assert timeline.get_attribute("data-range") == whole
    page.mouse.click(*point())
    scrolled = page.evaluate("scrollY")
    page.mouse.wheel(0, -300)
    expect(timeline).not_to_have_attribute("data-range", whole)
    assert page.evaluate("scrollY") == scrolled
    zoomed = timeline.get_attribute("data-range")
    page.mouse.click(1200, 500)
    page.mouse.move(*point())
    page.mouse.wheel(0, 60)
    page.wait_for_function("before => scrollY > before", arg=scrolled)
    assert timeline.get_attribute("data-range") == zoomed


# -- the wait-for graph as a file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["knot", "stuck"])
def test_the_wait_for_graph_is_saved_as_svg(opened: Open, name: str, tmp_path: Path) -> None:
    """By keyboard, too: a file with its own style, all nodes and edges, no script and no reference to the page."""
    page = opened(name)
    page.focus("#save-graph")
    with page.expect_download() as started:
        page.keyboard.press("Enter")
    assert started.value.suggested_filename.endswith("-wait-for-graph.svg")
    started.value.save_as(tmp_path / "graph.svg")
    space = "{http://www.w3.org/2000/svg}"
    root = ET.parse(tmp_path / "graph.svg").getroot()
    assert root.tag == f"{space}svg"
    texts = [one.text.strip() for one in root.iter(f"{space}text") if one.text]
    assert texts == [text.strip() for text in page.locator("#waits text").all_text_contents()]
    assert len(list(root.iter(f"{space}path"))) == page.locator("#waits path").count() > 0
    assert root.find(f"{space}style") is not None
    assert "Wait-for graph" in (root.find(f"{space}title").text or "")  # type: ignore[union-attr]  # the assertion fails without it
    content = (tmp_path / "graph.svg").read_text(encoding="utf-8")
    assert "<script" not in content
    assert "var(" not in content


# -- keyboard ---------------------------------------------------------------------------------------------------------

REACHED = """() => [...document.querySelectorAll("a, button, input, select, [tabindex]")].filter(one => one.checkVisibility() && one.tabIndex >= 0 && !one.disabled
  && !(one.type === "radio" && !one.checked)).map(one => { one.dataset.wanted = ""; return one; }).length"""
FOCUSED = """() => {
  const one = document.activeElement, style = getComputedStyle(one.type === "radio" ? one.nextElementSibling : one), after = getComputedStyle(one, "::after");
  const node = one.querySelector(":scope > rect"), stroke = node ? parseFloat(getComputedStyle(node).strokeWidth) : 0;
  const seen = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2) || parseFloat(after.borderTopWidth) >= 2 && after.content !== "none" || stroke >= 3;
  if (!("wanted" in one.dataset)) return null;
  delete one.dataset.wanted;
  return [one.id || one.outerHTML.slice(0, 80), seen];
}"""


@pytest.mark.parametrize(("name", "tab"), [("mixed", "matrix"), ("knot", "findings"), ("both", "waits"), ("mixed", "critical")])
def test_tab_reaches_every_control_with_a_visible_focus(opened: Open, name: str, tab: str) -> None:
    """Each control has an outline, a frame or a thicker border while it has the focus."""
    page = opened(name, f"#tab={tab}", viewport=LARGE)
    count = page.evaluate(REACHED)
    assert count > 15
    unseen = []
    for _ in range(count + 5):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        if found and not found[1]:
            unseen.append(found[0])
    assert unseen == []
    assert page.evaluate("[...document.querySelectorAll('[data-wanted]')].map(one => one.outerHTML.slice(0, 80))") == []


def test_cells_intervals_and_the_other_run_have_keys(opened: Open) -> None:
    """Arrow keys read cells of the matrix, i selects the visible interval, and ranks of the second run follow those of the first."""
    page = opened("mixed", "#tab=matrix", viewport=LARGE)
    page.focus("#panel-matrix canvas")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#cell")).to_contain_text("rank 0 to rank 1: ")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#cell")).to_contain_text("rank 1 to rank 1: 0 messages")
    page.focus("#timeline")
    press(page, "+")
    page.keyboard.press("i")
    expect(page.locator("#interval")).to_contain_text("Only ")
    page = opened("both", "#tab=waits", viewport=LARGE)
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    expect(page.locator("#panel-waits")).to_contain_text("slow; ")
    page.focus("#panel-waits .swap")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-waits")).to_contain_text("fast; ")


def test_nodes_of_the_graph_have_keys_and_names(opened: Open) -> None:
    """Enter selects the rank in the timeline; the name says what the rank waits for."""
    page = opened("knot")
    node = page.locator("#waits g").first
    assert re.match(r"rank \d (recv|send) at test_browser.py:\d+, waits for rank \d", node.get_attribute("aria-label"))
    node.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#timeline")).to_have_attribute("data-selected", re.compile(r"\d"))


def test_keys_scroll_a_panel_that_has_the_focus(opened: Open) -> None:
    """Arrow down scrolls it instead of selecting a rank."""
    page = opened("mixed", "#tab=critical", viewport={"width": 1000, "height": 560})
    page.focus("#panel-critical")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.querySelector('.panels').scrollTop > 0")
    assert page.get_attribute("#timeline", "data-selected") == ""


# -- accessibility ----------------------------------------------------------------------------------------------------


@cache
def axe() -> str:
    """The script of axe-core, installed by npm for all users; the page itself does not contain it."""
    npm = shutil.which("npm")
    root = subprocess.run([npm, "root", "--global"], capture_output=True, text=True, timeout=60, check=True).stdout.strip() if npm else ""
    script = Path(root, "axe-core", "axe.min.js")
    if not npm or not script.is_file():
        pytest.skip("axe-core is not installed: npm install --global axe-core")
    return script.read_text(encoding="utf-8")


def violations(page: Any) -> list[str]:
    """Serious and critical violations of the rules of axe-core, with the elements."""
    page.evaluate(axe())
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [f"{one['id']}: {node['target']}" for one in found if one["impact"] in ("serious", "critical") for node in one["nodes"]]


def show_results(page: Any) -> None:
    page.fill("#search", "bcast")
    page.press("#search", "Enter")


def show_help(page: Any) -> None:
    page.keyboard.press("Escape")  # the box of the search has the focus
    page.keyboard.press("?")
    page.wait_for_function("() => document.getElementById('help').open")


def select(page: Any) -> None:
    page.mouse.click(*middle(page, 0.3, 0.5))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["mixed", "knot", "both", "compact"])
def test_axe_finds_no_serious_violation(opened: Open, name: str, scheme: str) -> None:
    """With each tab, with search results, with the help, with a selection, and with each coloring."""
    axe()
    page = opened(name, viewport=LARGE, color_scheme=scheme, bypass_csp=True)
    for tab in TABS:
        page.click(f"#tab-{tab}")
        assert violations(page) == [], tab
    if name != "compact":
        for value in ("call", "wait"):
            page.check(f"[value={value}]", force=True)
            assert violations(page) == [], value
    states: tuple[Callable[[Any], None], ...] = (select, show_results, show_help)
    for act in states:
        act(page)
        assert violations(page) == [], act.__name__
