"""algorithms= for objects: what is asked for is used, with the definition's results in the time it claims, or refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, find
from fakempi import MPI
from fakempi.tuning import TABLES, Rule, Table
from tests.mpi.collective.calls import run

CALLS = {
    "barrier": "barrier", "bcast": "bcast", "gather": "gather", "gatherv": "gather", "scatter": "scatter",
    "scatterv": "scatter", "allgather": "allgather", "allgatherv": "allgather", "alltoall": "alltoall",
    "alltoallv": "alltoall", "reduce": "reduce", "allreduce": "allreduce", "scan": "scan", "exscan": "exscan",
}  # fmt: skip
"""Which call on objects an operation is part of."""

ASKED = [each for each in CATALOGUE if each.kind == "intra" and each.operation in CALLS]
REFUSED = {
    *(("allgather", name) for name in ("circulant", "cluster_ring", "neighbor_exchange", "recursive_doubling")),
    *((operation, "binomial") for operation in ("gather", "gatherv", "scatter", "scatterv")),
    ("gatherv", "ring"), ("alltoall", "bruck"), ("alltoall", "spread"), ("reduce", "chain"), ("reduce", "rabenseifner"),
    ("allreduce", "rabenseifner"), ("allreduce", "ring"),
}  # fmt: skip
"""What never serves objects: it cuts a message that is one, or has no form for blocks of sizes that only some know."""

COMBINING = [each for each in ASKED if each.operation in ("reduce", "allreduce", "scan", "exscan")]
SERVING = [each for each in COMBINING if (each.operation, each.name) not in REFUSED]

T_S, T_W = 8.0, 0.5
EXACT = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0)


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


def spoil(x: list[Any], y: list[Any]) -> list[Any]:
    """Joins lists, and leaves neither operand as it was."""
    joined = x + y
    x[:], y[:] = ["spoilt"], joined
    return y


def join(x: Any, y: Any, datatype: Any) -> Any:
    """An operation of MPI's kind that says that it commutes, and does not."""
    return x + y


OPS: dict[str, Callable[[], Any]] = {
    "SUM": lambda: MPI.SUM,
    "a lambda": lambda: lambda x, y: x + y,
    "one that spoils": lambda: spoil,
    "created": lambda: MPI.Op.Create(join),
    "said to commute": lambda: MPI.Op.Create(join, commute=True),
}
"""All of them join lists, which shows the order."""


def call(comm: Any, name: str, things: list[Any], op: Any, root: int) -> Any:
    """One call on objects."""
    rank, p = comm.rank, comm.size
    match name:
        case "barrier":
            return comm.barrier()
        case "bcast":
            return comm.bcast(things[rank] if rank == root else None, root)
        case "gather":
            return comm.gather(things[rank], root)
        case "scatter":
            return comm.scatter(things if rank == root else None, root)
        case "alltoall":
            return comm.alltoall([[*things[rank], to] for to in range(p)])
        case "reduce":
            return comm.reduce(things[rank], op, root)
        case "allgather":
            return comm.allgather(things[rank])
    return getattr(comm, name)(things[rank], op)


def expected(name: str, things: list[Any], root: int, rank: int) -> Any:
    """What the definition of the call says."""
    prefix = [reduce(lambda x, y: x + y, things[:end]) if end else None for end in range(len(things) + 1)]
    return {
        "barrier": None,
        "bcast": things[root],
        "gather": things if rank == root else None,
        "scatter": things[rank],
        "allgather": things,
        "alltoall": [[*each, rank] for each in things],
        "reduce": prefix[-1] if rank == root else None,
        "allreduce": prefix[-1],
        "scan": prefix[rank + 1],
        "exscan": prefix[rank],
    }[name]


@st.composite
def programs(draw: st.DrawFn) -> dict[str, Any]:
    """Objects of any sizes for some ranks, an operation, a root, a carrier."""
    p = draw(st.integers(1, 9))
    return {
        "things": draw(st.lists(st.lists(st.text(max_size=9) | st.integers(), max_size=3), min_size=p, max_size=p)),
        "op": draw(st.sampled_from(sorted(OPS))),
        "root": draw(st.integers(0, p - 1)),
        "carrier": draw(st.sampled_from(["auto", "threads"])),
    }


def outcome(asked: Any, name: str, things: list[Any], op: str, root: int, carrier: str) -> list[Any]:
    """What a call gives on every rank: its result, or the words with which it was refused."""

    def main(comm: Any) -> Any:
        mine = [list(each) for each in things]
        try:
            found = call(comm, name, mine, OPS[op](), root)
        except ValueError as error:
            return f"{type(error).__name__}: {error}"
        assert mine == things
        return found

    return run(main, len(things), carrier, algorithms=asked)


@pytest.mark.parametrize("algorithm", ASKED, ids=name_of)
@given(program=programs())
def test_every_algorithm_gives_the_definitions_result_or_is_refused(algorithm: Algorithm, program: dict[str, Any]) -> None:
    """On all ranks alike: nothing else is ever used in its place."""
    operation, name = algorithm.operation, algorithm.name
    found = outcome({operation: name}, CALLS[operation], **program)
    p = len(found)
    if (operation, name) in REFUSED or algorithm.fits(Case(p)):
        for rank, words in enumerate(found):
            prefix = f"MPIValueError: {CALLS[operation]} on rank {rank}: {operation}: {name} was asked for, but "
            assert isinstance(words, str)
            assert words.startswith(prefix)
    else:
        assert found == [expected(CALLS[operation], program["things"], program["root"], rank) for rank in range(p)]


@pytest.mark.parametrize("name", sorted(set(CALLS.values())))
@given(program=programs(), table=st.sampled_from(sorted(TABLES)))
def test_every_table_has_one_for_objects(name: str, program: dict[str, Any], table: str) -> None:
    """Whatever the sizes of the pickles, which differ from rank to rank."""
    program["things"] = [[*each, "x" * 100_000 * (i % 2)] for i, each in enumerate(program["things"])]
    found = outcome(table, name, **program)
    assert found == [expected(name, program["things"], program["root"], rank) for rank in range(len(found))]


@pytest.mark.parametrize("algorithm", SERVING, ids=name_of)
def test_a_reduction_takes_the_time_that_its_algorithm_claims(algorithm: Algorithm) -> None:
    """Exactly, for pickles of 5 bytes, in rank order; in a broadcast the 8 bytes of their size come first."""
    operation, told = algorithm.operation, find("bcast", "binomial")

    def main(comm: Any, root: int) -> Any:
        return call(comm, operation, list(range(comm.size)), max, root)

    for p in 1, 2, 3, 4, 6, 7, 8:
        root = p // 2 if operation == "reduce" else 0
        case = Case(p, m=5, itemsize=5, root=root, commutative=False)
        claim = algorithm.time(case, T_S, T_W)
        if algorithm.name == "reduce_bcast":
            claim += told.time(Case(p, m=8), T_S, T_W)  # type: ignore[operator]
        result = fakempi.run(main, p, root, algorithms={operation: algorithm.name}, cost=EXACT)
        assert (p, result.time) == (p, claim)


def test_what_is_asked_for_makes_a_difference() -> None:
    """In the messages that are sent."""

    def main(comm: Any) -> int:
        return int(comm.allreduce(comm.rank))

    asked = [{"allreduce": "recursive_doubling"}, {"allreduce": ("reduce_bcast", {"reduce": "linear", "bcast": "chain"})}]
    sent = [[messages for messages, _ in fakempi.run(main, 4, algorithms=each).sent] for each in asked]
    assert sent == [[2, 2, 2, 2], [2, 3, 3, 1]]


def test_a_broadcast_that_cuts_may_be_part_of_a_reduction() -> None:
    """By then the result is so many bytes."""
    asked = {"allreduce": ("reduce_bcast", {"bcast": "scatter_ring_allgather"})}
    assert run(lambda comm: comm.allreduce("ab" * comm.rank), 5, algorithms=asked) == ["ab" * 10] * 5


def test_a_chain_without_segments_serves() -> None:
    """Segments longer than any object."""
    asked = {"reduce": ("chain", {"segment_bytes": 1 << 62})}
    assert run(lambda comm: comm.reduce([comm.rank], root=1), 4, algorithms=asked) == [None, [0, 1, 2, 3], None, None]


def test_a_result_that_stays_need_not_be_pickled() -> None:
    """As in mpi4py, where the root has what the operation gave it."""

    def main(comm: Any) -> Any:
        found = comm.reduce(comm.rank, lambda x, y: (lambda: x + y))
        return found() if comm.rank == 0 else found

    assert run(main, 2) == [1, None]


WORDS = {
    "allreduce ring": "an object cannot be cut into pieces; recursive_doubling and reduce_bcast serve objects.",
    "reduce chain": "an object cannot be cut into pieces; binomial and linear serve objects.",
    "allgather recursive_doubling": "pickles are blocks of different sizes, and there is no allgatherv recursive_doubling; "
    "bruck, bruck_ring, gather_bcast and ring serve objects. Who asks for allgatherv too says how the pickles go.",
    "gather binomial": "pickles are blocks of different sizes, and only the root knows their sizes; linear serves objects. "
    "Who asks for gatherv too says how the pickles go.",
    "gatherv ring": "only the root knows the counts; linear fits.",
}


@pytest.mark.parametrize("asked", WORDS)
def test_a_refusal_says_why_and_which_ones_serve(asked: str) -> None:
    """In one sentence, and where there is a way out, in another."""
    operation, name = asked.split()

    def main(comm: Any) -> str:
        with pytest.raises(ValueError, match=r"on rank \d: ") as caught:
            call(comm, CALLS[operation], [[rank] for rank in range(comm.size)], MPI.SUM, 0)
        assert comm.bcast("go on") == "go on"
        return str(caught.value)

    place = f"{CALLS[operation]} on rank 1: {operation}: {name} was asked for, but "
    assert run(main, 4, algorithms={operation: name})[1] == place + WORDS[asked]


def test_pickles_go_by_what_is_asked_for_them() -> None:
    """The sizes by the one, the pickles by the other, both by the same, or the pickles alone."""

    def main(comm: Any) -> list[str]:
        found: list[str] = comm.allgather("x")
        return found

    def algorithms(**asked: str) -> list[tuple[str, str]]:
        trace = fakempi.run(main, 4, algorithms=asked, trace=True).trace
        assert trace is not None
        return [(one.name, one.algorithm) for one in trace.regions if one.rank == 0 and one.parent >= 0]

    plain = [("allgather", "bruck"), ("allgatherv", "bruck")]
    assert algorithms() == plain
    assert algorithms(allgather="ring") == [("allgather", "ring"), ("allgatherv", "ring")]
    assert algorithms(allgatherv="ring") == [("allgather", "bruck"), ("allgatherv", "ring")]
    mixed = algorithms(allgather="recursive_doubling", allgatherv="ring")
    assert mixed == [("allgather", "recursive_doubling"), ("allgatherv", "ring")]


def test_a_table_of_ones_own_takes_the_first_that_serves() -> None:
    """Of the rules that hold; sizes are 0, for no rank knows those of others."""
    rules = (Rule("ring", nbytes_below=100), Rule("rabenseifner"), Rule("recursive_doubling"))
    table = Table("mine", {**TABLES["plain"].rules, ("intra", "allreduce"): rules})

    def main(comm: Any) -> Any:
        return comm.allreduce("x" * 50 * comm.rank)

    result = fakempi.run(main, 4, algorithms=table)
    assert result.returns == ["x" * 300] * 4
    assert [messages for messages, _ in result.sent] == [2, 2, 2, 2]
    alone = Table("alone", {**TABLES["plain"].rules, ("intra", "allreduce"): (Rule("ring"),)})
    words = "allreduce: ring is what table alone takes here, but an object cannot be cut into pieces; recursive_doubling"
    with pytest.raises(fakempi.RankError, match=words):
        fakempi.run(main, 4, algorithms=alone)


# -- buffers that cannot be written to -----------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("nbytes", [20_000, 600_000])
def test_large_objects_are_broadcast_by_every_table(table: str, nbytes: int) -> None:
    """By algorithms that bring the pieces back to the root."""
    for p in 3, 8:
        sent = run(lambda comm: len(comm.bcast(bytes(nbytes) if comm.rank == 1 else None, 1)), p, algorithms=table)
        assert sent == [nbytes] * p


@pytest.mark.parametrize("name", [each.name for each in ASKED if each.operation == "bcast"])
def test_the_root_of_a_broadcast_need_not_be_writable(name: str) -> None:
    """It only gives, blocking or not."""

    def main(comm: Any) -> Any:
        data = np.arange(50) * (comm.rank == 2)
        data.flags.writeable = comm.rank != 2
        comm.Bcast(data, 2)
        again = data if comm.rank == 2 else np.zeros(50, int)
        comm.Ibcast(again, 2).Wait()
        return data.tolist(), again.tolist()

    assert run(main, 4, algorithms={"bcast": name}) == [(list(range(50)),) * 2] * 4
