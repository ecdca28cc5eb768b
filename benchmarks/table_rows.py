"""Rows of the speed table: what each row measures, and how rows are printed in a terminal, on a page and as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from measures import Measure
from rich.table import Table

HEADINGS = (
    "program, 8 bytes per message", "µs per message or call", "relative to a bare switch", "relative to another row",
    "SimPy, relative to fakempi", "SMPI, relative to fakempi",
)  # fmt: skip
SHORT = "program, 8 bytes per message", "time", "compared with", "ratio"
LEGEND = (
    "The second column is CPU time: per message, or for a collective call per rank and call. The other columns are ratios "
    "of CPU times that were measured alternately in the same run: fakempi over a bare switch of the backend (a greenlet "
    "switch, or a hand-off between two threads), fakempi over the row that is named, and SimPy and SMPI over fakempi for "
    "the same program."
)
Samples = Mapping[Measure, Sequence[float]]


@dataclass(frozen=True)
class Row:
    """A row: its label, the measurement of fakempi, and the measurements that it is compared with."""

    label: str
    ours: Measure
    bare: Measure
    reference: Measure | None = None
    reference_label: str = ""
    simpy: Measure | None = None
    smpi: Measure | None = None
    in_readme: bool = False

    def measures(self) -> Iterable[Measure]:
        """All measurements that the row needs."""
        return (each for each in (self.ours, self.bare, self.reference, self.simpy, self.smpi) if each is not None)

    def figures(self, samples: Samples) -> dict[str, float | None]:
        """The time and the ratios; None where a measurement is missing."""
        mine = samples.get(self.ours)
        return {
            "seconds": median(mine) if mine else None,
            "per bare switch": ratio(samples, self.ours, self.bare),
            "per reference": ratio(samples, self.ours, self.reference),
            "SimPy per fakempi": ratio(samples, self.simpy, self.ours),
            "SMPI per fakempi": ratio(samples, self.smpi, self.ours),
        }

    def cells(self, samples: Samples) -> list[str]:
        """The text of each cell. A dash marks a missing measurement, an empty cell one that the row does not have."""
        seconds, switches, reference, simpy, smpi = self.figures(samples).values()
        return [
            self.label,
            "–" if seconds is None else f"{seconds * 1e6:.1f}",
            "–" if switches is None else f"{switches:.1f}",
            "" if reference is None else f"{as_factor(reference)} {self.reference_label}",
            *("" if measure is None else "–" if factor is None else f"{factor:.1f} ×"
              for measure, factor in ((self.simpy, simpy), (self.smpi, smpi))),
        ]  # fmt: skip


def ratio(samples: Samples, over: Measure | None, under: Measure | None) -> float | None:
    """Median of the ratios of all rounds, if both were measured."""
    if over is None or under is None or not samples.get(over) or not samples.get(under):
        return None
    return median(one / other for one, other in zip(samples[over], samples[under], strict=True))


def as_factor(number: float) -> str:
    """A ratio as text: "1.3 ×", or "1/20 of" below one half."""
    return f"{number:.1f} ×" if number > 0.5 else f"1/{1 / number:.0f} of"


def as_table(rows: Iterable[Row], samples: Samples) -> Table:
    """The table for a terminal."""
    table = Table(caption=LEGEND, caption_justify="left")
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="left" if number in (0, 3) else "right", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(cell.replace("`", "") for cell in row.cells(samples)))
    return table


def as_markdown(rows: Iterable[Row], samples: Samples) -> str:
    """The table for a page."""
    lines = [HEADINGS, ("---", "--:", "--:", "---", "--:", "--:"), *(row.cells(samples) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_short_markdown(rows: Iterable[Row], samples: Samples) -> str:
    """A table of four columns, with a line for each tool that fakempi is compared with."""
    lines = [SHORT, ("---", "--:", "---", "--:")]
    for row in rows:
        label, seconds, _, _, *factors = row.cells(samples)
        compared = [(tool, factor) for tool, factor in zip(("SimPy", "SMPI"), factors, strict=True) if factor]
        for number, (tool, factor) in enumerate(compared):
            lines.append((label, f"{seconds} µs", tool, factor) if number == 0 else ("", "", tool, factor))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_data(rows: Iterable[Row], samples: Samples) -> list[dict[str, Any]]:
    """The table for programs."""
    return [
        {"label": row.label, "ranks": row.ours.ranks, "reference": row.reference_label, **row.figures(samples)}
        for row in rows
    ]


def with_blocks(page: Path, blocks: Mapping[str, str]) -> str:
    """The text of a page with the parts between `<!-- NAME -->` and `<!-- end of NAME -->` replaced, for these names."""
    text = page.read_text(encoding="utf-8")
    places = {name: re.compile(f"(?<=<!-- {name} -->\n).*(?=<!-- end of {name} -->)", re.DOTALL) for name in blocks}
    if not any(place.search(text) for place in places.values()):
        names = " or ".join(f"<!-- {name} -->" for name in blocks)
        raise SystemExit(f"{page} has no place for a table: expected {names} and the matching end.")
    for name, place in places.items():
        text = place.sub(blocks[name].replace("\\", r"\\") + "\n", text)
    return text
