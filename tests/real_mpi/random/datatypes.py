"""Random programs on datatypes: bounds, envelopes, packing, and messages between types that differ."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from tests.real_mpi.random.observing import Op, Program, as_hex, attempt, count_of, elements_of, filled, name_of
from tests.real_mpi.random.type_trees import (
    BASICS,
    DatatypeBuilder,
    Map,
    Tree,
    hollow,
    inner_trees,
    meaning,
    overlap,
    random_tree,
    repeated,
)

RANKS = 2
LOCAL = ("describe", "contents", "pack", "pack", "external32", "status", "wrong", "fortran")


def program(seed: int) -> Program:
    """One to four operations on random types."""
    rng = Random(f"datatypes {seed}")
    return {"ranks": 2, "ops": [_operation(rng) for _ in range(rng.randint(1, 4))]}


def _operation(rng: Random) -> Op:
    if rng.random() < 0.45:
        return _message(rng)
    kind = rng.choice(LOCAL)
    basics = list(BASICS)
    if kind == "external32":  # most values of LONG do not fit into its 4 bytes; MPICH crashes for most mixed types
        basics = [rng.choice([name for name in BASICS if name != "LONG"])]
    tree = random_tree(rng, rng.randint(0, 3), basics, disjoint=True)
    op: Op = {
        "op": kind,
        "type": tree,
        "count": rng.choice((0, 1, 1, 2, 3)),
        "position": rng.choice((0, 0, 3)),
        "rank": rng.randrange(2),
    }
    if kind in ("describe", "contents"):
        op["type"] = random_tree(rng, rng.randint(1, 4))
    if overlap(repeated(tree, op["count"]).entries):
        op["count"] = 1
    if (kind in ("external32", "status") and not countable(tree)) or (
        kind == "external32" and hollow(tree)
    ):  # MPICH crashes
        tree = op["type"] = ["basic", "SHORT"]
    if kind == "external32":
        op["count"] = max(1, op["count"])
    if kind == "status":
        op["elements"] = rng.randint(0, 3 * len(meaning(tree).entries))
    if kind == "wrong":
        op["call"] = rng.choice(sorted(WRONG))
    if kind == "fortran":
        op["call"] = rng.choice(("integer", "real", "complex", "match"))
        op["args"] = [rng.choice((4, 8, 15, 16)), rng.choice((1, 30))]  # below 4 MPICH has reals that gfortran does not have
    return op


def _message(rng: Random) -> Op:
    """A message; the receiver's type has the same signature, or at least the beginning of it."""
    if rng.random() < 0.7:
        basics = [rng.choice(list(BASICS))]
        sent = random_tree(rng, rng.randint(0, 3), basics)
        taken = random_tree(rng, rng.randint(0, 3), basics, disjoint=True)
        count = rng.choice((0, 1, 1, 2))
        n, room = len(repeated(sent, count).entries), max(1, len(meaning(taken).entries))
        rcount = -(-n // room) + rng.choice((0, 0, 1, -1))
        if rcount < 0 or overlap(repeated(taken, rcount).entries) or not meaning(taken).entries:
            taken, rcount = ["contiguous", max(1, n), ["basic", basics[0]]], 1
    else:
        sent, count = random_tree(rng, rng.randint(1, 3)), rng.choice((1, 1, 2))
        taken, rcount = _unrolled(repeated(sent, count)), 1
    return {
        "op": "message",
        "type": sent,
        "count": count,
        "rtype": taken,
        "rcount": rcount,
        "tag": rng.randint(0, 9),
        "mode": rng.choice(("Send", "Ssend", "Isend", "Sendrecv", "Send_init", "Mprobe")),
    }


def _unrolled(found: Map) -> Tree:
    """A struct with the same signature, one element after the other."""
    places, at = [], 0
    for _, name in found.entries:
        size, align = BASICS[name]
        at = -(-at // align) * align
        places.append(at)
        at += size
    return ["struct", [1] * len(places), places, [["basic", name] for _, name in found.entries]]


def span(tree: Tree, count: int) -> tuple[int, int]:
    """The offset that makes all positions nonnegative, and the number of bytes needed then."""
    entries = repeated(tree, count).entries
    first = min([place for place, _ in entries], default=0)
    last = max([place + BASICS[name][0] for place, name in entries], default=0)
    base = max(0, -first)
    return base, max(0, last) + base


def countable(tree: Tree) -> bool:
    """Whether to call Get_elements: MPICH crashes or counts bytes in types that contain a darray or a mixed struct."""
    trees = inner_trees(tree)
    kinds, names = {each[0] for each in trees}, {name for _, name in meaning(tree).entries}
    return "darray" not in kinds and not ("struct" in kinds and (len(names) > 1 or hollow(tree)))


def explain(program: Program, index: int, real: Any, emulated: Any) -> str | None:
    """Name a documented difference."""
    op: Op = program["ops"][index] if index < len(program["ops"]) else {"op": None}
    if op["op"] == "describe" and any(each[0] == "darray" for each in inner_trees(op["type"])):
        places = meaning(op["type"]).entries
        first = min(place for place, _ in places)
        true = [first, max(place + BASICS[name][0] for place, name in places) - first]
        if emulated[2] == true and real[:2] == emulated[:2]:
            return "the true extent of some darrays in MPICH includes bytes without elements"
    return None


WRONG: dict[str, Any] = {
    "contiguous": lambda MPI: MPI.INT.Create_contiguous(-1),
    "vector": lambda MPI: MPI.INT.Create_vector(-1, 1, 1),
    "vector length": lambda MPI: MPI.INT.Create_vector(2, -1, 1),
    "indexed": lambda MPI: MPI.INT.Create_indexed([1, -1], [0, 1]),
    "indexed lengths": lambda MPI: MPI.INT.Create_indexed([1, 1], [0]),
    "struct": lambda MPI: MPI.Datatype.Create_struct([-1], [0], [MPI.INT]),
    "struct null": lambda MPI: MPI.Datatype.Create_struct([1], [0], [MPI.DATATYPE_NULL]),
    "null": lambda MPI: MPI.DATATYPE_NULL.Create_contiguous(2),
    "subarray empty": lambda MPI: MPI.INT.Create_subarray([4], [0], [0]),
    "subarray order": lambda MPI: MPI.INT.Create_subarray([4], [2], [0], order=7777),
    "darray rank": lambda MPI: MPI.INT.Create_darray(2, 2, [4], [MPI.DISTRIBUTE_BLOCK], [MPI.DISTRIBUTE_DFLT_DARG], [2]),
    "darray small": lambda MPI: MPI.INT.Create_darray(2, 0, [9], [MPI.DISTRIBUTE_BLOCK], [2], [2]),
    "free": lambda MPI: MPI.Datatype(MPI.INT).Free(),
    "null size": lambda MPI: MPI.DATATYPE_NULL.Get_size(),
    "contents": lambda MPI: MPI.INT.Get_contents(),
    "match": lambda MPI: MPI.Datatype.Match_size(MPI.TYPECLASS_INTEGER, 3),
    "not committed": lambda MPI: MPI.INT.Create_contiguous(2).Pack(bytearray(8), bytearray(8), 0, MPI.COMM_SELF),
}


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """One observation for each operation."""
    return [attempt(MPI, partial(_perform, MPI, comm, op, rank)) for op in program["ops"]]


def _perform(MPI: Any, comm: Any, op: Op, rank: int) -> Any:
    if op["op"] != "message":
        return LOCALS[op["op"]](MPI, comm, op) if rank == op["rank"] else None
    with DatatypeBuilder(MPI) as make:
        if rank == 0:
            _send(MPI, comm, op, make)
            return None
        return _receive(MPI, comm, op, make)


def _send(MPI: Any, comm: Any, op: Op, make: DatatypeBuilder) -> None:
    base, length = span(op["type"], op["count"])
    if base:
        message = [filled(length, 3), 1, make.shifted(op["type"], op["count"], base)]
    else:
        message = [filled(length, 3), op["count"], make.build(op["type"])]
    mode, tag = op["mode"], op["tag"]
    if mode == "Isend":
        comm.Isend(message, 1, tag).Wait()
    elif mode == "Sendrecv":
        comm.Sendrecv(message, 1, tag, bytearray(4), 1, tag)
    elif mode == "Send_init":
        request = comm.Send_init(message, 1, tag)
        for _ in range(2):
            request.Start()
            request.Wait()
        request.Free()
    else:
        getattr(comm, "Send" if mode == "Mprobe" else mode)(message, 1, tag)


def _receive(MPI: Any, comm: Any, op: Op, make: DatatypeBuilder) -> Any:
    base, length = span(op["rtype"], op["rcount"])
    buffer, status, taken = bytearray(b"\xee" * length), MPI.Status(), make.build(op["rtype"])
    message = [buffer, 1, make.shifted(op["rtype"], op["rcount"], base)] if base else [buffer, op["rcount"], taken]
    sent, mode, tag = make.build(op["type"]), op["mode"], op["tag"]

    def once() -> Any:
        if mode == "Isend":
            comm.Irecv(message, 0, tag).Wait(status)
        elif mode == "Sendrecv":
            comm.Sendrecv(b"abcd", 0, tag, message, 0, tag, status)
        elif mode == "Mprobe":
            found = comm.Mprobe(0, tag, status)
            seen = [count_of(MPI, status, sent)]
            found.Recv(message, status)
            return seen
        else:
            comm.Recv(message, 0, tag, status)
        return None

    found = [attempt(MPI, once) for _ in range(2 if mode == "Send_init" else 1)]
    if any(isinstance(each, dict) for each in found):
        return found  # the contents of the buffer are not defined
    counts = [count_of(MPI, status, each) for each in (sent, taken)]
    elements = [
        elements_of(MPI, status, each) for each, tree in ((sent, op["type"]), (taken, op["rtype"])) if countable(tree)
    ]
    return found, as_hex(buffer), counts, elements, status.Get_source(), status.Get_tag(), status.Is_cancelled()


def _describe(MPI: Any, comm: Any, op: Op) -> Any:
    with DatatypeBuilder(MPI) as make:
        made = make.build(op["type"])
        return made.Get_size(), made.Get_extent(), made.Get_true_extent(), made.is_predefined, made.is_named


def _contents(MPI: Any, comm: Any, op: Op) -> Any:
    with DatatypeBuilder(MPI) as make:
        return decoded(MPI, make.grow(op["type"]))


def decoded(MPI: Any, datatype: Any) -> Any:
    """Envelope and contents, with those of the types inside."""
    *numbers, combiner = datatype.Get_envelope()
    name = name_of(MPI, "COMBINER_", combiner)
    if name == "COMBINER_NAMED":
        return [numbers, name, datatype.Get_name()]
    integers, addresses, counts, inner = datatype.Get_contents()
    if name == "COMBINER_DARRAY":
        n = integers[2]
        orders = {MPI.ORDER_C: "C", MPI.ORDER_F: "F"}
        kinds = [name_of(MPI, "DISTRIBUTE_", each) for each in integers[3 + n : 3 + 2 * n]]
        dargs = ["default" if each == MPI.DISTRIBUTE_DFLT_DARG else each for each in integers[3 + 2 * n : 3 + 3 * n]]
        integers = [*integers[: 3 + n], *kinds, *dargs, *integers[3 + 3 * n : -1], orders[integers[-1]]]
    elif name == "COMBINER_SUBARRAY":
        integers = [*integers[:-1], {MPI.ORDER_C: "C", MPI.ORDER_F: "F"}[integers[-1]]]
    found = [numbers, name, list(integers), list(addresses), list(counts), [decoded(MPI, each) for each in inner]]
    for each in inner:
        if not each.is_predefined:
            each.Free()
    return found


def _whole(op: Op, make: DatatypeBuilder) -> tuple[Any, int]:
    """All elements as one, and the length of its buffer: Pack divides the buffer's length by the extent."""
    base, length = span(op["type"], op["count"])
    length = max(1, length)
    return make.keep(make.shifted(op["type"], op["count"], base).Create_resized(0, length)).Commit(), length


def _pack(MPI: Any, comm: Any, op: Op) -> Any:
    with DatatypeBuilder(MPI) as make:
        made, (whole, length) = make.build(op["type"]), _whole(op, make)
        n = made.Get_size() * op["count"]
        enough = made.Pack_size(op["count"], comm) >= n
        packed = bytearray(b"\xaa" * (n + 8))
        position = whole.Pack(filled(length, 5), packed, op["position"], comm)
        again = bytearray(b"\xee" * length)
        end = whole.Unpack(packed, op["position"], again, comm)
        return enough, position, as_hex(packed), end, as_hex(again)


def _external32(MPI: Any, comm: Any, op: Op) -> Any:
    with DatatypeBuilder(MPI) as make:
        made, (whole, length) = make.build(op["type"]), _whole(op, make)
        size = made.Pack_external_size("external32", op["count"])
        packed = bytearray(b"\xaa" * (size + 8))
        position = whole.Pack_external("external32", filled(length, 5), packed, op["position"])
        again = bytearray(b"\xee" * length)
        end = whole.Unpack_external("external32", packed, op["position"], again)
        return size, position, as_hex(packed), end, as_hex(again)


def _status(MPI: Any, comm: Any, op: Op) -> Any:
    with DatatypeBuilder(MPI) as make:
        made, status = make.build(op["type"]), MPI.Status()
        status.Set_elements(made, op["elements"])
        return count_of(MPI, status, made), elements_of(MPI, status, made)


def _wrong(MPI: Any, comm: Any, op: Op) -> Any:
    made = attempt(MPI, lambda: WRONG[op["call"]](MPI))
    if not isinstance(made, MPI.Datatype):
        return made
    found = made.Get_size(), made.Get_extent()
    made.Free()
    return found


def _fortran(MPI: Any, comm: Any, op: Op) -> Any:
    p, r = op["args"]
    if op["call"] == "match":
        kind = (MPI.TYPECLASS_INTEGER, MPI.TYPECLASS_REAL, MPI.TYPECLASS_COMPLEX)[1 + r % 2 if p > 4 else 0]
        made = MPI.Datatype.Match_size(kind, p)
    elif op["call"] == "integer":
        made = MPI.Datatype.Create_f90_integer(p)
    elif op["call"] == "real":
        made = MPI.Datatype.Create_f90_real(p, r)
    else:
        made = MPI.Datatype.Create_f90_complex(p, r)
    return made.Get_size(), made.Get_extent(), made.is_named, name_of(MPI, "COMBINER_", made.Get_envelope()[-1])


LOCALS = {
    "describe": _describe,
    "contents": _contents,
    "pack": _pack,
    "external32": _external32,
    "status": _status,
    "wrong": _wrong,
    "fortran": _fortran,
}
