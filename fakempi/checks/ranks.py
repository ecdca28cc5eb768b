"""Ranks in words. There is one rule, for complaints, reports of failures and of deadlocks alike.

Processes have numbers that are unique in a run: those that were started come first, in the order of their ranks, then each
group that was spawned, in the order of birth. In words a process is its rank in its own world, and if it was spawned, also
where: `rank 2 of the group spawned at farm.py:12`, or of the 3rd one, if more than one was spawned there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable


class Names:
    """Who was born where: of each group, its first number and its place in the program, empty if it was started."""

    def __init__(self) -> None:
        self.firsts = [0]
        self.sites = [""]

    def add(self, first: int, site: str) -> None:
        """A group is born; those born later have higher numbers."""
        if first:
            self.firsts.append(first)
            self.sites.append(site)

    def rank(self, number: int) -> int:
        """A process's rank in its own world."""
        return number - self.firsts[self._group(number)]

    def name(self, number: int) -> str:
        """A process in words: `rank 2`, `rank 2 of the group spawned at farm.py:12`."""
        return f"rank {self.short(number)}"

    def short(self, number: int) -> str:
        """The same without the noun."""
        group = self._group(number)
        return f"{number - self.firsts[group]}{self._whose(group)}"

    def words(self, numbers: Iterable[int], most: int = 12) -> str:
        """Several processes: ranks as `ranks_in_words` has them, group by group, and no more than so many groups."""
        groups: dict[int, list[int]] = {}
        for number in sorted(set(numbers)):
            group = self._group(number)
            groups.setdefault(group, []).append(number - self.firsts[group])
        parts = [ranks_in_words(ranks, most) + self._whose(group) for group, ranks in groups.items()]
        if len(parts) > most:
            parts = [*parts[: most - 1], f"ranks of {len(parts) - most + 1} more groups"]
        return (", ".join(parts[:-1]) + " and " if len(parts) > 1 else "") + parts[-1]

    def _group(self, number: int) -> int:
        return bisect_right(self.firsts, number) - 1

    def _whose(self, group: int) -> str:
        """What comes after a rank of that group: nothing in the world that was started."""
        if not group:
            return ""
        site = self.sites[group]
        place = self.sites[: group + 1].count(site)
        which = "" if self.sites.count(site) == 1 else f"{_ordinal(place)} "
        return f" of the {which}group spawned at {site}"


def ranks_in_words(ranks: Iterable[int], most: int = 12) -> str:
    """`rank 3`, `ranks 0, 2-5 and 9`: runs folded, and no more than so many of them."""
    distinct = set(ranks)
    return ("rank " if len(distinct) == 1 else "ranks ") + runs_in_words(distinct, most)


def runs_in_words(numbers: Iterable[int], most: int = 12) -> str:
    """The same of any numbers, without the noun."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return (", ".join(words[:-1]) + " and " if len(words) > 1 else "") + words[-1]


def _ordinal(place: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th") if place % 100 not in (11, 12, 13) else "th"
    return f"{place}{ending}"
