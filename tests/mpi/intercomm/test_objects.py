"""Objects between two groups: the contributions of one group are the results of the other."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from collectives import CATALOGUE, Algorithm
from fakempi import MPI
from tests.helpers.loops import for_each
from tests.mpi.intercomm.calls import SIZES, Setting, run_joined


def object_of(side: int, rank: int) -> dict[str, Any]:
    return {"who": (side, rank), "words": ["x"] * rank}


@pytest.mark.parametrize(("p", "q"), SIZES)
@pytest.mark.parametrize("root_side", [0, 1])
def test_rooted_calls(backend: Any, p: int, q: int, root_side: int) -> None:
    """The root's group gets nothing, except for the root."""
    sizes, root = (p, q), (p, q)[root_side] - 1
    leaves = sizes[1 - root_side]
    setting = Setting(p, q, root_side, root)

    def main(inter: Any, side: int) -> Any:
        rank, part = inter.rank, setting.part(side, inter.rank)
        items = [(rank, i) for i in range(leaves)] if part == MPI.ROOT else None
        return (
            inter.bcast(object_of(side, rank), part),
            inter.gather(object_of(side, rank), root=part),
            inter.scatter(items, part),
            inter.reduce([rank], root=part),
            inter.reduce(rank, max, part),
        )

    def expected(side: int, rank: int) -> Any:
        if side != root_side:
            return object_of(root_side, root), None, (root, rank), None, None
        if rank != root:
            return (None,) * 5
        return None, [object_of(1 - side, r) for r in range(leaves)], None, list(range(leaves)), leaves - 1

    assert run_joined(main, p, q, backend) == [expected(side, r) for side, n in enumerate(sizes) for r in range(n)]


@pytest.mark.parametrize(("p", "q"), SIZES)
def test_calls_without_a_root(backend: Any, p: int, q: int) -> None:
    """Each group gets the contributions of the other, in rank order."""
    sizes = p, q

    def main(inter: Any, side: int) -> Any:
        rank, other = inter.rank, inter.remote_size
        return (
            inter.barrier(),
            inter.allgather(object_of(side, rank)),
            inter.alltoall([(side, rank, i) for i in range(other)]),
            inter.alltoall(None),
            inter.allreduce([(side, rank)]),
            inter.allreduce(rank, op=MPI.MAX),
            inter.allreduce((side, -rank), MPI.MINLOC),
        )

    def expected(side: int, rank: int) -> Any:
        far, n = 1 - side, sizes[1 - side]
        all_ranks = [(far, r) for r in range(n)]
        came = [(far, r, rank) for r in range(n)]
        return None, [object_of(*each) for each in all_ranks], came, [None] * n, all_ranks, n - 1, (far, 1 - n)

    assert run_joined(main, p, q, backend) == [expected(side, r) for side, n in enumerate(sizes) for r in range(n)]


def test_ranks_get_copies_of_objects() -> None:
    """An operation cannot change an object of another rank either."""

    def main(inter: Any, side: int) -> Any:
        mine = [side]

        def spoil(x: list[int], y: list[int]) -> list[int]:
            x += y
            return x

        total = inter.allreduce(mine, spoil)
        came = inter.allgather(mine)
        came[0].append("mine alone")
        return total, mine, came[-1]

    found = run_joined(main, 2, 3)
    assert found == [([1] * 3, [0], [1])] * 2 + [([0] * 2, [1], [0])] * 2 + [([0] * 2, [1], [0])]


def test_an_operation_that_cannot_be_called_is_rejected() -> None:
    """On every rank, including idle ranks of the root's group."""

    def main(inter: Any, side: int) -> Any:
        part = 0 if side else (MPI.ROOT if inter.rank == 0 else MPI.PROC_NULL)
        with pytest.raises(TypeError, match=r"^reduce on rank \d: op is None, which cannot be called\.$"):
            inter.reduce(1, None, part)
        return inter.reduce(1, root=part)

    assert run_joined(main, 2, 3) == [3, None, None, None, None]


def test_too_few_items_are_rejected() -> None:
    """One for each rank of the other group is required."""

    def main(inter: Any, side: int) -> Any:
        with pytest.raises(ValueError, match=rf"^alltoall on rank \d: expecting {inter.remote_size} items, got 4\.$"):
            inter.alltoall([1] * 4)
        return inter.allreduce(1)

    assert run_joined(main, 2, 3) == [3, 3, 2, 2, 2]


def test_objects_use_the_algorithms_of_buffers() -> None:
    """The selected ones."""
    requested = {"inter:allgather": "wmpi", "inter:allgatherv": "wmpi"}

    def main(comm: Any) -> Any:
        inter = comm.Split(comm.rank > 1).Create_intercomm(0, comm, 0 if comm.rank > 1 else 2)
        return inter.allgather(comm.rank)

    result = fakempi.run(main, 6, algorithms=requested)
    assert result.returns == [[2, 3, 4, 5]] * 2 + [[0, 1]] * 4
    sent = [messages for messages, _ in result.sent]
    assert sent == [2 + 2 * 1, 2, 2 + 2 * 2, 2, 2 + 2 * 1, 2]


FOR_BUFFERS = ("reduce_scatter", "reduce_scatter_block", "alltoallw")
INTER = [each for each in CATALOGUE if each.kind == "inter" and each.operation not in FOR_BUFFERS]
REFUSED = {
    *(("allgather", name) for name in ("even_cut", "two_stage", "unsegmented")),
    ("alltoall", "bruck"),
}
CUTTING = {("allreduce", "even_cut"), ("allreduce", "one_leader"), ("reduce", "chain"), ("reduce", "circulant")}


@pytest.mark.quick(6)
@pytest.mark.parametrize("algorithm", INTER, ids=lambda each: f"{each.operation}-{each.name}")
@for_each("p, q, root_side, backend", [(1, 1, 0, "auto"), (1, 4, 1, "auto"), (5, 3, 0, "auto"), (2, 3, 1, "threads")])
def test_every_algorithm_gives_the_definitions_result_or_is_rejected(
    algorithm: Algorithm, p: int, q: int, root_side: int, backend: Any
) -> None:
    """Objects of any sizes, concatenated in rank order."""
    words = [[letter * rank for rank in range(size)] for letter, size in (("a", p), ("b", q))]
    setting = Setting(p, q, root_side, (p, q)[root_side] // 2)
    requested = {f"inter:{algorithm.operation}": algorithm.name}
    name = "alltoall" if algorithm.operation == "alltoallv" else algorithm.operation.removesuffix("v")

    def main(inter: Any, side: int) -> Any:
        rank, part = inter.rank, setting.part(side, inter.rank)
        mine, at_root = words[side][rank], part == MPI.ROOT
        calls = {
            "barrier": lambda: inter.barrier(),
            "bcast": lambda: inter.bcast(mine if at_root else None, part),
            "gather": lambda: inter.gather(mine, part),
            "scatter": lambda: inter.scatter(words[1 - side] if at_root else None, part),
            "allgather": lambda: inter.allgather(mine),
            "alltoall": lambda: inter.alltoall(words[1 - side]),
            "reduce": lambda: inter.reduce(mine, lambda x, y: x + y, part),
            "allreduce": lambda: inter.allreduce(mine),
        }
        try:
            return calls[name]()
        except ValueError as error:
            return str(error)

    def expected(side: int, rank: int) -> Any:
        far = words[1 - side]
        if name in ("barrier", "allgather", "alltoall", "allreduce"):
            everywhere = {"allgather": far, "alltoall": [words[side][rank]] * len(far), "allreduce": "".join(far)}
            return everywhere.get(name)
        if side != root_side:
            return {"bcast": far[setting.root], "scatter": words[side][rank]}.get(name)
        return {"gather": far, "reduce": "".join(far)}.get(name) if rank == setting.root else None

    found = run_joined(main, p, q, backend, algorithms=requested)
    if (algorithm.operation, algorithm.name) in REFUSED:
        refusal = f"inter:{name}: {algorithm.name} was requested, but pickles are"
        assert all(refusal in each for each in found if each is not None or name not in ("gather", "scatter"))
        assert any(found)
    elif (algorithm.operation, algorithm.name) in CUTTING:  # idle ranks of the root's group return
        assert all(each is None or f"{algorithm.name} was requested, but an object cannot be cut" in each for each in found)
        assert any(found)
    else:
        assert found == [expected(side, rank) for side, size in enumerate((p, q)) for rank in range(size)]


def test_a_reduction_whose_part_splits_the_data_is_rejected() -> None:
    """An object is one element, in either group."""

    def main(inter: Any, side: int) -> str:
        with pytest.raises(ValueError, match="cut") as caught:
            inter.allreduce([side])
        return str(caught.value)

    found = run_joined(main, 2, 3, algorithms={"inter:allreduce": ("wmpi", {"reduce": "rabenseifner"})})
    words = "wmpi was requested, but an object cannot be cut into pieces; reduce_exchange_bcast supports objects."
    assert found[3] == f"allreduce on rank 3: inter:allreduce: {words}"
