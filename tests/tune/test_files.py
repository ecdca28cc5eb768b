"""A library that reads a written file chooses what the rules say, for every operation, number of ranks and size."""

from __future__ import annotations

import json
from random import Random

import pytest

from fakempi.apps.tune.choosing import Cell, Row, Rules, _complete
from fakempi.apps.tune.mpich_defaults import DEFAULTS
from fakempi.apps.tune.mpich_files import FALLBACKS, selection, written
from fakempi.apps.tune.openmpi_files import NUMBERS, as_json, classic
from fakempi.apps.tune.targets import DEFAULT, MPICH, OPENMPI, Pick, Target
from tests.tune.parsers import Call
from tests.tune.parsers import classic as read_classic
from tests.tune.parsers import mpich as read_mpich
from tests.tune.parsers import openmpi_json as read_json

SEEDS = range(6)


def random_rules(target: Target, rng: Random) -> Rules:
    """Rules with random ranges and algorithms; those for other p than powers of two fit any p."""
    rows = {}
    for operation, candidates in target.candidates.items():
        firsts = sorted(rng.sample(range(1, 300), rng.randint(1, 6)))
        made = []
        for first, after in zip(firsts, [*firsts[1:], firsts[-1] + 1], strict=True):
            cells = random_cells([each.pick for each in candidates], rng)
            made.append(Row(first, after - 1, cells, cells if target is OPENMPI else random_cells([DEFAULT], rng)))
        rows[operation] = _complete(made)
    return Rules(target, rows, ())


def random_cells(picks: list[Pick], rng: Random) -> tuple[Cell, ...]:
    """Choices from 0 on."""
    limits = [0, *sorted(rng.sample(range(1, 10**7), rng.randint(0, 4)))]
    return tuple(Cell(limit, rng.choice([*picks, DEFAULT])) for limit in limits)


def calls(rules: Rules, rng: Random) -> list[Call]:
    """Random calls, and calls at the limits of the rules and next to them."""
    made = []
    for operation, rows in rules.rows.items():
        made += [Call(operation, rng.randint(1, 400), rng.choice([0, rng.randrange(10**7)])) for _ in range(40)]
        limits = [cell.least for row in rows for cell in (*row.cells, *row.others)]
        edges = [row.first for row in rows]
        made += [
            Call(operation, max(1, rng.choice(edges) + rng.choice((-1, 0, 1))), max(0, rng.choice(limits) + step))
            for step in (-1, 0, 1)
            for _ in range(20)
        ]
    return made


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_open_mpi_chooses_what_the_rules_say(seed: int) -> None:
    """From the classic file and from JSON; a number and a name for each algorithm."""
    rng = Random(seed)
    rules = random_rules(OPENMPI, rng)
    text, structured = classic(rules, "a comment with 3 numbers\nand 2 lines"), as_json(rules, "a comment")
    for call in calls(rules, rng):
        pick = rules.pick(call.operation, call.p, call.size)
        assert read_classic(text, NUMBERS, call) == (pick.number, pick.segment), call
        assert read_json(structured, call) == (pick.name or "ignore", pick.segment), call


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_mpich_chooses_what_the_rules_say(seed: int) -> None:
    """Its own decision where the rules say so, in place, for noncommutative ops, and for calls that are not tuned."""
    rng = Random(seed)
    rules = random_rules(MPICH, rng)
    content = json.loads(selection(rules))
    assert content.keys() == {f"collective={name}" for name in DEFAULTS}
    for call in calls(rules, rng):
        tree, default = content[f"collective={call.operation}"], written(DEFAULTS[call.operation])
        pick = rules.pick(call.operation, call.p, call.size)
        name = f"{call.operation.capitalize()}_intra_{pick.name}" if pick.name else default_choice(default, call)
        assert read_mpich(tree, call) == name, call
        empty = call._replace(elements=0)
        expected = FALLBACKS.get(name, name) if pick.name else default_choice(default, empty)
        assert read_mpich(tree, empty) == expected, empty
        for other in (call._replace(commutative=False), call._replace(in_place=True)):
            if other.in_place if call.operation == "alltoall" else "reduce" in call.operation and not other.commutative:
                assert read_mpich(tree, other) == default_choice(default, other), other


def default_choice(default: dict[str, object], call: Call) -> str:
    """MPICH's default algorithm: when a communicator is created, `comm_size<8` is evaluated as it is written."""
    return read_mpich(default, call)


def test_each_range_of_ranks_and_sizes_is_written_once() -> None:
    """Neighbors with the same choice are one rule."""
    ring, other = Pick("ring", 4), Pick("bruck", 2)
    same = (Cell(0, ring), Cell(9, other))
    rows = _complete([Row(2, 3, same, same), Row(4, 7, same, same), Row(8, 8, (Cell(0, DEFAULT),), (Cell(0, DEFAULT),))])
    assert [(row.first, row.last) for row in rows] == [(1, 1), (2, 7), (8, None)]


def test_the_classic_file_as_text() -> None:
    """Numbers as Open MPI reads them, and names in comments."""
    segmented = (Cell(0, Pick("binomial", 6)), Cell(8192, Pick("pipeline", 3, 4096)))
    rules = Rules(OPENMPI, {"bcast": _complete([Row(2, 4, segmented, segmented)])}, ())
    assert classic(rules, "for a test") == (
        "# for a test\n1 # collectives\n7 # bcast\n3 # communicator sizes\n"
        "1 # ranks\n1 # rules: bytes, algorithm, fan-out, segment\n0 0 0 0 # default\n"
        "2 # ranks to 4\n2 # rules: bytes, algorithm, fan-out, segment\n0 6 0 0 # binomial\n8192 3 0 4096 # pipeline\n"
        "5 # ranks and more\n1 # rules: bytes, algorithm, fan-out, segment\n0 0 0 0 # default\n"
    )
