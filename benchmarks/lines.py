"""Lines of the table of speed: what each is made of, and how they are shown: in a terminal, on a page, as data."""

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
    "8 bytes each", "us (time)", "bare switches (ratio)", "of another line (ratio)",
    "SimPy takes (ratio)", "SMPI takes (ratio)",
)  # fmt: skip
LEGEND = (
    "Only `us` is a time: CPU time a message or, of a collective call, a rank and call. All other figures are ratios of "
    "what was measured in turns in the same run: in bare switches of the carrier (of threads, hand-offs), in times of "
    "another line, and how many times as long as fakempi SimPy and SMPI take for the same."
)
Samples = Mapping[Measure, Sequence[float]]


@dataclass(frozen=True)
class Line:
    """What it is called, what is measured for it, and what that is compared with."""

    what: str
    ours: Measure
    bare: Measure
    beside: Measure | None = None
    beside_words: str = ""
    simpy: Measure | None = None
    smpi: Measure | None = None
    front: bool = False
    """Whether it is on the front page, too."""

    def measures(self) -> Iterable[Measure]:
        """All that it needs."""
        return (each for each in (self.ours, self.bare, self.beside, self.simpy, self.smpi) if each is not None)

    def figures(self, samples: Samples) -> dict[str, float | None]:
        """Its time and its ratios; None where something was not measured."""
        mine = samples.get(self.ours)
        return {
            "seconds": median(mine) if mine else None,
            "bare switches": ratio(samples, self.ours, self.bare),
            "of another line": ratio(samples, self.ours, self.beside),
            "SimPy takes": ratio(samples, self.simpy, self.ours),
            "SMPI takes": ratio(samples, self.smpi, self.ours),
        }

    def cells(self, samples: Samples) -> list[str]:
        """What is shown of it."""
        seconds, switches, beside, simpy, smpi = self.figures(samples).values()
        return [
            self.what,
            "–" if seconds is None else f"{seconds * 1e6:.1f}",
            "–" if switches is None else f"{switches:.1f}",
            "" if beside is None else f"{part(beside)} {self.beside_words}",
            *("" if asked is None else "–" if took is None else f"{took:.1f} ×"
              for asked, took in ((self.simpy, simpy), (self.smpi, smpi))),
        ]  # fmt: skip


def ratio(samples: Samples, over: Measure | None, under: Measure | None) -> float | None:
    """The median of each turn's, if both were measured."""
    if over is None or under is None or not samples.get(over) or not samples.get(under):
        return None
    return median(one / other for one, other in zip(samples[over], samples[under], strict=True))


def part(number: float) -> str:
    """1.3 ×, or 1/20 of."""
    return f"{number:.1f} ×" if number > 0.5 else f"1/{1 / number:.0f} of"


def as_table(lines: Iterable[Line], samples: Samples) -> Table:
    """For a terminal."""
    table = Table(caption=LEGEND.replace("`", ""), caption_justify="left")
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading.replace(" (", "\n("), justify="left" if number in (0, 3) else "right")
    for line in lines:
        table.add_row(*(cell.replace("`", "") for cell in line.cells(samples)))
    return table


def as_markdown(lines: Iterable[Line], samples: Samples) -> str:
    """For a page."""
    rows = [HEADINGS, ("---", "--:", "--:", "---", "--:", "--:"), *(line.cells(samples) for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def as_data(lines: Iterable[Line], samples: Samples) -> list[dict[str, Any]]:
    """For programs."""
    return [
        {"what": line.what, "ranks": line.ours.ranks, "beside": line.beside_words, **line.figures(samples)} for line in lines
    ]


def rewritten(page: Path, blocks: Mapping[str, str]) -> str:
    """A page with all that it has between `<!-- NAME -->` and `<!-- end of NAME -->` written anew, for these names."""
    text = page.read_text(encoding="utf-8")
    places = {name: re.compile(f"(?<=<!-- {name} -->\n).*(?=<!-- end of {name} -->)", re.DOTALL) for name in blocks}
    if not any(place.search(text) for place in places.values()):
        names = " nor ".join(f"<!-- {name} -->" for name in blocks)
        raise SystemExit(f"{page} has no place for a table: neither {names} with an end.")
    for name, place in places.items():
        text = place.sub(blocks[name].replace("\\", r"\\") + "\n", text)
    return text
