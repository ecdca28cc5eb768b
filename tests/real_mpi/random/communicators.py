"""Random communicators, made of each other in all ways: attributes, names, hints, comparisons, groups, and freeing."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from tests.real_mpi.random.observing import Op, Program, attempt, name_of

RANKS = 4
HINT = "mpi_assert_no_any_tag"
KINDS = (
    "Dup", "Idup", "Clone", "Dup_with_info", "Idup_with_info", "Split", "Split", "Split_type", "Create", "Create",
    "Create_group", "disjoint", "inter", "inter", "merge", "merge", "compare", "compare", "group", "group", "attribute",
    "attribute", "name", "errhandler", "info", "cart", "exchange", "free",
)  # fmt: skip


def program(seed: int) -> Program:
    """Three to ten operations; each refers to communicators of earlier ones by number."""
    rng = Random(f"communicators {seed}")
    ranks = rng.randint(1 if rng.random() < 0.1 else 2, RANKS)
    ops = [
        {
            "op": rng.choice(KINDS),
            "on": rng.randrange(100),
            "other": rng.randrange(100),
            "colors": [rng.choice((0, 0, 1, 1, 7, None)) for _ in range(ranks)],
            "keys": [rng.randint(-2, 3) for _ in range(ranks)],
            "seed": rng.randrange(1000),
        }
        for _ in range(rng.randint(3, 10))
    ]
    return {"ranks": ranks, "ops": ops}


class Made:
    """The communicators of this rank: those of one number are made by one call; None where this rank is not in any."""

    def __init__(self, MPI: Any, comm: Any) -> None:
        self.MPI, self.world, self.rank = MPI, comm, comm.Get_rank()
        self.comms: list[Any] = [comm.Dup()]
        self.keys: list[int] = []
        self.deleted: list[Any] = []
        self.locals: list[Any] = []

    def at(self, number: int) -> Any:
        return self.comms[number % len(self.comms)]

    def add(self, comm: Any) -> Any:
        null = comm is None or comm == self.MPI.COMM_NULL
        self.comms.append(None if null else comm)
        return None if null else self.describe(comm)

    def describe(self, comm: Any) -> Any:
        """Everything that can be queried."""
        MPI, world = self.MPI, self.world.Get_group()
        groups = [comm.Get_group()] + ([comm.Get_remote_group()] if comm.Is_inter() else [])
        ranks = [each.Translate_ranks(None, world) for each in groups]
        topology = comm.Get_topology()
        names = {MPI.CART: "cart", MPI.GRAPH: "graph", MPI.DIST_GRAPH: "dist", MPI.UNDEFINED: "none"}
        for each in (*groups, world):
            each.Free()
        return [
            type(comm).__name__,
            comm.Get_rank(),
            comm.Get_size(),
            comm.Is_inter(),
            comm.Get_remote_size() if comm.Is_inter() else None,
            ranks,
            comm.Get_name(),
            names[topology],
            comm.Get_topo() if topology == MPI.CART else None,
            [comm.Get_attr(key) for key in self.keys],
            comm.Get_errhandler() == MPI.ERRORS_RETURN,
            comm.Get_errhandler() == MPI.ERRORS_ARE_FATAL,
        ]

    def free(self) -> None:
        for each in (*self.comms, *self.locals):
            if each is not None:
                each.Free()
        for key in self.keys:
            self.MPI.Comm.Free_keyval(key)


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """One observation for each operation, and what the functions that delete attributes were called with."""
    made = Made(MPI, comm)
    found = []
    for op in program["ops"]:
        before = len(made.deleted)
        seen = attempt(MPI, partial(_perform, made, op))
        found.append([seen, made.deleted[before:]])
    made.free()
    return found


def _perform(made: Made, op: Op) -> Any:
    on, MPI, rank = made.at(op["on"]), made.MPI, made.rank
    kind, rng = op["op"], Random(op["seed"])
    if kind == "attribute":
        return _attribute(made, op, rng)  # creates the key on all ranks
    if kind == "free":
        return _free(made, op)
    makes = kind in ("inter", "merge", "cart", "disjoint") or kind[0].isupper()
    if on is None:
        made.comms += [None] * makes
        return None
    if kind in ("Dup", "Clone"):
        return made.add(getattr(on, kind)())
    if kind == "Dup_with_info":
        return made.add(on.Dup_with_info(MPI.INFO_NULL))
    if kind == "Idup_with_info":
        copy, request = on.Idup_with_info(MPI.INFO_NULL)
        request.Wait()
        return made.add(copy)
    if kind == "Idup":
        copy, request = on.Idup()
        request.Wait()
        return made.add(copy)
    if kind == "Split":
        color = op["colors"][rank]
        return made.add(on.Split(MPI.UNDEFINED if color is None else color, op["keys"][rank]))
    if on.Is_inter() and kind in ("Split_type", "Create_group", "disjoint", "inter", "cart"):
        made.comms += [None] * makes
        return "not for intercommunicators"
    if kind == "Split_type":
        undefined = op["colors"][rank] is None
        return made.add(on.Split_type(MPI.UNDEFINED if undefined else MPI.COMM_TYPE_SHARED, op["keys"][rank]))
    calls = {
        "Create": _create, "Create_group": _create_group, "disjoint": _disjoint, "inter": _inter, "merge": _merge,
        "compare": _compare, "group": _group, "name": _name, "errhandler": _errhandler, "cart": _cart, "exchange": _exchange,
        "info": _info,
    }  # fmt: skip
    return calls[kind](made, on, op, rng)


def _some(rng: Random, size: int) -> list[int]:
    """Some ranks, in any order."""
    return rng.sample(range(size), rng.randint(0 if rng.random() < 0.2 else 1, size))


def _create(made: Made, on: Any, op: Op, rng: Random) -> Any:
    group = on.Get_group()
    ranks = _some(rng, max(on.Get_size(), on.Get_remote_size() if on.Is_inter() else 0))
    part = group.Incl([each for each in ranks if each < on.Get_size()])
    found = made.add(on.Create(part))
    part.Free()
    group.Free()
    return found


def _create_group(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """Only the members call it."""
    group = on.Get_group()
    ranks = _some(rng, on.Get_size())
    part = group.Incl(ranks)
    found = made.add(on.Create_group(part, rng.randint(0, 5)) if on.Get_rank() in ranks else None)
    part.Free()
    group.Free()
    return found


def _disjoint(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """Create with another group on other ranks: the groups are disjoint."""
    order = list(range(on.Get_size()))
    rng.shuffle(order)
    cut = rng.randint(0, len(order))
    group = on.Get_group()
    part = group.Incl(order[:cut] if on.Get_rank() in order[:cut] else order[cut:])
    found = made.add(on.Create(part))
    part.Free()
    group.Free()
    return found


def _inter(made: Made, on: Any, op: Op, rng: Random) -> Any:
    size, rank = on.Get_size(), on.Get_rank()
    if size == 1:
        return made.add(None)
    order = list(range(size))
    rng.shuffle(order)
    cut = rng.randint(1, size - 1)
    first = rank in order[:cut]
    mine, others = (order[:cut], order[cut:]) if first else (order[cut:], order[:cut])
    local = on.Split(first, mine.index(rank))
    made.locals.append(local)
    leaders = [rng.randrange(cut), rng.randrange(size - cut)]
    my_leader, other = leaders if first else leaders[::-1]
    return made.add(local.Create_intercomm(my_leader, on, others[other], rng.randint(0, 9)))


def _merge(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """The groups pass different values of `high`: with the same value their order is open."""
    if not on.Is_inter():
        return made.add(None)
    lower, remote = on.Get_group(), on.Get_remote_group()
    world = made.world.Get_group()
    first = min(lower.Translate_ranks(None, world)) < min(remote.Translate_ranks(None, world))
    for each in (lower, remote, world):
        each.Free()
    return made.add(on.Merge(first == (rng.random() < 0.5)))


def _compare(made: Made, on: Any, op: Op, rng: Random) -> Any:
    other = made.at(op["other"])
    if other is None:
        return None
    MPI = made.MPI
    names = {MPI.IDENT: "IDENT", MPI.CONGRUENT: "CONGRUENT", MPI.SIMILAR: "SIMILAR", MPI.UNEQUAL: "UNEQUAL"}
    return [names[MPI.Comm.Compare(on, other)], names[MPI.Comm.Compare(MPI.Comm(on), MPI.Comm(on))], on == other]


def _group(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """Set operations on the groups of two communicators; the groups as ranks of the world."""
    MPI, other = made.MPI, made.at(op["other"])
    one, world = on.Get_group(), made.world.Get_group()
    two = world.Dup() if other is None else other.Get_remote_group() if other.Is_inter() else other.Get_group()
    size = one.Get_size()
    ends = (rng.randrange(size), rng.randrange(size))
    stride = rng.choice((1, 2, 3)) * (1 if ends[1] >= ends[0] else -1)
    made_groups = [
        MPI.Group.Union(one, two),
        MPI.Group.Intersection(one, two),
        MPI.Group.Difference(one, two),
        one.Incl(_some(rng, size)),
        one.Excl(_some(rng, size)),
        one.Range_incl([(*ends, stride)]),
        one.Range_excl([(*ends, stride)]),
        one.Dup(),
    ]
    kinds = [name_of(MPI, name, getattr(MPI, name)) for name in ("IDENT", "SIMILAR", "UNEQUAL")]
    values = [MPI.IDENT, MPI.SIMILAR, MPI.UNEQUAL]
    found = [
        [
            each.Get_size(),
            "UNDEFINED" if each.Get_rank() == MPI.UNDEFINED else each.Get_rank(),
            each.Translate_ranks(None, world),
            kinds[values.index(MPI.Group.Compare(each, two))],
            each == MPI.GROUP_EMPTY,
            two.Translate_ranks([0, MPI.PROC_NULL], each)[1] == MPI.PROC_NULL,
        ]
        for each in made_groups
    ]
    for each in (*made_groups, one, two, world):
        if each != MPI.GROUP_EMPTY:
            each.Free()
    return found


def _attribute(made: Made, op: Op, rng: Random) -> Any:
    """A new key with any of the copy functions, or a value of an old key set or deleted."""
    MPI, on = made.MPI, made.at(op["on"])
    if not made.keys or rng.random() < 0.4:
        number = len(made.keys)

        def copied(comm: Any, key: int, value: Any) -> Any:
            return [*value, "copied"]

        def not_copied(comm: Any, key: int, value: Any) -> Any:
            return NotImplemented

        def deleted(comm: Any, key: int, value: Any) -> None:
            made.deleted.append([number, value])

        copy = rng.choice((None, True, False, copied, not_copied))
        delete = deleted if rng.random() < 0.8 else None
        made.keys.append(MPI.Comm.Create_keyval(copy, delete))
    key = rng.choice(made.keys)
    if on is None:
        return None
    seen = [on.Get_attr(key)]
    if rng.random() < 0.7:
        on.Set_attr(key, ["value", op["seed"]])
    else:
        seen.append(attempt(MPI, lambda: on.Delete_attr(key)))
    return [*seen, on.Get_attr(key)]


def _name(made: Made, on: Any, op: Op, rng: Random) -> Any:
    before = on.Get_name()
    on.Set_name(rng.choice(("", "a", "name with blanks ", " b", "x" * 127, "é")))
    return [before, on.Get_name(), on.name]


def _errhandler(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """Copies inherit the handler; `describe` returns it."""
    MPI = made.MPI
    on.Set_errhandler(MPI.ERRORS_RETURN)
    return on.Get_errhandler() == MPI.ERRORS_RETURN


def _info(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """A hint that MPI defines, and whether it was set before; copies do not inherit it since MPI 4.0."""
    before = _hint(on)
    info = made.MPI.Info.Create({HINT: rng.choice(("true", "false"))})
    on.Set_info(info)
    info.Free()
    return [before, _hint(on)]


def _hint(on: Any) -> Any:
    got = on.Get_info()
    value = got.get(HINT) or "false"
    got.Free()
    return value


def _cart(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """All ranks are in the grid: MPICH's group of a smaller grid also has the ranks outside."""
    size = on.Get_size()
    dims = rng.choice(([size], [1, size], [size, 1], [1, size, 1]))
    return made.add(on.Create_cart(dims, [rng.random() < 0.5 for _ in dims]))


def _exchange(made: Made, on: Any, op: Op, rng: Random) -> Any:
    """The order of the members, by messages."""
    return [on.allgather(made.rank), on.bcast(made.rank, 0) if not on.Is_inter() else None]


def _free(made: Made, op: Op) -> Any:
    """The first one is kept."""
    number = op["on"] % len(made.comms)
    if number == 0:
        return None
    on, made.comms[number] = made.comms[number], None
    if on is None:
        return None
    (on.Free if op["seed"] % 2 else on.Disconnect)()
    return on == made.MPI.COMM_NULL
