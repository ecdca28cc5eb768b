"""run(..., algorithms=...): the same results for every algorithm, in exactly the claimed time, or an error."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import CATALOGUE, Algorithm, Case, fitting
from fakempi import MPI
from fakempi.apps.compare.timing import as_called
from fakempi.tuning import TABLES, Rule, Table, resolve
from tests.helpers.loops import for_each
from tests.helpers.runs import run
from tests.mpi.collective.calls import operations

INTRA = [algorithm for algorithm in CATALOGUE if algorithm.kind == "intra"]
T_S, T_W, C = 8.0, 0.5, 0.25
EXACT = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0, compute_per_byte=C)
"""Sums of these are exact in floating point."""

ROOT_KNOWS = {("gatherv", "linear"), ("scatterv", "linear")}
"""Other algorithms for these operations require that all ranks know the counts."""

ON_COMMUNICATORS = [
    each for each in INTRA if each.operation not in ("gatherv", "scatterv") or (each.operation, each.name) in ROOT_KNOWS
]


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


def has_parts(algorithm: Algorithm) -> bool:
    """Whether an algorithm runs others, which the table selects in a call."""
    return any(isinstance(default, Algorithm) for default in algorithm.parameters.values())


def everything(comm: Any) -> list[Any]:
    """Return the results of all collectives."""
    found = []
    for name, args, read in operations(comm, root=comm.size // 2):
        getattr(comm, name)(*args)
        found.append((name, read()))
    return found


def result_of(comm: Any, operation: str) -> Any:
    """Return the result of one collective."""
    for name, args, read in operations(comm, root=comm.size // 2):
        if name.lower() == operation:
            getattr(comm, name)(*args)
            return read()
    raise AssertionError(operation)


@cache
def default_result(operation: str, p: int) -> list[Any]:
    """The results of all ranks, by the default algorithm."""
    return run(result_of, p, args=(operation,))


# -- tables --------------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize("table", [*TABLES, "a table", "a mapping"])
@pytest.mark.parametrize("p", [1, 3, 8])
def test_every_table_gives_the_same_results(table: str, p: int) -> None:
    """By name, as a mapping, or as a table."""
    algorithms: Any = {"a table": TABLES["mpich"], "a mapping": {"table": "openmpi", "bcast": "linear"}}.get(table, table)
    assert run(everything, p, algorithms=algorithms) == run(everything, p)


@pytest.mark.quick(2)
@pytest.mark.parametrize("nbytes", [0, 8, 4096, 60_000, 300_000, 2_000_000])
@pytest.mark.parametrize("table", TABLES)
def test_every_table_supports_every_size(table: str, nbytes: int) -> None:
    """With phantoms, which use no memory; for an even and an odd number of ranks, a power of two and not."""

    def main(comm: Any) -> None:
        p = comm.size
        for size in nbytes, nbytes // p // 8 * 8:
            whole, all_of_it = fakempi.phantom(size, 8), fakempi.phantom(size * p, 8)
            comm.Bcast(whole)
            comm.Gather(whole, all_of_it if comm.rank == 0 else None)
            comm.Scatter(all_of_it if comm.rank == 0 else None, whole)
            comm.Allgather(whole, all_of_it)
            comm.Allgatherv(whole, all_of_it)
            comm.Alltoall(all_of_it, all_of_it)
            comm.Alltoall(MPI.IN_PLACE, all_of_it)
            comm.Reduce(whole, whole if comm.rank == 0 else None)
            for op in MPI.SUM, MPI.Op.Create(lambda a, b, t: None), MPI.Op.Create(lambda a, b, t: None, commute=True):
                comm.Allreduce(whole, whole, op)
                comm.Reduce_scatter_block(all_of_it, whole, op)
                comm.Reduce_scatter(all_of_it, whole, [size // 8] * p, op)
                comm.Scan(whole, whole, op)

    for p in 1, 3, 8:
        sent = fakempi.run(main, p, algorithms=table, cost=fakempi.ZeroCost()).bytes
        assert (sent > 0) == (p > 1 and nbytes > 0)


def test_the_plain_table_is_the_default() -> None:
    """The times are equal, too."""
    plain, default = (fakempi.run(everything, 6, algorithms=each) for each in ("plain", None))
    assert (plain.clocks, plain.sent) == (default.clocks, default.sent)


def test_a_custom_table() -> None:
    """Short messages by one algorithm, long ones by another."""
    rules = {**TABLES["plain"].rules, ("intra", "bcast"): (Rule("linear", nbytes_below=100), Rule("chain"))}
    table = Table("mine", rules)

    def main(comm: Any, count: int) -> None:
        comm.Bcast(np.zeros(count))

    short, long = (fakempi.run(main, 6, count, algorithms=table, cost=EXACT).sent for count in (1, 100))
    assert [messages for messages, _ in short] == [5, 0, 0, 0, 0, 0]
    assert [messages for messages, _ in long] == [1, 1, 1, 1, 1, 0]


# -- one algorithm -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@for_each("algorithm", INTRA)
def test_each_algorithm_gives_the_same_results(algorithm: Algorithm) -> None:
    """For the numbers of ranks that it fits; for others it is rejected, with the reason."""
    operation, name = algorithm.operation, algorithm.name
    for p in 1, 2, 5, 8:
        uneven = operation.endswith("v") or operation == "reduce_scatter"
        case = Case(p, counts=tuple(range(p))) if uneven else Case(p)
        reason = algorithm.why_unsupported(case)
        if algorithm not in ON_COMMUNICATORS:
            reason = "it needs all counts on every rank"
        if reason is None:
            assert run(result_of, p, args=(operation,), algorithms={operation: name}) == default_result(operation, p)
            continue
        with pytest.raises(fakempi.RankError) as caught:
            run(result_of, p, args=(operation,), algorithms={operation: name})
        assert isinstance(caught.value.__cause__, MPI.Exception)
        assert f"{operation}: {name} was requested, but {reason}; " in str(caught.value.__cause__)


def has_linear(operation: str) -> bool:
    """Whether there is a simple algorithm to compare with."""
    return any((each.operation, each.name) == (operation, "linear") for each in INTRA)


def in_place(comm: Any, operation: str) -> Any:
    """Return the result of a collective with IN_PLACE."""
    p, rank, root = comm.size, comm.rank, comm.size // 2
    data, counts, here = np.arange(6.0 * p) + 100 * rank, [i % 3 for i in range(p)], MPI.IN_PLACE
    at_root = rank == root
    if operation == "gather":
        comm.Gather(here if at_root else data[:6].copy(), data if at_root else None, root)
    elif operation == "gatherv":
        comm.Gatherv(here if at_root else data[: counts[rank]].copy(), [data, counts] if at_root else None, root)
    elif operation == "scatter":
        comm.Scatter(data if at_root else None, here if at_root else data[:6], root)
    elif operation == "scatterv":
        comm.Scatterv([data, counts] if at_root else None, here if at_root else data[: counts[rank]], root)
    elif operation == "reduce":
        comm.Reduce(here if at_root else data.copy(), data if at_root else None, root=root)
    elif operation == "reduce_scatter":
        comm.Reduce_scatter(here, data[: sum(counts)], counts)
    elif operation == "alltoallw":
        comm.Alltoallw(here, [data, [6] * p, [48 * i for i in range(p)], [MPI.DOUBLE] * p])
    elif operation.endswith("v"):
        getattr(comm, operation.capitalize())(here, [data, 3])
    elif operation not in ("barrier", "bcast"):
        getattr(comm, operation.capitalize())(here, data)
    return data.tolist()


@cache
def simple_in_place(operation: str, p: int) -> list[Any]:
    """The results of all ranks, by a simple algorithm."""
    simple: Any = {operation: "linear"} if has_linear(operation) else None
    return run(in_place, p, args=(operation,), algorithms=simple)


@pytest.mark.slow
@for_each("algorithm", ON_COMMUNICATORS)
def test_each_algorithm_works_in_place(algorithm: Algorithm) -> None:
    """With the same results as any other."""
    operation = algorithm.operation
    for p in 1, 3, 8:
        uneven = operation.endswith("v") or operation == "reduce_scatter"
        case = Case(p, counts=tuple(i % 3 for i in range(p))) if uneven else Case(p, in_place=True)
        if algorithm.why_unsupported(case) is None:
            found = run(in_place, p, args=(operation,), algorithms={operation: algorithm.name})
            assert found == simple_in_place(operation, p)


def timed(comm: Any, operation: str, case: Case) -> None:
    """The call that a case describes, with phantoms."""
    p, rank, root = case.p, comm.rank, case.root
    at_root = rank == root

    def ghost(nbytes: int) -> Any:
        return fakempi.phantom(nbytes, case.itemsize)

    m, counts = case.m, list(case.counts or ())
    total = sum(counts) * case.itemsize
    if operation == "barrier":
        comm.Barrier()
    elif operation == "bcast":
        comm.Bcast(ghost(m), root)
    elif operation == "gather":
        comm.Gather(ghost(m), ghost(m * p) if at_root else None, root)
    elif operation == "scatter":
        comm.Scatter(ghost(m * p) if at_root else None, ghost(m), root)
    elif operation in ("allgather", "alltoall"):
        out = ghost(m if operation == "allgather" else m * p)
        getattr(comm, operation.capitalize())(out, ghost(m * p))
    elif operation == "gatherv":
        comm.Gatherv(ghost(counts[rank]), [ghost(total), counts] if at_root else None, root)
    elif operation == "scatterv":
        comm.Scatterv([ghost(total), counts] if at_root else None, ghost(counts[rank]), root)
    elif operation == "allgatherv":
        comm.Allgatherv(ghost(counts[rank]), [ghost(total), counts])
    elif operation in ("alltoallv", "alltoallw"):
        assert case.traffic is not None
        out, into = list(case.traffic[rank]), [row[rank] for row in case.traffic]
        starts = [[sum(each[:i]) for i in range(p)] for each in (out, into)]
        types = [[MPI.BYTE] * p] if operation == "alltoallw" else [MPI.BYTE]
        getattr(comm, operation.capitalize())(
            [ghost(sum(out)), out, starts[0], *types], [ghost(sum(into)), into, starts[1], *types]
        )
    elif operation == "reduce":
        comm.Reduce(ghost(m), ghost(m) if at_root else None, root=root)
    elif operation == "reduce_scatter":
        comm.Reduce_scatter(ghost(total), ghost(counts[rank] * case.itemsize), counts)
    elif operation == "reduce_scatter_block":
        comm.Reduce_scatter_block(ghost(m * p), ghost(m))
    else:
        getattr(comm, operation.capitalize())(ghost(m), ghost(m))


@pytest.mark.quick(12)
@pytest.mark.parametrize("algorithm", ON_COMMUNICATORS, ids=name_of)
def test_the_time_of_a_call_is_the_claimed_time(algorithm: Algorithm) -> None:
    """Exactly, and so are the bytes that each rank sends."""
    operation = algorithm.operation
    reduction = operation.startswith(("reduce", "allreduce", "scan", "exscan"))
    for p, m in (1, 24), (2, 400), (3, 0), (7, 400), (8, 24):
        sizes: dict[str, Any] = {"m": 0 if operation == "barrier" else m}
        if operation in ("gatherv", "scatterv", "allgatherv", "reduce_scatter"):
            sizes = {"counts": tuple(m // 8 * (i % 3) for i in range(p))}
        elif operation in ("alltoallv", "alltoallw"):
            sizes = {"traffic": tuple(tuple(m * ((i + 2 * j) % 3) for j in range(p)) for i in range(p))}
        root = p // 2 if operation in ("bcast", "gather", "scatter", "gatherv", "scatterv", "reduce") else 0
        case = Case(p, root=root, itemsize=8 if reduction else 1, **sizes)
        _, case = as_called(algorithm, ("intra", operation), case, EXACT)  # parts are selected by the table
        claim = None if algorithm.why_unsupported(case) else algorithm.time(case, T_S, T_W, C)
        if claim is None:
            continue
        result = fakempi.run(timed, p, operation, case, algorithms={operation: algorithm.name}, cost=EXACT)
        assert (p, m, result.time) == (p, m, claim)
        assert [nbytes for _, nbytes in result.sent] == [algorithm.sent(case, rank) for rank in range(p)]


@pytest.mark.parametrize("name", [each.name for each in INTRA if each.operation == "allgather" and not has_parts(each)])
def test_arrays_take_as_long_as_phantoms(name: str) -> None:
    """The algorithm called directly takes the same time as the method of the communicator, if it has no parts."""
    (algorithm,) = [each for each in INTRA if (each.operation, each.name) == ("allgather", name)]

    def method(comm: Any) -> None:
        comm.Allgather(np.zeros(5), np.zeros(5 * comm.size))

    def function(comm: Any) -> None:
        algorithm.run(comm, np.zeros(5), np.zeros(5 * comm.size))

    times = [fakempi.run(each, 8, algorithms={"allgather": name}, cost=EXACT).clocks for each in (method, function)]
    assert times[0] == times[1]
    assert max(times[0]) == algorithm.time(Case(8, m=40), T_S, T_W)


def test_parameters_and_parts_are_passed_on() -> None:
    """A segment size; the parts of an algorithm, by name."""
    parts = {"reduce": "linear", "bcast": "linear"}
    requested: Any = {"bcast": ("chain", {"segment_bytes": 16}), "allreduce": ("reduce_bcast", parts)}

    def main(comm: Any) -> Any:
        data, total = np.arange(10.0) * (comm.rank == 0), np.zeros(3)
        comm.Bcast(data)
        before = MPI.Wtime()
        comm.Allreduce(np.ones(3), total)
        return data.tolist(), total.tolist(), before

    result = fakempi.run(main, 4, algorithms=requested, cost=EXACT)
    assert [each[:2] for each in result.returns] == [(list(range(10)), [4.0] * 3)] * 4
    assert max(each[2] for each in result.returns) == (5 + 2) * (T_S + 16 * T_W)
    assert [messages for messages, _ in result.sent] == [5 + 3, 5 + 1, 5 + 1, 1]


def test_every_variant_of_a_call_uses_the_algorithm() -> None:
    """Nonblocking, persistent, and on objects; on every communicator."""

    def main(comm: Any) -> None:
        for each in comm, comm.Dup():
            each.Ibcast(np.zeros(1)).Wait()
            request = each.Bcast_init(np.zeros(1))
            request.Start()
            request.Wait()
            each.bcast("an object")

    result = fakempi.run(main, 6, algorithms={"bcast": "linear"})
    assert [messages for messages, _ in result.sent] == [2 * 4 * 5, 0, 0, 0, 0, 0]


# -- errors --------------------------------------------------------------------------------------------------------


def test_an_unsuited_algorithm_is_rejected_with_the_reason_and_alternatives() -> None:
    """No other algorithm is substituted."""

    def main(comm: Any) -> Any:
        with pytest.raises(ValueError, match=r"on rank \d: ") as caught:
            comm.Allgather(np.zeros(1), np.zeros(comm.size))
        return str(caught.value)

    others = [each.name for each in fitting("allgather", Case(6)) if each.name != "recursive_doubling"]
    assert run(main, 6, algorithms={"allgather": "recursive_doubling"})[0] == (
        "Allgather on rank 0: allgather: recursive_doubling was requested, but p = 6 is not a power of two; "
        f"{', '.join(others[:-1])} and {others[-1]} fit."
    )


def test_an_algorithm_that_does_not_keep_rank_order_is_rejected() -> None:
    """For a noncommutative operation; for others it is used."""

    def main(comm: Any, commute: bool) -> None:
        comm.Allreduce(np.zeros(1), np.zeros(1), MPI.Op.Create(lambda a, b, t: None, commute))

    requested = {"allreduce": "ring"}
    run(main, 3, args=(True,), algorithms=requested)
    with pytest.raises(fakempi.RankError, match="ring was requested, but the op is not commutative"):
        run(main, 3, args=(False,), algorithms=requested)


def test_gatherv_by_a_tree_needs_counts_on_all_ranks() -> None:
    """Only the root has them, so a communicator rejects it."""
    for name in "gatherv", "scatterv":
        words = f"{name}: binomial was requested, but it needs all counts on every rank; use linear."
        with pytest.raises(fakempi.RankError, match=words):
            run(result_of, 3, args=(name,), algorithms={name: "binomial"})


@pytest.mark.parametrize(
    ("requested", "words"),
    [
        ("mpitch", r"there is no table 'mpitch'.*did you mean mpich\?"),
        ({"allgater": "ring"}, r"there is no operation 'allgater'.*did you mean allgather\?"),
        ({"allgather": "rink"}, r"allgather: there is no algorithm 'rink'.*did you mean ring\?"),
        ({"bcast": ("chain", {"segments": 5})}, r"bcast: chain has no parameter 'segments'"),
        ({"bcast": 5}, r"bcast: an algorithm must be a name"),
        (5, r"algorithms must be a name, a mapping or a Table, not 5"),
    ],
)
def test_unknown_names_are_rejected_before_the_run_starts(requested: Any, words: str) -> None:
    """With a suggestion."""
    with pytest.raises(MPI.Exception, match=words):
        run(lambda comm: pytest.fail("it ran"), 1, algorithms=requested)


def test_an_invalid_parameter_is_rejected() -> None:
    """When it is used."""
    with pytest.raises(fakempi.RankError, match="bcast: chain was requested, but segment_bytes = 0 is not positive"):
        run(result_of, 2, args=("bcast",), algorithms={"bcast": ("chain", {"segment_bytes": 0})})


def test_resolve_returns_the_table_that_run_uses() -> None:
    """Passing it gives the same run."""
    requested = {"table": "mpich", "bcast": "chain"}
    one_way, other = (fakempi.run(everything, 5, algorithms=each).clocks for each in (requested, resolve(requested)))
    assert one_way == other
