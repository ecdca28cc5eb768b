"""Random one-sided programs: epochs of all kinds in which no two accesses conflict."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from tests.real_mpi.random.observing import Op, Program, attempt
from tests.real_mpi.random.type_trees import DatatypeBuilder

RANKS = 3
SLOTS = 14
COMMON = 3
"""The first slots of each window are only accumulated to, by all ranks and with one operation."""
TYPES = {"INT32_T": "i4", "INT64_T": "i8", "DOUBLE": "f8", "UINT16_T": "u2"}
FLAVORS = ("create", "create", "allocate", "shared", "dynamic")
SYNCS = ("fence", "lock", "lock", "lock_all", "pscw")
KINDS = ("Put", "Get", "null", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "common")
OPERATIONS = ("SUM", "MAX", "MIN", "PROD", "REPLACE", "NO_OP")


def program(seed: int) -> Program:
    """A window and one to three epochs."""
    rng = Random(f"windows {seed}")
    ranks = rng.randint(1 if rng.random() < 0.05 else 2, RANKS)
    ops = [_epoch(rng, ranks) for _ in range(rng.randint(1, 3))]
    return {
        "ranks": ranks,
        "flavor": rng.choice(FLAVORS),
        "type": rng.choice(list(TYPES)),
        "bytes": rng.random() < 0.3,
        "named": rng.random() < 0.2,
        "hints": rng.choice(("", "", "rar,raw", "none", "same_op")),
        "ops": ops,
    }


def _epoch(rng: Random, ranks: int) -> Op:
    sync = rng.choice(SYNCS)
    free = [set(range(COMMON, SLOTS)) for _ in range(ranks)]
    accesses: list[list[Op]] = [[] for _ in range(ranks)]
    for _ in range(rng.randint(0, 3 * ranks)):
        kind, origin, target = rng.choice(KINDS), rng.randrange(ranks), rng.randrange(ranks)
        count, strided = rng.choice((0, 1, 2, 3)), rng.random() < 0.3
        if kind in ("Fetch_and_op", "Compare_and_swap"):
            count, strided = 1, False
        at = rng.randrange(SLOTS)
        needed = {at + k * (2 if strided else 1) for k in range(count)}
        if kind == "common":
            at, count, strided = 0, rng.randint(1, COMMON), False
        elif not needed <= free[target]:
            continue
        else:
            free[target] -= needed
        accesses[origin].append(
            {
                "kind": kind,
                "target": target,
                "at": at,
                "count": count,
                "strided": strided,
                "operation": rng.choice(OPERATIONS),
                "exclusive": rng.random() < 0.4,
                "request": sync in ("lock", "lock_all") and rng.random() < 0.4,
                "flush": rng.choice(("", "Flush", "Flush_all", "Flush_local", "Flush_local_all")),
                "seed": rng.randrange(100),
            }
        )
    checked = [rng.random() < 0.7, rng.random() < 0.5]  # assertions, and Test instead of Wait
    return {
        "op": "epoch",
        "sync": sync,
        "accesses": accesses,
        "checked": checked,
        "common": rng.choice(("SUM", "MAX", "PROD", "BXOR")),
    }


class Memory:
    """A window, its memory on this rank, and displacements in the windows of others."""

    def __init__(self, MPI: Any, comm: Any, program: Program, rank: int) -> None:
        self.dtype = np.dtype(TYPES[program["type"]])
        self.datatype = getattr(MPI, program["type"])
        size, flavor = self.dtype.itemsize, program["flavor"]
        unit = 1 if program["bytes"] else size
        self.step, self.bases = size // unit, [0] * program["ranks"]
        self.kept: Any = None
        info = MPI.Info.Create()
        if program["hints"] == "same_op":
            info.Set("accumulate_ops", "same_op_no_op")
        elif program["hints"]:
            info.Set("accumulate_ordering", program["hints"])
        if flavor == "create":
            self.kept = bytearray(SLOTS * size)
            self.win = MPI.Win.Create(self.kept, unit, info, comm)
        elif flavor == "allocate":
            self.win = MPI.Win.Allocate(SLOTS * size, unit, info, comm)
            self.kept = self.win.tomemory()
        elif flavor == "shared":
            self.win = MPI.Win.Allocate_shared(SLOTS * size, unit, comm=comm)
            self.kept = self.win.tomemory()
        else:
            self.win, self.step = MPI.Win.Create_dynamic(comm=comm), size
            self.kept = MPI.Alloc_mem(SLOTS * size)
            self.win.Attach(self.kept)
            self.bases = comm.allgather(MPI.Get_address(self.kept))
        self.values: Any = np.frombuffer(self.kept, self.dtype)
        self.values[:] = np.arange(SLOTS) + 3 * rank + 1
        self.dynamic = flavor == "dynamic"
        info.Free()
        if program["named"]:
            self.win.Set_name(f"window {flavor}")
        group = self.win.Get_group()
        models = {MPI.WIN_UNIFIED: "unified", MPI.WIN_SEPARATE: "separate"}
        flavors = ("CREATE", "ALLOCATE", "DYNAMIC", "SHARED")
        self.about = [
            self.win.Get_attr(MPI.WIN_DISP_UNIT) if not self.dynamic else None,
            self.win.group_size,
            self.win.Get_attr(MPI.WIN_SIZE),
            models[self.win.model],
            next(each for each in flavors if getattr(MPI, f"WIN_FLAVOR_{each}") == self.win.flavor),
            MPI.Group.Compare(group, comm.group) == MPI.IDENT,
            self.win.Get_name() if program["named"] else None,
        ]
        group.Free()
        comm.Barrier()

    def place(self, target: int, at: int) -> int:
        return int(self.bases[target]) + at * self.step

    def free(self, MPI: Any) -> None:
        self.values = None
        if self.dynamic:
            self.win.Detach(self.kept)
        self.win.Free()
        if self.dynamic:
            MPI.Free_mem(self.kept)


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """After each epoch: the fetched values, and the memory of this rank."""
    memory = Memory(MPI, comm, program, rank)
    found = []
    with DatatypeBuilder(MPI) as make:
        for op in program["ops"]:
            seen = _perform(MPI, comm, memory, op, rank, make)
            comm.Barrier()
            memory.win.Lock(rank)
            values = memory.values.tolist()
            memory.win.Unlock(rank)
            comm.Barrier()
            found.append([seen, values, memory.about])
    memory.free(MPI)
    return found


def _perform(MPI: Any, comm: Any, memory: Memory, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    win, sync, mine = memory.win, op["sync"], op["accesses"][rank]
    results = []
    if sync == "fence":
        win.Fence(MPI.MODE_NOPRECEDE if op["checked"][0] else 0)
        results = [_access(MPI, memory, op, each, make) for each in mine]
        if op["checked"][1]:  # an empty epoch
            win.Fence(MPI.MODE_NOSTORE | MPI.MODE_NOPUT)
        win.Fence(MPI.MODE_NOSUCCEED)
    elif sync == "pscw":
        group = comm.Get_group()
        win.Post(group, 0 if op["checked"][0] else MPI.MODE_NOSTORE)
        win.Start(group)
        results = [_access(MPI, memory, op, each, make) for each in mine]
        win.Complete()
        if op["checked"][1]:
            win.Wait()
        else:
            while not win.Test():
                pass
        group.Free()
    elif sync == "lock":
        for each in mine:
            win.Lock(each["target"], MPI.LOCK_EXCLUSIVE if each["exclusive"] else MPI.LOCK_SHARED)
            results.append(_access(MPI, memory, op, each, make))
            _flush(win, each)
            win.Unlock(each["target"])
    else:
        win.Lock_all()
        for each in mine:
            results.append(_access(MPI, memory, op, each, make))
            _flush(win, each)
        win.Unlock_all()
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in results]


def _flush(win: Any, access: Op) -> None:
    if access["flush"]:
        getattr(win, access["flush"])(*([] if access["flush"].endswith("all") else [access["target"]]))


def _access(MPI: Any, memory: Memory, epoch: Op, access: Op, make: DatatypeBuilder) -> Any:
    return attempt(MPI, lambda: _start(MPI, memory, epoch, access, make))


def _start(MPI: Any, memory: Memory, epoch: Op, access: Op, make: DatatypeBuilder) -> Any:
    """Start an access; returns the array for its result, valid after the epoch."""
    win, kind, count, rank = memory.win, access["kind"], access["count"], access["target"]
    data = (np.arange(count) + access["seed"] % 7).astype(memory.dtype)
    result = np.zeros(count, memory.dtype)
    place = memory.place(rank, access["at"])
    datatype, elements = memory.datatype, count
    if access["strided"]:
        datatype, elements = make.keep(memory.datatype.Create_vector(count, 1, 2)).Commit(), 1
    target = [place, elements, datatype]
    sent, taken = [data, count, memory.datatype], [result, count, memory.datatype]
    op = getattr(MPI, access["operation"])
    if kind == "null":
        win.Put(sent, MPI.PROC_NULL, target)
        win.Get(taken, MPI.PROC_NULL, target)
        win.Accumulate(sent, MPI.PROC_NULL, target)
        return result
    if kind == "common":
        name = epoch["common"] if memory.dtype.kind != "f" or epoch["common"] != "BXOR" else "SUM"
        win.Accumulate(sent, rank, [memory.place(rank, 0), count, memory.datatype], op=getattr(MPI, name))
        return None
    if kind == "Fetch_and_op":
        win.Fetch_and_op(sent, taken, rank, place, op)
        return result
    if kind == "Compare_and_swap":
        if memory.dtype.kind == "f":
            return None
        compare = np.array([access["seed"] % 16], memory.dtype)
        win.Compare_and_swap(sent, [compare, 1, memory.datatype], taken, rank, place)
        return result
    if kind == "Accumulate" and access["operation"] == "NO_OP":
        op = MPI.SUM
    args: dict[str, Any] = {
        "Put": (sent, rank, target),
        "Get": (taken, rank, target),
        "Accumulate": (sent, rank, target, op),
        "Get_accumulate": (sent, taken, rank, target, op),
    }
    if access["request"]:
        getattr(win, f"R{kind.lower()}")(*args[kind]).Wait()
    else:
        getattr(win, kind)(*args[kind])
    return result if kind in ("Get", "Get_accumulate") else None
