"""The members of a group: an immutable list of process numbers, one object for all ranks that have the same list.

The members of COMM_WORLD and of regular slices of it are ranges, which need constant memory. Other lists are tuples, stored
once for all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import eq
from weakref import WeakValueDictionary


class Members:
    """Distinct process numbers in rank order. Create them with `Members.of`: equal lists are the same object.

    `numbers[rank]` is the process of a rank; `index(number)` the rank of a process. Both take constant time.
    """

    __slots__ = ("__weakref__", "_hash", "_results", "_where", "numbers")

    numbers: range | tuple[int, ...]

    def __init__(self, numbers: range | tuple[int, ...]) -> None:
        self.numbers = numbers
        self._hash = hash(numbers)
        self._where: dict[int, int] | None = None
        self._results: WeakValueDictionary[tuple[str, Members], Members] | None = None

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Members:
        """The members with these numbers, which must be distinct."""
        compact = _compact(numbers)
        known = _interned.get(compact)
        return _interned.setdefault(compact, cls(compact)) if known is None else known

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rank: int) -> int:
        return self.numbers[rank]

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)

    def __contains__(self, number: int) -> bool:
        return self.index(number) is not None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Members) and self.numbers == other.numbers)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Members.of({self.numbers!r})"

    def index(self, number: int) -> int | None:
        """The rank of the process with this number, or None if it is not a member."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return numbers.index(number) if number in numbers else None
        where = self._where
        if where is None:
            where = self._where = {member: rank for rank, member in enumerate(numbers)}
        return where.get(number)

    def take(self, ranks: Sequence[int]) -> Members:
        """Return the members at these ranks, in that order."""
        numbers = self.numbers
        if isinstance(ranks, range) and isinstance(numbers, range) and ranks:
            first, stride = numbers[ranks[0]], numbers.step * ranks.step
            return Members.of(range(first, first + len(ranks) * stride, stride))
        return Members.of([numbers[rank] for rank in ranks])

    def union(self, other: Members) -> Members:
        """Return all members of this object, then those of the other that are not among them."""
        return self._cached("union", other, lambda: [*self, *(number for number in other if number not in self)])

    def intersection(self, other: Members) -> Members:
        """Return the members that both have, in the order of this object."""
        return self._cached("intersection", other, lambda: [number for number in self if number in other])

    def difference(self, other: Members) -> Members:
        """Return the members that the other does not have, in the order of this object."""
        return self._cached("difference", other, lambda: [number for number in self if number not in other])

    def _cached(self, name: str, other: Members, compute: Callable[[], list[int]]) -> Members:
        """Compute a result once for all ranks, and keep it as long as it is in use."""
        if self._results is None:
            self._results = WeakValueDictionary()
        result = self._results.get((name, other))
        if result is None:
            result = self._results[name, other] = Members.of(compute())
        return result


_interned: WeakValueDictionary[range | tuple[int, ...], Members] = WeakValueDictionary()


def _compact(numbers: Iterable[int]) -> range | tuple[int, ...]:
    """Return the numbers as a range if they are evenly spaced, otherwise as a tuple. Equal lists give equal results."""
    if isinstance(numbers, range):
        return numbers
    listed = tuple(numbers)
    if not listed:
        return range(0)
    first, last = listed[0], listed[-1]
    step = listed[1] - first if len(listed) > 1 else 1
    spaced = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
    return spaced if len(spaced) == len(listed) and all(map(eq, spaced, listed)) else listed


EMPTY = Members.of(())
