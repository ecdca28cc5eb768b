"""algorithms= for objects: the selected algorithm is used, with the defined result in the claimed time, or rejected."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case, find
from fakempi import MPI
from fakempi.tuning import TABLES, Rule, Table
from tests.helpers.runs import run

CALLS = {
    "barrier": "barrier", "bcast": "bcast", "gather": "gather", "gatherv": "gather", "scatter": "scatter",
    "scatterv": "scatter", "allgather": "allgather", "allgatherv": "allgather", "alltoall": "alltoall",
    "alltoallv": "alltoall", "reduce": "reduce", "allreduce": "allreduce", "scan": "scan", "exscan": "exscan",
}  # fmt: skip
"""The call on objects for each operation."""

REQUESTED = [each for each in CATALOGUE if each.kind == "intra" and each.operation in CALLS]
REFUSED = {
    *(("allgather", name) for name in ("bine", "cluster_ring", "k_ring", "pat", "sparbit", "swing")),
    ("allgather", "recursive_multiplying"),
    *((operation, "binomial") for operation in ("gather", "gatherv", "scatter", "scatterv")),
    *((operation, name) for operation in ("gather", "scatter") for name in ("bine", "knomial")),
    *(("alltoall", name) for name in ("bine", "bruck")),
    *(("reduce", name) for name in ("binary", "chain", "circulant", "in_order_binary", "rabenseifner")),
    *(("allreduce", name) for name in ("bine", "circulant", "dual_root_pipelined", "k_ring", "rabenseifner", "ring")),
    *(("allreduce", name) for name in ("swing", "trivance")),
    *(("allgather", name) for name in ("locality_bruck", "multi_lane", "two_level")),
    *((operation, "two_level") for operation in ("allreduce", "gather", "reduce", "scatter")),
    *((operation, "multi_lane") for operation in ("allreduce", "alltoall")),
    *((operation, name) for operation in ("scan", "exscan") for name in ("chain", "doubly_pipelined_tree")),
    ("gatherv", "ring"),
    ("gather", "linear_sync"),
}  # fmt: skip
"""Algorithms that never support objects: they split messages, or need all block sizes on every rank."""

COMBINING = [each for each in REQUESTED if each.operation in ("reduce", "allreduce", "scan", "exscan")]
SERVING = [each for each in COMBINING if (each.operation, each.name) not in REFUSED]

T_S, T_W = 8.0, 0.5
EXACT = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0)


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


def spoil(x: list[Any], y: list[Any]) -> list[Any]:
    """Concatenates lists, and changes both operands."""
    joined = x + y
    x[:], y[:] = ["spoilt"], joined
    return y


def join(x: Any, y: Any, datatype: Any) -> Any:
    """An MPI operation that claims to commute, but does not."""
    return x + y


OPS: dict[str, Callable[[], Any]] = {
    "SUM": lambda: MPI.SUM,
    "a lambda": lambda: lambda x, y: x + y,
    "one that spoils": lambda: spoil,
    "created": lambda: MPI.Op.Create(join),
    "said to commute": lambda: MPI.Op.Create(join, commute=True),
}
"""All of them concatenate lists, which shows the order."""


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
    """Return the result that the call defines."""
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
    """Objects of any sizes for some ranks, an operation, a root, a backend."""
    p = draw(st.integers(1, 9))
    return {
        "things": draw(st.lists(st.lists(st.text(max_size=9) | st.integers(), max_size=3), min_size=p, max_size=p)),
        "op": draw(st.sampled_from(sorted(OPS))),
        "root": draw(st.integers(0, p - 1)),
        "backend": draw(st.sampled_from(["auto", "threads"])),
    }


def outcome(requested: Any, name: str, things: list[Any], op: str, root: int, backend: Any) -> list[Any]:
    """Return the outcome of a call on every rank: its result, or its error message."""

    def main(comm: Any) -> Any:
        mine = [list(each) for each in things]
        try:
            found = call(comm, name, mine, OPS[op](), root)
        except ValueError as error:
            return f"{type(error).__name__}: {error}"
        assert mine == things
        return found

    return run(main, len(things), backend, algorithms=requested)


@pytest.mark.quick(12)
@pytest.mark.parametrize("algorithm", REQUESTED, ids=name_of)
def test_every_algorithm_gives_the_definitions_result_or_is_rejected(algorithm: Algorithm) -> None:
    """On all ranks: no other algorithm is substituted. Objects have different sizes; each op has some number of ranks."""
    operation, name = algorithm.operation, algorithm.name
    for (p, backend), op in zip(((1, "auto"), (2, "auto"), (6, "auto"), (5, "threads"), (8, "auto")), OPS, strict=True):
        if op != "SUM" and algorithm not in COMBINING and p not in (5, 8):
            continue  # its operation has no op
        things = [["x" * rank, rank][: rank % 3] for rank in range(p)]
        found = outcome({operation: name}, CALLS[operation], things, op, p // 2, backend)
        if (operation, name) in REFUSED or algorithm.why_unsupported(Case(p)):
            for rank, words in enumerate(found):
                prefix = f"MPIValueError: {CALLS[operation]} on rank {rank}: {operation}: {name} was requested, but "
                assert isinstance(words, str)
                assert words.startswith(prefix)
        else:
            assert found == [expected(CALLS[operation], things, p // 2, rank) for rank in range(p)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", sorted(set(CALLS.values())))
@given(program=programs(), table=st.sampled_from(sorted(TABLES)))
@settings(max_examples=12)
def test_every_table_has_an_algorithm_for_objects(name: str, program: dict[str, Any], table: str) -> None:
    """For any sizes of the pickles, which differ between ranks."""
    program["things"] = [[*each, "x" * 100_000 * (i % 2)] for i, each in enumerate(program["things"])]
    found = outcome(table, name, **program)
    assert found == [expected(name, program["things"], program["root"], rank) for rank in range(len(found))]


@pytest.mark.parametrize("algorithm", SERVING, ids=name_of)
def test_a_reduction_takes_the_time_that_its_algorithm_claims(algorithm: Algorithm) -> None:
    """Exactly, for pickles of 5 bytes, in rank order; in a broadcast the 8 bytes of the size are sent first."""
    operation, broadcast = algorithm.operation, find("bcast", "binomial")

    def main(comm: Any, root: int) -> Any:
        return call(comm, operation, list(range(comm.size)), max, root)

    for p in 1, 2, 7, 8:
        root = p // 2 if operation == "reduce" else 0
        case = Case(p, m=5, itemsize=5, root=root, commutative=False)
        claim = algorithm.time(case, T_S, T_W)
        if algorithm.name == "reduce_bcast":
            claim += broadcast.time(Case(p, m=8), T_S, T_W)  # type: ignore[operator]
        result = fakempi.run(main, p, root, algorithms={operation: algorithm.name}, cost=EXACT)
        assert (p, result.time) == (p, claim)


def test_the_selected_algorithm_changes_the_time() -> None:
    """And the messages that are sent."""

    def main(comm: Any) -> int:
        return int(comm.allreduce(comm.rank))

    parts = {"reduce": "linear", "bcast": "chain"}
    requested: list[Any] = [{"allreduce": "recursive_doubling"}, {"allreduce": ("reduce_bcast", parts)}]
    sent = [[messages for messages, _ in fakempi.run(main, 4, algorithms=each).sent] for each in requested]
    assert sent == [[2, 2, 2, 2], [2, 3, 3, 1]]


def test_a_broadcast_that_splits_its_data_may_be_part_of_a_reduction() -> None:
    """At that point the result is a number of bytes."""
    requested = {"allreduce": ("reduce_bcast", {"bcast": "scatter_ring_allgather"})}
    assert run(lambda comm: comm.allreduce("ab" * comm.rank), 5, algorithms=requested) == ["ab" * 10] * 5


def test_a_chain_without_segments_supports_objects() -> None:
    """Segments longer than any object."""
    requested = {"reduce": ("chain", {"segment_bytes": 1 << 62})}
    assert run(lambda comm: comm.reduce([comm.rank], root=1), 4, algorithms=requested) == [None, [0, 1, 2, 3], None, None]


def test_a_local_result_need_not_be_picklable() -> None:
    """As in mpi4py, where the root has the operation's result."""

    def main(comm: Any) -> Any:
        found = comm.reduce(comm.rank, lambda x, y: lambda: x + y)
        return found() if comm.rank == 0 else found

    assert run(main, 2) == [1, None]


WORDS = {
    "allreduce ring": "an object cannot be cut into pieces; recursive_doubling, recursive_multiplying and "
    "reduce_bcast support objects.",
    "reduce chain": "an object cannot be cut into pieces; bine, binomial, knomial and linear support objects.",
    "allgather sparbit": "pickles are blocks of different sizes, and there is no allgatherv sparbit; bruck, bruck_ring, "
    "circulant, gather_bcast, neighbor_exchange, recursive_doubling and ring support objects. Specify allgatherv as well to "
    "choose the algorithm for pickled objects.",
    "gather binomial": "pickles are blocks of different sizes, and only the root knows their sizes; linear supports "
    "objects. Specify gatherv as well to choose the algorithm for pickled objects.",
    "gatherv ring": "it needs all counts on every rank; use linear.",
}


@pytest.mark.parametrize("requested", WORDS)
def test_an_error_has_the_reason_and_the_algorithms_that_fit(requested: str) -> None:
    """In one sentence, and a possible solution in another."""
    operation, name = requested.split()

    def main(comm: Any) -> str:
        with pytest.raises(ValueError, match=r"on rank \d: ") as caught:
            call(comm, CALLS[operation], [[rank] for rank in range(comm.size)], MPI.SUM, 0)
        assert comm.bcast("go on") == "go on"
        return str(caught.value)

    place = f"{CALLS[operation]} on rank 1: {operation}: {name} was requested, but "
    assert run(main, 4, algorithms={operation: name})[1] == place + WORDS[requested]


def test_pickles_use_the_algorithm_selected_for_them() -> None:
    """The sizes by one algorithm, the pickles by another, both by the same, or only the pickles."""

    def main(comm: Any) -> list[str]:
        found: list[str] = comm.allgather("x")
        return found

    def algorithms(**requested: str) -> list[tuple[str, str]]:
        trace = fakempi.run(main, 4, algorithms=requested, trace=True).trace
        assert trace is not None
        return [(one.name, one.algorithm) for one in trace.regions if one.rank == 0 and one.parent >= 0]

    plain = [("allgather", "bruck"), ("allgatherv", "bruck")]
    assert algorithms() == plain
    assert algorithms(allgather="ring") == [("allgather", "ring"), ("allgatherv", "ring")]
    assert algorithms(allgatherv="ring") == [("allgather", "bruck"), ("allgatherv", "ring")]
    mixed = algorithms(allgather="recursive_doubling", allgatherv="ring")
    assert mixed == [("allgather", "recursive_doubling"), ("allgatherv", "ring")]


def test_a_custom_table_takes_the_first_suited_algorithm() -> None:
    """Of the rules that apply; sizes are 0, because no rank knows those of others."""
    rules = (Rule("ring", nbytes_below=100), Rule("rabenseifner"), Rule("recursive_doubling"))
    table = Table("mine", {**TABLES["plain"].rules, ("intra", "allreduce"): rules})

    def main(comm: Any) -> Any:
        return comm.allreduce("x" * 50 * comm.rank)

    result = fakempi.run(main, 4, algorithms=table)
    assert result.returns == ["x" * 300] * 4
    assert [messages for messages, _ in result.sent] == [2, 2, 2, 2]
    alone = Table("alone", {**TABLES["plain"].rules, ("intra", "allreduce"): (Rule("ring"),)})
    words = "allreduce: ring was chosen by table alone, but an object cannot be cut into pieces; recursive_doubling"
    with pytest.raises(fakempi.RankError, match=words):
        fakempi.run(main, 4, algorithms=alone)


# -- read-only buffers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("nbytes", [20_000, 600_000])
def test_large_objects_are_broadcast_by_every_table(table: str, nbytes: int) -> None:
    """By algorithms that send pieces back to the root."""
    for p in 3, 8:
        sent = run(lambda comm: len(comm.bcast(bytes(nbytes) if comm.rank == 1 else None, 1)), p, algorithms=table)
        assert sent == [nbytes] * p


@pytest.mark.parametrize("name", [each.name for each in REQUESTED if each.operation == "bcast"])
def test_the_root_of_a_broadcast_may_be_read_only(name: str) -> None:
    """It only sends, blocking or not."""

    def main(comm: Any) -> Any:
        data = np.arange(50) * (comm.rank == 2)
        data.flags.writeable = comm.rank != 2
        comm.Bcast(data, 2)
        again = data if comm.rank == 2 else np.zeros(50, int)
        comm.Ibcast(again, 2).Wait()
        return data.tolist(), again.tolist()

    assert run(main, 4, algorithms={"bcast": name}) == [(list(range(50)),) * 2] * 4
