"""The page in a real browser: it draws, zooms, moves, searches, follows messages, and reports errors.

It needs a Chromium of the distribution and the package playwright; otherwise the tests are skipped.

The browser reacts to a key, a click or the wheel after a while. So nothing is read at once: `expect` and `wait_for_function`
wait for it, and limits are for machines where it never happens.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import Hockney, phantom
from fakempi.view.page.assemble import page as assembled

pytestmark = pytest.mark.slow

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:
    pytest.skip("there is no Chromium here: apt-get install chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

PATIENCE = 120_000  # milliseconds
expect = playwright.expect
expect.set_options(timeout=PATIENCE)

MANY = 1000
"""Milliseconds for work of about 10: detects code that processes all messages in each frame."""

LOCAL = ("file:", "data:", "blob:")
COST, SLOW = Hockney(t_s=1e-6, t_w=1e-9, eager_limit=0), Hockney(t_s=2e-6, t_w=1e-9, eager_limit=0)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync"
]  # fmt: skip


def ring(comm: Any) -> None:
    """Each rank computes and sends 8,000 bytes to the next."""
    with fakempi.region("exchange"):
        for turn in range(3):
            fakempi.compute(1e-6 * (1 + (comm.rank + turn) % 3))
            comm.Sendrecv(phantom(8000), (comm.rank + 1) % comm.size, 7, phantom(8000), (comm.rank - 1) % comm.size, 7)
    comm.Barrier()


def knot(comm: Any) -> None:
    """All ranks wait for their neighbor; one message has the wrong tag."""
    fakempi.compute(1e-6 * comm.rank)
    left = (comm.rank - 1) % comm.size
    if comm.rank == 0:
        comm.send(None, 1, tag=3)
    comm.recv(source=left, tag=4)


def first(comm: Any) -> None:
    """Rank 0 assumes that rank 1 is first."""
    if comm.rank:
        comm.send(comm.rank, dest=0)
    else:
        got = [comm.recv(source=fakempi.MPI.ANY_SOURCE) for _ in range(comm.size - 1)]
        assert got[0] == 1


def many(comm: Any) -> None:
    """A hundred messages per rank."""
    for turn in range(100):
        fakempi.compute(1e-7 * ((comm.rank * 7 + turn * 3) % 11))
        comm.Sendrecv(phantom(64), (comm.rank + 1) % comm.size, 0, phantom(64), (comm.rank - 1) % comm.size, 0)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files: a successful run, a deadlock, a finding, two runs, many messages."""
    directory = tmp_path_factory.mktemp("pages")
    traces = {"ring": fakempi.run(ring, 8, cost=COST, trace=True).trace, "many": fakempi.run(many, 1000, trace=True).trace}
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(knot, 4, trace=True)
    assert isinstance(caught.value.trace, fakempi.Trace)
    traces["knot"] = caught.value.trace
    slow = fakempi.run(ring, 8, cost=SLOW, trace=True).trace
    assert slow is not None
    assert traces["ring"] is not None
    (directory / "both.html").write_text(assembled(traces["ring"], slow, titles=["fast", "slow"]), encoding="utf-8")
    fakempi.explore(first, 3, buffering="zero").failures[0].save(directory / "why.html")
    traces["zero"] = fakempi.run(lambda comm: comm.Barrier(), 4, cost=fakempi.ZeroCost(), trace=True).trace
    for name, trace in traces.items():
        assert trace is not None
        trace.save(directory / f"{name}.html")
    return {path.stem: path for path in directory.iterdir()}


@pytest.fixture(scope="module")
def browser(pages: dict[str, Path]) -> Iterator[Any]:
    """One browser for all tests here."""
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=PATIENCE)
        yield browser
        browser.close()


Open = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, pages: dict[str, Path]) -> Iterator[Open]:
    """A page that is drawn; any error in it, and any network request, fails the test."""
    complaints: list[str] = []
    shown: list[Any] = []

    def opened(name: str, fragment: str = "", **options: Any) -> Any:
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options})
        shown.append(page)
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("request", lambda requested: complaints.extend([requested.url] * (not requested.url.startswith(LOCAL))))
        page.goto(pages[name].as_uri() + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for page in shown:
        page.close()
    assert complaints == []


def seen(page: Any) -> tuple[float, float]:
    """The start and end times of the timeline, once it is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    start, end = page.get_attribute("#timeline", "data-range").split()
    return float(start), float(end)


def after(page: Any, act: Callable[[], None], what: str = "range") -> str:
    """The state of the timeline once it differs from before."""
    before = page.get_attribute("#timeline", f"data-{what}")
    act()
    page.wait_for_function("([what, before]) => timeline.dataset[what] !== before", arg=[what, before])
    return str(page.get_attribute("#timeline", f"data-{what}"))


def press(page: Any, key: str, what: str = "range") -> str:
    """The same, after a key."""
    return after(page, lambda: page.keyboard.press(key), what)


def drag(page: Any, x: float, y: float, by: float) -> None:
    """Drag along the timeline, to the end."""
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=4)
    page.mouse.up()


def hits(page: Any, words: str) -> Any:
    """The message of a search, in which Enter shows the first or the next hit."""
    if page.input_value("#search") != words:
        page.fill("#search", words)
    page.press("#search", "Enter")
    return expect(page.locator("#hits"))


def middle(page: Any, x: float = 0.5, y: float = 0.5) -> tuple[float, float]:
    """A point of the timeline, by fractions of its width and height."""
    box = page.locator("#timeline").bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def test_the_whole_run_is_shown_at_first(opened: Open, pages: dict[str, Path]) -> None:
    """From 0 to its end, with all ranks, a legend, and no error."""
    page = opened("ring")
    trace = fakempi.run(ring, 8, cost=COST, trace=True).trace
    assert trace is not None
    assert seen(page) == (0, trace.time)
    assert page.get_attribute("#timeline", "data-ranks") == "0 7"
    assert page.get_attribute("#timeline", "data-selected") == ""
    assert page.inner_text("#legend").startswith("communicating")
    assert page.text_content("#findings") == ""
    assert not page.is_visible("#tooltip")


def test_wheel_drag_and_keys_zoom_and_move(opened: Open) -> None:
    """In time; plus and minus are inverse."""
    page = opened("ring")
    whole = seen(page)
    page.mouse.move(*middle(page))
    after(page, lambda: page.mouse.wheel(0, -400))
    near = seen(page)
    assert whole[0] < near[0] < near[1] < whole[1]
    after(page, lambda: drag(page, *middle(page), -200))
    page.wait_for_selector("#timeline:not(.moving)")
    moved = seen(page)
    assert moved[0] > near[0]
    assert moved[1] - moved[0] == pytest.approx(near[1] - near[0])
    page.focus("#timeline")
    press(page, "+")
    closer = seen(page)
    assert closer[1] - closer[0] < moved[1] - moved[0]
    press(page, "-")
    assert seen(page) == pytest.approx(moved)
    press(page, "0")
    assert seen(page) == whole


def test_shift_and_wheel_unfolds_ranks(opened: Open) -> None:
    """Fewer ranks are visible, each higher."""
    page = opened("many")
    page.mouse.move(*middle(page))
    page.keyboard.down("Shift")
    first, last = map(int, after(page, lambda: page.mouse.wheel(0, -600), "ranks").split())
    assert 0 < first < last < 999


def pointed_at(page: Any, x: float, y: float) -> tuple[str, float, float]:
    """The tooltip of the first message from there to the right, and the position of the pointer."""
    for step in range(60):
        page.mouse.move(x + 4 * step, y)
        seen(page)
        words = page.inner_text("#tooltip")
        if "bytes" in words:
            break
    return words, x + 4 * step, y


def test_the_tooltip_describes_a_message(opened: Open) -> None:
    """Call and place, source and destination, bytes; and it disappears."""
    page = opened("ring")
    words, *_ = pointed_at(page, *middle(page, 0.3, 0.5))
    assert "Sendrecv at test_browser.py:" in words
    assert "8000 bytes, tag 7" in words
    assert "rank " in words
    page.mouse.move(5, 5)
    expect(page.locator("#tooltip")).to_be_hidden()


def test_search_finds_ranks_and_words(opened: Open) -> None:
    """A number is a rank; Enter goes from one hit to the next; a search without hits is reported."""
    page = opened("ring")
    hits(page, "5").to_have_text("")
    expect(page.locator("#timeline")).to_have_attribute("data-selected", "5")
    hits(page, "barrier").to_contain_text("1 of ")
    hits(page, "barrier").to_contain_text("2 of ")
    for words in ("exchange", "test_browser.py", "sendrecv at test_browser.py"):  # a region, a file, a line
        hits(page, words).to_contain_text("1 of ")
    hits(page, "joy").to_have_text("No call, file or region matches “joy”.")
    hits(page, "99").to_have_text("The ranks are 0 to 7.")


def test_a_click_selects_and_another_follows_the_message(opened: Open) -> None:
    """From one end to the other, and back by Enter."""
    page = opened("ring")
    first = after(page, lambda: hits(page, "sendrecv").to_contain_text("1 of "), "selected")
    page.focus("#timeline")
    other = press(page, "Enter", "selected")
    assert abs(int(first) - int(other)) in (1, 7)
    assert press(page, "Enter", "selected") == first


def test_a_link_holds_the_view(opened: Open) -> None:
    """Times and rank in the fragment determine the view, and the view updates the fragment."""
    page = opened("ring", "#t=1e-5..2e-5&rank=7")
    assert seen(page) == (1e-5, 2e-5)
    assert page.get_attribute("#timeline", "data-selected") == "7"
    page.focus("#timeline")
    press(page, "+")
    start, _ = seen(page)
    assert start > 1e-5
    # the page writes its link shortly after it has drawn, and once before the key, as 0.00001..0.00002
    shown = "Number(new URLSearchParams(location.hash.slice(1)).get('t').split('..')[0])"
    page.wait_for_function(f"(start) => {shown} === start", arg=start)


def test_a_deadlock_is_drawn(opened: Open) -> None:
    """Its report is open, with the cycle; the graph has every rank; the timeline has no end."""
    page = opened("knot")
    words = page.inner_text("#findings")
    assert "deadlock at t = " in words
    assert "cycle: " in words
    assert "near miss: " in words
    drawn = page.inner_text("#waits")
    assert all(f"rank {rank}" in drawn for rank in range(4))
    assert "Wait-for graph with a cycle" in page.get_attribute("#waits svg", "aria-label")
    assert page.locator("#waits path.circle:not(.head)").count() == 4
    assert page.locator("#waits path.miss:not(.head)").count() == 1
    assert "blocked" in page.inner_text("#legend")
    page.mouse.move(*middle(page, 0.98, 0.9))
    expect(page.locator("#tooltip")).to_contain_text("blocked")


def test_an_interval_has_its_own_tables(opened: Open) -> None:
    """Dragging along the ruler selects it; Escape removes the selection."""
    page = opened("ring", "#tab=waits")
    x, y = middle(page, 0.3, 0)
    interval, waits, matrix = (page.locator(one) for one in ("#interval", "#panel-waits", "#panel-matrix"))
    before = waits.inner_text()
    drag(page, x, y + 10, 60)
    expect(interval).to_contain_text("Only ")
    expect(waits).not_to_have_text(before, use_inner_text=True)
    page.click("#tab-matrix")
    expect(matrix).to_contain_text("Communication matrix")
    part = matrix.inner_text()
    page.click("#interval button")
    expect(interval).to_be_hidden()
    expect(matrix).not_to_have_text(part, use_inner_text=True)
    page.click("#tab-waits")
    drag(page, x, y + 10, 60)
    expect(interval).to_be_visible()
    page.focus("#timeline")
    page.keyboard.press("Escape")
    expect(interval).to_be_hidden()
    expect(waits).to_have_text(before, use_inner_text=True)


def test_it_plays_pauses_and_has_speeds(opened: Open) -> None:
    """The time advances while it plays, and stays otherwise; a higher speed is faster."""
    page = opened("ring")
    play, moment = page.locator("#play"), page.locator("#moment")
    page.select_option("#speed", "0.25")  # half a minute in total: it does not end before it is paused
    play.click()
    expect(play).to_have_attribute("aria-label", "Pause")
    page.wait_for_function("() => moment.textContent !== '' && moment.textContent !== '0 s'")
    play.click()
    expect(play).to_have_attribute("aria-label", "Play")
    paused = moment.inner_text()
    seen(page)
    expect(moment).to_have_text(paused)
    page.click("#step")
    expect(moment).not_to_have_text(paused)
    stepped = moment.inner_text()
    page.select_option("#speed", "4")
    play.click()
    page.wait_for_function("(stepped) => play.ariaLabel === 'Play' && moment.textContent !== stepped", arg=stepped)


def test_all_elements_have_labels_and_can_be_reached_by_keys(opened: Open) -> None:
    """For screen readers and keyboards: labels, roles, announcements, and help."""
    page = opened("ring")
    assert page.get_attribute("#timeline", "aria-label").startswith("Timeline: ")
    assert page.evaluate("""() => [...document.querySelectorAll("button, input, select, canvas[role]")]
      .filter(one => !one.ariaLabel && !one.textContent.trim() && !one.closest("label")).map(one => one.outerHTML)""") == []
    page.focus("#timeline")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#said")).to_contain_text("Rank 0. ")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_contain_text("Keys and mouse", use_inner_text=True)
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.getElementById('help').open")
    assert page.locator("[role=tab]").count() == 6
    page.focus("#tab-summary")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-waits")).to_have_attribute("aria-selected", "true")


def test_light_dark_and_print(opened: Open) -> None:
    """It starts with the theme of the system; in print it is light and has no buttons."""
    page = opened("ring", color_scheme="dark")
    whole = page.locator("html")
    expect(whole).to_have_attribute("data-theme", "dark")
    page.click("#theme")
    expect(whole).to_have_attribute("data-theme", "light")
    page.click("#theme")
    expect(whole).to_have_attribute("data-theme", "dark")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(whole).to_have_attribute("data-theme", "light")
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator("#timeline")).to_be_visible()
    expect(page.locator("#panel-summary")).to_be_visible()
    page.emulate_media(media="screen")
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(whole).to_have_attribute("data-theme", "dark")


@pytest.mark.sample
def test_every_panel_draws(opened: Open) -> None:
    """With the switches, and in both themes."""
    page = opened("ring")
    for name, words in {
        "summary": "rounds", "waits": "Idle for", "matrix": "Communication matrix", "blocks": "At 0 s: 13% of all blocks",
        "critical": "Critical path: ", "findings": "The run completed, and has no findings",
    }.items():  # fmt: skip
        page.click(f"#tab-{name}")
        expect(page.locator(f"#panel-{name}")).to_contain_text(words, use_inner_text=True)
    page.focus("#timeline")
    for key in "23c1md":
        page.keyboard.press(key)
        seen(page)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press(".")
    page.keyboard.press(".")
    page.wait_for_function("() => moment.innerText.endsWith('s')")


def test_two_runs_have_one_time_scale(opened: Open) -> None:
    """That of the longer one; the summary has both."""
    page = opened("both")
    slow = fakempi.run(ring, 8, cost=SLOW).time
    assert seen(page) == (0, slow)
    assert page.inner_text("h1") == "fast and slow"
    assert "fast" in page.inner_text("#panel-summary")
    assert "slow" in page.inner_text("#panel-summary")


def test_two_schedules_have_the_deciding_match_marked(opened: Open) -> None:
    """The failing one is above the successful one; the reason is on the page and among the errors."""
    page = opened("why")
    why = "rank 0's recv at test_browser.py:"
    assert page.inner_text("h1").startswith("Two schedules of ")
    assert page.inner_text("#why").startswith(f"◆ Why: {why}")
    assert f"why: {why}" in page.inner_text("#findings")
    time, rank = page.get_attribute("#timeline", "data-deciding").split()
    assert (float(time), rank) == (0.0, "0")
    page.click("#tab-summary")
    for words in ("schedule z:1 fails", "schedule z:0 passes"):
        expect(page.locator("#panel-summary")).to_contain_text(words, use_inner_text=True)


def test_a_frame_is_fast_with_many_messages(opened: Open) -> None:
    """A thousand ranks and a hundred thousand messages, measured by the page."""
    page = opened("many")
    page.focus("#timeline")
    spent = []
    for key in "+++++-----":
        press(page, key)
        seen(page)
        spent.append(float(page.get_attribute("#timeline", "data-frame")))
    assert min(spent) < MANY  # the minimum, since the machine may be busy with other tests
    page.wait_for_function("() => !document.getElementById('legend').innerText.includes('looked at')")  # idle: all ranks


def test_a_tooltip_is_fast_with_many_messages(opened: Open) -> None:
    """It takes less than a frame, too."""
    page = opened("many")
    spent = page.evaluate("""() => {
      const timeline = document.getElementById("timeline"), box = timeline.getBoundingClientRect(), spent = [];
      for (let i = 1; i < 20; i++) {
        const started = performance.now();
        const place = { clientX: box.left + i / 20 * box.width, clientY: box.top + i / 20 * box.height, bubbles: true };
        timeline.dispatchEvent(new PointerEvent("pointermove", place));
        spent.push(performance.now() - started);
      }
      return spent;
    }""")
    assert page.is_visible("#tooltip")
    assert min(spent) < MANY


def layout(page: Any, wanted: str) -> None:
    """Wait for this layout of two runs: the page follows the window's size with a delay."""
    page.wait_for_function("wanted => document.getElementById('timeline').dataset.layout === wanted", arg=wanted)


def test_two_schedules_are_side_by_side_if_there_is_space(opened: Open) -> None:
    """The failing one is left; in a narrow window they are one above the other, and by a switch."""
    page = opened("why")
    layout(page, "side-by-side")
    expect(page.locator("#legend")).to_contain_text("left run")
    whole = seen(page)
    page.mouse.move(*middle(page, 0.75, 0.5))  # the right one's time is the same as the left one's
    after(page, lambda: page.mouse.wheel(0, -400))
    near = seen(page)
    assert whole[0] < near[0] < near[1] < whole[1]
    page.set_viewport_size({"width": 800, "height": 800})
    layout(page, "stacked")
    expect(page.locator("#side-by-side")).to_be_disabled()
    page.set_viewport_size({"width": 1280, "height": 800})
    layout(page, "side-by-side")
    page.focus("#timeline")
    page.keyboard.press("s")
    layout(page, "stacked")
    page.check("#side-by-side")
    layout(page, "side-by-side")


def test_two_traces_can_be_side_by_side(opened: Open) -> None:
    """By a switch, which a page of one run does not have; a tooltip belongs to the run under the pointer."""
    page = opened("both")
    layout(page, "stacked")
    page.check("#side-by-side")
    layout(page, "side-by-side")
    words, x, y = pointed_at(page, *middle(page, 0.6, 0.3))
    assert "Sendrecv at test_browser.py:" in words
    page.mouse.click(x, y)
    page.click("#tab-waits")
    waits = page.locator("#panel-waits")
    expect(waits).to_contain_text("slow; ", use_inner_text=True)
    page.mouse.click(*middle(page, 0.3, 0.3))
    expect(waits).to_contain_text("fast; ", use_inner_text=True)
    assert not opened("ring").is_visible("#side-by-side")


def test_a_step_starts_in_the_visible_part(opened: Open) -> None:
    """Not at the start of the run, if that is not visible."""
    page = opened("ring", "#t=1e-5..2e-5")
    page.click("#step")
    expect(page.locator("#moment")).not_to_be_empty()
    shown = page.inner_text("#moment")
    assert seen(page) == (1e-5, 2e-5)
    assert 10 < float(shown.split()[0]) <= 20, shown


def test_no_arc_of_the_graph_is_cut_off(opened: Open) -> None:
    """Near misses extend beyond the circle, and the drawing includes them."""
    page = opened("knot")
    assert page.evaluate("""() => {
      const svg = document.querySelector("#waits svg"), { x, y, width, height } = svg.viewBox.baseVal;
      return [...svg.querySelectorAll("path")].map(path => path.getBBox()).filter(box =>
        box.x < x - 1 || box.y < y - 1 || box.x + box.width > x + width + 1 || box.y + box.height > y + height + 1).length;
    }""") == 0


def test_a_hidden_page_is_not_drawn_and_raises_no_error(opened: Open) -> None:
    """A frame without width, as in a closed part of a document; it is drawn when it gets a width."""
    page = opened("ring", viewport={"width": 40, "height": 400})
    page.evaluate("document.getElementById('overview').style.display = 'none'")
    page.set_viewport_size({"width": 60, "height": 400})
    page.evaluate("document.getElementById('overview').style.display = ''")
    page.set_viewport_size({"width": 900, "height": 600})
    while page.evaluate("document.getElementById('overview').width") < 800:  # a hang is the failure
        page.wait_for_timeout(20)


def test_the_measures_fit_into_their_panel(opened: Open) -> None:
    """On a usual screen without scrolling; on a phone without a note that is cut off."""
    page = opened("ring", viewport={"width": 1400, "height": 900})
    bottom = "document.querySelector('{}').getBoundingClientRect().bottom"
    assert page.evaluate(f"{bottom.format('.facts')} <= {bottom.format('.panels')}")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.querySelector('.facts').offsetWidth <= document.querySelector('.panels').clientWidth")
