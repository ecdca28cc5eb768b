"""Claims of a schedule's algorithm: its rounds have exactly the times of its messages on the emulator."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import fakempi
from collectives import Algorithm, Case, find
from collectives.catalogue.schedule import clocks, longest_chain
from collectives.schedules import Range, Schedule, Step, record
from collectives.schedules.running.rounds import rounds
from collectives.trials.calls import prepared
from fakempi import MPI, Hockney, phantom
from tests.collectives.inter.harness import run_groups
from tests.collectives.schedules.samples import ALGORITHMS, cases
from tests.collectives.schedules.test_between_groups import recorded

T_S, T_W, C = 1000, 3, 7
COST = Hockney(t_s=T_S, t_w=T_W, eager_limit=0, compute_per_byte=C)


def emulated(algorithm: Algorithm, case: Case) -> tuple[list[float], list[int]]:
    """The clocks of all ranks and the bytes that they send, message by message."""
    if case.q:

        def between(inter: MPI.Intercomm, local: MPI.Intracomm, in_a: bool) -> None:
            rank = local.rank + (0 if in_a else case.p)
            prepared(algorithm, case, rank, (inter, local), phantom, MPI.SUM)()

        done = run_groups(between, case.p, case.q, COST, fused="never")
    else:

        def main(comm: MPI.Intracomm) -> None:
            prepared(algorithm, case, comm.rank, (comm,), phantom, MPI.SUM)()

        done = fakempi.run(main, case.p, cost=COST, fused="never")
    return list(done.clocks), [nbytes for _, nbytes in done.sent]


def compared(schedule: Schedule, case: Case) -> bool:
    """Whether the schedule has rounds; if so, they have the times of the emulator."""
    algorithm = schedule.algorithm()
    times, sent = emulated(algorithm, case)
    assert [algorithm.sent(case, rank) for rank in range(case.ranks)] == sent or schedule.operation == "alltoallw"
    plan = algorithm.schedule_for(case)
    if plan is None:
        assert algorithm.time(case, T_S, T_W, C) is None
        return False
    assert clocks(plan, case.ranks, T_S, T_W, C) == times, (schedule.name, case)
    assert algorithm.time(case, T_S, T_W, C) == max(times)
    return True


@pytest.mark.quick(1)
@pytest.mark.parametrize("p", [2, 4, 7])
def test_rounds_are_exact_within_a_group(p: int) -> None:
    found = Counter(
        compared(record(algorithm, case), replace(case, parameters={}))
        for algorithm in ALGORITHMS
        for case in cases(algorithm, p, 1)
    )
    assert found[True] > 5 * found[False]


@pytest.mark.quick(1)
@pytest.mark.parametrize(("p", "q"), [(1, 2), (4, 2)])
def test_rounds_are_exact_between_groups(p: int, q: int) -> None:
    found = Counter(compared(schedule, replace(case, parameters={"first": True})) for _, case, schedule in recorded(p, q, 2))
    assert found[True] > found[False]


def test_rounds_agree_with_the_rounds_that_the_catalogue_claims() -> None:
    agreeing = 0
    for algorithm in ALGORITHMS:
        for case in cases(algorithm, 5, 2):
            derived, claimed = rounds(record(algorithm, case)), algorithm.schedule_for(case)
            if derived is not None and claimed is not None:
                claimed = list(claimed)
                assert clocks(derived, 5, T_S, T_W, C) == clocks(claimed, 5, T_S, T_W, C), (algorithm, case)
                assert longest_chain(derived, 5) == longest_chain(claimed, 5)
                agreeing += 1
    assert agreeing > 100


def test_claims_of_other_sizes() -> None:
    ring, algorithm = find("allreduce", "ring"), record(find("allreduce", "ring"), Case(p=4, m=64)).algorithm()
    for case in (Case(4, 640), Case(4, 16), Case(4, 64)):
        assert algorithm.time(case, 10, 1, 3) == ring.time(case, 10, 1, 3)
        assert [algorithm.sent(case, rank) for rank in range(4)] == [ring.sent(case, rank) for rank in range(4)]
    assert algorithm.time(Case(5, 64), 10, 1) is None  # another number of ranks
    assert algorithm.time(Case(4, 65), 10, 1) is None
    assert algorithm.time(Case(4, 0), 10, 1) == 60  # the steps send empty messages


def test_blocks_without_counts_have_no_claim() -> None:
    algorithm = record(find("allgatherv", "ring"), Case(p=4, counts=(1, 2, 3, 4))).algorithm()
    assert algorithm.why_unsupported(Case(4, 100)) is None
    assert algorithm.time(Case(4, 100), 1, 1) is None
    assert algorithm.time(Case(4, counts=(2, 4, 6, 8)), 0, 1) == find("allgatherv", "ring").time(
        Case(4, counts=(2, 4, 6, 8)), 0, 1
    )


def test_groups_in_the_other_order_have_the_same_claims() -> None:
    algorithm = record(find("allgather", "full_duplex", kind="inter"), Case(p=3, q=2, m=8, m_b=16)).algorithm()
    case = Case(p=2, q=3, m=16, m_b=8)
    times, sent = emulated(algorithm, case)
    assert [algorithm.sent(case, rank) for rank in range(5)] == sent
    plan = algorithm.schedule_for(case)
    assert plan is not None
    assert clocks(plan, 5, T_S, T_W, C) == times


def message(kind: str, peer: int, after: tuple[int, ...] = (), **more: object) -> Step:
    where = {"source" if kind == "send" else "target": Range("input" if kind == "send" else "output", 0, 8)}
    return Step(kind, peer, after=after, **where, **more)  # type: ignore[arg-type]


def exchange(*steps: list[Step]) -> Schedule:
    return Schedule(len(steps), steps, [{"input": 8, "output": 8}] * len(steps))


def test_steps_that_are_no_rounds() -> None:
    """Each of these has another time than rounds would have, or times that depend on timing."""
    two_sends = exchange([message("send", 1), message("send", 2)], [message("recv", 0)], [message("recv", 0)])
    assert rounds(two_sends) is None
    assert rounds(replace(exchange([message("send", 1)], [message("recv", 0)]), buffering="infinite")) is None
    computing = exchange([Step("compute", seconds=1.0), message("send", 1, (0,))], [message("recv", 0)])
    assert rounds(computing) is None
    half = exchange(  # rank 0 sends to 2 after its first send, while its receive may still be pending
        [message("send", 1), message("recv", 1), message("send", 2, (0,))],
        [message("recv", 0), message("send", 0, (0,))],
        [message("recv", 0)],
    )
    assert rounds(half) is None
    whole = exchange(
        [message("send", 1), message("recv", 1), message("send", 2, (0, 1))],
        [message("recv", 0), message("send", 0)],
        [message("recv", 0)],
    )
    assert rounds(whole) is not None
    crossed = exchange(  # the stages of rank 0 are one round for rank 1, and the reverse for rank 2
        [message("send", 1), message("send", 2, (0,))],
        [message("recv", 0), message("send", 2)],
        [message("recv", 0), message("recv", 1, (0,))],
    )
    assert rounds(crossed) is None


def test_a_schedule_with_faults_claims_no_time() -> None:
    """If only the times were simulated, the wrong result would not show."""
    schedule = record(find("allreduce", "ring"), Case(p=4, m=64))
    steps = [list(each) for each in schedule.steps]
    index = next(index for index, step in enumerate(steps[1]) if step.kind == "reduce")
    steps[1][index] = replace(steps[1][index], kind="copy")
    wrong = replace(schedule, steps=steps)
    assert wrong.verify() != []
    assert rounds(wrong) is not None
    assert wrong.algorithm().time(Case(4, 64), 1, 1) is None
