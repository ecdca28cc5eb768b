"""Suppressions of findings in a pytest session: `--mpi-ignore`, pyproject.toml, and comments in tests and their modules."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from fakempi.core.reports.suppressions import Suppressions, is_installed, unused_text

RULES = pytest.StashKey[Suppressions]()
FILES = pytest.StashKey[set[str]]()
"""Files of the marked tests that were called."""


def rules_of(config: pytest.Config) -> Suppressions:
    """Return the suppressions of the session: one object, so that the end of the session knows which were used."""
    if RULES not in config.stash:
        kinds = [kind.strip() for text in config.getoption("--mpi-ignore") for kind in text.split(",")]
        try:
            config.stash[RULES] = Suppressions(kinds, "--mpi-ignore=", str(config.rootpath)).load()
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[RULES]


def called(item: pytest.Item) -> None:
    """Record that a marked test is called on ranks; the test fails if a comment in its file names an unknown kind."""
    try:
        rules_of(item.config).check([str(item.path)])
    except ValueError as error:
        pytest.fail(str(error), pytrace=False)
    item.config.stash.setdefault(FILES, set()).add(str(item.path))


def unused(config: pytest.Config, terminalreporter: Any) -> str:
    """Return a sentence on suppressions that match no finding of the session; empty if not all tests were run."""
    stats = terminalreporter.stats
    partial = "deselected" in stats or any("::" in argument for argument in config.args)
    parallel = hasattr(config, "workerinput") or config.getoption("numprocesses", None)
    if FILES not in config.stash or partial or parallel or "failed" in stats or "error" in stats:
        return ""
    root = os.path.join(str(config.rootpath), "")
    loaded = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    files = {file for file in loaded if isinstance(file, str) and file.startswith(root) and not is_installed(file)}
    strict = bool(config.getoption("--mpi-strict"))
    called_files: set[str] = config.stash[FILES]
    return unused_text(rules_of(config).unused(files | called_files, strict))
