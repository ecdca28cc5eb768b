"""Random collectives on buffers and objects: regular, with counts, with types; also between two groups."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from tests.real_mpi.random.calling import MODES, call, communicator, members, random_scope
from tests.real_mpi.random.observing import Op, Program, as_hex, attempt, filled
from tests.real_mpi.random.type_trees import BASICS, DatatypeBuilder, Map, Tree, meaning

RANKS = 4
UNFILLED = "Ibcast of MPICH to a group of one process does not fill a receive buffer with holes"
INT2: list[Tree] = [  # two INT each, at several places
    ["contiguous", 2, ["basic", "INT"]],
    ["resized", 0, 16, ["vector", 2, 1, 2, ["basic", "INT"]]],
    ["indexed", [1, 1], [1, 0], ["basic", "INT"]],
    ["struct", [1, 1], [0, 8], [["basic", "INT"], ["basic", "INT"]]],
    ["subarray", [3], [2], [1], "C", ["basic", "INT"]],
]
FORMS: list[list[Tree]] = [INT2, INT2, [["basic", "CHAR"]], [["basic", "INT"]], [["basic", "DOUBLE"]], [["basic", "SHORT"]]]
BUFFERS = (
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
)
OBJECTS = ("bcast", "gather", "scatter", "allgather", "alltoall", "barrier")
CAN_BE_IN_PLACE = (
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
)


def program(seed: int) -> Program:
    """One to three collectives."""
    rng = Random(f"collectives {seed}")
    ranks = rng.randint(1 if rng.random() < 0.1 else 2, RANKS)
    return {"ranks": ranks, "ops": [_operation(rng, ranks) for _ in range(rng.randint(1, 3))]}


def _operation(rng: Random, ranks: int) -> Op:
    name = rng.choice(BUFFERS if rng.random() < 0.8 else OBJECTS)
    scope = random_scope(rng, ranks, 0.25)
    in_place = name in CAN_BE_IN_PLACE and scope[0] != "inter" and rng.random() < 0.25
    most = rng.choice((0, 1, 3, 3))
    counts = [[rng.randint(0, most) for _ in range(ranks)] for _ in range(ranks)]
    if in_place:  # the same number of elements is sent in both directions
        counts = [[counts[min(i, j)][max(i, j)] for j in range(ranks)] for i in range(ranks)]
    forms = rng.choice(FORMS)
    return {
        "op": name,
        "scope": scope,
        "mode": rng.choice(MODES),
        "root": rng.randrange(ranks),
        "in_place": in_place,
        "count": rng.choice((0, 1, 2, 4)),
        "counts": counts,
        "types": [rng.choice(forms), rng.choice(forms)],
        "seed": rng.randrange(1000),
    }


def places(counts: list[int], seed: int) -> tuple[list[int], int]:
    """Positions of the blocks, in elements: in another order, with gaps; and the total number of elements."""
    rng = Random(seed)
    order = list(range(len(counts)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    found, at = [0] * len(counts), 0
    for each in order:
        found[each] = at
        at += counts[each] + rng.choice((0, 0, 1))
    return found, at


class Side:
    """A rank's part of a call: buffers of elements of the two types."""

    def __init__(self, MPI: Any, op: Op, rank: int, make: DatatypeBuilder) -> None:
        self.MPI, self.op, self.rank, self.make = MPI, op, rank, make
        trees = op["types"] if not op["in_place"] else [op["types"][1]] * 2
        self.types = [make.build(tree) for tree in trees]
        self.extents = [meaning(tree).extent for tree in trees]

    def buffer(self, way: int, elements: int) -> bytearray:
        """Memory for elements: sent values depend on the rank, and receive buffers are filled with EE."""
        length = elements * self.extents[way]
        return (
            filled(length, self.op["seed"] + 17 * self.rank)
            if way == 0 or self.op["in_place"]
            else bytearray(b"\xee" * length)
        )

    def regular(self, way: int, blocks: int = 1) -> Any:
        return [self.buffer(way, self.op["count"] * blocks), self.op["count"], self.types[way]]

    def irregular(self, way: int, counts: list[int]) -> Any:
        where, total = places(counts, self.op["seed"] + self.rank + way)
        return [self.buffer(way, total), counts, where, self.types[way]]

    def block(self, way: int, count: int) -> Any:
        return [self.buffer(way, count), count, self.types[way]]

    def typed(self, way: int, counts: list[int]) -> Any:
        where, total = places(counts, self.op["seed"] + self.rank + way)
        return [
            self.buffer(way, total),
            counts,
            [self.extents[way] * each for each in where],
            [self.types[way]] * len(counts),
        ]


def explain(program: Program, index: int, real: Any, emulated: Any) -> str | None:
    """Name a documented difference; it must be fakempi's result that is right."""
    op: Op = program["ops"][index] if index < len(program["ops"]) else {"op": None}
    if op["op"] == "Bcast" and op["mode"] and op["scope"][0] == "inter":
        own, other = members(op["scope"], program["ranks"], op["root"])
        tree = op["types"][1]
        has_holes = meaning(tree).size != meaning(tree).extent
        if op["root"] != own[0] and len(other) == 1 and has_holes and emulated == as_hex(_broadcast(op)):
            return "Ibcast of MPICH to a group of one process does not fill a receive buffer with holes"
    return None


def _broadcast(op: Op) -> bytearray:
    """The data that a rank of the other group receives from the root of a Bcast, by the type maps alone."""
    sent, received = (meaning(tree) for tree in op["types"])
    source = filled(op["count"] * sent.extent, op["seed"] + 17 * op["root"])
    target = bytearray(b"\xee" * (op["count"] * received.extent))

    def bytes_of(each: Map) -> list[int]:
        starts = [(k * each.extent + at, BASICS[name][0]) for k in range(op["count"]) for at, name in each.entries]
        return [at + byte for at, size in starts for byte in range(size)]

    for here, there in zip(bytes_of(sent), bytes_of(received), strict=True):
        target[there] = source[here]
    return target


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """One observation for each collective."""
    found = []
    for op in program["ops"]:
        with communicator(MPI, comm, op["scope"]) as chosen, DatatypeBuilder(MPI) as make:
            perform_one = _objects if op["op"].islower() else _buffers
            found.append(attempt(MPI, partial(perform_one, MPI, chosen, op, rank, program["ranks"], make)))
    return found


def _root(MPI: Any, op: Op, rank: int, own: list[int], other: list[int]) -> tuple[Any, bool, bool]:
    """The root argument, whether this rank is the root, and whether it is in the groups that exchange data with the root.
    """
    if op["scope"][0] == "inter":
        if op["root"] in own:
            return (MPI.ROOT, True, False) if op["root"] == rank else (MPI.PROC_NULL, False, False)
        return other.index(op["root"]), False, True
    root = own[op["root"] % len(own)]
    return own.index(root), root == rank, True


def _buffers(MPI: Any, comm: Any, op: Op, rank: int, ranks: int, make: DatatypeBuilder) -> Any:
    own, other = members(op["scope"], ranks, rank)
    side, name, in_place = Side(MPI, op, rank, make), op["op"], op["in_place"]
    number, is_root, takes_part = _root(MPI, op, rank, own, other)
    send: Any = None
    receive: Any = None
    sent, received = [op["counts"][rank][each] for each in other], [op["counts"][each][rank] for each in other]
    rooted = {"root": number}
    if name == "Barrier":
        call(comm, name, op["mode"])
        return None
    if name == "Bcast":
        message = side.regular(0 if is_root else 1) if is_root or takes_part else None
        call(comm, name, op["mode"], message, **rooted)
        return as_hex(message[0]) if message else None
    if name in ("Gather", "Gatherv"):
        column = [op["counts"][each][0] for each in other]
        if takes_part:
            send = side.regular(0) if name == "Gather" else side.block(0, op["counts"][rank][0])
        if is_root:
            receive = side.regular(1, len(other)) if name == "Gather" else side.irregular(1, column)
            send = MPI.IN_PLACE if in_place else send
    elif name in ("Scatter", "Scatterv"):
        if is_root:
            send = (
                side.regular(0, len(other))
                if name == "Scatter"
                else side.irregular(0, [op["counts"][0][each] for each in other])
            )
        if takes_part:
            receive = side.regular(1) if name == "Scatter" else side.block(1, op["counts"][0][rank])
            receive = MPI.IN_PLACE if in_place and is_root else receive
    else:
        rooted = {}
        if name == "Allgather":
            send, receive = side.regular(0), side.regular(1, len(other))
        elif name == "Allgatherv":
            send, receive = (
                side.block(0, op["counts"][rank][0]),
                side.irregular(1, [op["counts"][each][0] for each in other]),
            )
        elif name == "Alltoall":
            send, receive = side.regular(0, len(other)), side.regular(1, len(other))
        elif name == "Alltoallv":
            send, receive = side.irregular(0, sent), side.irregular(1, received)
        else:
            send, receive = side.typed(0, sent), side.typed(1, received)
        send = MPI.IN_PLACE if in_place else send
    call(comm, name, op["mode"], send, receive, **rooted)
    return [as_hex(each[0]) if isinstance(each, list) else None for each in (send, receive)]


def _objects(MPI: Any, comm: Any, op: Op, rank: int, ranks: int, make: DatatypeBuilder) -> Any:
    own, other = members(op["scope"], ranks, rank)
    number, is_root, _takes_part = _root(MPI, op, rank, own, other)
    mine: Any = {"from": rank, "data": list(range(rank))}
    name = op["op"]
    if name == "barrier":
        return comm.barrier()
    if name in ("bcast", "gather"):
        return getattr(comm, name)(mine if is_root or name == "gather" else None, number)
    if name == "scatter":
        return comm.scatter([[rank, each] for each in other] if is_root else None, number)
    if name == "allgather":
        return comm.allgather(mine)
    return comm.alltoall([[rank, each] for each in other])
