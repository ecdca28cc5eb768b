"""The page in a real browser: keys after clicks, edges of the plot, sizes of panels, themes of embedded pages.

It has the fixtures and the requirements of test_browser.py.
"""

from __future__ import annotations

import shutil
from itertools import pairwise
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

import pytest

if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)
pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

import fakempi.view.page.assemble
from tests.view.test_browser import Open, browser, expect, opened, pages, press, seen

pytestmark = pytest.mark.slow

__all__ = ["browser", "opened", "pages"]  # fixtures

SITE = Path(__file__).parents[2] / "docs" / "assets" / "timelines.js"

COLUMN_HAS_INK = """([left, right]) => {
  const canvas = document.getElementById("base"), ratio = devicePixelRatio, c = canvas.getContext("2d");
  const pixels = c.getImageData(left * ratio, 30 * ratio, (right - left) * ratio, canvas.height - 34 * ratio).data;
  return pixels.some((value, i) => i % 4 === 3 && value > 0);
}"""


def test_keys_work_after_a_click_on_any_control(opened: Open) -> None:
    """A tab, a button, a switch and a color keep the focus; keys that they use themselves stay theirs."""
    page = opened("ring")
    for control in ("#tab-matrix", "#in", "label:has(#arrows)", "label:has([value=call])"):
        page.click(control)
        press(page, "+")
        press(page, "0")
    page.click("#tab-waits")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-matrix")).to_have_attribute("aria-selected", "true")
    whole = seen(page)
    page.fill("#search", "")
    page.type("#search", "+0")
    expect(page.locator("#search")).to_have_value("+0")
    assert seen(page) == whole


def test_lines_of_messages_stay_inside_the_plot(opened: Open) -> None:
    """If the view starts later than the run: nothing is drawn between the labels and the plot; lines are in the plot."""
    page = opened("ring", "#t=8e-6..2e-5")
    seen(page)
    assert page.evaluate(COLUMN_HAS_INK, [57, 70])
    assert not page.evaluate(COLUMN_HAS_INK, [48, 55])


def test_matrix_and_blocks_fit_their_panel_and_tables_scroll(opened: Open) -> None:
    """In a window of 1400 x 900 and in a frame of the documentation; the page itself does not scroll in the former."""
    page = opened("ring")
    for width, height in ((1400, 900), (860, 544)):
        page.set_viewport_size({"width": width, "height": height})
        for name in ("matrix", "blocks"):
            page.click(f"#tab-{name}")
            page.wait_for_function("name => document.querySelector(`#panel-${name} canvas`)", arg=name)
            seen(page)
            inside = """name => {
              const panel = document.querySelector(".panels"), canvas = document.querySelector(`#panel-${name} canvas`);
              return canvas.getBoundingClientRect().bottom <= panel.getBoundingClientRect().bottom + 0.5;
            }"""
            page.wait_for_function(inside, arg=name)
    page.set_viewport_size({"width": 690, "height": 680})  # a frame of the documentation
    for name in ("matrix", "summary"):
        page.click(f"#tab-{name}")
        page.wait_for_function("() => document.documentElement.scrollHeight <= innerHeight")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.click("#tab-critical")
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
    reached = """() => {
      const panel = document.querySelector(".panels");
      panel.scrollTop = panel.scrollHeight;
      const last = [...document.querySelectorAll("#panel-critical tr")].at(-1);
      return last.getBoundingClientRect().bottom <= panel.getBoundingClientRect().bottom;
    }"""
    assert page.evaluate(reached)


def test_the_matrix_has_axes_a_scale_and_units(opened: Open) -> None:
    """It is as high as its panel allows; its texts are recorded while it is drawn."""
    page = opened("ring")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.evaluate("""() => {
      const draw = CanvasRenderingContext2D.prototype.fillText;
      window.words = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        window.words.push(text);
        return draw.call(this, text, ...place);
      };
    }""")
    page.click("#tab-matrix")
    drawn = page.evaluate("() => window.words")
    assert {"from rank", "to rank", "24 kB", "12 kB", "0 B", *"01234567"} <= set(drawn)
    shares = page.evaluate("""() => {
      const canvas = document.querySelector("#panel-matrix canvas"), panel = document.querySelector(".panels");
      return canvas.clientHeight / panel.clientHeight;
    }""")
    assert shares > 0.8


def test_blocks_start_at_the_start_of_the_run(opened: Open) -> None:
    """Each rank has its own block; at the end of the player each has all."""
    page = opened("ring", "#tab=blocks")
    panel = page.locator("#panel-blocks")
    expect(panel).to_contain_text("At 0 s: 13% of all blocks", use_inner_text=True)
    page.select_option("#speed", "4")
    page.click("#play")
    expect(panel).to_contain_text("100% of all blocks", use_inner_text=True)


def test_a_run_without_time_has_no_time_in_its_picture(opened: Open) -> None:
    """No bar of idle time, no share, and a sentence; the messages are at time 0."""
    page = opened("zero")
    expect(page.locator("#legend")).to_have_text("The run took no modeled time: all events are at 0 s.")
    assert not page.evaluate(COLUMN_HAS_INK, [75, 1200])
    assert page.evaluate(COLUMN_HAS_INK, [52, 60])
    expect(page.locator("#panel-summary")).to_contain_text("idle\t0 s\t0%", use_inner_text=True)


def test_the_theme_of_the_site_reaches_embedded_timelines(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    """When the frame loads, and after a change; with the script of the site."""
    frame = f'<iframe class="timeline" src="{pages["ring"].as_uri()}" width="860" height="544"></iframe>'
    text = f'<body data-md-color-scheme="slate">{frame}<script>{SITE.read_text(encoding="utf-8")}</script>'
    (tmp_path / "site.html").write_text(text, encoding="utf-8")
    page = browser.new_page(color_scheme="light")
    page.goto((tmp_path / "site.html").as_uri(), timeout=120_000)
    root = page.frame_locator("iframe").locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.evaluate("() => document.body.setAttribute('data-md-color-scheme', 'default')")
    expect(root).to_have_attribute("data-theme", "light")


def test_a_line_does_not_end_within_an_expression(opened: Open) -> None:
    """A number and its unit, a call and a time stay together in a narrow window, in reports and in tables."""
    page = opened("knot", viewport={"width": 390, "height": 844})
    lines = """selector => [...document.querySelectorAll(selector)].map(each => each.getClientRects().length === 1
      && each.getBoundingClientRect().height < 1.9 * parseFloat(getComputedStyle(each).fontSize))"""
    shown = page.locator("#findings .unbroken").all_inner_texts()
    assert {"recv(source=left (3), tag=4)", "t = 1e-06"} <= set(shown)
    assert all(page.evaluate(lines, "#findings .unbroken"))
    page.click("#tab-summary")
    assert "3 µs" in page.locator(".facts .unbroken").all_inner_texts()
    assert all(page.evaluate(lines, ".facts .unbroken"))


@pytest.mark.parametrize(("width", "height", "least"), [(1400, 900, 300), (390, 844, 150)])
def test_the_matrix_is_large(opened: Open, width: int, height: int, least: int) -> None:
    """Its cells fill a square of this number of pixels, and its scale is inside the panel."""
    page = opened("ring", "#tab=matrix", viewport={"width": width, "height": height})
    canvas, panel = (page.locator(which).bounding_box() for which in ("#panel-matrix canvas", ".panels"))
    assert canvas["height"] - 38 >= least
    assert canvas["x"] + canvas["width"] <= panel["x"] + panel["width"]


FOLDED = """cases => {
  %s
  return cases.map(([ranks, least, parts]) => groupsOf({ranks, levels: parts.map(part => ({part}))}, least));
}"""
SCRIPT = Path(fakempi.view.page.assemble.__file__).with_name("2_run.js")


def test_rows_respect_levels_of_unequal_sizes(browser: Any) -> None:
    """Each row lies in one part of each level or has whole parts; a row with too few ranks ends a part."""
    random = Random(1)
    cases: list[tuple[int, float, list[list[int]]]] = [(24, 3, []), (24, 4, [[rank // 6 for rank in range(24)]])]
    for _ in range(60):
        outer = [[random.choice((1, 2, 5, 8, 40)) for _ in range(random.randint(1, 6))] for _ in range(random.randint(1, 6))]
        groups = [i for i, nodes in enumerate(outer) for _ in range(sum(nodes))]
        nodes = [i for i, size in enumerate(size for nodes in outer for size in nodes) for _ in range(size)]
        cases.append((len(nodes), random.choice((0.3, 1, 2, 2.5, 7, 16, 60)), [groups, nodes]))
    found = browser.new_page().evaluate(FOLDED % SCRIPT.read_text(encoding="utf-8"), cases)
    assert found[:2] == [[0, 4, 8, 12, 16, 20, 24], [0, 6, 12, 18, 24]]
    for (ranks, least, levels), firsts in zip(cases, found, strict=True):
        assert (firsts[0], firsts[-1]) == (0, ranks)
        rows = list(pairwise(firsts))
        assert all(first < after for first, after in rows)
        for level in levels:
            begins = {rank for rank in range(ranks + 1) if rank in (0, ranks) or level[rank - 1] != level[rank]}
            for first, after in rows:
                assert len(set(level[first:after])) == 1 or {first, after} <= begins
        bounds = {0, ranks, *(rank for level in levels for rank in range(1, ranks) if level[rank - 1] != level[rank])}
        for first, after in rows:
            assert after - first < max(2 * ceil(least), 2)
            assert after - first >= least or after in bounds


def test_keys_of_the_terminal_viewer_work_in_the_page(opened: Open) -> None:
    """Numbers open the tabs, < and > move by half a window, n and p visit search results, k changes the colors."""
    page = opened("ring")
    for key, tab in (("3", "waits"), ("7", "findings"), ("5", "blocks"), ("2", "summary")):
        page.keyboard.press(key)
        expect(page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("1")
    expect(page.locator("#timeline")).to_be_focused()
    press(page, "+")
    start, end = seen(page)
    press(page, ">")
    assert seen(page)[0] == pytest.approx(start + (end - start) / 2)
    press(page, "<")
    assert seen(page)[0] == pytest.approx(start)
    page.fill("#search", "sendrecv")
    page.press("#search", "Enter")
    expect(page.locator("#hits")).to_have_text("1 of 24")
    page.click("#tab-summary")
    for key, hit in (("n", 2), ("n", 3), ("p", 2)):
        page.keyboard.press(key)
        expect(page.locator("#hits")).to_have_text(f"{hit} of 24")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_have_value("")
    page.keyboard.press("k")
    expect(page.locator("[value=call]")).to_be_checked()
