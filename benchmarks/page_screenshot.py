"""Create the screenshots of the HTML page for README.md and the site: run a program, save its page, and take screenshots.

    python benchmarks/page_screenshot.py [DIRECTORY]

The files are DIRECTORY/page.png and DIRECTORY/page_dark.png (default: pictures). Needs the package playwright and Chromium.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
COMMANDS = (  # two, because the title of the page is then the name of a file, which is not cut off
    "-m fakempi run -n 24 --cost hockney:eager_limit=0 --trace heat.json heat.py",
    "-m fakempi view heat.json --html page.html",
)

HEAT = '''"""A stencil on a ring with unequal work, a sum in every third step, and a message to rank 0 at the end."""

import fakempi
from fakempi import phantom
from mpi4py import MPI

comm = MPI.COMM_WORLD
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
'''


def main(directory):
    with TemporaryDirectory() as work, sync_playwright() as started:
        Path(work, "heat.py").write_text(HEAT)
        for command in COMMANDS:
            subprocess.run([sys.executable, *command.split()], cwd=work, check=True)
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"])
        for name, scheme in (("page.png", "light"), ("page_dark.png", "dark")):
            page = browser.new_page(viewport={"width": 1280, "height": 960}, color_scheme=scheme)
            page.goto(Path(work, "page.html").as_uri() + "#tab=waits")
            page.wait_for_selector("html[data-ready]")
            box = page.locator("#timeline").bounding_box()
            page.mouse.click(box["x"] + 0.43 * box["width"], box["y"] + 0.655 * box["height"])
            page.mouse.move(box["x"] + 0.432 * box["width"], box["y"] + 0.655 * box["height"])
            page.wait_for_timeout(500)
            path = Path(directory, name)
            page.screenshot(path=path)
            page.close()
            print(f"{path}: {path.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "pictures")
