"""Calls of a student's functions, through a worker: requests, answers, and timelines of failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.apps.course.values import decode, encode, same, short_text
from fakempi.apps.course.worker_process import Runner, WorkerGone
from fakempi.apps.course.wrong import ANYWHERE, Wrong

ByRank = Callable[[int, int], Any]
"""A function of rank and number of ranks."""

NO_PICTURE = (*ANYWHERE, "time-out", "raised", "left")
"""Kinds of failures for which a timeline shows nothing."""


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

    def difference(self, function: str, gives: ByRank) -> str:
        """Return a sentence on the first return value that is not as expected, or an empty string."""
        size = len(self.returns)
        for rank, returned in enumerate(self.returns):
            expected = gives(rank, size)
            if not same(returned, expected):
                place = f" on rank {rank}" if size > 1 else ""
                return f"{function} returns {short_text(returned)}{place} instead of {short_text(expected)}."
        return ""


class Caller:
    """Sends requests to a worker, and counts the runs."""

    def __init__(self, runner: Runner, width: int) -> None:
        self.runner, self.width, self.runs, self.printed = runner, width, 0, ""

    def request(self, function: str, size: int, args: ByRank | None, cost: str | None) -> dict[str, Any]:
        """Return the request for a call on `size` ranks."""
        arguments = None if args is None else [encode(list(args(rank, size))) for rank in range(size)]
        return {
            "function": function, "ranks": size, "arguments": arguments, "with_comm": True, "cost": cost, "schedules": 0,
            "picture": 0,
        }  # fmt: skip

    def run(self, request: dict[str, Any], where: str) -> CallResult:
        """Return the result of a call; raise `Wrong` with its circumstances if the call failed."""
        return CallResult(self.checked(request, where))

    def checked(self, request: dict[str, Any], where: str) -> dict[str, Any]:
        """Return the answer; if the run failed, run it again for a timeline, and raise `Wrong`."""
        try:
            return self.attempt(request)
        except Wrong as wrong:
            raise wrong.located(where, self.picture(request, wrong.kind)) from None

    def attempt(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer, or raise `Wrong` without circumstances."""
        self.runs += 1
        reply = self.runner.answer(request)
        self.printed = str(reply.get("printed", ""))
        wrong = reply.get("wrong")
        if wrong is None:
            return reply
        kind, sentence = str(wrong["kind"]), str(wrong["sentence"])
        raise Wrong(sentence, kind, str(wrong.get("report", "")), printed=self.printed, ranks=request["ranks"])

    def picture(self, request: dict[str, Any], kind: str = "") -> str:
        """Run a request again and return its timeline, if the kind of failure has one and the worker is still there."""
        if kind in NO_PICTURE:
            return ""
        try:
            return str(self.runner.answer(request | {"picture": self.width}).get("picture", ""))
        except WorkerGone:
            return ""
