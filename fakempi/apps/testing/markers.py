"""Markers of tests that run on virtual ranks: `mpi`, and the markers of three other plugins.

@pytest.mark.mpi(ranks=[1, 3, 1000])    fakempi's and pytest-isolate-mpi's; default: 2 ranks
@pytest.mark.parallel(nprocs=3)         mpi-pytest's; default: 3
@pytest.mark.mpiexec(n=2)               pytest-mpiexec's; default: 2, or a parameter named mpiexec_n
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import pytest
from _pytest.skipping import evaluate_skip_marks

SIZE = "_mpi_size"  # the hidden parameter of a test that runs on several numbers of ranks

# marker -> (name of its parameter, default number of ranks)
MARKERS = {"mpi": ("ranks", 2), "parallel": ("nprocs", 3), "mpiexec": ("n", 2)}

ARGUMENTS = (
    *(argument for argument, _ in MARKERS.values()), "timeout", "isolation", "strict", "explore", "processes", "min_size",
    "unit",
)  # fmt: skip
"""Arguments of the markers. `min_size` is pytest-mpi's, `unit` pytest-isolate-mpi's."""

WRONG_NUMBER = pytest.StashKey[str]()
"""The numbers of ranks that a test requests, if it was skipped because pytest runs on another number."""

ISOLATIONS = ("auto", "none", "module")

NOT_ON_RANKS = {
    "mpi_skip": pytest.mark.skip(reason="mpi_skip: skipped on ranks"),
    "mpi_break": pytest.mark.skip(reason="mpi_break: skipped on ranks"),
    "mpi_xfail": pytest.mark.xfail(reason="mpi_xfail: expected to fail on ranks", strict=False),
}
"""Markers of pytest-mpi, and their effect on a test that runs on ranks; they have no effect on other tests."""

HELP = (
    "mpi(ranks, timeout=None, isolation=None, strict=None, explore=0, processes=False): run the test on this number of "
    "virtual ranks, or on each number of a list; timeout: seconds; isolation='module': each rank has private copies of the "
    "test module, conftest and the project's modules ('none': never, 'auto': if one of them uses COMM_WORLD); "
    "strict=True: findings are failures; explore=N: run every schedule "
    "that can give a different result, up to N; processes=True: each rank is a process, which runs pytest with this test",
    "parallel(nprocs): same as mpi(ranks=nprocs), the marker of mpi-pytest",
    "mpiexec(n): same as mpi(ranks=n), the marker of pytest-mpiexec; a parameter named mpiexec_n may set the number",
    *(f"{name}: on ranks, {mark.name} the test" for name, mark in NOT_ON_RANKS.items()),
)


def marker_of(node: pytest.Item) -> pytest.Mark | None:
    """Return the marker closest to the test that makes it run on virtual ranks; None if there is none."""
    return next((mark for mark in node.iter_markers() if mark.name in MARKERS), None)


def misspelled(node: pytest.Item) -> str:
    """Return a question about a marker whose name is similar to one of ours; empty if there is none."""
    similar = {mark.name: get_close_matches(mark.name, MARKERS, 1) for mark in node.iter_markers()}
    return "".join(f"; did you mean {found[0]} instead of {name}?" for name, found in similar.items() if found)


def sizes(mark: pytest.Mark) -> Sequence[int]:
    """Return the numbers of ranks that a marker requests."""
    for name in set(mark.kwargs).difference(ARGUMENTS):
        if similar := get_close_matches(name, ARGUMENTS, 1):  # others may be for other plugins
            raise pytest.UsageError(f"@pytest.mark.{mark.name}: {name} is unknown; did you mean {similar[0]}?")
    argument, default = MARKERS[mark.name]
    given: Any = mark.kwargs.get(argument, mark.args[0] if mark.args else mark.kwargs.get("min_size", default))
    several = [given] if isinstance(given, int) else given
    if not isinstance(several, Sequence) or isinstance(several, str) or not several:
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: {argument} must be a number or a list of numbers, not {given!r}")
    for size in several:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise pytest.UsageError(f"@pytest.mark.{mark.name}: {argument} is {size!r}; it must be an integer of at least 1")
    return list(several)


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Parametrize a test by its numbers of ranks, if its marker names several."""
    if mark.name == "mpiexec" and "mpiexec_n" in metafunc.fixturenames:
        return
    several = sizes(mark)
    if len(several) > 1:
        metafunc.fixturenames.append(SIZE)
        metafunc.parametrize(SIZE, several, ids=[f"{MARKERS[mark.name][0]}{size}" for size in several])


def size_of(item: pytest.Item, mark: pytest.Mark) -> int:
    """Return the number of ranks of this test."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    size = params.get(SIZE, params.get("mpiexec_n") if mark.name == "mpiexec" else None)
    return int(size) if size is not None else sizes(mark)[0]


def without_size(nodeid: str) -> str:
    """Return the name of a test without its number of ranks: `test_it[ranks3-a]` and `test_it[ranks7-a]` are one test."""
    path, colons, test = nodeid.partition("::")
    name, bracket, parameters = test.partition("[")
    arguments = "|".join(argument for argument, _ in MARKERS.values())
    kept = [part for part in parameters.removesuffix("]").split("-") if not re.fullmatch(rf"(?:{arguments})\d+", part)]
    return f"{path}{colons}{name}" + (f"[{'-'.join(kept)}]" if bracket and kept else "")


def isolation(mark: pytest.Mark, otherwise: str) -> str:
    """Return when each rank of a test has private modules: one of `ISOLATIONS`."""
    given = mark.kwargs.get("isolation", otherwise)
    if given not in ISOLATIONS:
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: isolation is {given!r}; choose from {', '.join(ISOLATIONS)}")
    return str(given)


def strict(mark: pytest.Mark, otherwise: bool) -> bool:
    """Whether findings make a test fail."""
    given = mark.kwargs.get("strict", otherwise)
    if not isinstance(given, bool):
        raise pytest.UsageError(f"@pytest.mark.{mark.name}: strict is {given!r}; it must be True or False")
    return given


def not_on_ranks(item: pytest.Item) -> None:
    """Apply the markers of pytest-mpi to a test that runs on ranks."""
    for name, mark in NOT_ON_RANKS.items():
        if item.get_closest_marker(name) is not None:
            item.add_marker(mark)


def skip_unless(item: pytest.Item, mark: pytest.Mark, size: int) -> None:
    """Skip a test if pytest runs on ranks and their number is not the one that the test requests."""
    at_least = mark.kwargs.get("min_size")
    if at_least is not None and size < at_least:
        _skip(item, f"at least {at_least}", f"needs at least {at_least} ranks, but pytest runs on {size}")
    if at_least is None and (mark.args or MARKERS[mark.name][0] in mark.kwargs or mark.name == "mpiexec"):
        params = item.callspec.params if hasattr(item, "callspec") else {}
        single = SIZE in params or "mpiexec_n" in params
        wanted = [size_of(item, mark)] if single else sizes(mark)  # a TestCase is not parametrized: any of its numbers fits
        if size not in wanted:
            numbers = " or ".join(map(str, wanted))
            _skip(item, numbers, f"needs {numbers} rank{'s' * (wanted != [1])}, but pytest runs on {size}")


def _skip(item: pytest.Item, numbers: str, reason: str) -> None:
    """Skip a test because of its numbers of ranks, unless its markers skip it on any number, which pytest does next."""
    if evaluate_skip_marks(item) is None:
        item.stash[WRONG_NUMBER] = numbers
        pytest.skip(reason)
