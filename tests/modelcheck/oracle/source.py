"""A program as Python source text that calls MPI: one line for each operation, so that reports name operations by lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from tests.modelcheck.oracle.program import ANY, COLLECTIVES, LAST, POLLS, Op, Program, operations

ROOM = 4096
"""Bytes of a receive buffer: more than any message has."""

HEAD = f"""
def payload(value, size):
    return bytes([value + 1]) * size

def room():
    return bytearray({ROOM})

def early(data):
    "The contents of a buffer before its receive is complete; none if it holds what was there before, or the pattern."
    return () if set(data) in ({{0}}, {{0xA5}}) else content(data)

def content(data, status=None):
    data = bytes(data).rstrip(b"\\0") if data is not None else b""
    if not data:
        return ()
    return (data[0] - 1, len(data)) if status is None else (data[0] - 1, len(data), status.source, status.tag)
"""


class Text(NamedTuple):
    """Source text, and the rank and operation of each line."""

    text: str
    lines: dict[int, tuple[int, int]]


class Writer:
    """Writes the function of one rank."""

    def __init__(self, program: Program, rank: int, lines: list[str], places: dict[int, tuple[int, int]]) -> None:
        self.program, self.rank, self.lines, self.places = program, rank, lines, places
        self.number = 0

    def put(self, depth: int, line: str) -> None:
        """A line."""
        self.lines.append("    " * depth + line)

    def call(self, depth: int, line: str) -> None:
        """The line of the operation."""
        self.put(depth, line)
        self.places[len(self.lines)] = self.rank, self.number

    def rank_function(self) -> None:
        """Return the source text."""
        ops = self.program.ranks[self.rank]
        self.put(0, f"def rank{self.rank}(c0, see, at):")
        self.put(1, "last, source, flag = 0, -1, False")
        for comm, split in enumerate(self.program.splits, 1):
            color, key = split[self.rank] or (None, 0)
            self.put(1, f"c{comm} = c0.Split({'MPI.UNDEFINED' if color is None else color}, {key})")
        for slot in sorted({slot for op in operations(ops) for slot in op.slots}):
            self.put(1, f"q{slot}, b{slot}, r{slot} = MPI.REQUEST_NULL, room(), False")
        self.block(1, ops)
        self.put(1, f"at({self.rank}, 'end')")
        self.put(0, "")

    def block(self, depth: int, ops: Sequence[Op]) -> None:
        """Operations, one after the other."""
        if not ops:
            self.put(depth, "pass")
        for op in ops:
            number = self.number
            self.put(depth, f"at({self.rank}, {number})")
            if op.what == "if":
                self.put(depth, f"if {op.peer} == {op.value!r}:")
                self.number += 1
                self.block(depth + 1, op.then)
                self.number += 1  # the jump
                self.put(depth, "else:")
                self.block(depth + 1, op.other)
                continue
            getattr(self, self.kind(op))(depth, op)
            self.number += 1

    def kind(self, op: Op) -> str:
        """The method that writes an operation."""
        if op.what in COLLECTIVES:
            return "collective"
        if op.what in ("isend", "issend", "send", "ssend"):
            return "sending"
        if "probe" in op.what:
            return "probing"
        kinds = {"recv": "receiving", "irecv": "posting", "mrecv": "matched", "peek": "peeking", "fail": "failing"}
        return kinds.get(op.what, "completing")

    def name(self, name: str) -> str:
        """The name of a method: of objects as it is, of buffers with a capital letter."""
        return name if self.program.objects else name.capitalize()

    def status(self, depth: int, op: Op) -> str:
        """The argument for a status."""
        self.put(depth, f"s = {'MPI.Status()' if op.status else 'None'}")
        return "s"

    def envelope(self, op: Op) -> str:
        """Source and tag."""
        source = "MPI.ANY_SOURCE" if op.peer == ANY else op.peer
        tag = "MPI.ANY_TAG" if op.tag == ANY else op.tag
        return f"source={source}, tag={tag}"

    def see(self, depth: int, what: str) -> None:
        """An observation."""
        self.put(depth, f"see({self.rank}, ({self.number}, {what}))")

    def learn(self, depth: int, op: Op, content: str) -> None:
        """Remember value and source."""
        self.put(depth, f"if {content}: last{', source' * op.status} = {content}[0]{f', {content}[2]' * op.status}")

    def failing(self, depth: int, op: Op) -> None:
        """An error of the program."""
        self.put(depth, f"at({self.rank}, 'failed')")
        self.call(depth, f"raise Wrong({self.rank}, {self.number})")

    def sending(self, depth: int, op: Op) -> None:
        """A send, blocking or not."""
        target = f"q{op.slots[0]} = " if op.slots else ""
        value = "last" if op.value == LAST else op.value
        if op.slots:
            self.put(depth, f"b{op.slots[0]} = payload({value}, {op.size})")
        data = f"b{op.slots[0]}" if op.slots else f"payload({value}, {op.size})"
        self.call(depth, f"{target}c{op.comm}.{self.name(op.what)}({data}, {op.peer}, {op.tag})")

    def receiving(self, depth: int, op: Op) -> None:
        """A blocking receive."""
        status = self.status(depth, op)
        if self.program.objects:
            self.call(depth, f"b = c{op.comm}.recv({self.envelope(op)}, status={status})")
        else:
            self.put(depth, "b = room()")
            self.call(depth, f"c{op.comm}.Recv(b, {self.envelope(op)}, status={status})")
        self.put(depth, "x = content(b, s)")
        self.learn(depth, op, "x")
        self.see(depth, "x")

    def posting(self, depth: int, op: Op) -> None:
        """A nonblocking receive."""
        (slot,) = op.slots
        first = "" if self.program.objects else f"b{slot}, "
        self.put(depth, f"r{slot} = True")
        self.call(depth, f"q{slot} = c{op.comm}.{self.name('irecv')}({first}{self.envelope(op)})")

    def probing(self, depth: int, op: Op) -> None:
        """A probe."""
        status, polls, takes = self.status(depth, op), op.what in POLLS, "m" in op.what
        if polls:
            self.put(depth, f"for _ in range({op.times}):")
            depth += 1
        self.call(depth, f"m = c{op.comm}.{op.what}({self.envelope(op)}, status={status})")
        observed = "(s.source, s.tag) if s is not None and m else ()"
        if takes:
            self.put(depth, f"q{op.slots[0]} = m")
        if op.status:
            self.put(depth, "if m: source = s.source")
        if polls:
            self.put(depth, "flag = bool(m)")
            self.see(depth, f"flag, {observed}")
            self.put(depth, "if flag: break")
        else:
            self.see(depth, observed)

    def matched(self, depth: int, op: Op) -> None:
        """The receive of a message that a probe has taken."""
        (slot,) = op.slots
        status = self.status(depth, op)
        self.put(depth, "x = ()")
        self.put(depth, f"if q{slot} is not None and q{slot} != MPI.REQUEST_NULL:")
        if self.program.objects:
            self.call(depth + 1, f"b{slot} = q{slot}.recv({status})")
        else:
            self.call(depth + 1, f"q{slot}.Recv(b{slot}, {status})")
        self.put(depth + 1, f"x = content(b{slot}, s)")
        self.learn(depth, op, "x")
        self.see(depth, "x")

    def peeking(self, depth: int, op: Op) -> None:
        """A look at the buffer of a receive that may be in progress."""
        (slot,) = op.slots
        self.call(depth, f"x = early(b{slot}) if q{slot} != MPI.REQUEST_NULL else ()")
        self.put(depth, "flag = bool(x)")
        self.see(depth, "x")

    def completing(self, depth: int, op: Op) -> None:
        """Waits and tests."""
        polls, how = op.what in POLLS, op.what[4:]
        status = self.status(depth, op) if how in ("", "any") else None
        if how not in ("", "any"):
            self.put(depth, "s = None")
        if polls:
            self.put(depth, f"for _ in range({op.times}):")
            depth += 1
        requests = "[" + ", ".join(f"q{slot}" for slot in op.slots) + "]"
        self.put(depth, f"active = [i for i, q in enumerate({requests}) if q != MPI.REQUEST_NULL]")
        self.put(depth, "z = {}")  # what objects were received, by index
        call = f"q{op.slots[0]}.{self.name(op.what)}" if how == "" else f"MPI.Request.{self.name(op.what)}"
        given = ", ".join([*([requests] if how else []), *([status] if status else [])])
        self.call(depth, f"y = {call}({given})")
        self.put(depth, f"done, z = unpack({how!r}, {polls}, {self.program.objects}, y, active)")
        places = "[" + ", ".join(f"(r{slot}, b{slot})" for slot in op.slots) + "]"
        self.put(depth, f"x = tuple(content(z.get(i, {places}[i][1]), s) if {places}[i][0] else () for i in done or ())")
        self.put(depth, "for each in x:")
        self.learn(depth + 1, op, "each")
        shown = "(done, x) if done is not None else ()" if how in ("any", "some") else "x"
        if polls:
            self.put(depth, "flag = done is not None")
            self.see(depth, f"flag, {shown}")
            self.put(depth, "if flag: break")
        else:
            self.see(depth, shown)

    def collective(self, depth: int, op: Op) -> None:
        """A collective call; contributions are small, and not counted as messages."""
        value = "last" if op.value == LAST else op.value
        given = {
            "barrier": "barrier()", "ibarrier": "Ibarrier()", "bcast": f"bcast({value}, root={op.peer})",
            "reduce": f"reduce({value}, root={op.peer})", "gather": f"gather({value}, root={op.peer})",
            "allreduce": f"allreduce({value})", "scan": f"scan({value})",
        }[op.what]  # fmt: skip
        if op.what == "ibarrier":
            self.call(depth, f"q{op.slots[0]} = c{op.comm}.{given}")
            return
        self.call(depth, f"x = c{op.comm}.{given}")
        self.see(depth, "tuple(x) if isinstance(x, list) else x")


TAIL = """
def unpack(how, polls, objects, y, active):
    "The indices of the requests that are complete (None: not yet), and the objects that were received, by index."
    if how == "":
        flag, value = (y if objects else (y, None)) if polls else (True, y)
        done = tuple(active) if flag else None
        return done, {0: value} if objects and flag else {}
    if how == "all":
        flag, values = (y if objects else (y, None)) if polls else (True, y)
        done = tuple(active) if flag else None
        return done, dict(enumerate(values)) if objects and flag else {}
    if how == "any":
        if polls:
            index, flag, value = y if objects else (*y, None)
        else:
            index, value = y if objects else (y, None)
            flag = True
        if not flag:
            return None, {}
        return (() if index == MPI.UNDEFINED else (index,)), {index: value} if objects else {}
    indices, values = y if objects else (y, None)
    if indices is None:
        return (), {}
    if polls and not indices:
        return None, {}
    done = tuple(sorted(indices))
    return done, dict(zip(indices, values)) if objects else {}
"""


def written(program: Program) -> Text:
    """The source text; `rank0(comm, see, at)` and so on are its functions."""
    lines: list[str] = []
    places: dict[int, tuple[int, int]] = {}
    for text in (HEAD, TAIL):
        lines += text.splitlines()
    for rank in range(len(program.ranks)):
        Writer(program, rank, lines, places).rank_function()
    return Text("\n".join(lines) + "\n", places)


@lru_cache(16)
def compiled_text(program: Program, name: str) -> tuple[CodeType, dict[int, tuple[int, int]]]:
    """The compiled text, with this file name, and the operations of its lines."""
    text = written(program)
    return compile(text.text, name, "exec"), text.lines


def functions(program: Program, wrong: Any, mpi: Any, name: str) -> tuple[tuple[Any, ...], dict[int, tuple[int, int]]]:
    """Per rank its function, which takes a communicator, `see` and `at`; and the operations of the lines."""
    code, lines = compiled_text(program, name)
    namespace: dict[str, Any] = {"Wrong": wrong, "MPI": mpi}
    exec(code, namespace)
    return tuple(namespace[f"rank{rank}"] for rank in range(len(program.ranks))), lines
