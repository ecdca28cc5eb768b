"""Reductions of Python numbers: fused and emulated calls have the same results, types, clocks and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI, errors

P = 32

OPERANDS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "sizes of pickles that differ": (MPI.SUM, lambda r: 3**r),
    "rounding in the order of ranks": (MPI.SUM, lambda r: (0.1, 1e16, -1e16)[r % 3]),
    "ints, floats and bools": (MPI.SUM, lambda r: (r, r / 7, True)[r % 3]),
    "ints of any size": (MPI.PROD, lambda r: 10**r + 7),
    "the first of equal operands": (MPI.MAX, lambda r: (1, True, 1.0, 0.0)[(r + 3) % 4]),
    "signs of zeros": (MPI.MIN, lambda r: (0.0, -0.0, 0)[r % 3]),
    "not a number": (MPI.MAX, lambda r: float("nan") if r in (5, 6) else float(r)),
    "tuples that grow": (MPI.SUM, lambda r: (r, r / 2, True)[: r % 4]),
    "places": (MPI.MINLOC, lambda r: (r % 5 - 2.0, r)),
    "truth": (MPI.LXOR, lambda r: (r, (), 0.5)[r % 3]),
    "bits": (MPI.BXOR, lambda r: (True, -r, 1 << r)[r % 3]),
}

CALLS = ("allreduce", "scan", "exscan")


def record(main: Callable[..., Any], p: int, fused: Any, **options: Any) -> tuple[Any, ...]:
    """What a run leaves, or how it fails, and the order in which ranks continue; with `fused="auto"` also its calls."""
    order: list[Any] = []
    try:
        run = fakempi.run(main, p, order, fused=fused, **options)
    except errors.RunError as error:
        return (type(error), str(error), order), {}
    return (run.returns, run.clocks, run.sent, run.received, order), run.fused_calls


@pytest.mark.parametrize("name", OPERANDS)
def test_results_have_the_same_value_and_type(name: str) -> None:
    """In all three operations; ranks then call at different times, so scans may be emulated."""
    op, operand = OPERANDS[name]

    def main(comm: Any, order: list[Any]) -> Any:
        found = []
        for call in CALLS:
            found.append(repr(getattr(comm, call)(operand(comm.rank), op)))
            order.append(comm.rank)
        return found

    (fused, calls), (emulated, _) = (record(main, P, how) for how in ("auto", "never"))
    assert fused == emulated
    assert str(calls["allreduce"]) == "1 fused"


def test_scans_of_equal_sizes_are_fused() -> None:
    """Without a schedule in which a rank leaves early."""

    def main(comm: Any, order: list[Any]) -> Any:
        order.append(comm.rank)
        return comm.scan(comm.rank / 3), comm.exscan(comm.rank / 7)

    (fused, calls), (emulated, _) = (record(main, P, how) for how in ("auto", "never"))
    assert fused == emulated
    assert (str(calls["scan"]), str(calls["exscan"])) == ("1 fused", "1 fused")


@pytest.mark.parametrize("cost", ["hockney:eager_limit=0", "hockney:eager_limit=16,compute_per_byte=1e-7"])
@pytest.mark.parametrize(
    "algorithm", ["recursive_doubling", ("reduce_bcast", {"bcast": "knomial", "reduce": "in_order_binary"})]
)
def test_algorithms_and_costs(algorithm: Any, cost: str) -> None:
    """Combining objects takes no time; a long message waits for its receiver."""

    def main(comm: Any, order: list[Any]) -> Any:
        return comm.allreduce(7**comm.rank), comm.allreduce((comm.rank,)), MPI.Wtime()

    options = {"cost": cost, "algorithms": {"allreduce": algorithm}}
    assert record(main, P, "auto", **options)[0] == record(main, P, "never", **options)[0]


@pytest.mark.parametrize("late", ["a", (1,), 10**400, None], ids=["text", "tuple", "long", "none"])
def test_an_operand_that_other_ranks_cannot_combine(late: Any) -> None:
    """The rank that combines it gets the error at its own time, as when all calls are emulated."""

    def main(comm: Any, order: list[Any]) -> None:
        fakempi.compute(1e-6 * (comm.rank == 5))
        order.append(comm.rank)
        try:
            comm.allreduce(late if comm.rank == 5 else 0.5)
        except (TypeError, OverflowError) as error:
            order.append((comm.rank, str(error), MPI.Wtime()))

    (fused, _), (emulated, _) = (record(main, 16, how) for how in ("auto", "never"))
    assert fused == emulated
    assert fused[0] is errors.DeadlockError


def test_pickling_functions_of_the_program_are_called() -> None:
    """As often as in an emulated call."""

    def main(comm: Any, order: list[Any]) -> Any:
        def dumps(obj: Any, protocol: int | None = None) -> bytes:
            order.append(comm.rank)
            return repr(obj).encode()

        MPI.pickle.__init__(dumps, lambda data: int(bytes(data)))  # type: ignore[misc]
        return comm.allreduce(comm.rank)

    fused, emulated = (record(main, 8, how)[0] for how in ("auto", "never"))
    assert fused == emulated
    assert len(fused[-1]) > 8
