"""The pages of algorithm families."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from collectives.bundled import bundled
from docs.hooks.families import all_families, families

ROOT = Path(__file__).parents[2]


def test_every_algorithm_within_a_group_belongs_to_one_family() -> None:
    """Add the name of a new algorithm to docs/hooks/families.txt."""
    names = Counter(name for family in all_families() for name in family.names)
    assert [name for name, count in names.items() if count > 1] == []
    assert sorted({each.name for each in bundled() if each.kind == "intra"} - set(names)) == []


def test_every_family_has_a_page_and_a_picture_of_its_schedules() -> None:
    """The picture has the title of each call; benchmarks/family_pictures.py draws it."""
    pages = families()
    for family in all_families():
        drawn = (ROOT / "pictures" / "families" / f"{family.file}.svg").read_text(encoding="utf-8")
        assert all(f">{picture.title}</text>" in drawn for picture in family.pictures)
        assert f"pictures/families/{family.file}.svg" in pages[f"families/{family.file}.md"]
        assert f"]({family.file}.md)" in pages["families/index.md"]
