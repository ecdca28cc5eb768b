"""The site builds without warnings, without the network and with all timelines; the wheel is complete."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.hooks.description import description
from tests.architecture.words import tracked
from tests.helpers.packages import needs

ROOT = Path(__file__).parents[2]
FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src", "object": "data"}
OUTSIDE = re.compile(r"(https?:)?//")


class Fetches(HTMLParser):
    """Collect the addresses that a page loads without a click."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record addresses of scripts, styles, fonts, pictures and frames."""
        address = dict(attrs).get(FETCHED.get(tag, ""))
        if address and dict(attrs).get("rel") not in ("canonical", "next", "prev"):
            self.found.append(address)


def output_of(*words: str, directory: Path) -> str:
    """The output of a command that must succeed."""
    settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *words]
    ended = subprocess.run(
        command, cwd=directory, env=settings, capture_output=True, encoding="utf-8", timeout=270, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory in which `python -m mkdocs build --strict` builds the site."""
    if "FAKEMPI_SITE" in os.environ:  # set by .ci/run
        return Path(os.environ["FAKEMPI_SITE"])
    for name in ("mkdocs", "material", "mkdocstrings"):
        needs(name)
    directory = tmp_path_factory.mktemp("site")
    assert "WARNING" not in output_of("mkdocs", "build", "--strict", "--site-dir", str(directory), directory=ROOT)
    return directory


@pytest.mark.sample
@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_fetches_nothing(site: Path) -> None:
    """Check every address in the HTML and CSS files."""
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        parser = Fetches()
        parser.feed(page.read_text(encoding="utf-8"))
        assert [address for address in parser.found if OUTSIDE.match(address)] == [], page
        frames = [address for address in parser.found if "timelines/" in address]
        assert all((page.parent / address).is_file() for address in frames), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", style.read_text(encoding="utf-8")), style
    assert list((site / "timelines").glob("*.html"))


@pytest.mark.sample
@pytest.mark.slow
def test_the_search_works_from_the_disk_without_the_network(site: Path) -> None:
    """In a browser: a word is found, and its result opens. On a telephone, a wide table scrolls in its frame."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    playwright = needs("playwright.sync_api")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    arguments += ["--disable-background-networking", "--disable-sync"]
    wrong: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=arguments, timeout=120_000)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: wrong.extend([one.url] * (not one.url.startswith(("file:", "data:", "blob:")))))
        page.goto((site / "papers" / "index.html").as_uri())
        page.click("input.md-search__input")
        page.keyboard.type("deadlock")  # not `fill`: the search reacts to key events
        page.wait_for_selector(".md-search-result__link")
        found = page.get_attribute(".md-search-result__link", "href")
        assert found.startswith(site.as_uri())
        page.goto(found)
        assert "deadlock" in page.inner_text("article").lower()
        page.set_viewport_size({"width": 390, "height": 844})
        for name in ("packages", "conformance", "papers/moody"):
            page.goto((site / f"{name}.html").as_uri())
            frame = page.locator(".md-typeset__scrollwrap").first
            assert frame.evaluate("e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === 'auto'"), name
            assert page.evaluate("document.scrollingElement.scrollWidth") == 390, name
        browser.close()
    assert wrong == []


@pytest.mark.slow
def test_the_wheel_has_all_files_of_the_packages(tmp_path: Path) -> None:
    """Including page assets, explanations, tour programs and exercises."""
    output_of("pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), ".", directory=ROOT)
    [wheel] = tmp_path.glob("fakempi-*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert set(tracked("fakempi", "collectives")) - packed == set()
    assert not {name for name in packed if not name.startswith(("fakempi", "collectives"))}
    [about] = (name for name in packed if name.endswith(".dist-info/METADATA"))
    metadata = message_from_bytes(zipfile.ZipFile(wheel).read(about))
    assert metadata["Description-Content-Type"] == "text/markdown"
    expected = description((ROOT / "README.md").read_text(encoding="utf-8"))
    assert metadata.get_payload(decode=True) == expected.encode()
