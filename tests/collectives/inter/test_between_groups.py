"""Every algorithm between groups: numpy's answer in exactly the claimed time, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, DoesNotFit, find, fitting
from collectives.catalogue.schedule import Streams, Transfer
from collectives.verification.cases import REDUCING
from collectives.verification.fault import EXACT, ROUNDS
from collectives.verification.faults import faults
from collectives.verification.ops import ops_of
from collectives.verification.paper import breach, disagreement
from collectives.verification.side import Side
from collectives.verification.two_groups import prepare
from fakempi.laboratory import Emulator
from tests.collectives.inter.cases import two_groups
from tests.collectives.inter.harness import ghostly, run_groups

INTER = [a for a in CATALOGUE if a.kind == "inter"]
EMULATOR = Emulator()
WITH_COMBINING = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0, compute_per_byte=0.25)  # powers of two: sums are exact


def every(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


@pytest.mark.parametrize("algorithm", INTER, ids=every)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_results_and_claims(algorithm: Algorithm, data: Any) -> None:
    """Messages, bytes, rounds, memory and time are the claimed ones; without contents and with combining too."""
    case = data.draw(two_groups(algorithm))
    assert list(faults(algorithm, case, EMULATOR, [EXACT, ROUNDS])) == []
    assert disagreement(algorithm, case) is None
    time = algorithm.time(case, 8, 0.5, 0.25)
    assert time is None or run_groups(ghostly(algorithm, case), case.p, case.q, WITH_COMBINING).time == time


@pytest.mark.parametrize("algorithm", INTER, ids=every)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_results_on_threads(algorithm: Algorithm, data: Any) -> None:
    """The same on the other carrier."""
    case = data.draw(two_groups(algorithm, largest=6))
    assert list(faults(algorithm, case, EMULATOR, [EXACT._replace(carrier="threads")])) == []


@pytest.mark.parametrize("algorithm", INTER, ids=every)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_buffering_makes_no_difference_to_the_result(algorithm: Algorithm, data: Any) -> None:
    """Nor do messages that do not wait for their receives."""
    case = data.draw(two_groups(algorithm))
    assert list(faults(algorithm, case, EMULATOR, [EXACT._replace(eager_limit=64)])) == []


@pytest.mark.parametrize("algorithm", INTER, ids=every)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_schedules_keep_to_the_model(algorithm: Algorithm, data: Any) -> None:
    """In a round a process sends at most once and receives at most once; never nothing, never to itself."""
    case = data.draw(two_groups(algorithm))
    plan = list(algorithm.plan(case) or ())
    assert breach(plan, case.ranks) is None
    transfers = [transfer for transfers in plan for transfer in transfers]
    assert algorithm.operation == "barrier" or all(t.nbytes > 0 for t in transfers)
    assert algorithm.operation in REDUCING or not any(t.combined for t in transfers)


def test_groups_that_are_alike_must_be_told_who_is_first() -> None:
    """Two groups of one size with equal blocks cannot find out by themselves; nothing is sent."""
    algorithm = find("allgather", "root_gathering_mpich", kind="inter")
    words = (
        r"^inter allgather root_gathering_mpich: the groups are alike, 3 ranks each with as much to send: "
        r"say first=True in one and first=False in the other$"
    )

    def main(inter: Any, local: Any, in_a: bool) -> None:
        with pytest.raises(DoesNotFit, match=words):
            algorithm.run(inter, local, np.zeros(2), np.zeros(6))

    assert run_groups(main, 3, 3).messages == 0
    case = Case(3, 16, q=3, m_b=16, itemsize=8)
    assert algorithm not in fitting("allgather", case, kind="inter")
    with pytest.raises(DoesNotFit, match=r"these fit: even_cut, full_duplex, root_gathering_best, .*unsegmented, wmpi"):
        find("allgather", "root_gathering_mpich", kind="inter", case=case)


@pytest.mark.parametrize("algorithm", INTER, ids=every)
@given(data=st.data())
@settings(max_examples=1, deadline=None)
def test_a_local_that_is_another_group_is_refused(algorithm: Algorithm, data: Any) -> None:
    """Before anything is sent."""
    case = data.draw(two_groups(algorithm).filter(lambda case: case.p > 1 and case.q > 1))
    words = (
        r"^local must be the intercommunicator's own group, where this is rank \d+ of \d+, but .* it is rank 0 of 1$"
    )

    def main(inter: Any, local: Any, in_a: bool) -> None:
        call = prepare(algorithm.operation, Side(case, in_a, local.Get_rank()), ops_of(fakempi.MPI))
        with pytest.raises(ValueError, match=words):
            algorithm.run(inter, fakempi.MPI.COMM_SELF, *call.args, **call.kwargs)

    assert run_groups(main, case.p, case.q).messages == 0


def test_an_unknown_order_is_refused() -> None:
    """With the orders that there are."""
    algorithm = find("allgatherv", "full_duplex", kind="inter")
    case = Case(2, counts=(1, 1), q=1, counts_b=(1,), parameters={"receive_order": "random"})
    assert algorithm.fits(case) == "receive_order is 'random', not one of multi_target, rank"


@pytest.mark.parametrize("name", ["full_duplex", "unsegmented", "two_stage"])
def test_a_part_that_does_not_fit_is_named(name: str) -> None:
    """Recursive doubling on three ranks."""
    doubling = find("allgather", "recursive_doubling")
    case = Case(3, 8, q=3, m_b=8, parameters={"allgather": doubling})
    assert find("allgather", name, kind="inter").fits(case) == (
        "allgather recursive_doubling: p = 3 is not a power of two"
    )


def test_a_case_of_two_groups_is_checked() -> None:
    """Counts for other ranks, bytes that are no whole elements."""
    with pytest.raises(ValueError, match=r"^3 counts for q = 2 ranks$"):
        Case(3, counts=(1, 2, 3), q=2, counts_b=(1, 2, 3))
    with pytest.raises(ValueError, match=r"^m_b = 7 bytes is not a whole number of elements of 4 bytes$"):
        Case(3, 8, q=2, m_b=7, itemsize=4)
    with pytest.raises(ValueError, match=r"^traffic must have 2 rows of 3 counts, one for each pair of ranks$"):
        Case(3, q=2, traffic_b=((1, 2), (1, 2)))


def test_streams_that_wait_for_each_other_are_refused() -> None:
    """0 sends to 2 first, which waits for 1, which sends to 3 first, which waits for 0."""
    sends = [Transfer(0, 2, 1), Transfer(0, 3, 1), Transfer(1, 3, 1), Transfer(1, 2, 1)]
    phase = Streams(sends, [(1, 2), (0, 2), (0, 3), (1, 3)])
    with pytest.raises(ValueError, match=r"^the orders of sending and receiving wait for each other$"):
        phase.ends([0] * 4, 0, 1)
