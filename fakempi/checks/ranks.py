"""Ranks in words."""

from __future__ import annotations

from collections.abc import Iterable


def ranks_in_words(ranks: Iterable[int], most: int = 12) -> str:
    """`rank 3`, `ranks 0, 2-5 and 9`: runs folded, and no more than so many of them."""
    runs: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    words = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    one = len(runs) == 1 and runs[0][0] == runs[0][1]
    return ("rank " if one else "ranks ") + (", ".join(words[:-1]) + " and " if len(words) > 1 else "") + words[-1]
