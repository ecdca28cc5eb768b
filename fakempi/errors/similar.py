"""Names that are similar to a misspelled one, for messages."""

from __future__ import annotations

from collections.abc import Iterable


def get_close_matches(word: str, known: Iterable[str], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the most similar names, the best first, as `difflib.get_close_matches` does."""
    import difflib  # takes 1.6 ms, and few runs need it

    return difflib.get_close_matches(word, [*known], n, cutoff)
