"""A call in several cases: numbers of ranks, and buffering. A failure names only what distinguishes it from passing cases.

"On 3 ranks" in a message makes a student look for what is special about three ranks. If the call fails on every number of
ranks, nothing is, and the message should not mention it. The same applies to buffering.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fakempi.apps.course.calls import ByRank, Caller, CallResult
from fakempi.apps.course.worker_process import WorkerGone
from fakempi.apps.course.wrong import ANYWHERE, Wrong
from fakempi.errors.plurals import counted

WAITING, BUFFERED = "hockney:eager_limit=0", "hockney:eager_limit=1G"
SENDS: Mapping[str, str] = {BUFFERED: "with buffered sends", WAITING: "with unbuffered sends"}
"""Buffered sends come first: there, a message that is not received is a finding, and not a deadlock of its sender."""

OTHER_SIZES = (2, 3, 7)
"""After a failure, the same call is tried on these numbers of ranks."""

MANY = 16


def sends_text(cost: str) -> str:
    """Return the description of a cost model's sends, or an empty string."""
    return SENDS.get(cost, "")


def in_order(ranks: Iterable[int]) -> list[int]:
    """Return numbers of ranks in the order of checks: few, one, many."""
    return sorted(ranks, key=lambda size: (size > MANY, size == 1, size))


class Cases:
    """A call of one function, whose results are remembered by number of ranks and cost model."""

    def __init__(
        self, caller: Caller, function: str, args: ByRank | None, gives: ByRank | None, costs: Mapping[str, str], what: str
    ) -> None:
        self.caller, self.function, self.args, self.gives, self.costs, self.what = caller, function, args, gives, costs, what
        self.known: dict[tuple[int, str], Wrong | None] = {}
        self.sizes: list[int] = []

    def check(self, sizes: list[int], costs: list[str]) -> None:
        """Raise `Wrong` for the first case that fails."""
        self.sizes += [size for size in sizes if size not in self.sizes]
        for size in sizes:
            for cost in costs:
                wrong = self._result(size, cost)
                if wrong is not None:
                    request = self.caller.request(self.function, size, self.args, cost)
                    where = "" if wrong.kind in ANYWHERE else self._circumstances(size, cost)
                    raise wrong.located(where, self.caller.picture(request, wrong.kind))

    def _result(self, size: int, cost: str) -> Wrong | None:
        if (size, cost) not in self.known:
            self.known[size, cost] = self._attempt(size, cost)
        return self.known[size, cost]

    def _attempt(self, size: int, cost: str) -> Wrong | None:
        request = self.caller.request(self.function, size, self.args, cost)
        try:
            outcome = CallResult(self.caller.attempt(request))
        except Wrong as wrong:
            return wrong
        sentence = outcome.difference(self.function, self.gives) if self.gives is not None else ""
        return Wrong(sentence, printed=self.caller.printed, ranks=size) if sentence else None

    def _circumstances(self, size: int, cost: str) -> str:
        """Return the number of ranks, the buffering, and the arguments, each if another one passes."""
        others = [other for other in (OTHER_SIZES if size in OTHER_SIZES else self.sizes) if other != size]
        named = [f"on {counted(size, 'rank')}"] if size == 1 or any(self._passes(other, cost) for other in others) else []
        if any(self._passes(size, other) for other in self.costs if other != cost):
            named.append(self.costs[cost])
        if self.what:
            named.append(self.what)
        text = ", ".join(named)
        return text[:1].upper() + text[1:]

    def _passes(self, size: int, cost: str) -> bool:
        """Whether the call passes in another case, which is tried if that is not known."""
        try:
            return self._result(size, cost) is None
        except WorkerGone:
            return False
