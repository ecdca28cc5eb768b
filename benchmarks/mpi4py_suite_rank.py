"""What each rank does for mpi4py_suite.py: run the tests of some modules, and write a line as each test begins and ends."""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Told(unittest.TestResult):
    """Writes as it goes, so that something is there if the run ends early."""

    def __init__(self, tell: Any) -> None:
        super().__init__()
        self.tell = tell
        self.verdict, self.why = "passed", ""

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self.verdict, self.why = "passed", ""
        self.tell(test=test.id(), verdict="began")

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        self.tell(test=test.id(), verdict=self.verdict, why=self.why)

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        self._failed(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        super().addFailure(test, err)
        self._failed(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        super().addSkip(test, reason)
        if self.verdict == "passed":
            self.verdict = "skipped"

    def _failed(self, test: Any, err: Any) -> None:
        self.verdict, self.why = "failed", self._exc_info_to_string(err, test)[-2000:]


def each(suite: Any) -> Iterator[Any]:
    """The tests of a suite, in its order."""
    for test in suite:
        yield from each(test) if isinstance(test, unittest.TestSuite) else [test]


def main() -> None:
    """As the driver says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("folder", type=Path)
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--exclude", default="$^")
    parser.add_argument("--match", default="", help="no other tests than these, but in modules that are whole")
    parser.add_argument("--whole", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    sys.path.insert(0, asked.suite)
    sys.dont_write_bytecode = True
    from mpi4py import MPI

    with open(asked.folder / f"{MPI.COMM_WORLD.Get_rank()}.jsonl", "w", encoding="utf-8", buffering=1) as log:

        def tell(**entry: Any) -> None:
            log.write(json.dumps(entry) + "\n")

        skipped = asked.skip.split()
        for module in asked.modules:
            tests: list[Any] = []
            try:
                tests += each(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module)))
            except unittest.SkipTest:
                pass
            except Exception as error:
                tell(test=module, verdict="failed", why=f"{type(error).__name__}: {error}")
            tests = [test for test in tests if module in asked.whole.split() or re.search(asked.match, test.id())]
            wanted = [test for test in tests if test.id() not in skipped and not re.search(asked.exclude, test.id())]
            unittest.TestSuite(test for test in wanted if asked.only in ("", test.id())).run(Told(tell))
        tell(end=True)


if __name__ == "__main__":
    main()
