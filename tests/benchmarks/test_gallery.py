"""The gallery: every picture on the page is made by the script, and the script makes no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_pictures_of_the_script() -> None:
    """By name, and as files."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    script = (ROOT / "benchmarks" / "gallery.py").read_text(encoding="utf-8")
    shown = set(re.findall(r"assets/gallery/(\w+)\.svg", page))
    made = set(re.findall(r'yield "(\w+)"|"(\w+)\.svg"', script))
    assert shown == {one or other for one, other in made}
    assert shown == {path.stem for path in (ROOT / "docs" / "assets" / "gallery").glob("*.svg")}
