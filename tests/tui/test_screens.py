"""Pictures of the viewer's screen, compared with reviewed ones: at 80 columns by 24 rows, and 160 by 50.

If it changes on purpose: `FAKEMPI_GOLDEN=write pytest ...`, and review the files next to this one.
"""

from __future__ import annotations

import asyncio
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import Hockney
from tests.tui.heat import heat

app = pytest.importorskip(
    "fakempi.apps.tui.app", reason="there is no textual: python -m pip install textual", exc_type=ImportError
)

HERE = Path(__file__).parent
SIZES = {"80x24": (80, 24), "160x50": (160, 50)}
WAYS = {  # the keys, in order
    "first": [],
    "message": ["plus", "down", "down", *["right"] * 24],
    "other_end": ["enter"],
    "search": ["0", "slash", *"allreduce", "enter"],
    "summary": ["2"],
    "waits": ["3"],
    "matrix": ["4"],
    "help": ["question_mark"],
}
_TEXT = re.compile(r'<text class="[^"]*" x="([\d.]+)" y="[^"]*" textLength="[^"]*" clip-path="[^"]*-line-(\d+)\)">([^<]*)')


def text_of(svg: str, size: tuple[int, int]) -> str:
    """The words of a screen with their positions; textual exports a screen only as a picture."""
    lines = [[" "] * size[0] for _ in range(size[1])]
    for x, line, words in _TEXT.findall(svg):
        at = round(float(x) / 12.2)  # pixels per column
        for column, letter in enumerate(unescape(words).replace("\xa0", " "), at):
            if column < size[0] and int(line) < size[1]:
                lines[int(line)][column] = letter
    return "".join("".join(line).rstrip() + "\n" for line in lines)


def screens(size: tuple[int, int], before: dict[str, str]) -> dict[str, str]:
    """The screen after some keys; it may take a while, so wait until it differs from before."""
    trace = fakempi.run(heat, 8, cost=Hockney(1e-6, 1e-9, eager_limit=0), trace=True).trace
    found = {}

    async def driven() -> None:
        viewer: Any = app.TraceViewer(trace, "heat.npz")
        async with viewer.run_test(size=size) as pilot:
            for way, keys in WAYS.items():
                await pilot.press(*keys)
                for _ in range(100):
                    await pilot.pause(0.01)
                    found[way] = text_of(viewer.export_screenshot(), size)
                    if found[way] == before.get(way, found[way]):
                        break

    asyncio.run(driven())
    return found


def stored_screens(found: dict[str, str]) -> str:
    """All of them in one file."""
    return "\n".join(f"== {way}\n{text}" for way, text in found.items())


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_screen_is_unchanged(size: str) -> None:
    """Every character."""
    file = HERE / f"screens_{size}.txt"
    if os.environ.get("FAKEMPI_GOLDEN") == "write":
        file.write_text(stored_screens(screens(SIZES[size], {})), encoding="utf-8")
    before = file.read_text(encoding="utf-8")
    pages = before.removeprefix("== ").split("\n== ")
    found = stored_screens(screens(SIZES[size], dict(page.split("\n", 1) for page in pages)))
    assert found == before
    assert max(map(len, found.splitlines())) <= SIZES[size][0]

