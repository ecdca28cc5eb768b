"""Communicators and groups from invalid arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene


def _ranks(s: Scene) -> list[int]:
    """Ranks of which one is outside the group or occurs twice."""
    good = list(range(s.size))
    s.rng.shuffle(good)
    good[s.pick(*range(s.size))] = s.pick(-1, -5, s.size, s.size + 7, s.MPI.PROC_NULL)
    return good


def _twice(s: Scene) -> list[int]:
    rank = s.pick(*range(s.size))
    return [rank, rank]


def _range(s: Scene) -> list[tuple[int, int, int]]:
    """Ranges that are not valid: stride 0, outside, or overlapping."""
    last = s.size - 1
    found: list[list[tuple[int, int, int]]] = [
        [(0, last, 0)],
        [(0, s.size, 1)],
        [(-1, last, 1)],
        [(0, last, 1), (0, 0, 1)],
        [(last, 0, -1), (last, last, 1)],
        [(0, last + 4, 2)],
        [(0, last, -1)],
        [(last, 0, 1)],
    ]
    return found[s.pick(*range(len(found)))]


def _create(s: Scene) -> Any:
    """A group that is not part of the communicator's group."""
    part = s.keep(s.comm.Split(s.rank % 2, 0))
    return part.Create(s.group())


def _intercomm(s: Scene) -> Any:
    """Leaders and tags that are not valid."""
    if s.size == 1:
        return "one rank"
    local = s.keep(s.comm.Split(s.rank > 0, 0))
    kind = s.pick("local leader", "tag")
    leader = s.pick(-1, -8, s.size + 1) if kind == "local leader" else 0
    return local.Create_intercomm(leader, s.comm, 0 if s.rank else 1, s.bad_tag() if kind == "tag" else 1)


def _on_inter(s: Scene) -> Any:
    """Calls that are not for intercommunicators."""
    inter = s.inter()
    if not inter.is_inter:
        return "one rank"
    plain = s.MPI.Comm(inter)
    call = s.pick("topology", "Get_remote_size", "Compare", "Create")
    if call == "Create":
        made = inter.Create(s.keep(inter.Get_group()))
        return [made.Get_size(), made.Get_remote_size()] if s.keep(made) is not None else None
    if call == "topology":
        return [inter.Get_topology() == s.MPI.UNDEFINED, plain.Get_size()]
    return plain.Compare(s.comm) == s.MPI.UNEQUAL if call == "Compare" else inter.Get_remote_size()


def _null(s: Scene) -> Any:
    """Queries and constructors on MPI.COMM_NULL."""
    name = s.pick(
        "Get_size", "Get_rank", "Get_group", "Is_inter", "Get_name", "Dup", "Idup", "Get_topology", "Get_errhandler", "Free",
        "Get_info", "Disconnect", "Split", "Split_type",
    )  # fmt: skip
    null = s.MPI.Comm()
    return getattr(null, name)(*([0] if name == "Split_type" else []))


def _null_intra(s: Scene) -> Any:
    name = s.pick("Create_cart", "Create", "Create_group", "Create_dist_graph_adjacent", "Create_intercomm", "Create_graph")
    null = s.MPI.Intracomm()
    args: dict[str, tuple[Any, ...]] = {
        "Create_cart": ([1],),
        "Create": (s.group(),),
        "Create_group": (s.group(),),
        "Create_dist_graph_adjacent": ([], []),
        "Create_intercomm": (0, s.comm, 0),
        "Create_graph": ([1], [0]),
    }
    return getattr(null, name)(*args[name])


def _group_null(s: Scene) -> Any:
    name = s.pick("Get_size", "Get_rank", "Dup", "Incl", "Excl", "Range_incl", "Free", "Union", "Intersection", "Difference")
    null, MPI = s.MPI.Group(), s.MPI
    if name in ("Union", "Intersection", "Difference"):
        return getattr(MPI.Group, name)(null, s.group())
    args: list[list[int]] = [[]] if name in ("Incl", "Excl", "Range_incl") else []
    return getattr(null, name)(*args)


def _translate(s: Scene) -> Any:
    return s.MPI.Group.Translate_ranks(s.group(), [s.pick(-1, -5, s.size, s.size + 4)], s.group())


def _attribute(s: Scene) -> Any:
    """Keys that were not created or are predefined, and attributes that were not set."""
    MPI = s.MPI
    kind = s.pick("invalid", "of datatypes", "predefined", "missing")
    call = s.pick("Get_attr", "Set_attr", "Delete_attr")
    key = MPI.KEYVAL_INVALID
    if kind == "of datatypes":
        key = MPI.Datatype.Create_keyval()
    elif kind == "predefined":
        key, call = MPI.TAG_UB, s.pick("Set_attr", "Delete_attr")
    elif kind == "missing":
        key = MPI.Comm.Create_keyval()
        call = s.pick("Get_attr", "Delete_attr")
    try:
        return getattr(s.comm, call)(*([key, 1] if call == "Set_attr" else [key]))
    finally:
        if kind == "of datatypes":
            MPI.Datatype.Free_keyval(key)
        elif kind == "missing":
            MPI.Comm.Free_keyval(key)


def _copy_fails(s: Scene) -> Any:
    """A copy or delete function that raises fails the call."""
    MPI = s.MPI
    kind = s.pick("copy", "delete", "free")

    def fail(*_: Any) -> Any:
        raise MPI.Exception(MPI.ERR_TOPOLOGY)

    key = MPI.Comm.Create_keyval(fail if kind == "copy" else None, None if kind == "copy" else lambda *_: None)
    s.comm.Set_attr(key, 5)
    try:
        return s.keep(s.comm.Dup()) is None
    finally:
        s.comm.Delete_attr(key)
        MPI.Comm.Free_keyval(key)


CASES: dict[str, Callable[[Scene], Any]] = {
    "Group.Incl": lambda s: s.group().Incl(_ranks(s)),
    "Group.Excl": lambda s: s.group().Excl(_ranks(s)),
    "Group.Incl twice": lambda s: s.group().Incl(_twice(s)),
    "Group.Excl twice": lambda s: s.group().Excl(_twice(s)),
    "Group.Range_incl": lambda s: s.group().Range_incl(_range(s)),
    "Group.Range_excl": lambda s: s.group().Range_excl(_range(s)),
    "Group.Translate_ranks": _translate,
    "Group of null": _group_null,
    "Group.Compare with null": lambda s: s.MPI.Group.Compare(s.group(), s.MPI.Group()),
    "Group.Free of predefined": lambda s: s.MPI.Group(s.MPI.GROUP_NULL).Free(),
    "Create: group null": lambda s: s.comm.Create(s.MPI.Group()),
    "Create: other ranks": _create,
    "Create_group: group null": lambda s: s.comm.Create_group(s.MPI.Group()),
    "Create_group: tag": lambda s: s.comm.Create_group(s.group(), s.pick(-1, -5)),
    "Split: color": lambda s: s.comm.Split(s.pick(-1, -5, -(10**6)), 0),
    "Split_type: type": lambda s: s.comm.Split_type(s.pick(-1, -5, 10**6), 0),
    "Create_intercomm": _intercomm,
    "Merge of null": lambda s: s.MPI.Intercomm().Merge(),
    "call of an intercommunicator": _on_inter,
    "call of null": _null,
    "constructor of null": _null_intra,
    "Comm.Compare with null": lambda s: s.MPI.Comm.Compare(s.comm, s.MPI.Comm()),
    "Comm.Free of predefined": lambda s: s.MPI.Comm(s.pick(s.MPI.COMM_WORLD, s.MPI.COMM_SELF)).Free(),
    "Set_info: null": lambda s: s.comm.Set_info(s.MPI.Info()),
    "Set_errhandler: null": lambda s: s.comm.Set_errhandler(s.MPI.Errhandler()),
    "attribute": _attribute,
    "attribute: copy function": _copy_fails,
    "Free_keyval": lambda s: s.MPI.Comm.Free_keyval(s.pick(s.MPI.KEYVAL_INVALID, s.MPI.TAG_UB)),
    "Call_errhandler": lambda s: s.comm.Call_errhandler(s.pick(s.MPI.ERR_ARG, s.MPI.ERR_TOPOLOGY)),
    "Disconnect": lambda s: s.MPI.Comm(s.comm.Dup()).Disconnect(),
}
