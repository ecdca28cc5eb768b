"""run(..., algorithms=...): the same results whichever algorithm is used, in exactly the time it claims, or a refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import CATALOGUE, Algorithm, Case, fitting
from fakempi import MPI
from fakempi.compare.timing import as_called
from fakempi.tuning import TABLES, Rule, Table, resolve
from tests.mpi.collective.calls import operations, run

INTRA = [algorithm for algorithm in CATALOGUE if algorithm.kind == "intra"]
T_S, T_W, C = 8.0, 0.5, 0.25
EXACT = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0, compute_per_byte=C)
"""Sums of these are exact in floating point."""

ROOT_KNOWS = {("gatherv", "linear"), ("scatterv", "linear")}
"""All other algorithms for these operations want all ranks to know the counts."""

ON_COMMUNICATORS = [
    each for each in INTRA if each.operation not in ("gatherv", "scatterv") or (each.operation, each.name) in ROOT_KNOWS
]


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


def everything(comm: Any) -> list[Any]:
    """What all collectives give."""
    found = []
    for name, args, read in operations(comm, root=comm.size // 2):
        getattr(comm, name)(*args)
        found.append((name, read()))
    return found


def one(comm: Any, operation: str) -> Any:
    """What one collective gives."""
    for name, args, read in operations(comm, root=comm.size // 2):
        if name.lower() == operation:
            getattr(comm, name)(*args)
            return read()
    raise AssertionError(operation)


# -- tables --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [*TABLES, "a table", "a mapping"])
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 8])
def test_every_table_gives_the_same_results(table: str, p: int) -> None:
    """By name, as a mapping, or as a table."""
    algorithms: Any = {"a table": TABLES["mpich"], "a mapping": {"table": "openmpi", "bcast": "linear"}}.get(table, table)
    assert run(everything, p, algorithms=algorithms) == run(everything, p)


@pytest.mark.parametrize("nbytes", [0, 8, 4096, 60_000, 300_000, 2_000_000])
@pytest.mark.parametrize("table", TABLES)
def test_every_table_serves_every_size(table: str, nbytes: int) -> None:
    """Phantoms, so that it takes no memory; for the smallest numbers of ranks, even and odd, power of two and not."""

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

    for p in 1, 2, 3, 6, 8:
        run(main, p, algorithms=table, cost=fakempi.Free())


def test_the_plain_table_is_the_default() -> None:
    """In time too."""
    plain, default = (fakempi.run(everything, 6, algorithms=each) for each in ("plain", None))
    assert (plain.clocks, plain.sent) == (default.clocks, default.sent)


def test_a_table_of_ones_own() -> None:
    """Short messages one way, long ones another."""
    rules = {**TABLES["plain"].rules, ("intra", "bcast"): (Rule("linear", nbytes_below=100), Rule("chain"))}
    table = Table("mine", rules)

    def main(comm: Any, count: int) -> None:
        comm.Bcast(np.zeros(count))

    short, long = (fakempi.run(main, 6, count, algorithms=table, cost=EXACT).sent for count in (1, 100))
    assert [messages for messages, _ in short] == [5, 0, 0, 0, 0, 0]
    assert [messages for messages, _ in long] == [1, 1, 1, 1, 1, 0]


# -- one algorithm -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", INTRA, ids=name_of)
def test_each_algorithm_gives_the_same_results(algorithm: Algorithm) -> None:
    """For the numbers of ranks that it fits; for the others it is refused, with the reason."""
    operation, name = algorithm.operation, algorithm.name
    for p in 1, 2, 3, 4, 5, 8:
        case = Case(p, counts=(0,) * p) if operation.endswith("v") or operation == "reduce_scatter" else Case(p)
        reason = algorithm.fits(case)
        if algorithm not in ON_COMMUNICATORS:
            reason = "only the root knows the counts"
        if reason is None:
            assert run(one, p, args=(operation,), algorithms={operation: name}) == run(one, p, args=(operation,))
            continue
        with pytest.raises(fakempi.RankError) as caught:
            run(one, p, args=(operation,), algorithms={operation: name})
        assert isinstance(caught.value.__cause__, MPI.Exception)
        assert f"{operation}: {name} was asked for, but {reason}; " in str(caught.value.__cause__)


def has_linear(operation: str) -> bool:
    """Whether there is a simple algorithm to compare with."""
    return any((each.operation, each.name) == (operation, "linear") for each in INTRA)


def in_place(comm: Any, operation: str) -> Any:
    """What a collective gives whose operands lie where its results go."""
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


@pytest.mark.parametrize("algorithm", ON_COMMUNICATORS, ids=name_of)
def test_each_algorithm_works_in_place(algorithm: Algorithm) -> None:
    """With the same results as any other."""
    operation = algorithm.operation
    for p in 1, 2, 3, 4, 6, 8:
        uneven = operation.endswith("v") or operation == "reduce_scatter"
        case = Case(p, counts=(0,) * p) if uneven else Case(p, in_place=True)
        if algorithm.fits(case) is None:
            simple = {operation: "linear"} if has_linear(operation) else None
            found, expected = (
                run(in_place, p, args=(operation,), algorithms=each) for each in ({operation: algorithm.name}, simple)
            )
            assert found == expected


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


@pytest.mark.parametrize("algorithm", ON_COMMUNICATORS, ids=name_of)
def test_the_time_of_a_call_is_what_its_algorithm_claims(algorithm: Algorithm) -> None:
    """Exactly, and so are the bytes that each rank sends."""
    operation = algorithm.operation
    reduction = operation.startswith(("reduce", "allreduce", "scan", "exscan"))
    for p in 1, 2, 3, 4, 7, 8:
        for m in 0, 24, 400:
            sizes: dict[str, Any] = {"m": 0 if operation == "barrier" else m}
            if operation in ("gatherv", "scatterv", "allgatherv", "reduce_scatter"):
                sizes = {"counts": tuple(m // 8 * (i % 3) for i in range(p))}
            elif operation in ("alltoallv", "alltoallw"):
                sizes = {"traffic": tuple(tuple(m * ((i + 2 * j) % 3) for j in range(p)) for i in range(p))}
            root = p // 2 if operation in ("bcast", "gather", "scatter", "gatherv", "scatterv", "reduce") else 0
            case = Case(p, root=root, itemsize=8 if reduction else 1, **sizes)
            _, case = as_called(algorithm, ("intra", operation), case, EXACT)  # parts are by the table
            claim = algorithm.time(case, T_S, T_W, C)
            if claim is None or algorithm.fits(case):
                continue
            result = fakempi.run(timed, p, operation, case, algorithms={operation: algorithm.name}, cost=EXACT)
            assert (p, m, result.time) == (p, m, claim)
            assert [nbytes for _, nbytes in result.sent] == [algorithm.sent(case, rank) for rank in range(p)]


@pytest.mark.parametrize("name", [each.name for each in INTRA if each.operation == "allgather" and "bcast" not in each.name])
def test_arrays_take_as_long_as_phantoms(name: str) -> None:
    """And the same algorithm called directly takes as long as the method of the communicator, if it has no parts."""
    (algorithm,) = [each for each in INTRA if (each.operation, each.name) == ("allgather", name)]

    def method(comm: Any) -> None:
        comm.Allgather(np.zeros(5), np.zeros(5 * comm.size))

    def function(comm: Any) -> None:
        algorithm.run(comm, np.zeros(5), np.zeros(5 * comm.size))

    times = [fakempi.run(each, 8, algorithms={"allgather": name}, cost=EXACT).clocks for each in (method, function)]
    assert times[0] == times[1]
    assert max(times[0]) == algorithm.time(Case(8, m=40), T_S, T_W)


def test_parameters_and_parts_are_passed_on() -> None:
    """A segment size; the algorithms that an algorithm consists of, by name."""
    parts = {"reduce": "linear", "bcast": "linear"}
    asked = {"bcast": ("chain", {"segment_bytes": 16}), "allreduce": ("reduce_bcast", parts)}

    def main(comm: Any) -> Any:
        data, total = np.arange(10.0) * (comm.rank == 0), np.zeros(3)
        comm.Bcast(data)
        before = MPI.Wtime()
        comm.Allreduce(np.ones(3), total)
        return data.tolist(), total.tolist(), before

    result = fakempi.run(main, 4, algorithms=asked, cost=EXACT)
    assert [each[:2] for each in result.returns] == [(list(range(10)), [4.0] * 3)] * 4
    assert max(each[2] for each in result.returns) == (5 + 2) * (T_S + 16 * T_W)
    assert [messages for messages, _ in result.sent] == [5 + 3, 5 + 1, 5 + 1, 1]


def test_every_way_to_call_it_uses_the_algorithm() -> None:
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


# -- refusals ------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused_with_the_reason_and_what_fits() -> None:
    """Nothing is ever replaced by another algorithm."""

    def main(comm: Any) -> Any:
        with pytest.raises(ValueError, match=r"on rank \d: ") as caught:
            comm.Allgather(np.zeros(1), np.zeros(comm.size))
        return str(caught.value)

    others = [each.name for each in fitting("allgather", Case(6)) if each.name != "recursive_doubling"]
    assert run(main, 6, algorithms={"allgather": "recursive_doubling"})[0] == (
        "Allgather on rank 0: allgather: recursive_doubling was asked for, but p = 6 is not a power of two; "
        f"{', '.join(others[:-1])} and {others[-1]} fit."
    )


def test_an_algorithm_that_does_not_keep_to_rank_order_is_refused() -> None:
    """For an operation that does not commute; for others it is used."""

    def main(comm: Any, commute: bool) -> None:
        comm.Allreduce(np.zeros(1), np.zeros(1), MPI.Op.Create(lambda a, b, t: None, commute))

    asked = {"allreduce": "ring"}
    run(main, 3, args=(True,), algorithms=asked)
    with pytest.raises(fakempi.RankError, match="ring was asked for, but the op is not commutative"):
        run(main, 3, args=(False,), algorithms=asked)


def test_gatherv_by_a_tree_needs_counts_that_only_the_root_has() -> None:
    """So a communicator refuses it."""
    for name in "gatherv", "scatterv":
        words = f"{name}: binomial was asked for, but only the root knows the counts; linear fits."
        with pytest.raises(fakempi.RankError, match=words):
            run(one, 3, args=(name,), algorithms={name: "binomial"})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("mpitch", r"there is no table 'mpitch'.*did you mean mpich\?"),
        ({"allgater": "ring"}, r"there is no operation 'allgater'.*did you mean allgather\?"),
        ({"allgather": "rink"}, r"allgather: there is no algorithm 'rink'.*did you mean ring\?"),
        ({"bcast": ("chain", {"segments": 5})}, r"bcast: chain has no parameter 'segments'"),
        ({"bcast": 5}, r"bcast: an algorithm is asked for by name"),
        (5, r"algorithms must be a name, a mapping or a Table, not 5"),
    ],
)
def test_what_there_is_not_is_refused_before_anything_runs(asked: Any, words: str) -> None:
    """With what may have been meant."""
    with pytest.raises(MPI.Exception, match=words):
        run(lambda comm: pytest.fail("it ran"), 1, algorithms=asked)


def test_a_parameter_that_does_not_fit_is_refused() -> None:
    """When it is used."""
    with pytest.raises(fakempi.RankError, match="bcast: chain was asked for, but segment_bytes = 0 is not positive"):
        run(one, 2, args=("bcast",), algorithms={"bcast": ("chain", {"segment_bytes": 0})})


def test_resolve_is_what_run_uses() -> None:
    """A table made by hand gives the same run."""
    asked = {"table": "mpich", "bcast": "chain"}
    one_way, other = (fakempi.run(everything, 5, algorithms=each).clocks for each in (asked, resolve(asked)))
    assert one_way == other
