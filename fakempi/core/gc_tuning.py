"""Run the garbage collector less often while many ranks run or modules are imported: most of these objects stay in use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock

OBJECTS_PER_RANK = 20
"""New objects for each rank after which the collector runs."""


class _Threshold:
    """The number of active runs and the original threshold. Runs that overlap share it, and the last one restores it."""

    lock = Lock()
    runs = 0
    before: tuple[int, int, int] = gc.get_threshold()


def fewer_collections(nprocs: int) -> AbstractContextManager[None]:
    """Raise the threshold of the garbage collector while a run of this size is active, unless the run is small."""
    first, *_ = _Threshold.before if _Threshold.runs else gc.get_threshold()
    return _raised_threshold(nprocs) if first < OBJECTS_PER_RANK * nprocs else nullcontext()


@contextmanager
def no_collections() -> Iterator[None]:
    """Collect no garbage while modules are imported, which takes 6 % of the time; their objects count as old afterwards."""
    if not gc.isenabled() or not hasattr(gc, "freeze") or gc.get_freeze_count():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # moves all objects to the oldest generation; otherwise the next collection would examine them
        gc.enable()


@contextmanager
def _raised_threshold(nprocs: int) -> Iterator[None]:
    with _Threshold.lock:
        if not _Threshold.runs:
            _Threshold.before = gc.get_threshold()
        _Threshold.runs += 1
        first, *others = gc.get_threshold()
        if first:  # 0 means that the program has disabled the collector
            gc.set_threshold(max(first, OBJECTS_PER_RANK * nprocs), *others)
    try:
        yield
    finally:
        with _Threshold.lock:
            _Threshold.runs -= 1
            if not _Threshold.runs:
                gc.set_threshold(*_Threshold.before)
