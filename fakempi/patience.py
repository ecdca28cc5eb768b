"""How often the garbage collector looks: less often while anybody runs many ranks, for nearly all it sees is alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Patience:
    """The threshold belongs to the whole process, so runs that overlap share it: the last to end puts it back."""

    lock = Lock()
    runs = 0
    before: tuple[int, int, int] = gc.get_threshold()


@contextmanager
def patient_collector(nprocs: int) -> Iterator[None]:
    """While so many ranks run."""
    with Patience.lock:
        if not Patience.runs:
            Patience.before = gc.get_threshold()
        Patience.runs += 1
        first, *others = gc.get_threshold()
        if first:  # 0 means that the program has switched it off
            gc.set_threshold(max(first, 20 * nprocs), *others)
    try:
        yield
    finally:
        with Patience.lock:
            Patience.runs -= 1
            if not Patience.runs:
                gc.set_threshold(*Patience.before)
