"""Frame times of the HTML page in Chromium: drawing after zooms and moves, and the tooltip under the pointer.

    python benchmarks/frames.py                 1,000 ranks and 100,000 messages; 16,384 ranks and 1.6 million (minutes)
    python benchmarks/frames.py page.html       an existing page

Median and maximum in milliseconds by the page's clock: the first drawing, zooms, the detailed drawing after a pause, and
moves of the pointer. Needs Chromium and the package playwright.
"""

import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import fakempi
from fakempi import Hockney, phantom

SIZES = ((1000, 100), (16384, 97))

MEASURE = """
async () => {
  const timeline = document.getElementById("timeline"), box = timeline.getBoundingClientRect();
  const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const spent = () => Number(timeline.dataset.frame);
  const at = (x, y) => ({ clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true });
  const found = { first: [spent()], moving: [], resting: [], pointing: [] };
  const turns = [...Array(12).fill(-120), ...Array(12).fill(120)];
  for (const deltaY of turns) {
    timeline.dispatchEvent(new WheelEvent("wheel", { deltaY, ...at(0.6, 0.5) }));
    await frame();
    found.moving.push(spent());
  }
  for (const deltaY of [-120, 240, -240]) {
    timeline.dispatchEvent(new WheelEvent("wheel", { deltaY, ...at(0.3, 0.5) }));
    await new Promise(done => setTimeout(done, 500));
    found.resting.push(spent());
  }
  for (let i = 0; i < 30; i++) {
    const started = performance.now();
    timeline.dispatchEvent(new PointerEvent("pointermove", at(0.2 + 0.02 * i, 0.3 + 0.01 * i)));
    found.pointing.push(performance.now() - started);
  }
  return found;
}
"""


def many(comm, rounds):
    """Each rank computes and sends to the next."""
    for step in range(rounds):
        fakempi.compute(1e-7 * ((comm.rank * 7 + step * 3) % 11))
        comm.Sendrecv(phantom(64), (comm.rank + 1) % comm.size, 0, phantom(64), (comm.rank - 1) % comm.size, 0)


def measured(browser, path):
    """The times of one page."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.absolute().as_uri())
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    ready = page.evaluate("performance.now()")
    return {"ready": [ready], **page.evaluate(MEASURE)}


def main(paths):
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with TemporaryDirectory() as directory, sync_playwright() as started:
        if not paths:
            for ranks, rounds in SIZES:
                paths.append(Path(directory) / f"{ranks} ranks, {ranks * rounds:,} messages.html")
                fakempi.run(many, ranks, rounds, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True).trace.save(paths[-1])
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for path in paths:
            print(path.stem)
            for what, times in measured(browser, path).items():
                print(f"  {what:10} {median(times):8.1f} ms, at most {max(times):.1f}")
        browser.close()


if __name__ == "__main__":
    main(list(map(Path, sys.argv[1:])))
