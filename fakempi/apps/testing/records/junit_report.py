"""One JUnit report for pytest on several ranks: `fakempi run -n 7 -m pytest --junitxml=report.xml`.

Each rank has a pytest session, and all of them would overwrite the same file. Instead, each session writes a temporary
file, which is merged into the report. The report starts as that of the first session that ends. Each later session adds
the tests that the report does not contain, and the failures of tests that have not failed in the report so far.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TextIO
from xml.etree import ElementTree

import pytest
from _pytest.junitxml import xml_key

FAILED = ("failure", "error")


class JunitReport:
    """The report of all ranks of a run."""

    def __init__(self) -> None:
        self.tree: ElementTree.ElementTree[Any] | None = None
        self.cases: dict[tuple[str, str], ElementTree.Element] = {}

    @contextmanager
    def written(self, config: pytest.Config, rank: int, size: int) -> Generator[None, None, None]:
        """Redirect the report of a rank's session to a temporary file, and merge that into the report at the end."""
        if size == 1:
            yield
            return
        with redirected(config) as (path, own):
            yield
            if path:
                with open(own, encoding="utf-8") as file:
                    self.add(file, rank, size)
        if path:
            self.write(path)

    def write(self, path: str) -> None:
        """Write the report of the ranks that were merged."""
        if self.tree is not None:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self.tree.write(path, encoding="utf-8", xml_declaration=True)

    def add(self, file: TextIO, rank: int, size: int) -> None:
        """Merge the report of one rank, which is in a file, into the report of all ranks."""
        tree = ElementTree.parse(file)
        for case in tree.iter("testcase"):
            for failure in (child for child in case if child.tag in FAILED):
                failure.set("message", f"rank {rank} of {size}: {failure.get('message', '')}")
        if self.tree is None:
            self.tree = tree
            self.cases = {_key(case): case for case in tree.iter("testcase")}
            return
        suite = next(self.tree.iter("testsuite"))
        for case in tree.iter("testcase"):
            merged = self.cases.get(_key(case))
            if merged is None:
                suite.append(case)
                self.cases[_key(case)] = case
            elif _failed(case) and not _failed(merged):
                merged[:] = case[:]
        all_cases = list(self.tree.iter("testcase"))
        suite.set("tests", str(len(all_cases)))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(name, str(sum(case.find(tag) is not None for case in all_cases)))


@contextmanager
def redirected(config: pytest.Config) -> Generator[tuple[str, str], None, None]:
    """Redirect the report of a session; yields its path and that of a temporary file. Both are empty without a report."""
    logger = config.stash.get(xml_key, None)
    if logger is None:
        yield "", ""
        return
    path = logger.logfile
    descriptor, logger.logfile = tempfile.mkstemp(".xml")
    os.close(descriptor)
    try:
        yield path, logger.logfile
    finally:
        os.unlink(logger.logfile)
        logger.logfile = path


def _key(case: ElementTree.Element) -> tuple[str, str]:
    return case.get("classname", ""), case.get("name", "")


def _failed(case: ElementTree.Element) -> bool:
    return any(child.tag in FAILED for child in case)
