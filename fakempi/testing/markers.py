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

ISOLATIONS = ("none", "module")

NOT_ON_RANKS = {
    "mpi_skip": pytest.mark.skip(reason="mpi_skip: not for ranks"),
    "mpi_break": pytest.mark.skip(reason="mpi_break: not for ranks"),
    "mpi_xfail": pytest.mark.xfail(reason="mpi_xfail: fails on ranks", strict=False),
}
"""Markers of pytest-mpi, and what they mean to a test that runs on ranks; to others, nothing."""

HELP = (
    "mpi(ranks, timeout=None, isolation=None, strict=None, explore=0): run the test on so many virtual ranks, or on each "
    "number of a list; for so many seconds; isolation='module' gives each rank its own test module, conftest and modules "
    "of the project; strict=True makes findings failures; explore=N runs it in every schedule that can differ, N at most",
    "parallel(nprocs): as mpi(ranks=nprocs), the marker of mpi-pytest",
    "mpiexec(n): as mpi(ranks=n), the marker of pytest-mpiexec; a parameter named mpiexec_n may give the number",
    *(f"{name}: on ranks, {mark.name} the test" for name, mark in NOT_ON_RANKS.items()),
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


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Make one test of each number of ranks, where a marker names several."""
    if (mark.name == "mpiexec" and "mpiexec_n" in metafunc.fixturenames):
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


def isolated(mark: pytest.Mark, otherwise: str) -> bool:
    """Whether each rank of a test has modules of its own."""
    given = mark.kwargs.get("isolation", otherwise)
    if given not in ISOLATIONS:
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: isolation is {given!r}; there are {', '.join(ISOLATIONS)}")
    return bool(given == "module")


def strict(mark: pytest.Mark, otherwise: bool) -> bool:
    """Whether findings make a test fail."""
    given = mark.kwargs.get("strict", otherwise)
    if not isinstance(given, bool):
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: strict is {given!r}; it must be True or False")
    return given


def not_on_ranks(item: pytest.Item) -> None:
    """A test that runs on ranks is skipped, or expected to fail, if it says so."""
    for name, mark in NOT_ON_RANKS.items():
        if item.get_closest_marker(name) is not None:
            item.add_marker(mark)


def skip_unless(item: pytest.Item, mark: pytest.Mark, size: int) -> None:
    """Skip a test on ranks that are there already, unless they are as many as it asks for, or it asks for no number."""
    at_least = mark.kwargs.get("min_size")
    if at_least is not None and size < at_least:
        pytest.skip(f"for {at_least} ranks or more, and here are {size}")
    if at_least is None and (mark.args or MARKERS[mark.name][0] in mark.kwargs or mark.name == "mpiexec"):
        wanted = size_of(item, mark)
        if wanted != size:
            pytest.skip(f"for {wanted} rank{'s' * (wanted != 1)}, and here are {size}")
