"""Cycles of dependencies are detected when they close, and completed steps are forgotten."""

from __future__ import annotations

from random import Random

from fakempi.core.reports.dependencies import Dependencies, ProgramStep


def depends(step: ProgramStep, on: ProgramStep) -> bool:
    """Whether a step depends on another, by an exhaustive search."""
    ahead, seen = [step], set()
    while ahead:
        one = ahead.pop()
        if one is on:
            return True
        if one not in seen:
            seen.add(one)
            ahead += one.needs
    return False


def check(graph: Dependencies) -> None:
    """Each step has a larger order than the steps that it depends on, and none is complete."""
    for step in graph.steps:
        assert not step.ended
        assert step.pending
        assert all(need.order < step.order for need in step.needs if not need.ended)


def test_a_dependency_is_rejected_if_and_only_if_it_closes_a_cycle() -> None:
    """On random graphs, compared with an exhaustive search."""
    cycles = 0
    for seed in range(60):
        random = Random(seed)
        graph = Dependencies()
        opened: list[ProgramStep] = []
        for number in range(60):
            if random.random() < 0.6 or not opened:
                needs = random.sample(list(graph.steps), min(len(graph.steps), random.randint(0, 2)))
                opened.append(graph.add(needs, number, settled=False))
            else:
                step = opened.pop(random.randrange(len(opened)))
                need = random.choice([None, *graph.steps])
                cycle = need is not None and depends(need, step)
                event = step.event
                waiting = graph.settle(step, need)
                assert bool(waiting) == cycle
                assert not cycle or event in waiting
                cycles += cycle
            check(graph)
        for step in opened:
            graph.settle(step, None)
        assert not graph.steps
    assert cycles > 50


def test_long_chains_are_ordered_from_either_end() -> None:
    """A chain of open steps that are completed one after another needs no search of all earlier steps."""
    for order in (range(2000), range(1999, -1, -1)):
        graph = Dependencies()
        steps = [graph.add((), number, settled=False) for number in range(2001)]
        for number in order:
            assert not graph.settle(steps[number], steps[number + 1])
        assert sorted(graph.settle(steps[2000], steps[0])) == list(range(2001))
        assert not graph.steps


def test_steps_can_be_inserted_between_others_any_number_of_times() -> None:
    """Orders are numbers with 53 bits: if no number is left, all get new ones."""
    graph = Dependencies()
    below, above = graph.add((), settled=False), graph.add((), settled=False)
    for _ in range(200):
        step, other = graph.add((below,), settled=False), graph.add((), settled=False)
        assert not graph.settle(above, step)
        above = graph.add((other,), settled=False)
        assert not graph.settle(other, step)
        check(graph)


def test_two_steps_are_merged_if_one_depends_on_the_other() -> None:
    """Few new steps are needed."""
    graph = Dependencies()
    one = graph.add((), settled=False)
    two = graph.add((one,), settled=False)
    assert graph.join(one, two) is graph.join(two, one) is two
    assert graph.join(None, one) is graph.join(one, None) is graph.join(one, one) is one
    both = graph.join(one, graph.add((), settled=False))
    assert both not in (None, one, two)
    graph.forget()
    assert graph.join(one, two) is None
    assert not graph.steps
