"""What an exercise's `check.py` is handed: call the student's functions on ranks, and compare.

    def check(trial: Trial) -> None:
        trial.everywhere("hello", gives=lambda rank, size: f"rank {rank} of {size}")

`check` returns if all holds. What does not raises `Wrong`, whose sentence the student sees. It runs in the process of the
one who judges; the student's program runs elsewhere, and never learns what is expected of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from fakempi.errors import KEEP, printable
from fakempi.learn.limits import Limits
from fakempi.learn.process import Gone, Runner
from fakempi.learn.source import not_python
from fakempi.learn.values import decode, encode, in_words, same

RANKS = (1, 2, 3, 7, 64)
WAITING, BUFFERED = "hockney:eager_limit=0", "hockney:eager_limit=1G"
SENDS = {WAITING: "sends that wait for their receives", BUFFERED: "buffered sends"}
SCHEDULES = 500
"""Most schedules that are run of a program."""

ByRank = Callable[[int, int], Any]
"""What there is for a rank: of its rank, and the number of ranks."""


class Wrong(Exception):
    """What does not hold, in a sentence; and, for who wants to see more, a report, a timeline, and what was printed."""

    def __init__(self, sentence: str, kind: str = "result", report: str = "", picture: str = "", printed: str = "") -> None:
        super().__init__(sentence)
        self.sentence, self.kind = printable(sentence), kind
        self.report, self.printed = printable(report, KEEP), printable(printed, KEEP)
        self.picture = picture


class Outcome:
    """What became of a call on ranks.

    Attributes
    ----------
    returns : what ranks returned
    time : the modelled time it took
    messages, bytes : how many were sent; sent : (messages, bytes) by rank
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.returns: list[Any] = [decode(one) for one in told["returns"]]
        self.time: float = decode(told["time"])
        self.sent: list[tuple[int, int]] = [(int(messages), int(nbytes)) for messages, nbytes in told["sent"]]

    @property
    def messages(self) -> int:
        """Of all ranks together."""
        return sum(messages for messages, _ in self.sent)

    @property
    def bytes(self) -> int:
        """Of all ranks together."""
        return sum(nbytes for _, nbytes in self.sent)


class Trial:
    """A student's file, to be tried: `everywhere`, `run`, `schedules`, `takes`, `value`, `without`."""

    def __init__(self, text: str, runner: Runner, limits: Limits | None = None, width: int = 76) -> None:
        self.text, self.runner, self.width = text, runner, width
        self.until = monotonic() + (limits or Limits()).seconds
        self.cases = 0

    def everywhere(
        self, function: str, args: ByRank | None = None, gives: ByRank | None = None, ranks: Sequence[int] = RANKS
    ) -> None:
        """`function(comm, *args(rank, size))` must return `gives(rank, size)`: on all these ranks, sends buffered or not.

        And on the most of up to three ranks in every schedule, which for most programs is one.
        """
        for size in ranks:
            for cost in SENDS:
                outcome = self.run(function, size, args, cost)
                if gives is not None:
                    self.compare(function, outcome, gives)
        few = [size for size in ranks if 1 < size <= 3]
        if few:
            self.schedules(function, max(few), args)

    def run(self, function: str, size: int, args: ByRank | None = None, cost: str = WAITING) -> Outcome:
        """Call it once, on so many ranks."""
        request = self._request(function, size, args, cost)
        return Outcome(self._ask(request, _where(size, cost)))

    def value(self, function: str, *args: Any) -> Any:
        """What a function returns that has nothing to do with ranks."""
        request = self._request(function, 1, lambda rank, size: args, WAITING) | {"with_comm": False}
        return Outcome(self._ask(request, "")).returns[0]

    def schedules(self, function: str, size: int, args: ByRank | None = None, most: int = SCHEDULES) -> None:
        """Call it in every schedule that can differ: none may fail, and ranks must return the same in all."""
        request = self._request(function, size, args, None) | {"schedules": most}
        self._ask(request, f"On {_ranks(size)}, in one of the schedules that MPI allows")

    def takes(
        self, function: str, size: int, cost: str, time: float, args: ByRank | None = None, formula: str = "", why: str = ""
    ) -> Outcome:
        """It must take exactly this time, in the cost model's units."""
        outcome = self.run(function, size, args, cost)
        if outcome.time != time:
            form = f" = {formula}" if formula else ""
            where = f"On {_ranks(size)} {function} takes {_number(outcome.time)}, and should take {_number(time)}{form}"
            raise self.wrong(f"{where}{f': {why}' if why else '.'}", "time", function, size, args, cost)
        return outcome

    def compare(self, function: str, outcome: Outcome, gives: ByRank) -> None:
        """Ranks must have returned this."""
        size = len(outcome.returns)
        for rank, returned in enumerate(outcome.returns):
            expected = gives(rank, size)
            if not same(returned, expected):
                where = f"On {_ranks(size)}" if size == 1 else f"On {_ranks(size)}, rank {rank}:"
                verdict = f"{function} returns {in_words(returned)}, and should return {in_words(expected)}."
                raise Wrong(f"{where} {verdict}", printed=self.printed)

    def without(self, *names: str, why: str) -> None:
        """None of these may be called: a sentence says why."""
        for node in ast.walk(self._tree()):
            if isinstance(node, ast.Attribute) and node.attr in names:
                raise Wrong(f"Line {node.lineno} calls {node.attr}: {why}", "forbidden")

    def wrong(
        self, sentence: str, kind: str, function: str, size: int, args: ByRank | None = None, cost: str = WAITING
    ) -> Wrong:
        """What to raise where a timeline of the call shows why."""
        told = self._again(self._request(function, size, args, cost))
        return Wrong(sentence, kind, picture=str(told.get("picture", "")), printed=self.printed)

    printed = ""
    """What the program printed in the last call."""

    def _tree(self) -> ast.Module:
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError) as error:
            raise Wrong(not_python(error), "syntax") from None

    def _request(self, function: str, size: int, args: ByRank | None, cost: str | None) -> dict[str, Any]:
        arguments = None if args is None else [encode(list(args(rank, size))) for rank in range(size)]
        return {
            "function": function, "ranks": size, "arguments": arguments, "with_comm": True, "cost": cost, "schedules": 0,
            "picture": 0,
        }  # fmt: skip

    def _tell(self, request: dict[str, Any]) -> dict[str, Any]:
        left = max(self.until - monotonic(), 0.1)
        return self.runner.ask(request | {"seconds": round(left, 1)})  # it may be told to the student

    def _ask(self, request: dict[str, Any], where: str) -> dict[str, Any]:
        """The answer, unless that is that something is wrong; then once more, for the picture."""
        self.cases += 1
        told = self._tell(request)
        self.printed = str(told.get("printed", ""))
        wrong = told.get("wrong")
        if wrong is None:
            return told
        kind, sentence = str(wrong["kind"]), str(wrong["sentence"])
        elsewhere = kind in ("syntax", "missing", "changed")
        sentence = sentence[0].upper() + sentence[1:] if elsewhere or not where else f"{where}: {sentence}"
        picture = ""
        if not elsewhere and kind not in ("time-out", "raised", "left"):
            picture = str(self._again(request).get("picture", ""))
        raise Wrong(sentence, kind, str(wrong.get("report", "")), picture, self.printed)

    def _again(self, request: dict[str, Any]) -> dict[str, Any]:
        """Once more, with a picture; a program that does not end well a second time has none."""
        try:
            return self._tell(request | {"picture": self.width})
        except Gone:
            return {}


def _ranks(size: int) -> str:
    return f"{size} rank{'s' * (size != 1)}"


def _where(size: int, cost: str) -> str:
    how = f", with {SENDS[cost]}" if cost in SENDS else ""
    return f"On {_ranks(size)}{how}"


def _number(value: Any) -> str:
    return f"{float(value):,.6g} s"
