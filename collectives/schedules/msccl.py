"""Schedules in the XML of MSCCL: chunks become bytes, thread blocks become sequences of steps, channels become tags.

    <algo name="ring" coll="allreduce" ngpus="2" nchannels="1" nchunksperloop="2" proto="Simple" inplace="0">
      <gpu id="0" i_chunks="2" o_chunks="2" s_chunks="0">
        <tb id="0" send="1" recv="1" chan="0">
          <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>

A thread block executes its steps one after the other. A step with depid and deps waits for step `deps` of thread block
`depid`. Sends are buffered: a send may end before its receive starts. A step of MSCCL that receives and sends becomes
several steps here, with staging memory where MSCCL keeps data in registers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from collectives.schedules import msccl_in_place
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.msccl_writing import COMMENT as COMMENT
from collectives.schedules.msccl_writing import write as write
from collectives.schedules.msccl_xml import Element, parse
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Kind, Range, Step

BUFFERS: Final = {"i": "input", "o": "output", "s": "scratch"}
TYPES: Final = ("s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop")
KEYS: Final = {"buffering", "chunk_bytes", "counts", "operation", "root"}
"""Keys of the comment with the properties that MSCCL's attributes cannot express."""

CHUNK_BYTES = 1024
"""Bytes of a chunk, if the file does not specify it: a schedule can be executed for other sizes."""


@dataclass
class _Gpu:
    """The steps of a rank while its thread blocks are read."""

    rank: int
    chunk: int
    sizes: dict[str, int]
    steps: list[Step] = field(default_factory=list)
    last: dict[tuple[int, int], int] = field(default_factory=dict)  # (thread block, step) -> index of its last step here
    labels: dict[int, str] = field(default_factory=dict)


def read(text: str) -> Schedule:
    """Return the schedule of an MSCCL document; InvalidScheduleError with the line if it is invalid."""
    algo, comments = parse(text)
    notes = _notes(comments)
    ranks = algo.number("ngpus", least=1)
    if len(algo.children) != ranks or sorted(gpu.number("id") for gpu in algo.children) != list(range(ranks)):
        raise InvalidScheduleError(
            f"line {algo.line}: ngpus={ranks}, but the ids of the {len(algo.children)} <gpu> are not 0 to {ranks - 1}"
        )
    chunk = notes.pop("chunk_bytes", CHUNK_BYTES)
    operation = notes.pop("operation", algo.text("coll"))
    gpus = [_read_gpu(element, chunk, ranks) for element in sorted(algo.children, key=lambda gpu: gpu.number("id"))]
    aliases = _place(operation, gpus, chunk, notes) if algo.number("inplace", 0) == 1 else ()
    return Schedule(
        ranks=ranks,
        steps=[gpu.steps for gpu in gpus],
        buffers=[gpu.sizes for gpu in gpus],
        aliases=aliases,
        name=algo.text("name"),
        operation=operation,
        buffering=notes.pop("buffering", "infinite"),
        labels={(gpu.rank, index): label for gpu in gpus for index, label in gpu.labels.items()},
        **notes,
    )


def _notes(comments: list[str]) -> dict[str, Any]:
    """Return the properties of the call, from the comment of a file that `write` produced."""
    for comment in comments:
        if comment.strip().startswith(COMMENT):
            try:
                data = json.loads(comment.strip()[len(COMMENT) :])
            except (ValueError, RecursionError) as error:
                raise InvalidScheduleError(f"the comment of fakempi is not valid JSON: {error}") from None
            if not isinstance(data, dict) or not {*data} <= KEYS:
                raise InvalidScheduleError(f"the comment of fakempi must be an object with {', '.join(sorted(KEYS))}")
            if not all(
                type(data.get(name, 1)) is int and data.get(name, 1) >= least
                for name, least in (("chunk_bytes", 1), ("root", 0))
            ):
                raise InvalidScheduleError("the comment of fakempi needs whole numbers as chunk_bytes and root")
            if data.get("buffering", "zero") not in ("zero", "infinite") or not isinstance(data.get("operation", ""), str):
                raise InvalidScheduleError(
                    "the comment of fakempi needs text as operation, and zero or infinite as buffering"
                )
            return data
    return {}


def _place(operation: str, gpus: list[_Gpu], chunk: int, notes: dict[str, Any]) -> list[dict[str, tuple[str, int]]]:
    """Return which buffer of an operation in place is part of the other one, and complete the sizes of both."""
    declared = [{name: gpu.sizes[name] // chunk for name in ("input", "output")} for gpu in gpus]
    used: list[dict[str, int]] = []
    for gpu in gpus:
        ends: dict[str, int] = {}
        for step in gpu.steps:
            for where in (step.source, step.target):
                if where is not None:
                    ends[where.buffer] = max(ends.get(where.buffer, 0), where.stop // chunk)
        used.append(ends)
    uneven = notes.get("counts") is not None
    sizes, aliases = msccl_in_place.place(operation, declared, used, root=notes.get("root", 0), uneven=uneven)
    for gpu, complete in zip(gpus, sizes, strict=True):
        gpu.sizes.update({name: size * chunk for name, size in complete.items()})
    return [{name: (whole, at * chunk) for name, (whole, at) in each.items()} for each in aliases]


def _read_gpu(element: Element, chunk: int, ranks: int) -> _Gpu:
    sizes = {name: element.number(f"{letter}_chunks", 0) * chunk for letter, name in BUFFERS.items()}
    gpu = _Gpu(element.number("id"), chunk, sizes)
    waiting: list[tuple[int, Element, int]] = []
    seen = set()
    for block in element.children:
        number, previous = block.number("id"), -1
        if number in seen:
            raise InvalidScheduleError(f"line {block.line}: thread block {number} occurs twice in gpu {gpu.rank}")
        seen.add(number)
        for position, step in enumerate(block.children):
            if step.number("s") != position:
                raise InvalidScheduleError(f"line {step.line}: s={step.number('s')} where {position} is expected")
            first = len(gpu.steps)
            for part in _read_step(gpu, block, step, ranks):
                gpu.labels[len(gpu.steps)] = f"thread block {number}, step {position}"
                gpu.steps.append(replace(part, after=() if previous < 0 else (previous,)))
                previous = len(gpu.steps) - 1
            gpu.last[number, position] = previous
            if step.number("depid", -1, least=-1) >= 0:
                waiting.append((first, step, number))
    for index, step, number in waiting:
        key = step.number("depid"), step.number("deps")
        if key not in gpu.last or key[0] == number:
            raise InvalidScheduleError(
                f"line {step.line}: depid={key[0]} and deps={key[1]} name no step of another thread block"
            )
        gpu.steps[index] = replace(gpu.steps[index], after=(*gpu.steps[index].after, gpu.last[key]))
    return gpu


def _read_step(gpu: _Gpu, block: Element, step: Element, ranks: int) -> list[Step]:
    """Return the steps of one MSCCL step, without dependencies."""
    kind = step.choice("type", TYPES)
    if kind == "nop":
        return [Step("compute")]
    nbytes = step.number("cnt", least=1) * gpu.chunk

    def place(side: str) -> Range:
        return Range(BUFFERS[step.choice(f"{side}buf", tuple(BUFFERS))], step.number(f"{side}off") * gpu.chunk, nbytes)

    def message(way: Kind, where: Range) -> Step:
        peer = block.number("send" if way == "send" else "recv", least=-1)
        if not 0 <= peer < ranks:
            raise InvalidScheduleError(
                f"line {step.line}: type={kind!r}, but thread block {block.text('id')} has {way}={peer}"
            )
        tag = block.number("chan")
        return Step("send", peer, tag, source=where) if way == "send" else Step("recv", peer, tag, target=where)

    if kind == "s":
        return [message("send", place("src"))]
    if kind == "r":
        return [message("recv", place("dst"))]
    if kind == "rcs":
        return [message("recv", place("dst")), message("send", place("dst"))]
    if kind in ("cpy", "re"):
        return [Step("copy" if kind == "cpy" else "reduce", source=place("src"), target=place("dst"))]
    staging = Range(f"staging{block.text('id')}", 0, nbytes)
    gpu.sizes[staging.buffer] = max(nbytes, gpu.sizes.get(staging.buffer, 0))
    steps = [message("recv", staging), Step("reduce", source=place("src"), target=staging)]
    if kind != "rrs":
        steps.append(Step("copy", source=staging, target=place("dst")))
    if kind != "rrc":
        steps.append(message("send", staging))
    return steps
