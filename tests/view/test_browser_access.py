"""The page in a real browser: the wheel in a frame, the wait-for graph as a file, keys, and accessibility.

It has the fixtures and the requirements of test_browser.py. The last test also needs axe-core: npm install --global axe-core
"""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

from tests.view.test_browser import Open, browser, expect, middle, opened, press
from tests.view.test_browser_panels import LARGE, TABS, pages

pytestmark = pytest.mark.slow

__all__ = ["browser", "opened", "pages"]  # fixtures


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

REACHED = """() => {
  const all = [...document.querySelectorAll("a, button, input, select, [tabindex]")];
  const usable = one => one.tabIndex >= 0 && !one.disabled && !(one.type === "radio" && !one.checked);
  const wanted = all.filter(one => one.checkVisibility() && usable(one));
  for (const one of wanted) one.dataset.wanted = "";
  return wanted.length;
}"""
FOCUSED = """() => {
  const one = document.activeElement, node = one.querySelector(":scope > rect"), after = getComputedStyle(one, "::after");
  const style = getComputedStyle(one.type === "radio" ? one.nextElementSibling : one);
  const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const frame = after.content !== "none" && parseFloat(after.borderTopWidth) >= 2;
  const border = node && parseFloat(getComputedStyle(node).strokeWidth) >= 3;
  if (!("wanted" in one.dataset)) return null;
  delete one.dataset.wanted;
  return [one.id || one.outerHTML.slice(0, 80), Boolean(outline || frame || border)];
}"""


@pytest.mark.parametrize(
    ("name", "tab"), [("mixed", "matrix"), ("knot", "findings"), ("both", "waits"), ("mixed", "critical")]
)
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
    """Arrow keys read cells of the matrix, i selects the visible interval, and the second run follows the first."""
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
    root = (
        subprocess.run([npm, "root", "--global"], capture_output=True, text=True, timeout=60, check=True).stdout.strip()
        if npm
        else ""
    )
    script = Path(root, "axe-core", "axe.min.js")
    if not npm or not script.is_file():
        pytest.skip("axe-core is not installed: npm install --global axe-core")
    return script.read_text(encoding="utf-8")


def violations(page: Any) -> list[str]:
    """Serious and critical violations of the rules of axe-core, with the elements."""
    page.evaluate(axe())
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [
        f"{one['id']}: {node['target']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


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
