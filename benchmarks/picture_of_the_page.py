"""The picture of the page for browsers in the README: a run, its page, and a photograph of that.

    python benchmarks/picture_of_the_page.py [pictures/page.png]

It takes the package playwright and a Chromium of the distribution.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

import fakempi
from fakempi import Hockney, phantom

RANKS = 24
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))


def heat(comm):
    """A stencil on a ring whose ranks have unequal work, and a sum now and then; in the end all report to rank 0."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for step in range(6):
        fakempi.compute(1e-6 * (6 + 5 * ((comm.rank * 5 + step * 3) % 7) / 7 + 8 * (abs(comm.rank - 15) < 2)))
        comm.Sendrecv(phantom(6000), right, 0, phantom(6000), left, 0)
        comm.Sendrecv(phantom(6000), left, 1, phantom(6000), right, 1)
        if step % 3 == 2:
            comm.Allreduce(phantom(8), phantom(8))
    if comm.rank:
        comm.Send(phantom(4000), 0, 2)
    else:
        for source in range(1, comm.size):
            comm.Recv(phantom(4000), source, 2)


def main(path):
    trace = fakempi.run(heat, RANKS, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True).trace
    trace.about["command"] = "fakempi run -n 24 heat.py"
    with TemporaryDirectory() as folder, sync_playwright() as started:
        page_file = Path(folder, "page.html")
        trace.save(page_file)
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(page_file.as_uri() + "#tab=waits")
        page.wait_for_selector("html[data-ready]")
        box = page.locator("#timeline").bounding_box()
        page.mouse.click(box["x"] + 0.43 * box["width"], box["y"] + 0.655 * box["height"])
        page.mouse.move(box["x"] + 0.432 * box["width"], box["y"] + 0.655 * box["height"])
        page.wait_for_timeout(500)
        page.screenshot(path=path)
        browser.close()
    print(f"{path}: {Path(path).stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "pictures/page.png")
