"""Markers of tests that run on virtual ranks: `mpi`, and the markers of three other plugins.

@pytest.mark.mpi(ranks=[1, 3, 1000])    fakempi's and pytest-isolate-mpi's; default: 2 ranks
@pytest.mark.mpi(ranks="1..16")         one test on all these numbers, smallest first; also range(1, 17)
@pytest.mark.parallel(nprocs=3)         mpi-pytest's; default: 3
@pytest.mark.mpiexec(n=2)               pytest-mpiexec's; default: 2, or a parameter named mpiexec_n
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from _pytest.skipping import evaluate_skip_marks

from fakempi.errors.similar import get_close_matches

SIZE = "_mpi_size"  # the hidden parameter of a test that runs on several numbers of ranks

# marker -> (name of its parameter, default number of ranks)
MARKERS = {"mpi": ("ranks", 2), "parallel": ("nprocs", 3), "mpiexec": ("n", 2)}

ARGUMENTS = (
    *(argument for argument, _ in MARKERS.values()), "timeout", "isolation", "strict", "explore", "processes", "min_size",
    "unit",
)  # fmt: skip
"""Arguments of the markers. `min_size` is pytest-mpi's, `unit` pytest-isolate-mpi's."""

OVERRIDE = pytest.StashKey[str]()
"""The numbers of ranks of `--mpi-ranks`, which replace those of all markers."""

NUMBER = pytest.StashKey[int]()
"""The number of ranks on which a test for several numbers runs now."""

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
    "virtual ranks, or on each number of a list; '1..16' or a range: one test on these numbers, smallest first; timeout: "
    "seconds; isolation='module': each rank has private copies of the test module, conftest and the project's modules "
    "('none': never, 'auto': if one of them uses COMM_WORLD); strict=True: findings are failures; explore=N: run every "
    "schedule that can give a different result, up to N; processes=True: each rank is a process, which runs pytest with "
    "this test",
    "parallel(nprocs): same as mpi(ranks=nprocs), the marker of mpi-pytest",
    "mpiexec(n): same as mpi(ranks=n), the marker of pytest-mpiexec; a parameter named mpiexec_n may set the number",
    *(f"{name}: on ranks, {mark.name} the test" for name, mark in NOT_ON_RANKS.items()),
)


def marker_of(node: pytest.Item) -> pytest.Mark | None:
    """Return the marker closest to the test that makes it run on virtual ranks; None if there is none.

    With `--mpi-ranks` the numbers of ranks are those of the option.
    """
    mark = next((mark for mark in node.iter_markers() if mark.name in MARKERS), None)
    override = node.config.stash.get(OVERRIDE, "")
    if mark is None or not override:
        return mark
    replaced: pytest.Mark = getattr(pytest.mark, mark.name)(**{**mark.kwargs, MARKERS[mark.name][0]: override}).mark
    return replaced


def is_one_test(mark: pytest.Mark) -> bool:
    """Return whether a test on several numbers of ranks is one test: they are a text or a range, and not a list."""
    return isinstance(_given(mark), (str, range))


def _given(mark: pytest.Mark) -> Any:
    """Return the numbers of ranks in a marker."""
    argument, default = MARKERS[mark.name]
    return mark.kwargs.get(argument, mark.args[0] if mark.args else mark.kwargs.get("min_size", default))


def misspelled(node: pytest.Item) -> str:
    """Return a question about a marker whose name is similar to one of ours; empty if there is none."""
    similar = {mark.name: get_close_matches(mark.name, MARKERS, 1) for mark in node.iter_markers()}
    return "".join(f"; did you mean {found[0]} instead of {name}?" for name, found in similar.items() if found)


def sizes(mark: pytest.Mark) -> Sequence[int]:
    """Return the numbers of ranks that a marker requests."""
    for name in set(mark.kwargs).difference(ARGUMENTS):
        if similar := get_close_matches(name, ARGUMENTS, 1):  # others may be for other plugins
            raise pytest.UsageError(f"@pytest.mark.{mark.name}: {name} is unknown; did you mean {similar[0]}?")
    argument, given = MARKERS[mark.name][0], _given(mark)
    if isinstance(given, str):
        return _in_text(given, f"@pytest.mark.{mark.name}: {argument} = ")
    several = [given] if isinstance(given, int) else given
    if not isinstance(several, Sequence) or not several:
        raise pytest.UsageError(
            f"@pytest.mark.{mark.name}: {argument} must be a number, a list of numbers or a text like '1..16', not {given!r}"
        )
    for size in several:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise pytest.UsageError(f"@pytest.mark.{mark.name}: {argument} is {size!r}; it must be an integer of at least 1")
    return sorted(several) if isinstance(given, range) else list(several)


def _in_text(text: str, option: str) -> list[int]:
    """Return the numbers of ranks in a text such as `1..8,16`."""
    from fakempi.core.collectives_package import load_despite_shadowing

    load_despite_shadowing()
    from fakempi.core.rank_numbers import numbers  # few markers have a text

    try:
        return numbers(text, option)
    except ValueError as error:
        sentence = str(error)
        raise pytest.UsageError(sentence if sentence.startswith(option) else f"{option}{text}: {sentence}") from None


def override(config: pytest.Config, text: str) -> None:
    """Let all markers have the numbers of ranks in a text."""
    _in_text(text, "--mpi-ranks=")
    config.stash[OVERRIDE] = text


def parametrize(metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
    """Parametrize a test by its numbers of ranks, if its marker names several."""
    if mark.name == "mpiexec" and "mpiexec_n" in metafunc.fixturenames:
        return
    several = sizes(mark)
    if len(several) > 1 and not is_one_test(mark):
        metafunc.fixturenames.append(SIZE)
        metafunc.parametrize(SIZE, several, ids=[f"{MARKERS[mark.name][0]}{size}" for size in several])


def size_of(item: pytest.Item, mark: pytest.Mark) -> int:
    """Return the number of ranks of this test; for one test on several numbers, that of the current run."""
    if NUMBER in item.stash:
        return item.stash[NUMBER]
    params = item.callspec.params if hasattr(item, "callspec") else {}
    size = params.get(SIZE, params.get("mpiexec_n") if mark.name == "mpiexec" else None)
    return int(size) if size is not None else sizes(mark)[0]


def sizes_of(item: pytest.Item, mark: pytest.Mark, several: bool) -> Sequence[int]:
    """Return the numbers of ranks of the current run of a test: with `several`, all of its marker if it is not one test."""
    return sizes(mark) if several and NUMBER not in item.stash else [size_of(item, mark)]


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
