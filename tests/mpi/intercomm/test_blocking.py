"""Collectives between two groups: every call, any group sizes, roots on either side, every kind of memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, find
from collectives.catalogue.algorithm import Algorithm, Case
from fakempi import MPI
from fakempi.apps.compare.timing import as_called
from fakempi.tuning import TABLES
from tests.helpers.runs import run
from tests.mpi.collective.calls import FORMS, LETTERS
from tests.mpi.intercomm.calls import SIZES, Setting, calls, joined, phantoms, run_joined

EXACT = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)
BETWEEN = [each for each in CATALOGUE if each.kind == "inter"]

settings = st.integers(1, 5).flatmap(
    lambda p: st.integers(1, 5).flatmap(
        lambda q: st.integers(0, 1).flatmap(
            lambda side: st.builds(
                Setting,
                p=st.just(p),
                q=st.just(q),
                root_side=st.just(side),
                root=st.integers(0, (p, q)[side] - 1),
                count=st.integers(0, 4),
                letter=st.sampled_from([letter for letter in LETTERS if letter not in "?FDG"]),
                form=st.sampled_from(FORMS),
            )
        )
    )
)


def everything(inter: Any, side: int, setting: Setting, operation: str | None = None) -> list[str]:
    """Make every call, or that of one operation; return the names of calls with a wrong result."""
    wrong = []
    for name, args, read, expected in calls(setting, side, inter.rank):
        if operation not in (None, name.lower()):
            continue
        assert getattr(inter, name)(*args) is None
        if read() != expected:
            wrong.append(name)
    return wrong


# -- results ------------------------------------------------------------------------------------------------------


@given(setting=settings)
@limits(max_examples=10)
def test_every_call_gives_the_expected_result(backend: Any, setting: Setting) -> None:
    """With any number of ranks, any root, any kind of memory, and blocks of any size, including empty ones."""
    p, q = setting.sizes
    assert run_joined(lambda inter, side: everything(inter, side, setting), p, q, backend) == [[]] * (p + q)


@pytest.mark.quick(2)
@pytest.mark.parametrize(("p", "q"), SIZES)
@pytest.mark.parametrize("table", TABLES)
def test_every_table_gives_the_same_results(table: str, p: int, q: int) -> None:
    """Whichever algorithms it selects."""
    setting = Setting(p, q, root_side=1, root=q - 1)
    assert run_joined(lambda inter, side: everything(inter, side, setting), p, q, algorithms=table) == [[]] * (p + q)


def made_otherwise(comm: Any, how: str) -> tuple[Any, int]:
    """An intercommunicator of 2 + 3 ranks, created in some way, from at most 6 ranks."""
    inter, side = joined(comm, 2)
    if how == "Dup":
        return inter.Dup(), side
    if how == "Idup":
        other, request = inter.Idup()
        request.Wait()
        return other, side
    if how == "Split":
        return inter.Split(0 if comm.rank < 5 else MPI.UNDEFINED), side
    if how == "Create":
        return inter.Create(inter.Get_group().Excl([3] if side else [])), side
    if how == "a plain handle":
        return MPI.Comm(inter.Split(0 if comm.rank < 5 else MPI.UNDEFINED)), side
    merged = inter.Merge(bool(side))
    return joined(merged.Split(0 if comm.rank < 5 else 1), 2) if comm.rank < 5 else (merged.Split(1), side)


@pytest.mark.quick(2)
@pytest.mark.parametrize("how", ["Dup", "Idup", "Split", "Create", "Merge", "a plain handle"])
def test_intercommunicators_of_any_origin_give_the_same_results(backend: Any, how: str) -> None:
    """All calls exist, and give the same results."""

    def main(comm: Any) -> Any:
        inter, side = made_otherwise(comm, how)
        return everything(inter, side, Setting(2, 3, 1, 2)) if comm.rank < 5 else []

    p = 5 if how in ("Dup", "Idup") else 6
    assert run(main, p, backend) == [[]] * p


def test_messages_of_the_program_do_not_match_messages_of_collectives() -> None:
    """For any tags, on the intercommunicator and in the group."""

    def main(inter: Any, side: int) -> Any:
        request = inter.irecv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)
        wrong = everything(inter, side, Setting(2, 2))
        inter.send(side, inter.rank)
        return wrong, request.wait()

    assert run_joined(main, 2, 2) == [([], 1), ([], 1), ([], 0), ([], 0)]


def test_calls_on_several_intercommunicators_do_not_interfere() -> None:
    """The same ranks, joined twice, in both orders."""

    def main(comm: Any) -> Any:
        one, side = joined(comm, 2)
        two = comm.Split(side).Create_intercomm(0, comm, 0 if side else 2, tag=5)
        a, b = np.full(2, -1), np.full(2, -1)
        requests = [one.Iallgather(np.full(1, comm.rank), a), two.Iallgather(np.full(1, 10 + comm.rank), b)]
        MPI.Request.Waitall(requests[::-1])
        return a.tolist(), b.tolist()

    assert run(main, 4) == [([2, 3], [12, 13])] * 2 + [([0, 1], [10, 11])] * 2


def test_a_reduction_keeps_rank_order() -> None:
    """A noncommutative operation gets the operands of the other group in rank order."""

    def multiply(left: Any, right: Any, datatype: Any) -> None:
        a, b = (np.frombuffer(each, "l").reshape(-1, 2, 2) for each in (left, right))
        b[...] = a @ b

    def matrix(side: int, rank: int) -> Any:
        return np.array([[1 + side, rank], [rank + 1, 2]])

    def main(inter: Any, side: int) -> Any:
        kind, op, into = MPI.LONG.Create_contiguous(4).Commit(), MPI.Op.Create(multiply), np.zeros((2, 2), int)
        inter.Allreduce([matrix(side, inter.rank), kind], [into, kind], op)
        return into.tolist()

    products = [np.linalg.multi_dot([matrix(side, r) for r in range(n)]).tolist() for side, n in ((0, 3), (1, 4))]
    assert run_joined(main, 3, 4) == [products[1]] * 3 + [products[0]] * 4


# -- costs --------------------------------------------------------------------------------------------------------


@pytest.mark.quick(5)
@pytest.mark.parametrize(("p", "q"), SIZES)
@pytest.mark.parametrize("table", TABLES)
def test_phantoms_are_accepted(table: str, p: int, q: int) -> None:
    """For programs that only need the time."""

    def main(inter: Any, side: int) -> float:
        for name, args in phantoms(Setting(p, q), side, inter.rank):
            getattr(inter, name)(*args)
        return MPI.Wtime()

    assert min(run_joined(main, p, q, algorithms=table)) > 0


def test_ranks_of_the_roots_group_other_than_the_root_are_idle() -> None:
    """They send nothing, receive nothing, and continue at time 0, while the others work."""

    def main(comm: Any) -> Any:
        inter, side = joined(comm, 3)
        for name, args in phantoms(Setting(3, 4, 0, 1), side, inter.rank):
            if name in ("Bcast", "Gather", "Scatter", "Gatherv", "Scatterv", "Reduce"):
                getattr(inter, name)(*args)
        return MPI.Wtime()

    result = fakempi.run(main, 7, cost=EXACT)
    assert [result.returns[rank] for rank in (0, 2)] == [0, 0]
    assert [result.sent[rank] for rank in (0, 2)] == [(0, 0)] * 2
    assert [result.received[rank] for rank in (0, 2)] == [(0, 0)] * 2
    assert min(result.returns[rank] for rank in (1, 3, 4, 5, 6)) > 0


def case_of(operation: str, s: Setting) -> Case:
    """The case of a call on phantoms, with the root in the first group."""
    p, q, m, total = s.p, s.q, 8 * s.count, 8 * s.count * s.p * s.q
    match operation:
        case "barrier":
            return Case(p, q=q)
        case "bcast" | "scatter":
            return Case(p, m, q=q, root=s.root)
        case "gather" | "reduce":
            return Case(p, q=q, m_b=m, root=s.root, itemsize=8)
        case "gatherv" | "scatterv":
            return Case(p, q=q, counts_b=(m,) * q, root=s.root)
        case "allgatherv":
            return Case(p, q=q, counts=(m,) * p, counts_b=(m,) * q)
        case "alltoallv" | "alltoallw":
            return Case(p, q=q, traffic=((m,) * q,) * p, traffic_b=((m,) * p,) * q)
        case "reduce_scatter_block":
            return Case(p, total // p, q=q, m_b=total // q, itemsize=8)
        case "reduce_scatter":
            return Case(p, q=q, counts=(total // p // 8,) * p, counts_b=(total // q // 8,) * q, itemsize=8)
    return Case(p, m, q=q, m_b=m, itemsize=8 if operation == "allreduce" else 1)


@pytest.mark.quick(6)
@pytest.mark.parametrize("algorithm", BETWEEN, ids=lambda each: f"{each.operation}-{each.name}")
def test_a_call_takes_as_long_as_its_algorithm_claims(algorithm: Algorithm) -> None:
    """Exactly, and each rank sends the claimed bytes; of two equal groups the communicator's first is A."""
    known = 0
    for p, q in ((1, 1), (1, 4), (3, 3), (8, 3)):
        setting = Setting(p, q, 0, p - 1)
        case = case_of(algorithm.operation, setting)
        case = replace(case, parameters={"first": True} if "first" in algorithm.parameters else {})
        _, case = as_called(algorithm, ("inter", algorithm.operation), case, EXACT)  # parts are selected by the table

        def main(comm: Any, setting: Setting = setting) -> None:
            inter, side = joined(comm, setting.p)
            for name, args in phantoms(setting, side, inter.rank):
                if name.lower() == algorithm.operation:
                    getattr(inter, name)(*args)

        result = fakempi.run(main, p + q, cost=EXACT, algorithms={f"inter:{algorithm.operation}": algorithm.name})
        assert [nbytes for _, nbytes in result.sent] == [algorithm.sent(case, rank) for rank in range(p + q)]
        if (claim := algorithm.time(case, 8.0, 0.5)) is not None:
            known += 1
            assert (p, q, result.time) == (p, q, claim)
    depends_on_timing = algorithm.operation.startswith("alltoall") or algorithm.name == "remote_gather_local_bcast"
    assert known or depends_on_timing


@pytest.mark.quick(6)
@pytest.mark.parametrize("algorithm", BETWEEN, ids=lambda each: f"{each.operation}-{each.name}")
def test_each_algorithm_can_be_selected(algorithm: Algorithm) -> None:
    """With the same results, also for equal groups: their order is known here."""
    requested = {f"inter:{algorithm.operation}": algorithm.name}
    for setting in [Setting(p, q) for p, q in SIZES]:

        def main(inter: Any, side: int, setting: Setting = setting) -> Any:
            return everything(inter, side, setting, algorithm.operation)

        found = run_joined(main, *setting.sizes, algorithms=requested)
        assert [wrong for wrong in found if wrong] == []


@pytest.mark.parametrize("first", [True, False])
def test_the_group_that_goes_first_can_be_selected(first: bool) -> None:
    """It refers to the first group in the communicator: the other group gets the opposite value."""
    requested = {"inter:allgather": ("root_gathering_mpich", {"first": first})}

    def main(inter: Any, side: int) -> Any:
        inter.Allgather(fakempi.phantom(8), fakempi.phantom(16))
        return MPI.Wtime()

    ends = run_joined(main, 2, 2, algorithms=requested, cost=EXACT)
    receives_first = slice(2, 4) if first else slice(0, 2)
    assert max(ends[receives_first]) < max(ends)


def test_parts_of_an_algorithm_are_selected_by_name() -> None:
    """The allgather within the groups is a parameter."""

    def main(inter: Any, side: int) -> Any:
        into = np.full(8, -1)
        inter.Allgather(np.full(1, 10 * side + inter.rank), into)
        return into.tolist()

    for part in "ring", "bruck", "recursive_doubling":
        requested = {"inter:allgather": ("full_duplex", {"allgather": part})}
        result = fakempi.run(lambda comm: main(*joined(comm, 8)), 16, algorithms=requested, cost=EXACT)
        assert result.returns == [list(range(10, 18))] * 8 + [list(range(8))] * 8
        case = Case(8, 8, q=8, m_b=8, parameters={"allgather": find("allgather", part)})
        assert result.time == find("allgather", "full_duplex", kind="inter").time(case, 8.0, 0.5)
