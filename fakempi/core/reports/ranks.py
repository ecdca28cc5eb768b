"""Names of ranks in errors, findings and reports.

Processes have numbers that are unique in a run: first the processes that `run` starts, in the order of their ranks, then
those of each spawned group, in the order in which groups are spawned. The name of a process is its rank in its own world.
For spawned processes the line is added: `rank 2 of the group spawned at farm.py:12`, or `of the 3rd group` if that line has
spawned several.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from fakempi.errors.plurals import counted


class Names:
    """Names of processes. Of each group: its first number, and the line that spawned it, empty for the first group."""

    def __init__(self) -> None:
        self.firsts = [0]
        self.places = [""]

    def add(self, first: int, place: str) -> None:
        """Add a group, whose numbers are higher than those of all groups before."""
        if first:
            self.firsts.append(first)
            self.places.append(place)

    def rank(self, number: int) -> int:
        """Return the rank of a process in its own world."""
        return number - self.firsts[self._group(number)]

    def name(self, number: int) -> str:
        """Return the name of a process: `rank 2`, `rank 2 of the group spawned at farm.py:12`."""
        return f"rank {self.short(number)}"

    def short(self, number: int) -> str:
        """Return the name of a process without the word "rank"."""
        group = self._group(number)
        return f"{number - self.firsts[group]}{self._group_suffix(group)}"

    def text(self, numbers: Iterable[int], maximum: int = 12) -> str:
        """Return the names of several processes: `ranks_text` of each group, for a maximum number of groups."""
        groups: dict[int, list[int]] = {}
        for number in sorted(set(numbers)):
            group = self._group(number)
            groups.setdefault(group, []).append(number - self.firsts[group])
        parts = [ranks_text(ranks, maximum) + self._group_suffix(group) for group, ranks in groups.items()]
        if len(parts) > maximum:
            more = len(parts) - maximum + 1
            parts = [*parts[: maximum - 1], f"ranks of {counted(more, 'more group')}"]
        return (", ".join(parts[:-1]) + " and " if len(parts) > 1 else "") + parts[-1]

    def _group(self, number: int) -> int:
        return bisect_right(self.firsts, number) - 1

    def _group_suffix(self, group: int) -> str:
        """Return the suffix of ranks of a group; empty for the processes that `run` started."""
        if not group:
            return ""
        place = self.places[group]
        position = self.places[: group + 1].count(place)
        ordinal = "" if self.places.count(place) == 1 else f"{_ordinal(position)} "
        return f" of the {ordinal}group spawned at {place}"


def ranks_text(ranks: Iterable[int], maximum: int = 12) -> str:
    """Return `rank 3` or `ranks 0, 2-5 and 9`, for a maximum number of ranges."""
    distinct = set(ranks)
    return ("rank " if len(distinct) == 1 else "ranks ") + ranges_text(distinct, maximum)


def ranges_text(numbers: Iterable[int], maximum: int = 12) -> str:
    """Return `0, 2-5 and 9`, for a maximum number of ranges."""
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    if len(parts) > maximum:
        parts = [*parts[: maximum - 1], f"{len(parts) - maximum + 1} more"]
    return (", ".join(parts[:-1]) + " and " if len(parts) > 1 else "") + parts[-1]


def _ordinal(position: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(position % 10, "th") if position % 100 not in (11, 12, 13) else "th"
    return f"{position}{ending}"
