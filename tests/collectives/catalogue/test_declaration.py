"""The decorator `@algorithm`: operation, name, kind and parameters follow from the function, and cases are checked first."""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, algorithm, find
from collectives.catalogue.conditions import any_case
from collectives.inter_patterns.groups import RootRole
from collectives.loading import LoadError, load

NEW = """\
from collectives import algorithm

def schedule(case):
    return []

def why_unsupported(case):
    return None if case.p > 2 else f"p = {case.p} is too small"

@algorithm(schedule=schedule, why_unsupported=why_unsupported)
def reduce_scatter_block_mine(comm, sendbuf, recvbuf, *, op, width=3, tag=0):
    recvbuf[:] = width
"""
OLD = """\
from collectives import Algorithm

def schedule(case):
    return []

def fits(case):
    return None if case.p > 2 else "p is too small"

def text(comm, buf, *, root=0, tag=0): ...

ALGORITHM = Algorithm(operation="bcast", name="mine", run=text, schedule=schedule, fits=fits)
"""


def test_key_and_parameters_follow_from_the_function(tmp_path: Path) -> None:
    """The longest operation that begins the name; a function of two communicators is one between two groups."""
    path = tmp_path / "mine.py"
    path.write_text(NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = load(path)
    assert (mine.kind, mine.operation, mine.name, mine.parameters) == ("intra", "reduce_scatter_block", "mine", {"width": 3})

    @algorithm
    def allgatherv_other(inter: Any, local: Any, sendbuf: Any, recvbuf: Any, counts: Any, *, tag: int = 0) -> None:
        """Do nothing."""

    assert repr(allgatherv_other) == "<inter allgatherv other>"
    assert allgatherv_other.schedule_for(Case(2, q=2)) is None
    assert find("bcast", "chain").plan == find("bcast", "chain").schedule_for  # the earlier name

    @algorithm(operation="sort", name="given", in_order=True)
    def unrelated(chain: Any, item: Any, *, order: Any, depth: int = 2) -> None:
        """Do nothing."""

    assert (unrelated.kind, unrelated.name, unrelated.in_order) == ("chain", "given", True)
    assert unrelated.parameters == {"depth": 2}


def test_the_case_is_checked_before_the_function_runs() -> None:
    """With root, operation and parameters of the call; calling the algorithm is calling its function."""
    seen: list[Case] = []

    def why_unsupported(case: Case) -> str | None:
        seen.append(case)
        return None if case.parameters["k"] > 1 else f"k = {case.parameters['k']} is less than 2"

    @algorithm(why_unsupported=why_unsupported)
    def reduce_counted(comm: Any, sendbuf: Any, recvbuf: Any, *, op: Any, root: int = 0, k: int = 2, tag: int = 0) -> None:
        """Count the calls."""
        recvbuf += 1

    def main(comm: Any) -> float:
        data = np.zeros(1)
        reduce_counted(comm, data, data, op=fakempi.MPI.SUM, root=1, k=3)
        with pytest.raises(UnsupportedCaseError, match=r"^reduce counted: k = 1 is less than 2$"):
            reduce_counted.run(comm, data, data, op=fakempi.MPI.SUM, k=1)
        return float(data[0])

    assert fakempi.run(main, 3).returns == [1, 1, 1]
    assert seen[0] == Case(3, root=1, parameters={"k": 3})


def test_ranks_of_both_groups_check_the_same_case() -> None:
    """Group A of a rooted operation is the group of the root, also on the ranks of the other group."""

    @algorithm(why_unsupported=lambda case: None if case.p == 3 else f"p = {case.p} is not 3")
    def bcast_three(comm: Any, buf: Any, *, root: int = 0, tag: int = 0) -> None:
        find("bcast", "binomial").run(comm, buf, root=root, tag=tag)

    def main(comm: Any) -> list[float]:
        in_a = comm.Get_rank() < 2
        local = comm.Split(int(in_a))
        inter = local.Create_intercomm(0, comm, 2 if in_a else 0)
        buf, root = np.full(2, 7.0 * (comm.Get_rank() == 0)), RootRole.PROC_NULL if in_a else 0
        find("bcast", "wmpi", "inter").run(
            inter, local, buf, root=root if comm.Get_rank() else RootRole.ROOT, bcast=bcast_three
        )
        return list(buf)

    assert fakempi.run(main, 5).returns == [[7, 7], [0, 0], [7, 7], [7, 7], [7, 7]]


def test_the_earlier_form_is_loaded_with_a_warning_that_shows_the_new_one(tmp_path: Path) -> None:
    """`fits` is `why_unsupported`."""
    path = tmp_path / "mine.py"
    path.write_text(OLD)
    with pytest.warns(DeprecationWarning, match=r"write @algorithm\(schedule=schedule\) in the line before def text"):
        mine = load(path)
    assert mine.why_unsupported(Case(2)) == mine.fits(Case(2)) == "p is too small"


def test_a_file_declares_one_algorithm(tmp_path: Path) -> None:
    """Otherwise the choice between them would depend on their order."""
    path = tmp_path / "two.py"
    path.write_text(NEW + NEW.split("\n\n")[-1].replace("_mine", "_other"))
    with pytest.raises(LoadError, match="declares 2 algorithms, .*_mine, .*_other: move"):
        load(path)


def test_every_bundled_algorithm_is_the_function_of_its_module() -> None:
    """All its keyword arguments are parameters or belong to its operation, and reasons against a case are checked."""
    for each in CATALOGUE:
        module = sys.modules[each.run.__module__]
        assert getattr(module, each.run.__name__) is each
        assert importlib.import_module(module.__name__).ALGORITHM is each
        checked = hasattr(each.run, "__wrapped__") or "check" in inspect.getsource(module)
        assert each.why_unsupported is any_case or checked, each
    assert isinstance(find("bcast", "binomial"), Algorithm)
