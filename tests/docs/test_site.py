"""The site as it is built: without a warning, without the network, with all timelines; and the wheel, with all it needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src", "object": "data"}
OUTSIDE = re.compile(r"(https?:)?//")


class Fetches(HTMLParser):
    """What a page fetches by itself; what readers may click on is theirs."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Scripts, styles, fonts, pictures, frames."""
        address = dict(attrs).get(FETCHED.get(tag, ""))
        if address and dict(attrs).get("rel") not in ("canonical", "next", "prev"):
            self.found.append(address)


def done(*words: str, folder: Path) -> str:
    """What a command prints, which must end well."""
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *words]
    ended = subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, encoding="utf-8", timeout=500, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `python -m mkdocs build --strict` makes it, without a warning."""
    if "FAKEMPI_SITE" in os.environ:  # where .ci/run has built it
        return Path(os.environ["FAKEMPI_SITE"])
    for name in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("site")
    assert "WARNING" not in done("mkdocs", "build", "--strict", "--site-dir", str(folder), folder=ROOT)
    return folder


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_fetches_nothing(site: Path) -> None:
    """Every address in what was written."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        parser = Fetches()
        parser.feed(page.read_text(encoding="utf-8"))
        assert [address for address in parser.found if OUTSIDE.match(address)] == [], page
        frames = [address for address in parser.found if "timelines/" in address]
        assert all((page.parent / address).is_file() for address in frames), page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", sheet.read_text(encoding="utf-8")), sheet
    assert list((site / "timelines").glob("*.html"))


@pytest.mark.slow
def test_the_search_works_from_the_disk_and_asks_the_network_for_nothing(site: Path) -> None:
    """In a browser, on a page in a folder: a word is found, and what is found can be gone to."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    wrong: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: wrong.extend([asked.url] * (not asked.url.startswith(("file:", "data:", "blob:")))))
        page.goto((site / "papers" / "index.html").as_uri())
        page.click("input.md-search__input")
        page.keyboard.type("deadlock")  # `fill` presses no key, and the search looks at its words when one is let go
        page.wait_for_selector(".md-search-result__link")
        found = page.get_attribute(".md-search-result__link", "href")
        assert found.startswith(site.as_uri())
        page.goto(found)
        assert "deadlock" in page.inner_text("article").lower()
        browser.close()
    assert wrong == []


@pytest.mark.slow
def test_the_wheel_holds_all_that_is_in_the_packages(tmp_path: Path) -> None:
    """Page assets, explanations, stations of the tour, exercises: whatever git has in there."""
    done("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), ".", folder=ROOT)
    [wheel] = tmp_path.glob("fakempi-*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    listed = subprocess.run(
        ["git", "ls-files", "fakempi", "collectives"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(listed.stdout.split("\n")) - {""} - held == set()
    assert not {name for name in held if not name.startswith(("fakempi", "collectives"))}
