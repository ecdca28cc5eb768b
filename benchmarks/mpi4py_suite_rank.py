"""Run tests of mpi4py's suite on one rank for mpi4py_suite.py, and write a line as each test begins and ends."""

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


class Recorder(unittest.TestResult):
    """A test result that writes each event at once, so that a record exists if the run ends early."""

    def __init__(self, write: Any) -> None:
        super().__init__()
        self.write = write
        self.verdict, self.why = "passed", ""

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self.verdict, self.why = "passed", ""
        self.write(test=test.id(), verdict="began")

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        self.write(test=test.id(), verdict=self.verdict, why=self.why)

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
    """Run the tests that the command line selects."""
    parser = argparse.ArgumentParser()
    parser.add_argument("suite")
    parser.add_argument("directory", type=Path)
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--exclude", default="$^")
    parser.add_argument("--match", default="", help="run only matching tests, except in the modules of --whole")
    parser.add_argument("--whole", default="")
    parser.add_argument("--skip", default="")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    sys.path.insert(0, options.suite)
    sys.dont_write_bytecode = True
    from mpi4py import MPI

    with open(options.directory / f"{MPI.COMM_WORLD.Get_rank()}.jsonl", "w", encoding="utf-8", buffering=1) as log:

        def write(**entry: Any) -> None:
            log.write(json.dumps(entry) + "\n")

        skipped = options.skip.split()
        for module in options.modules:
            tests: list[Any] = []
            try:
                tests += each(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module)))
            except unittest.SkipTest:
                pass
            except Exception as error:
                write(test=module, verdict="failed", why=f"{type(error).__name__}: {error}")
            tests = [test for test in tests if module in options.whole.split() or re.search(options.match, test.id())]
            wanted = [test for test in tests if test.id() not in skipped and not re.search(options.exclude, test.id())]
            unittest.TestSuite(test for test in wanted if options.only in ("", test.id())).run(Recorder(write))
        write(end=True)


if __name__ == "__main__":
    main()
