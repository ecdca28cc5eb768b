"""The interface of an exercise's `check.py`: call the student's functions on ranks, and compare results.

    def check(trial: Trial) -> None:
        trial.everywhere("hello", gives=lambda rank, size: f"rank {rank} of {size}")

`check` returns if the solution is correct. Otherwise it raises `Wrong` with a sentence for the student. It runs in the
grading process. The student's program runs in another process, and never receives the expected results.

A check consists of tests, each with a name. A student sees the first that fails. For partial credit, a trial with
`go_on=True` records failures instead of raising them, so that every test is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fakempi.apps.course.calls import ByRank, Caller, CallResult
from fakempi.apps.course.cases import BUFFERED, SENDS, WAITING, Cases, in_order, sends_text
from fakempi.apps.course.source import syntax_message
from fakempi.apps.course.worker_process import Runner, WorkerGone
from fakempi.apps.course.wrong import Wrong
from fakempi.errors.plurals import counted

__all__ = ["BUFFERED", "RANKS", "WAITING", "CallResult", "TestResult", "Trial", "Wrong"]

RANKS = (1, 2, 3, 7, 64)
SCHEDULES = 500
"""Upper limit of the schedules that are run."""

FEW = 16
"""Up to this number of ranks, and from 2 on, a call is part of the main case."""

VERY_FEW = 2
"""On so many of these numbers, sends are checked both with and without buffering; on the others only without."""


@dataclass(frozen=True)
class TestResult:
    """The result of one test of a check: its name, and the failure if it failed."""

    __test__ = False
    name: str
    wrong: Wrong | None = None

    @property
    def passed(self) -> bool:
        """Whether the test passed."""
        return self.wrong is None


class Trial:
    """A student's file under test."""

    def __init__(self, text: str, runner: Runner, width: int = 76, go_on: bool = False) -> None:
        self.text, self.go_on = text, go_on
        self.caller = Caller(runner, width)
        self.tests: list[TestResult] = []
        self._open = False
        self._explored: set[str] = set()

    @property
    def cases(self) -> int:
        """The number of runs."""
        return self.caller.runs

    @contextmanager
    def test(self, name: str) -> Iterator[None]:
        """Make a test of the statements in the block: it fails if they raise `Wrong`. A test within a test belongs to it."""
        if self._open:
            yield
            return
        self._open, wrong = True, None
        try:
            yield
        except Wrong as raised:
            wrong = raised
        except WorkerGone as gone:
            wrong = Wrong(f"{str(gone)[:1].upper()}{str(gone)[1:]}", "gone")
        finally:
            self._open = False
        self.tests.append(TestResult(name, wrong))
        if wrong is not None and not self.go_on:
            raise wrong

    def require(self, condition: bool, sentence: str) -> None:
        """Fail with this sentence unless the condition is true."""
        if not condition:
            raise Wrong(sentence)

    def everywhere(
        self,
        function: str,
        args: ByRank | None = None,
        gives: ByRank | None = None,
        ranks: Sequence[int] = RANKS,
        case: str = "",
        costs: Mapping[str, str] = SENDS,
    ) -> None:
        """Check that `function(comm, *args(rank, size))` returns `gives(rank, size)`, with and without buffering of sends.

        The main case comes first: few ranks, but more than one. One rank and many ranks follow. On the largest of `ranks` up
        to 3, the first call of a function is run in every schedule too, which is one schedule for most programs. `case`
        describes the arguments: the sentence of a failure contains it once another case has passed. `costs` are cost models
        with their descriptions, the strictest last: one rank and many ranks are checked with that one.
        """
        cases = Cases(self.caller, function, args, gives, costs, case if self._passed(function) else "")
        label = f"{function}{f' {case}' if case else ''}"
        strictest = list(costs)[-1]
        few = [size for size in in_order(ranks) if 1 < size <= FEW]
        for cost, sends in costs.items():
            sizes = few if cost == strictest else few[:VERY_FEW]
            if sizes:
                with self.test(f"{label}, {sends}"):
                    cases.check(sizes, [cost])
        for size in in_order(ranks):
            if size not in few:
                with self.test(f"{label}, on {counted(size, 'rank')}"):
                    cases.check([size], [strictest])
        explorable = [size for size in ranks if 1 < size <= 3]
        if explorable and costs is SENDS and function not in self._explored:
            self._explored.add(function)
            with self.test(f"{label}, all schedules"):
                self.schedules(function, max(explorable), args)

    def _passed(self, function: str) -> bool:
        """Whether a test of the function has passed: a failure is then one of the present arguments."""
        return any(test.passed and test.name.split(",")[0].split()[0] == function for test in self.tests)

    def run(self, function: str, size: int, args: ByRank | None = None, cost: str = WAITING) -> CallResult:
        """Call a function once, on `size` ranks."""
        where = ", ".join(filter(None, (f"On {counted(size, 'rank')}", sends_text(cost))))
        return self.caller.run(self.caller.request(function, size, args, cost), where)

    def value(self, function: str, *args: Any) -> Any:
        """Return the value of a function that takes no communicator."""
        request = self.caller.request(function, 1, lambda rank, size: args, WAITING) | {"with_comm": False}
        return self.caller.run(request, "").returns[0]

    def schedules(self, function: str, size: int, args: ByRank | None = None, max_runs: int = SCHEDULES) -> None:
        """Call a function in every schedule that can give a different result.

        No run may fail, and each rank must return the same value in all of them.
        """
        request = self.caller.request(function, size, args, None) | {"schedules": max_runs}
        with self.test(f"{function}, all schedules on {counted(size, 'rank')}"):
            self.caller.checked(request, f"On {counted(size, 'rank')}, in one of the schedules that MPI allows")

    def takes(
        self, function: str, size: int, cost: str, time: float, args: ByRank | None = None, formula: str = "", why: str = "",
        gives: ByRank | None = None,
    ) -> None:  # fmt: skip
        """Check that a call takes exactly this time, in the cost model's units, and returns `gives(rank, size)` if given."""
        with self.test(f"{function}, time on {counted(size, 'rank')}"):
            outcome = self.run(function, size, args, cost)
            if gives is not None:
                self.compare(function, outcome, gives)
            if outcome.time != time:
                form = f" = {formula}" if formula else ""
                took = f"{_number(outcome.time)} instead of {_number(time)}{form}"
                where = f"On {counted(size, 'rank')} {function} takes {took}"
                raise self.wrong(f"{where}{f': {why}' if why else '.'}", "time", function, size, args, cost)

    def compare(self, function: str, outcome: CallResult, gives: ByRank) -> None:
        """Check the ranks' return values."""
        sentence = outcome.difference(function, gives)
        if sentence:
            raise Wrong(f"On {counted(len(outcome.returns), 'rank')}: {sentence}", printed=self.caller.printed)

    def without(self, *names: str, why: str) -> None:
        """Reject calls of methods with these names; `why` is a sentence for the student."""
        with self.test("calls that the exercise excludes"):
            for node in ast.walk(self._tree()):
                if isinstance(node, ast.Attribute) and node.attr in names:
                    raise Wrong(f"Line {node.lineno} calls {node.attr}: {why}", "forbidden")

    def calls(self, *names: str, why: str) -> None:
        """Require a call of each of these methods, anywhere in the file."""
        with self.test("calls that the exercise needs"):
            present = {node.attr for node in ast.walk(self._tree()) if isinstance(node, ast.Attribute)}
            for name in names:
                if name not in present:
                    raise Wrong(f"The file does not call {name}: {why}", "forbidden")

    def wrong(
        self, sentence: str, kind: str, function: str, size: int, args: ByRank | None = None, cost: str = WAITING
    ) -> Wrong:
        """Return an error with a timeline of the call."""
        request = self.caller.request(function, size, args, cost)
        picture = self.caller.picture(request)
        return Wrong(sentence, kind, picture=picture, printed=self.caller.printed, ranks=size)

    def _tree(self) -> ast.Module:
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError) as error:
            raise Wrong(syntax_message(error), "syntax") from None


def _number(value: Any) -> str:
    return f"{float(value):,.6g} s"
