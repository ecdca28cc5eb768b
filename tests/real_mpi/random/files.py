"""Random programs on a file that all ranks have open: views, pointers, collective and nonblocking accesses, sizes."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tests.real_mpi.random.observing import Op, Program, as_hex, attempt, count_of, filled
from tests.real_mpi.random.type_trees import DatatypeBuilder, Tree, meaning

RANKS = 3
FIXED = 1
FILETYPES: list[Tree] = [  # of INT32_T: positions increase, and no element overlaps another
    ["basic", "INT32_T"],
    ["contiguous", 2, ["basic", "INT32_T"]],
    ["vector", 2, 1, 2, ["basic", "INT32_T"]],
    ["resized", 0, 24, ["vector", 2, 1, 3, ["basic", "INT32_T"]]],
    ["indexed", [1, 2], [1, 4], ["basic", "INT32_T"]],
    ["subarray", [2, 3], [2, 1], [0, 1], "C", ["basic", "INT32_T"]],
    ["darray", 2, 1, [4], ["BLOCK"], [None], [2], "C", ["basic", "INT32_T"]],
    ["resized", 0, 16, ["struct", [1, 1], [4, 12], [["basic", "INT32_T"], ["basic", "INT32_T"]]]],
    ["hvector", 3, 1, 8, ["basic", "INT32_T"]],
]
MEMORY: list[Tree] = [
    ["basic", "INT32_T"],
    ["basic", "INT32_T"],
    ["vector", 2, 1, 2, ["basic", "INT32_T"]],
    ["indexed", [1, 1], [1, 0], ["basic", "INT32_T"]],
]
LENGTH = 1500
"""The file has this number of bytes from the beginning: MPICH reads zeros beyond the end in some calls and counts them."""
ALONE = ("Write", "Write_at", "Iwrite", "Iwrite_at", "Write_shared", "Iwrite_shared")
TOGETHER = (
    "Write_all",
    "Write_at_all",
    "Iwrite_all",
    "Iwrite_at_all",
    "Write_ordered",
    "split_all",
    "split_at_all",
    "split_ordered",
)
WRONG = (
    "negative offset",
    "seek before",
    "bad whence",
    "bad view",
    "end without begin",
    "negative size",
    "bad representation",
)


def program(seed: int) -> Program:
    """Three to eight operations, each of which ends with all ranks in agreement."""
    rng = Random(f"files {seed}")
    ranks = rng.randint(1 if rng.random() < 0.1 else 2, RANKS)
    shared = rng.random() < 0.5  # all ranks have the same view then
    return {
        "ranks": ranks,
        "shared": shared,
        "mode": rng.choice(("RDWR", "RDWR", "RDWR", "APPEND", "EXCL", "DELETE")),
        "ops": [{"op": "opened"}, *(_operation(rng, ranks, shared) for _ in range(rng.randint(1, 4)))],
    }


def _operation(rng: Random, ranks: int, shared: bool) -> Op:
    kind = rng.choice(
        ("view", "together", "together", "together", "alone", "alone", "seek", "size", "question", "wrong", "sync")
    )
    op: Op = {"op": kind, "seed": rng.randrange(1000)}
    if kind == "view":
        op.update(
            type=rng.choice(FILETYPES),
            displacement=[rng.choice((0, 0, 4, 8, 3)) for _ in range(ranks)],
            representation="native",
        )
        if shared or rng.random() < 0.5:
            op["displacement"] = op["displacement"][:1] * ranks
    elif kind in ("together", "alone"):
        names: tuple[str, ...] = TOGETHER if kind == "together" else ALONE
        if rng.random() < 0.7:  # 20 ms each on MPICH
            names = tuple(each for each in names if each not in ("Iwrite_all", "Iwrite_at_all"))
        name = rng.choice([each for each in names if shared or not each.endswith(("shared", "ordered"))])
        op.update(call=name if rng.random() < 0.5 else name.replace("rite", "ead").replace("W", "R").replace("Iw", "Ir"))
        op["call"] = op["call"].replace("Iwead", "Iread")
        op.update(
            read=rng.random() < 0.5 if name.startswith("split") else "ead" in op["call"],
            rank=rng.randrange(ranks),
            counts=[rng.choice((0, 1, 2, 3, 4)) for _ in range(ranks)],
            offset=rng.randint(0, 5),
            type=rng.choice(MEMORY),
        )
    elif kind == "seek":
        op.update(
            shared=shared and rng.random() < 0.6, offset=rng.randint(0, 6), whence=rng.choice(("SET", "SET", "CUR", "END"))
        )
    elif kind == "size":
        op.update(size=rng.randint(1500, 1600), call=rng.choice(("Set_size", "Preallocate")))
    elif kind == "wrong":
        op["call"] = rng.choice(WRONG)
    return op


def perform(MPI: Any, comm: Any, program: Program, rank: int) -> list[Any]:
    """One observation for each operation, with the pointers after it; the last one of rank 0 has the bytes of the file."""
    directory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    name = comm.bcast(os.path.join(tempfile.mkdtemp(dir=directory), "file") if rank == 0 else None)
    modes = {
        "RDWR": MPI.MODE_RDWR | MPI.MODE_CREATE,
        "APPEND": MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_APPEND,
        "EXCL": MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_EXCL,
        "DELETE": MPI.MODE_RDWR | MPI.MODE_CREATE | MPI.MODE_DELETE_ON_CLOSE,
    }
    if rank == 0 and program["mode"] != "EXCL":
        Path(name).write_bytes(filled(LENGTH, 9))
    comm.Barrier()
    file = MPI.File.Open(comm, name, modes[program["mode"]])
    if program["mode"] == "EXCL":
        file.Write_at_all(0, filled(LENGTH if rank == 0 else 0, 9))
        file.Sync()
        comm.Barrier()
    found = []
    with DatatypeBuilder(MPI) as make:
        for op in program["ops"]:
            seen = attempt(MPI, partial(OPERATIONS[op["op"]], MPI, comm, file, op, rank, make))
            file.Sync()
            comm.Barrier()
            at = [file.Get_position(), file.Get_position_shared() if program["shared"] else None]
            found.append([seen, at])
            if program["shared"]:
                comm.Barrier()  # before another rank moves the shared pointer
        if rank == 0:
            found[-1].append(as_hex(Path(name).read_bytes()))
        file.Close()
    if rank == 0:
        found[-1].append("kept" if os.path.exists(name) else "deleted")
        shutil.rmtree(os.path.dirname(name))
    return found


def _view(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    filetype = make.build(op["type"])
    file.Set_view(op["displacement"][rank], MPI.INT32_T, filetype, op["representation"])
    place, etype, seen, representation = file.Get_view()
    found = [place, etype.Get_size(), seen.Get_size(), seen.Get_extent(), representation]
    found += [file.Get_byte_offset(each) for each in (0, 1, 2, 5)]
    found.append(file.Get_type_extent(MPI.INT32_T))
    for each in (etype, seen):
        if not each.is_predefined:
            each.Free()
    return found


def _memory(op: Op, rank: int, make: DatatypeBuilder) -> tuple[Any, Any]:
    count = op["counts"][rank]
    length = count * meaning(op["type"]).extent + 8
    buffer = bytearray(b"\xee" * length) if op["read"] else filled(length, op["seed"] + 5 * rank)
    return buffer, [buffer, count, make.build(op["type"])]


def _access(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    buffer, message = _memory(op, rank, make)
    status, name = MPI.Status(), op["call"]
    offset = op["offset"] + (0 if op["read"] or op["op"] == "alone" else 40 * rank)  # each rank writes to separate positions
    place = [offset] if "_at" in name else []
    if op["op"] == "together" and not op["read"] and not place and "ordered" not in name:
        file.Seek(offset)
    if name.startswith("split"):
        call = name.replace("split", "Read" if op["read"] else "Write")
        getattr(file, f"{call}_begin")(*place, message)
        getattr(file, f"{call}_end")(message, status)
    elif name.startswith("I"):
        getattr(file, name)(*place, message).Wait(status)
    else:
        getattr(file, name)(*place, message, status)
    return count_of(MPI, status, MPI.INT32_T), count_of(MPI, status, message[2]), as_hex(buffer) if op["read"] else None


def _alone(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    return _access(MPI, comm, file, op, rank, make) if rank == op["rank"] else None


def _seek(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    whence = getattr(MPI, f"SEEK_{op['whence']}")
    offset = -op["offset"] if op["whence"] == "END" else op["offset"] - 2 * (op["whence"] == "CUR")
    if op["shared"]:  # if the pointer would become negative, MPICH reports it on one rank and the others hang
        offset = op["offset"] if op["whence"] != "END" else 0
    (file.Seek_shared if op["shared"] else file.Seek)(offset, whence)
    at = file.Get_position_shared() if op["shared"] else file.Get_position()
    if op["whence"] == "END":
        comm.Barrier()
        (file.Seek_shared if op["shared"] else file.Seek)(0)
    return at


def _size(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    getattr(file, op["call"])(op["size"])
    return file.Get_size()


def _question(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    group = file.Get_group()
    found = [
        file.Get_size(),
        file.Get_atomicity(),
        group.Get_size(),
        group.Get_rank(),
        bool(file.Get_amode() & MPI.MODE_APPEND),
    ]
    group.Free()
    file.Set_atomicity(op["seed"] % 2 == 0)
    return [*found, file.Get_atomicity()]


def _opened(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    """The initial pointers; from there on they are within the file."""
    found = file.Get_position(), file.Get_position_shared()
    comm.Barrier()
    file.Seek(0)
    if found[1]:
        file.Seek_shared(0)
    return found


def _sync(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    file.Sync()


def _wrong(MPI: Any, comm: Any, file: Any, op: Op, rank: int, make: DatatypeBuilder) -> Any:
    calls = {
        "negative offset": lambda: file.Write_at(-1, bytearray(4)),
        "seek before": lambda: file.Seek(-1, MPI.SEEK_SET),
        "bad whence": lambda: file.Seek(0, 99999),
        "bad view": lambda: file.Set_view(-1, MPI.INT32_T),
        "end without begin": lambda: file.Write_all_end(bytearray(4)),
        "negative size": lambda: file.Set_size(-1),
        "bad representation": lambda: file.Set_view(0, MPI.BYTE, MPI.BYTE, "strange"),
    }
    return attempt(MPI, calls[op["call"]])


OPERATIONS: dict[str, Any] = {
    "opened": _opened,
    "view": _view,
    "together": _access,
    "alone": _alone,
    "seek": _seek,
    "size": _size,
    "question": _question,
    "sync": _sync,
    "wrong": _wrong,
}
