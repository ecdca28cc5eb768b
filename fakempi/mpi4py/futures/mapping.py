"""`map` and `starmap`: many calls, and their results as they are asked for."""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from functools import partial
from itertools import chain, islice, starmap
from typing import Any


def results(
    executor: Executor,
    function: Callable[..., Any],
    calls: Iterable[Iterable[Any]],
    timeout: float | None,
    chunksize: int,
    buffersize: int | None,
    unordered: bool,
) -> Iterator[Any]:
    """Submit calls now, or as many as the buffer holds; what is returned yields their results. See `starmap`."""
    if chunksize < 1:
        raise ValueError(f"chunksize is {chunksize}; at least 1 call must be in a chunk.")
    if buffersize is not None:
        if not isinstance(buffersize, int):
            raise TypeError(f"buffersize is {buffersize!r}, not an int or None.")
        if buffersize < 1:
            raise ValueError(f"buffersize is {buffersize}; at least 1 task must be in the buffer.")
        if unordered:
            raise ValueError("buffersize needs results in order: unordered is not possible with it.")
    if chunksize > 1:
        chunks = ((chunk,) for chunk in chunks_of(calls, chunksize))
        return chain.from_iterable(_results(executor, partial(calls_of, function), chunks, timeout, buffersize, unordered))
    return _results(executor, function, calls, timeout, buffersize, unordered)


def _results(
    executor: Executor,
    function: Callable[..., Any],
    calls: Iterable[Iterable[Any]],
    timeout: float | None,
    buffersize: int | None,
    unordered: bool,
) -> Iterator[Any]:
    end = None if timeout is None else time.monotonic() + timeout
    left = iter(calls)
    futures = deque(executor.submit(function, *args) for args in islice(left, buffersize))
    whose = weakref.ref(executor)  # results that nobody asks for must not keep its workers

    def refill() -> None:
        another = whose()
        if another is not None:
            futures.extend(another.submit(function, *args) for args in islice(left, 1))

    return _as_they_come(set(futures), end) if unordered else _in_order(futures, end, refill)


def _in_order(futures: deque[Future[Any]], end: float | None, refill: Callable[[], None]) -> Iterator[Any]:
    try:
        while futures:
            found = [futures[0].result(_until(end))]
            futures.popleft()
            refill()
            yield found.pop()  # and keep nothing of it
    finally:
        for future in futures:
            future.cancel()


def _as_they_come(futures: set[Future[Any]], end: float | None) -> Iterator[Any]:
    try:
        for future in as_completed(set(futures), _until(end)):
            futures.discard(future)
            found = [future.result()]
            del future
            yield found.pop()
    finally:
        for future in futures:
            future.cancel()


def _until(end: float | None) -> float | None:
    return None if end is None else end - time.monotonic()


def chunks_of(calls: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    """Calls in chunks, the last of which may be shorter."""
    left = iter(calls)
    while chunk := tuple(islice(left, size)):
        yield chunk


def calls_of(function: Callable[..., Any], chunk: Iterable[Iterable[Any]]) -> list[Any]:
    """What a worker does with a chunk."""
    return list(starmap(function, chunk))
