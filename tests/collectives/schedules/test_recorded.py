"""Schedules of the catalogue's algorithms: they verify, survive files, and run as the algorithm does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fakempi
from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, find
from collectives.catalogue.schedule import sent_by
from collectives.schedules import InvalidScheduleError, Schedule, goal, json_format, load, msccl, record
from collectives.verification.intra_calls import check
from collectives.verification.reduction_ops import ops_of
from fakempi import MPI, Hockney
from tests.collectives.schedules.samples import ALGORITHMS, SENDS_A_BYTE, cases, one_size_each
from tests.helpers.breadth import breadth

COST = Hockney(t_s=1000, t_w=1, eager_limit=0)


def verified(algorithm: Algorithm, case: Case) -> list[Schedule]:
    """The schedule of an algorithm, and that of its MSCCL file; they verify in all formats that can express them."""
    schedule = record(algorithm, case)
    assert schedule.verify() == []
    for form in (json_format, goal):
        same = form.read(form.write(schedule))
        assert replace(same, labels={}, counts=None, aliases=()) == replace(schedule, counts=None, aliases=())
        assert same.verify() == []
    try:
        text = msccl.write(schedule)
    except InvalidScheduleError:  # MSCCL has no messages without data and no order of operands
        empty = any(step.kind == "send" and not step.nbytes for _, _, step in schedule)
        assert empty or not schedule.commutative or not schedule.has_ranges
        return [schedule]
    from_xml = msccl.read(text)
    assert from_xml.verify() == []
    return [schedule, from_xml]


def same_run(algorithm: Algorithm, case: Case, schedules: list[Schedule]) -> None:
    """The algorithms of the schedules have the results, clocks and messages of the algorithm.

    Clocks are equal on a machine with the number of ports that the algorithm uses. With fewer ports, messages that one rank
    starts at the same time queue, and their order in the queue may be another one.
    """
    plain, ops = replace(case, parameters={}), ops_of(MPI)
    cost = Hockney(t_s=1000, t_w=1, eager_limit=0, ports=case.parameters.get("ports", 1))

    def main(comm: MPI.Intracomm, tried: Algorithm, called: Case) -> None:
        check(tried, comm, called, ops)

    theirs = fakempi.run(main, case.p, algorithm, case, cost=cost, fused="never")
    for other in (schedule.algorithm() for schedule in schedules):
        ours = fakempi.run(main, case.p, other, plain, cost=cost)
        assert (ours.clocks, ours.messages, ours.sent) == (theirs.clocks, theirs.messages, theirs.sent), (algorithm, case)


@pytest.mark.sample
@pytest.mark.slow
def test_every_algorithm_is_recorded_verifies_and_runs_as_itself() -> None:
    """One number of ranks from 2 to 17 for each algorithm."""
    for algorithm, case in one_size_each():
        same_run(algorithm, case, verified(algorithm, case))


@pytest.mark.slow
@pytest.mark.parametrize("p", breadth((3, 4, 5, 8), tuple(range(2, 18))))
def test_every_algorithm_with_p_ranks_verifies_and_runs_as_itself(p: int) -> None:
    for algorithm in ALGORITHMS:
        for case in cases(algorithm, p, 2):
            same_run(algorithm, case, verified(algorithm, case))


def test_an_algorithm_that_sends_other_data_is_refused() -> None:
    with pytest.raises(UnsupportedCaseError, match="outside its buffers"):
        record(find(*SENDS_A_BYTE), Case(p=4, parameters={"nodes": 2}))


def test_recorded_messages_are_those_that_the_algorithm_claims() -> None:
    """The claimed rounds are written by hand and not derived from the code."""
    for algorithm, case in one_size_each():
        rounds = algorithm.schedule_for(case)
        if rounds is not None:
            rounds = list(rounds)
            sent = [sum(step.nbytes for step in steps if step.kind == "send") for steps in record(algorithm, case).steps]
            assert sent == [sent_by(rounds, rank) for rank in range(case.p)], (algorithm, case)


def test_an_algorithm_that_is_not_in_rank_order_is_refused_for_an_op_that_is_not_commutative() -> None:
    schedule = record(find("allreduce", "recursive_doubling"), Case(p=4, m=8))
    assert schedule.verify(ordered=True) == []  # this one is in order, which the file does not state
    reason = schedule.algorithm().why_unsupported(Case(p=4, m=8, commutative=False))
    assert reason is not None
    assert "rank order" in reason
    stated = replace(schedule, commutative=False).algorithm()
    assert stated.in_order
    assert stated.why_unsupported(Case(p=4, m=8, commutative=False)) is None


def test_a_ring_does_not_combine_in_rank_order() -> None:
    schedule = record(find("allreduce", "ring"), Case(p=4, m=8))
    assert schedule.verify() == []
    assert {fault.kind for fault in schedule.verify(ordered=True)} == {"wrong"}


def test_fits_of_a_schedule() -> None:
    algorithm = record(find("bcast", "chain"), Case(p=4, m=64, parameters={"segment_bytes": 16}, root=1)).algorithm()
    assert algorithm.why_unsupported(Case(4, 64, root=1)) is None
    assert algorithm.why_unsupported(Case(4, 640, root=1, itemsize=8)) is None
    for case, part in (
        (Case(5, 64, root=1), "4 ranks, not 5"),
        (Case(4, 64), "root 1, not 0"),
        (Case(4, 64, root=1, in_place=True), "separate"),
        (Case(4, 16, root=1, itemsize=8), "does not divide"),
    ):
        assert part in (algorithm.why_unsupported(case) or "")
        with pytest.raises(UnsupportedCaseError, match=part):
            algorithm.check(case)


def test_a_schedule_file_is_an_algorithm_of_a_run(tmp_path: Path) -> None:
    """In all three formats, with another message size than the file's, and an op on floats."""
    schedule = record(find("allreduce", "ring"), Case(p=4, m=64))
    for suffix in ("json", "goal", "xml"):
        schedule.save(tmp_path / f"ring.{suffix}")
        assert load(tmp_path / f"ring.{suffix}").verify() == []

        def main(comm: MPI.Intracomm) -> list[float]:
            total = np.empty(16)
            comm.Allreduce(np.arange(16.0) * comm.rank, total)
            return total.tolist()

        done = fakempi.run(main, 4, cost=COST, algorithms={"allreduce": str(tmp_path / f"ring.{suffix}")})
        assert done.returns == [(np.arange(16.0) * 6).tolist()] * 4
        assert done.messages == 24


def test_a_schedule_of_alltoallw_moves_blocks_of_any_datatype_and_size() -> None:
    schedule = record(find("alltoallw", "linear"), Case(p=3, traffic=((1, 2, 3),) * 3))

    def main(comm: MPI.Intracomm) -> list[float]:
        """Rank r sends k + 1 doubles, every second of its matrix, to rank k."""
        k = comm.rank + 1
        sent, got = np.arange(12.0) + 100 * comm.rank, np.zeros(3 * k)
        pairs = MPI.DOUBLE.Create_vector(1, 1, 2).Create_resized(0, 16).Commit()
        out = [sent, ([1, 2, 3], [0, 16, 48]), [pairs] * 3]
        comm.Alltoallw(out, [got, ([k] * 3, [8 * k * rank for rank in range(3)]), [MPI.DOUBLE] * 3])
        pairs.Free()
        return got.tolist()

    plain = fakempi.run(main, 3)
    assert plain.returns[1] == [2.0, 4.0, 102.0, 104.0, 202.0, 204.0]
    done = fakempi.run(main, 3, algorithms={"alltoallw": schedule.algorithm()})
    assert (done.returns, done.messages) == (plain.returns, 6)


def test_algorithms_without_schedules_are_refused_with_a_reason() -> None:
    reasons = {"split": "colors and keys", "chain": "items", "comm_creation": "creates communicators", "files": "a file"}
    others = [one for one in CATALOGUE if one.kind in reasons]
    assert len(others) == len([one for one in CATALOGUE if one.kind not in ("intra", "inter")])
    for algorithm in others:
        with pytest.raises(UnsupportedCaseError, match=reasons[algorithm.kind]):
            record(algorithm, Case(p=2))
    with pytest.raises(UnsupportedCaseError, match="needs a case of two groups, with q > 0, but q = 0"):
        record(find("allgather", "full_duplex", kind="inter"), Case(p=2, m=8))
    with pytest.raises(UnsupportedCaseError, match="needs a case of one group"):
        record(find("allgather", "ring"), Case(p=2, q=2, m=8))


def test_calls_in_place_are_refused() -> None:
    with pytest.raises(UnsupportedCaseError, match="two buffers"):
        record(find("allreduce", "ring"), Case(p=2, m=8, in_place=True))
