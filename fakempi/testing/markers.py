"""Which tests run on virtual ranks, and on how many: our marker, and those of three plugins that people have already.

    @pytest.mark.mpi(ranks=[1, 3, 1000])    ours, and pytest-isolate-mpi's; without numbers: 2 ranks
    @pytest.mark.parallel(nprocs=3)         mpi-pytest's; without numbers: 3
    @pytest.mark.mpiexec(n=2)               pytest-mpiexec's; without numbers: 2, or a parameter named mpiexec_n
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

SIZE = "_mpi_size"  # the hidden parameter of a test that runs on several numbers of ranks

# marker -> (the name of its number, how many ranks if it gives none)
MARKERS = {"mpi": ("ranks", 2), "parallel": ("nprocs", 3), "mpiexec": ("n", 2)}

HELP = (
    "mpi(ranks): run the test on so many virtual ranks, or on each number of a list",
    "parallel(nprocs): as mpi(ranks=nprocs), the marker of mpi-pytest",
    "mpiexec(n): as mpi(ranks=n), the marker of pytest-mpiexec; a parameter named mpiexec_n may give the number",
)


def marker_of(node: pytest.Item) -> pytest.Mark | None:
    """The marker that says that a test runs on virtual ranks, if it has one: the one closest to it."""
    return next((mark for mark in node.iter_markers() if mark.name in MARKERS), None)


def sizes(mark: pytest.Mark) -> Sequence[int]:
    """The numbers of ranks that a marker asks for."""
    word, default = MARKERS[mark.name]
    given: Any = mark.kwargs.get(word, mark.args[0] if mark.args else mark.kwargs.get("min_size", default))
    several = [given] if isinstance(given, int) else given
    if not isinstance(several, Sequence) or isinstance(several, str) or not several:
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: {word} must be a number or a list of numbers, not {given!r}")
    for size in several:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise pytest.UsageError(f"@pytest.mark.{mark.name}: {word} is {size!r}; there must be at least 1 rank")
    return list(several)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one test of each number of ranks, where a marker names several."""
    mark = marker_of(metafunc.definition)
    if mark is None or (mark.name == "mpiexec" and "mpiexec_n" in metafunc.fixturenames):
        return
    several = sizes(mark)
    if len(several) > 1:
        metafunc.fixturenames.append(SIZE)
        metafunc.parametrize(SIZE, several, ids=[f"{MARKERS[mark.name][0]}={size}" for size in several])


def size_of(item: pytest.Item, mark: pytest.Mark) -> int:
    """On how many ranks this very test runs."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    size = params.get(SIZE, params.get("mpiexec_n") if mark.name == "mpiexec" else None)
    return int(size) if size is not None else sizes(mark)[0]
