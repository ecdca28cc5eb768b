"""An entry of the test that hung in the file of pytest's --junitxml."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

from fakempi.apps.watch.connections import Listener
from fakempi.apps.watch.positions import RankPosition


def add_entries(listener: Listener, states: Sequence[RankPosition], text: str, number: int) -> None:
    """Let ranks write the results of the tests that have ended, and add the test that hung as an error.

    Ranks often have the same file; then it has the results of one of them, and an entry for each test in which a rank hung.
    """
    tests = {state.process.pid: state.test for state in states if state.process is not None and state.test}
    if not tests:
        return
    listener.collect("junit", number, 2.0)
    files: dict[Path, list[str]] = {}
    for process in listener.processes:
        file = str((process.answers.get("junit") or {}).get("file", ""))
        if file and process.pid in tests:
            files.setdefault(Path(file), []).append(tests[process.pid])
    for path, names in files.items():
        with suppress(OSError, ElementTree.ParseError):
            add_entry(path, list(dict.fromkeys(names)), text)


def add_entry(path: Path, tests: Sequence[str], text: str) -> None:
    """Add an error for each test to the first test suite of the file."""
    tree = ElementTree.parse(path)
    suite = next(tree.getroot().iter("testsuite"))
    for each in [each for each in suite.iter("testcase") if not each.get("name")]:
        suite.remove(each)  # the test that hung, of which pytest knows no result
    for test in tests:
        file, _, name = test.partition("::")
        classes, _, last = name.rpartition("::")
        module = file.removesuffix(".py").replace("/", ".").replace(os.sep, ".")
        same = [each for each in suite.iter("testcase") if each.get("name") == last and not list(each)]
        classname = ".".join([module, *classes.split("::")] if classes else [module])
        for each in same:
            if each.get("classname") == classname:  # pytest lists a test that has begun as passed
                suite.remove(each)
                suite.set("tests", str(int(suite.get("tests", "1")) - 1))
        case = ElementTree.SubElement(suite, "testcase", {"classname": classname, "name": last or name, "time": "0"})
        error = ElementTree.SubElement(case, "error", {"message": text.partition("\n")[0]})
        error.text = "".join(each for each in text if each in "\t\n" or ord(each) >= 32)
        for count in ("tests", "errors"):
            suite.set(count, str(int(suite.get(count, "0")) + 1))
    tree.write(path, encoding="utf-8", xml_declaration=True)
