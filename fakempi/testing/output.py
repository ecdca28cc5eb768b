"""Which rank wrote what: output goes on to where it would go anyway, and is kept by rank for the report of a failure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Kept:
    """Stands in for a text stream: passes everything on, and keeps what each rank wrote."""

    def __init__(self, stream: Any, who: Callable[[], int | None], by_rank: dict[int | None, list[str]]) -> None:
        self._stream, self._who, self._by_rank = stream, who, by_rank

    def write(self, text: str) -> int:
        """Pass it on, and keep it."""
        self._by_rank.setdefault(self._who(), []).append(text)
        return int(self._stream.write(text) or len(text))

    def writelines(self, lines: Any) -> None:
        """Each of them."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def kept_by_rank(who: Callable[[], int | None]) -> Iterator[dict[str, dict[int | None, list[str]]]]:
    """While this lasts, what ranks write to stdout and stderr is kept by stream and rank."""
    kept: dict[str, dict[int | None, list[str]]] = {"stdout": {}, "stderr": {}}
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (Kept(stream, who, kept[name]) for name, stream in zip(kept, before, strict=True))
    try:
        yield kept
    finally:
        sys.stdout, sys.stderr = before
