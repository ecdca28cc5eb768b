"""Workers of pytest-xdist collect files from different ends, so that each file is compiled once.

In a fresh clone, pytest compiles 470 test files with rewritten assertions, which takes 12 s of CPU time, and stores them.
Two workers that collect files in the same order compile each of them twice. If every other worker begins with the last file,
it finds the files of the first half compiled. Afterwards, all workers need the same order of tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ORDER = pytest.StashKey[list[Path]]()


def begin_at_the_end(config: pytest.Config) -> None:
    """Reverse the directories and files that a worker with an odd number collects, unless single tests are requested."""
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    paths = [Path(os.path.abspath(word)) for word in config.args]
    if int(worker.removeprefix("gw")) % 2 == 0 or not all(path.is_dir() for path in paths):
        return
    if config.option.ignore or config.option.ignore_glob:  # which do not apply to paths that are requested
        return
    config.stash[ORDER] = paths
    config.args = [str(part) for path in reversed(paths) for part in reversed(list(_parts(path)))]


def _parts(path: Path) -> Iterator[Path]:
    """The contents of a directory of tests, or a directory without `__init__.py` as a whole."""
    if path.name != "tests":
        yield path
        return
    for part in sorted(path.iterdir()):
        if (part.is_dir() and part.name[0] not in "._") or (part.name.startswith("test_") and part.suffix == ".py"):
            yield part


def restore_order(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort tests by their files, as pytest collects them; the order within a file is kept."""
    if (paths := config.stash.get(ORDER, None)) is None:
        return

    def place(item: pytest.Item) -> tuple[int, tuple[str, ...]]:
        index = next(index for index, path in enumerate(paths) if item.path.is_relative_to(path))
        return index, item.path.relative_to(paths[index]).parts

    items.sort(key=place)
