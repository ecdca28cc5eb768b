"""Schedules of algorithms between two groups: they verify, survive files, and run as the algorithm does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fakempi
from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError, find
from collectives.catalogue.schedule import sent_by
from collectives.inter_patterns.groups import UNDECIDED
from collectives.schedules import InvalidScheduleError, Range, Schedule, Step, goal, json_format, load, msccl, record
from collectives.verification.inter_cases import inter_cases
from fakempi import MPI, Hockney
from fakempi.apps.emulator import joined
from tests.collectives.inter.harness import calling, run_groups
from tests.helpers.breadth import breadth

COST = Hockney(t_s=1000, t_w=1, eager_limit=0)
INTER = [one for one in CATALOGUE if one.kind == "inter"]
GROUPS = [(1, 1), (2, 5), (4, 4)]

NOT_RECORDED = {
    ("allgatherv", "full_duplex"),
    ("allgatherv", "root_gathering_best"),
    ("allgatherv", "root_gathering_mpich"),
    ("allgatherv", "root_gathering_ring"),
    ("barrier", "allreduce"),
    ("barrier", "bcast"),
    ("gatherv", "binomial"),
    ("gatherv", "local_gather_remote_send"),
    ("reduce_scatter", "even_cut"),
    ("reduce_scatter", "one_leader"),
    ("reduce_scatter", "wmpi"),
    ("reduce_scatter_block", "wmpi"),
    ("scatterv", "binomial"),
    ("scatterv", "remote_send_local_scatter"),
}
"""Algorithms that send data which are in no buffer of the caller: block sizes, a byte, an integer; see docs/schedules.md."""


def cases(algorithm: Algorithm, p: int, q: int, number: int) -> list[Case]:
    """Up to `number` cases of groups of p and q ranks, spread over those that `collectives.verify` tries."""
    found = [case for case in inter_cases(algorithm, p, q) if algorithm.why_unsupported(case) is None]
    return found[:: max(1, len(found) // number)][:number]


def recorded(p: int, q: int, number: int) -> Iterator[tuple[Algorithm, Case, Schedule]]:
    """The schedules of all algorithms that can be recorded, in some cases of groups of p and q ranks."""
    for algorithm in INTER:
        for case in cases(algorithm, p, q, number):
            try:
                yield algorithm, case, record(algorithm, case)
            except UnsupportedCaseError:
                assert (algorithm.operation, algorithm.name) in NOT_RECORDED


def verified(schedule: Schedule) -> None:
    """The schedule verifies, in the formats that can express it, too."""
    assert schedule.verify() == []
    for form in (json_format, goal):
        same = form.read(form.write(schedule))
        assert replace(same, labels={}) == replace(schedule, aliases=same.aliases)
        assert same.verify() == []
    with pytest.raises(InvalidScheduleError, match="one group of ranks"):
        msccl.write(schedule)


def same_run(algorithm: Algorithm, case: Case, schedule: Schedule) -> None:
    """The schedule's algorithm has the results, clocks and messages of the algorithm; `first` means group A."""
    plain = replace(case, parameters={"first": True})
    theirs = run_groups(calling(algorithm, case), case.p, case.q, COST, fused="never")
    ours = run_groups(calling(schedule.algorithm(), plain), case.p, case.q, COST)
    assert (ours.clocks, ours.messages, ours.sent) == (theirs.clocks, theirs.messages, theirs.sent), (algorithm, case)


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), GROUPS)
def test_every_algorithm_between_groups_is_recorded_verifies_and_runs_as_itself(p: int, q: int) -> None:
    seen = set()
    for algorithm, case, schedule in recorded(p, q, 2):
        verified(schedule)
        same_run(algorithm, case, schedule)
        seen.add((algorithm.operation, algorithm.name))
    missing = {(one.operation, one.name) for one in INTER if cases(one, p, q, 1)} - seen
    assert missing <= NOT_RECORDED


MORE_GROUPS = [(1, 9), (2, 1), (2, 3), (3, 8), (5, 7), (6, 2), (7, 5), (8, 9)]


@pytest.mark.slow
@pytest.mark.parametrize(("p", "q"), breadth([(5, 7)], MORE_GROUPS))
def test_groups_of_up_to_17_ranks(p: int, q: int) -> None:
    for algorithm, case, schedule in recorded(p, q, 3):
        verified(schedule)
        same_run(algorithm, case, schedule)


def test_algorithms_that_send_other_data_are_refused_and_no_others() -> None:
    refused = set()
    for algorithm in INTER:
        for case in cases(algorithm, 3, 3, 6):
            try:
                record(algorithm, case)
            except UnsupportedCaseError as error:
                refused.add((algorithm.operation, algorithm.name, "block sizes" in str(error)))
    assert refused == {(*name, True) for name in NOT_RECORDED}


def test_the_page_has_the_numbers_of_algorithms() -> None:
    within = len([one for one in CATALOGUE if one.kind == "intra"])
    recordable = within - 1 + len(INTER) - len(NOT_RECORDED)
    page = (Path(__file__).parents[3] / "docs" / "schedules.md").read_text(encoding="utf-8")
    assert f"Of the {len(CATALOGUE)} algorithms of the catalogue, {recordable} can be recorded" in page
    assert f"recorded: {within - 1} of {within} that move buffers or synchronize within a group" in page
    assert f"and {len(INTER) - len(NOT_RECORDED)} of {len(INTER)} between two groups" in page
    assert f"these {len(CATALOGUE) - recordable} algorithms" in page


def test_recorded_messages_are_those_that_the_algorithm_claims() -> None:
    """The claimed rounds are written by hand and not derived from the code."""
    compared = 0
    for algorithm, case, schedule in recorded(3, 4, 3):
        rounds = algorithm.schedule_for(case)
        if rounds is not None:
            rounds = list(rounds)
            sent = [sum(step.nbytes for step in steps if step.kind == "send") for steps in schedule.steps]
            assert sent == [sent_by(rounds, rank) for rank in range(case.ranks)], (algorithm, case)
            compared += 1
    assert compared > 50


def swap() -> Schedule:
    """One rank in each group; each sends its input to the other."""
    steps = [
        [Step("send", other, source=Range("input", 0, 8)), Step("recv", other, target=Range("output", 0, 8))]
        for other in (1, 0)
    ]
    return Schedule(2, steps, [{"input": 8, "output": 8}] * 2, operation="allgather", groups=(1, 1))


def test_faults_between_groups() -> None:
    """A rank receives the other group's data, so the schedule of one group is wrong between two, and the reverse."""
    assert swap().verify() == []
    assert swap().verify("allreduce") == []  # of one operand
    assert swap().verify("alltoall") == []
    within = record(find("allreduce", "ring"), Case(p=4, m=8))
    between = replace(within, groups=(2, 2))
    assert {fault.kind for fault in between.verify()} == {"extra"}
    message = str(between.verify()[0])
    assert "rank 0: output[0:2] has the extra contribution input[0:2] of rank" in message
    assert {fault.kind for fault in replace(swap(), groups=None).verify("allreduce")} == {"missing"}


def test_a_barrier_between_groups_waits_for_the_other_group_only() -> None:
    steps = [[Step("send", other), Step("recv", other)] for other in (1, 0)]
    assert Schedule(2, steps, [{}, {}], operation="barrier", groups=(1, 1)).verify() == []
    pairs = [[Step("send", other), Step("recv", other)] for other in (2, 3, 0, 1)]
    faults = Schedule(4, pairs, [{}] * 4, operation="barrier", groups=(2, 2)).verify()
    assert [str(fault).partition(":")[0] for fault in faults][:2] == [
        "rank 3 may end before rank 0 starts",
        "rank 0 may end before rank 3 starts",
    ]
    assert len(faults) == 4  # of the pairs within a group none counts


def test_scan_between_groups_does_not_exist() -> None:
    with pytest.raises(InvalidScheduleError, match="no scan between two groups"):
        swap().verify("scan")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": (1, 2)}, "groups of 1 and 2 ranks, but there are 2 ranks"),
        ({"groups": (2, 0)}, "groups of 2 and 0 ranks"),
        ({"groups": (1, 1), "root": 1}, "root 1 is not in the first group, which has 1 rank"),
    ],
)
def test_invalid_groups(change: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidScheduleError, match=message):
        replace(swap(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", ["3", "[1]", "[1, 1, 1]", '["a", 1]', "[1, -1]", "[1.0, 1]", "null"])
def test_invalid_groups_in_a_file(groups: str) -> None:
    text = json_format.write(swap()).replace('"groups": [1, 1]', f'"groups": {groups}')
    assert groups in text
    with pytest.raises(InvalidScheduleError, match="groups"):
        json_format.read(text)


def test_groups_of_equal_size_with_different_roles_need_first() -> None:
    algorithm = record(find("allgather", "full_duplex", kind="inter"), Case(p=2, q=2, m=8, m_b=24)).algorithm()
    case = Case(p=2, q=2, m=8, m_b=24)
    assert algorithm.why_unsupported(case) == UNDECIDED.format(p=2).replace(" and the same amount of data", "")
    assert algorithm.why_unsupported(replace(case, parameters={"first": True})) is None
    swapped = Case(p=2, q=2, m=24, m_b=8, parameters={"first": False})
    assert algorithm.why_unsupported(swapped) is None
    assert "bytes" in (algorithm.why_unsupported(replace(swapped, parameters={"first": True})) or "")
    run_groups(calling(algorithm, swapped), 2, 2, COST)


def test_equal_roles_need_no_first() -> None:
    schedule = record(find("alltoall", "pairwise", kind="inter"), Case(p=2, q=2, m=8, m_b=8))
    case = Case(p=2, q=2, m=16, m_b=16)
    assert schedule.algorithm().why_unsupported(case) is None
    run_groups(calling(schedule.algorithm(), case), 2, 2, COST)


def test_groups_in_the_other_order() -> None:
    schedule = record(find("allgather", "full_duplex", kind="inter"), Case(p=3, q=2, m=8, m_b=16))
    run_groups(calling(schedule.algorithm(), Case(p=2, q=3, m=16, m_b=8)), 2, 3, COST)
    reason = schedule.algorithm().why_unsupported(Case(p=4, q=1, m=8, m_b=16))
    assert reason == "the schedule is for groups of 3 and 2 ranks, not 4 and 1"


def test_a_file_is_an_algorithm_of_a_run(tmp_path: Path) -> None:
    schedule = record(find("allreduce", "even_cut", kind="inter"), Case(p=2, q=3, m=48, m_b=48))

    def main(comm: MPI.Intracomm) -> float:
        inter, _ = joined(comm, 2)
        total = np.empty(12)
        inter.Allreduce(np.full(12, float(comm.rank)), total)
        return float(total[5])

    for suffix in ("json", "goal"):
        schedule.save(tmp_path / f"between.{suffix}")
        assert load(tmp_path / f"between.{suffix}").verify() == []
        done = fakempi.run(main, 5, algorithms={"inter:allreduce": str(tmp_path / f"between.{suffix}")})
        assert done.returns == [9.0, 9.0, 1.0, 1.0, 1.0]


def test_steps_of_idle_ranks_are_refused() -> None:
    schedule = record(find("bcast", "joined", kind="inter"), Case(p=2, q=2, m=8))
    steps = [schedule.steps[0], [Step("compute", seconds=1.0)], *schedule.steps[2:]]
    problem = "rank 1 has steps, but of the first group only the root 0 takes part in bcast"
    with pytest.raises(InvalidScheduleError, match=problem):
        replace(schedule, steps=steps).algorithm()
