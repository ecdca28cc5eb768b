"""Numbers of the requests of nonblocking calls.

An MPI library may use one handle for several requests (MPICH does so for sends that are complete at once), so a request is
known by its Python object. Where a program drops an object without waiting, another object may get its id: each call that
creates a request replaces the entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class OpenRequest(NamedTuple):
    """A request that was not completed: its numbers (a nonblocking Sendrecv has two), and whether the last is a wildcard.

    Only receives from any source or with any tag read the status: that of MPICH for a nonblocking Sendrecv is wrong.
    """

    numbers: tuple[int, ...]
    wildcard: bool


class PersistentRequest(NamedTuple):
    """A persistent request: the kind of the event at each start, and its words without the request."""

    kind: str
    wildcard: bool
    words: str


class RequestNumbers:
    """The requests of this rank."""

    def __init__(self) -> None:
        self._open: dict[int, OpenRequest] = {}
        self._persistent: dict[int, PersistentRequest] = {}
        self._next = 0

    def start(self, request: Any, wildcard: bool = False) -> int:
        """Return the number of a new request."""
        number = self._next
        self._next = number + 1
        self._open[id(request)] = OpenRequest((number,), wildcard)
        return number

    def start_both(self, request: Any, wildcard: bool) -> tuple[int, int]:
        """Return two numbers of a new request that sends and receives."""
        first = self._next
        self._next = first + 2
        self._open[id(request)] = OpenRequest((first, first + 1), wildcard)
        return first, first + 1

    def add(self, request: Any) -> int:
        """Return the number of a further message of an open request, or of a new one; without wildcards."""
        before = self.numbers(request)
        number = self.start(request)
        self._open[id(request)] = OpenRequest((*before, number), False)
        return number

    def numbers(self, request: Any) -> tuple[int, ...]:
        """Return the numbers of a request; none if it is not open."""
        return self._open.get(id(request), OpenRequest((), False)).numbers

    def complete(self, request: Any, status: Any, match: Callable[[Any], str]) -> str:
        """Return the words of a completed request in a `wait`, each with a blank before it; empty if it was not open."""
        found = self._open.pop(id(request), None)
        if found is None:
            return ""
        numbers, wildcard = found
        words = f" {numbers[0]}" if len(numbers) == 1 else "".join(f" {number}" for number in numbers)
        return words + match(status) if wildcard and status is not None else words

    def make_persistent(self, request: Any, kind: str, wildcard: bool, words: str) -> None:
        """Remember what each start of a persistent request does."""
        self._persistent[id(request)] = PersistentRequest(kind, wildcard, words)

    def restart(self, request: Any) -> tuple[str, str] | None:
        """Return the kind and the words of a persistent request that was started; None if it is unknown."""
        found = self._persistent.get(id(request))
        return None if found is None else (found.kind, f"{found.words} {self.start(request, found.wildcard)}")

    def forget(self, request: Any) -> None:
        """Forget a request that the program has freed."""
        self._open.pop(id(request), None)
        self._persistent.pop(id(request), None)
