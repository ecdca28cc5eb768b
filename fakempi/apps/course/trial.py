"""The interface of an exercise's `check.py`: call the student's functions on ranks, and compare results.

    def check(trial: Trial) -> None:
        trial.everywhere("hello", gives=lambda rank, size: f"rank {rank} of {size}")

`check` returns if the solution is correct. Otherwise it raises `Wrong` with a sentence for the student. It runs in the
grading process. The student's program runs in another process, and never receives the expected results.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from fakempi.apps.course.limits import CheckLimits
from fakempi.apps.course.source import syntax_message
from fakempi.apps.course.values import decode, encode, same, short_text
from fakempi.apps.course.worker_process import Runner, WorkerGone
from fakempi.errors import LAYOUT_CHARACTERS, printable
from fakempi.errors.plurals import counted

RANKS = (1, 2, 3, 7, 64)
WAITING, BUFFERED = "hockney:eager_limit=0", "hockney:eager_limit=1G"
SENDS = {WAITING: "unbuffered sends", BUFFERED: "buffered sends"}
SCHEDULES = 500
"""Upper limit of the schedules that are run."""

ByRank = Callable[[int, int], Any]
"""A function of rank and number of ranks."""


class Wrong(Exception):
    """A wrong solution: a sentence, and as details a report, a timeline, and the program's output."""

    def __init__(self, sentence: str, kind: str = "result", report: str = "", picture: str = "", printed: str = "") -> None:
        super().__init__(sentence)
        self.sentence, self.kind = printable(sentence), kind
        self.report, self.printed = printable(report, LAYOUT_CHARACTERS), printable(printed, LAYOUT_CHARACTERS)
        self.picture = picture


class CallResult:
    """The result of a call on ranks.

    Attributes
    ----------
    returns : the ranks' return values
    time : the modeled time of the call
    messages, bytes : sent by all ranks; sent : (messages, bytes) by rank
    """

    def __init__(self, reply: dict[str, Any]) -> None:
        self.returns: list[Any] = [decode(value) for value in reply["returns"]]
        self.time: float = decode(reply["time"])
        self.sent: list[tuple[int, int]] = [(int(messages), int(nbytes)) for messages, nbytes in reply["sent"]]

    @property
    def messages(self) -> int:
        """The number of messages that all ranks sent."""
        return sum(messages for messages, _ in self.sent)

    @property
    def bytes(self) -> int:
        """The number of bytes that all ranks sent."""
        return sum(nbytes for _, nbytes in self.sent)


class Trial:
    """A student's file under test: `everywhere`, `run`, `schedules`, `takes`, `value`, `without`."""

    def __init__(self, text: str, runner: Runner, limits: CheckLimits | None = None, width: int = 76) -> None:
        self.text, self.runner, self.width = text, runner, width
        self.until = monotonic() + (limits or CheckLimits()).seconds
        self.cases = 0

    def everywhere(
        self, function: str, args: ByRank | None = None, gives: ByRank | None = None, ranks: Sequence[int] = RANKS
    ) -> None:
        """Check that `function(comm, *args(rank, size))` returns `gives(rank, size)`, with and without buffering of sends.

        On the largest of `ranks` up to 3, run it in every schedule too, which is one schedule for most programs.
        """
        for size in ranks:
            for cost in SENDS:
                outcome = self.run(function, size, args, cost)
                if gives is not None:
                    self.compare(function, outcome, gives)
        explorable = [size for size in ranks if 1 < size <= 3]
        if explorable:
            self.schedules(function, max(explorable), args)

    def run(self, function: str, size: int, args: ByRank | None = None, cost: str = WAITING) -> CallResult:
        """Call a function once, on `size` ranks."""
        request = self._request(function, size, args, cost)
        return CallResult(self._checked_answer(request, _circumstances(size, cost)))

    def value(self, function: str, *args: Any) -> Any:
        """Return the value of a function that takes no communicator."""
        request = self._request(function, 1, lambda rank, size: args, WAITING) | {"with_comm": False}
        return CallResult(self._checked_answer(request, "")).returns[0]

    def schedules(self, function: str, size: int, args: ByRank | None = None, max_runs: int = SCHEDULES) -> None:
        """Call a function in every schedule that can give a different result.

        No run may fail, and each rank must return the same value in all of them.
        """
        request = self._request(function, size, args, None) | {"schedules": max_runs}
        self._checked_answer(request, f"On {counted(size, 'rank')}, in one of the schedules that MPI allows")

    def takes(
        self, function: str, size: int, cost: str, time: float, args: ByRank | None = None, formula: str = "", why: str = ""
    ) -> CallResult:
        """Check that a call takes exactly this time, in the cost model's units."""
        outcome = self.run(function, size, args, cost)
        if outcome.time != time:
            form = f" = {formula}" if formula else ""
            where = f"On {counted(size, 'rank')} {function} takes {_number(outcome.time)} instead of {_number(time)}{form}"
            raise self.wrong(f"{where}{f': {why}' if why else '.'}", "time", function, size, args, cost)
        return outcome

    def compare(self, function: str, outcome: CallResult, gives: ByRank) -> None:
        """Check the ranks' return values."""
        size = len(outcome.returns)
        for rank, returned in enumerate(outcome.returns):
            expected = gives(rank, size)
            if not same(returned, expected):
                where = f"On {counted(size, 'rank')}" if size == 1 else f"On {counted(size, 'rank')}, rank {rank}:"
                verdict = f"{function} returns {short_text(returned)} instead of {short_text(expected)}."
                raise Wrong(f"{where} {verdict}", printed=self.printed)

    def without(self, *names: str, why: str) -> None:
        """Reject calls of methods with these names; `why` is a sentence for the student."""
        for node in ast.walk(self._tree()):
            if isinstance(node, ast.Attribute) and node.attr in names:
                raise Wrong(f"Line {node.lineno} calls {node.attr}: {why}", "forbidden")

    def wrong(
        self, sentence: str, kind: str, function: str, size: int, args: ByRank | None = None, cost: str = WAITING
    ) -> Wrong:
        """Return an error with a timeline of the call."""
        reply = self._run_with_timeline(self._request(function, size, args, cost))
        return Wrong(sentence, kind, picture=str(reply.get("picture", "")), printed=self.printed)

    printed = ""
    """The program's output in the last call."""

    def _tree(self) -> ast.Module:
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError) as error:
            raise Wrong(syntax_message(error), "syntax") from None

    def _request(self, function: str, size: int, args: ByRank | None, cost: str | None) -> dict[str, Any]:
        arguments = None if args is None else [encode(list(args(rank, size))) for rank in range(size)]
        return {
            "function": function, "ranks": size, "arguments": arguments, "with_comm": True, "cost": cost, "schedules": 0,
            "picture": 0,
        }  # fmt: skip

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        seconds_left = max(self.until - monotonic(), 0.1)
        return self.runner.answer(request | {"seconds": round(seconds_left, 1)})  # rounded, because messages show it

    def _checked_answer(self, request: dict[str, Any], where: str) -> dict[str, Any]:
        """Return the answer; if the run failed, run it again for a timeline, and raise `Wrong`."""
        self.cases += 1
        reply = self._send(request)
        self.printed = str(reply.get("printed", ""))
        wrong = reply.get("wrong")
        if wrong is None:
            return reply
        kind, sentence = str(wrong["kind"]), str(wrong["sentence"])
        elsewhere = kind in ("syntax", "missing", "changed")
        sentence = sentence[0].upper() + sentence[1:] if elsewhere or not where else f"{where}: {sentence}"
        picture = ""
        if not elsewhere and kind not in ("time-out", "raised", "left"):
            picture = str(self._run_with_timeline(request).get("picture", ""))
        raise Wrong(sentence, kind, str(wrong.get("report", "")), picture, self.printed)

    def _run_with_timeline(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a request again with a timeline; return an empty answer if the worker ends."""
        try:
            return self._send(request | {"picture": self.width})
        except WorkerGone:
            return {}


def _circumstances(size: int, cost: str) -> str:
    how = f", with {SENDS[cost]}" if cost in SENDS else ""
    return f"On {counted(size, 'rank')}{how}"


def _number(value: Any) -> str:
    return f"{float(value):,.6g} s"
