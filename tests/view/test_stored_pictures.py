"""Each kind of figure is like a stored picture.

Fonts and lines differ a little between versions of matplotlib and between processors, so a picture is stored as blocks of
gray, from 0 (black) to 9 (white). `FAKEMPI_GOLDEN=write pytest ...` writes the pictures: review them.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("matplotlib", reason="there is no matplotlib: pip install 'fakempi[plot]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fakempi.view.figure.canvas import styled
from tests.view.figures import KINDS

PICTURES = Path(__file__).parent / "pictures"
ROWS, COLUMNS = 32, 32
MEAN, FAR = 0.35, 0.06
"""Tolerance: the mean difference in levels of gray, and the part of the blocks that differ by more than two levels."""

Blocks = npt.NDArray[np.float64]


def blocks(figure: Figure) -> Blocks:
    """The mean level of gray of each block of a picture."""
    with styled():
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[:, :, :3].mean(axis=2)
    rows, columns = (
        np.linspace(0, size, parts + 1).astype(int) for size, parts in zip(pixels.shape, (ROWS, COLUMNS), strict=True)
    )
    means = [[pixels[top:bottom, left:right].mean() for left, right in pairwise(columns)] for top, bottom in pairwise(rows)]
    return np.round(np.array(means) / 255 * 9)


def stored(name: str) -> Blocks:
    """The blocks of a stored picture."""
    lines = (PICTURES / f"{name}.txt").read_text(encoding="utf-8").split()
    return np.array([[int(level) for level in line] for line in lines], float)


def alike(one: Blocks, other: Blocks) -> bool:
    """Whether two pictures are equal up to the tolerance."""
    different = np.abs(one - other)
    return bool(different.mean() <= MEAN and (different > 2).mean() <= FAR)


@pytest.mark.parametrize("name", KINDS)
def test_a_figure_is_like_its_stored_picture(name: str) -> None:
    """Up to the tolerance."""
    drawn = blocks(KINDS[name]())
    if os.environ.get("FAKEMPI_GOLDEN") == "write":
        PICTURES.mkdir(exist_ok=True)
        lines = ["".join(f"{level:.0f}" for level in row) for row in drawn]
        (PICTURES / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert alike(drawn, stored(name)), np.abs(drawn - stored(name)).mean()


@pytest.mark.sample
def test_the_tolerance_tells_kinds_apart() -> None:
    """A stored picture is like no other one, and a missing legend or bar is a difference."""
    names = list(KINDS)
    pairs = [(one, other) for index, one in enumerate(names) for other in names[index + 1 :]]
    assert [pair for pair in pairs if alike(stored(pair[0]), stored(pair[1]))] == []
    part = stored("run")
    part[: ROWS // 3] = 9
    assert not alike(part, stored("run"))
    assert sorted(path.stem for path in PICTURES.glob("*.txt")) == sorted(names)
