"""How long a frame of the page takes: drawing after zooms and moves, and what is told under the pointer, in Chromium.

    python benchmarks/frames.py                 1,000 ranks and 100,000 messages; 16,384 ranks and 1.6 million (minutes)
    python benchmarks/frames.py page.html       a page of one's own

Milliseconds by the page's own clock, in the middle and at most: the first picture, zooms, the picture once it rests, and
moves of the pointer. It takes a Chromium of the distribution and the package playwright.
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


def many(comm, turns):
    """Each rank computes and hands something to the next."""
    for turn in range(turns):
        fakempi.compute(1e-7 * ((comm.rank * 7 + turn * 3) % 11))
        comm.Sendrecv(phantom(64), (comm.rank + 1) % comm.size, 0, phantom(64), (comm.rank - 1) % comm.size, 0)


def measured(browser, path):
    """Times of one page."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.absolute().as_uri())
    page.wait_for_selector("html[data-ready]", timeout=120_000)
    ready = page.evaluate("performance.now()")
    return {"ready": [ready], **page.evaluate(MEASURE)}


def main(paths):
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with TemporaryDirectory() as folder, sync_playwright() as started:
        if not paths:
            for ranks, turns in SIZES:
                paths.append(Path(folder) / f"{ranks} ranks, {ranks * turns:,} messages.html")
                fakempi.run(many, ranks, turns, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True).trace.save(paths[-1])
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for path in paths:
            print(path.stem)
            for what, times in measured(browser, path).items():
                print(f"  {what:10} {median(times):8.1f} ms, at most {max(times):.1f}")
        browser.close()


if __name__ == "__main__":
    main(list(map(Path, sys.argv[1:])))
