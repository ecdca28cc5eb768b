"""Every algorithm between groups: numpy's result in exactly the claimed time, and unsupported cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, find, fitting
from collectives.catalogue.schedule import Streams, Transfer
from collectives.verification.case_claims import disagreement, model_violation
from collectives.verification.cases import REDUCING
from collectives.verification.fault import EXACT, ROUNDS
from collectives.verification.fault_search import find_faults
from collectives.verification.group_side import GroupSide
from collectives.verification.inter_calls import prepare
from collectives.verification.reduction_ops import ops_of
from fakempi.apps.emulator import Emulator
from tests.collectives.inter.cases import sampled_groups, two_groups
from tests.collectives.inter.harness import phantom_call, run_groups
from tests.helpers.loops import for_each

INTER = [a for a in CATALOGUE if a.kind == "inter"]
EMULATOR = Emulator()
WITH_COMBINING = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0, compute_per_byte=0.25)  # powers of two: sums are exact


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


@pytest.mark.quick(8)
@pytest.mark.parametrize("algorithm", INTER, ids=name_of)
def test_results_and_claims(algorithm: Algorithm) -> None:
    """Messages, bytes, rounds, memory and time are as claimed, also with phantoms and with combining.

    The result does not depend on the eager limit.
    """
    for case in (*sampled_groups(algorithm, (5, 3), (1, 4), count=1), *sampled_groups(algorithm, (4, 4))):
        assert list(find_faults(algorithm, case, EMULATOR, [EXACT, ROUNDS, EXACT._replace(eager_limit=64)])) == []
        assert disagreement(algorithm, case) is None
        time = algorithm.time(case, 8, 0.5, 0.25)
        assert time is None or run_groups(phantom_call(algorithm, case), case.p, case.q, WITH_COMBINING).time == time


@pytest.mark.quick(16)
@pytest.mark.parametrize("algorithm", INTER, ids=name_of)
def test_results_on_threads(algorithm: Algorithm) -> None:
    """The same on the thread backend."""
    for case in sampled_groups(algorithm, (2, 3), count=1):
        assert list(find_faults(algorithm, case, EMULATOR, [EXACT._replace(backend="threads")])) == []


@pytest.mark.slow
@for_each("algorithm", INTER)
@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_results_and_claims_of_two_groups_of_up_to_12_ranks(algorithm: Algorithm, data: Any) -> None:
    """Cases drawn by Hypothesis; closed forms and schedule agree in Fractions."""
    case = data.draw(two_groups(algorithm))
    assert list(find_faults(algorithm, case, EMULATOR, [EXACT])) == []
    assert disagreement(algorithm, case) is None


@pytest.mark.sample
@pytest.mark.slow
@for_each("algorithm", INTER)
def test_schedules_conform_to_the_model(algorithm: Algorithm) -> None:
    """In a round a process sends at most once and receives at most once, never an empty message, never to itself."""
    for case in sampled_groups(algorithm, (1, 1), (1, 4), (3, 2), (4, 4), (5, 9), count=6):
        plan = list(algorithm.schedule_for(case) or ())
        assert model_violation(plan, case.ranks) is None
        transfers = [transfer for transfers in plan for transfer in transfers]
        assert algorithm.operation == "barrier" or all(t.nbytes > 0 for t in transfers)
        assert algorithm.operation in REDUCING or not any(t.combined for t in transfers)


def test_equal_groups_need_first() -> None:
    """Two groups of equal size with equal blocks cannot decide; no message is sent."""
    algorithm = find("allgather", "root_gathering_mpich", kind="inter")
    expected = (
        r"^inter allgather root_gathering_mpich: both groups have 3 ranks and the same amount of data: "
        r"pass first=True in one and first=False in the other$"
    )

    def main(inter: Any, local: Any, in_a: bool) -> None:
        with pytest.raises(UnsupportedCaseError, match=expected):
            algorithm.run(inter, local, np.zeros(2), np.zeros(6))

    assert run_groups(main, 3, 3).messages == 0
    case = Case(3, 16, q=3, m_b=16, itemsize=8)
    assert algorithm not in fitting("allgather", case, kind="inter")
    expected = r"algorithms that fit: even_cut, full_duplex, root_gathering_best, .*unsegmented, wmpi"
    with pytest.raises(UnsupportedCaseError, match=expected):
        find("allgather", "root_gathering_mpich", kind="inter", case=case)


@for_each("algorithm", INTER)
def test_a_local_communicator_of_another_group_is_rejected(algorithm: Algorithm) -> None:
    """The error is raised before any message is sent."""
    (case,) = sampled_groups(algorithm, (2, 3), count=1)
    expected = (
        r"^local must be the local group of the intercommunicator, where this process is rank \d+ of \d+, "
        r"but in local it is rank 0 of 1$"
    )

    def main(inter: Any, local: Any, in_a: bool) -> None:
        call = prepare(algorithm.operation, GroupSide(case, in_a, local.Get_rank()), ops_of(fakempi.MPI))
        with pytest.raises(ValueError, match=expected):
            algorithm.run(inter, fakempi.MPI.COMM_SELF, *call.args, **call.kwargs)

    assert run_groups(main, case.p, case.q).messages == 0


def test_an_unknown_order_is_not_supported() -> None:
    """The error lists the known orders."""
    algorithm = find("allgatherv", "full_duplex", kind="inter")
    case = Case(2, counts=(1, 1), q=1, counts_b=(1,), parameters={"receive_order": "random"})
    assert algorithm.why_unsupported(case) == "receive_order is 'random', not one of multi_target, rank"


@pytest.mark.parametrize("name", ["full_duplex", "unsegmented", "two_stage"])
def test_a_part_that_does_not_fit_is_named(name: str) -> None:
    """Recursive doubling on three ranks."""
    doubling = find("allgather", "recursive_doubling")
    case = Case(3, 8, q=3, m_b=8, parameters={"allgather": doubling})
    reason = find("allgather", name, kind="inter").why_unsupported(case)
    assert reason == "allgather recursive_doubling: p = 3 is not a power of two"


def test_a_case_of_two_groups_is_checked() -> None:
    """A case rejects counts for another number of ranks and a fraction of an element."""
    with pytest.raises(ValueError, match=r"^3 counts for q = 2 ranks$"):
        Case(3, counts=(1, 2, 3), q=2, counts_b=(1, 2, 3))
    with pytest.raises(ValueError, match=r"^m_b = 7 bytes is not a whole number of elements of 4 bytes$"):
        Case(3, 8, q=2, m_b=7, itemsize=4)
    with pytest.raises(ValueError, match=r"^traffic must have 2 rows of 3 counts each, one count for each pair of ranks$"):
        Case(3, q=2, traffic_b=((1, 2), (1, 2)))


def test_streams_with_a_waiting_cycle_are_rejected() -> None:
    """Rank 0 sends to 2 first, which waits for 1, which sends to 3 first, which waits for 0."""
    sends = [Transfer(0, 2, 1), Transfer(0, 3, 1), Transfer(1, 3, 1), Transfer(1, 2, 1)]
    phase = Streams(sends, [(1, 2), (0, 2), (0, 3), (1, 3)])
    with pytest.raises(ValueError, match=r"^the orders of sends and receives form a cycle of waiting processes$"):
        phase.ends([0] * 4, 0, 1)
