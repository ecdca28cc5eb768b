"""`map` and `starmap`: calls for all items, with an iterator over the results."""

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
    """Submit all calls, or `buffersize` calls at a time, and return an iterator over the results. See `starmap`."""
    if chunksize < 1:
        raise ValueError(f"chunksize is {chunksize}; it must be at least 1.")
    if buffersize is not None:
        if not isinstance(buffersize, int):
            raise TypeError(f"buffersize is {buffersize!r}, not an int or None.")
        if buffersize < 1:
            raise ValueError(f"buffersize is {buffersize}; it must be at least 1.")
        if unordered:
            raise ValueError("buffersize cannot be combined with unordered.")
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
    unsubmitted = iter(calls)
    futures = deque(executor.submit(function, *args) for args in islice(unsubmitted, buffersize))
    executor_ref = weakref.ref(executor)  # unused iterators must not keep workers alive

    def refill() -> None:
        live_executor = executor_ref()
        if live_executor is not None:
            futures.extend(live_executor.submit(function, *args) for args in islice(unsubmitted, 1))

    return _in_completion_order(set(futures), end) if unordered else _in_order(futures, end, refill)


def _in_order(futures: deque[Future[Any]], end: float | None, refill: Callable[[], None]) -> Iterator[Any]:
    try:
        while futures:
            results = [futures[0].result(_remaining(end))]
            futures.popleft()
            refill()
            yield results.pop()  # pop, so that no reference is kept
    finally:
        for future in futures:
            future.cancel()


def _in_completion_order(futures: set[Future[Any]], end: float | None) -> Iterator[Any]:
    try:
        for future in as_completed(set(futures), _remaining(end)):
            futures.discard(future)
            results = [future.result()]
            del future
            yield results.pop()
    finally:
        for future in futures:
            future.cancel()


def _remaining(end: float | None) -> float | None:
    return None if end is None else end - time.monotonic()


def chunks_of(calls: Iterable[Any], size: int) -> Iterator[tuple[Any, ...]]:
    """Yield the calls in chunks, the last of which may be shorter."""
    iterator = iter(calls)
    while chunk := tuple(islice(iterator, size)):
        yield chunk


def calls_of(function: Callable[..., Any], chunk: Iterable[Iterable[Any]]) -> list[Any]:
    """Execute a chunk of calls and return the results."""
    return list(starmap(function, chunk))
