"""Schedules in JSON.

    {"format": "fakempi schedule", "version": 1, "ranks": 2, "operation": "broadcast", "root": 0, "name": "bcast linear",
     "buffers": [{"input": 8, "output": 8}, {"output": 8}], "aliases": [{"input": ["output", 0]}, {}],
     "steps": [[{"send": 1, "tag": 0, "source": ["output", 0, 8]}],
               [{"recv": 0, "tag": 0, "target": ["output", 0, 8], "after": [], "after_start": []}]]}

A step is {"send": rank}, {"recv": rank}, {"copy": null}, {"reduce": null} or {"compute": seconds}; a range is [buffer,
offset, bytes]. Optional keys: "name", "operation", "root", "aliases", "counts", "commutative" (true), "buffering" ("zero"),
"groups" (the sizes of two groups); of a step: "tag" (0), "after" and "after_start" (no steps), "cpu" and "nic" (0).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import KINDS, Range, Step

FORMAT, VERSION = "fakempi schedule", 1
UNITS = ("cpu", "nic")
OPTIONAL = ("name", "operation", "root", "counts", "commutative", "buffering", "groups")
"""Attributes of a schedule that are written as they are, unless they have their default."""


def write(schedule: Schedule) -> str:
    """Return the schedule as JSON text, one step per line."""
    head: dict[str, Any] = {"format": FORMAT, "version": VERSION, "ranks": schedule.ranks}
    default = Schedule(1, [[]], [{}])
    head |= {name: getattr(schedule, name) for name in OPTIONAL if getattr(schedule, name) != getattr(default, name)}
    head["buffers"] = [dict(sizes) for sizes in schedule.buffers]
    if any(schedule.aliases):
        head["aliases"] = [{name: list(place) for name, place in aliases.items()} for aliases in schedule.aliases]
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    ranks = [",\n  ".join(json.dumps(_step_out(step)) for step in steps) for steps in schedule.steps]
    lines.append('"steps": [\n [' + "],\n [".join(ranks) + "]\n]")
    return "{" + ",\n".join(lines) + "}\n"


def _step_out(step: Step) -> dict[str, Any]:
    value = {"send": step.peer, "recv": step.peer, "compute": step.seconds}.get(step.kind)
    out: dict[str, Any] = {step.kind: value}
    if step.tag:
        out["tag"] = step.tag
    for name, where in (("source", step.source), ("target", step.target)):
        if where is not None:
            out[name] = [where.buffer, where.offset, where.nbytes]
    out |= {name: list(value) for name in ("after", "after_start") if (value := getattr(step, name))}
    return out | {name: value for name in UNITS if (value := getattr(step, name))}


def read(text: str) -> Schedule:
    """Return the schedule of a JSON text; InvalidScheduleError if it is invalid."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidScheduleError(f"not valid JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InvalidScheduleError(f'not a schedule: the key "format" must be "{FORMAT}"')
    if data.get("version") != VERSION:
        raise InvalidScheduleError(f"version {data.get('version')!r} is not supported; this is version {VERSION}")
    ranks = _typed(data, "ranks", int)
    steps = [[_step_in(step, f"rank {r}, step {i}") for i, step in enumerate(_list(entry, f"steps of rank {r}"))]
             for r, entry in enumerate(_typed(data, "steps", list))]  # fmt: skip
    buffers = [_sizes(entry, f"buffers of rank {r}") for r, entry in enumerate(_typed(data, "buffers", list))]
    aliases = [
        {str(name): _place(place, f"aliases of rank {r}") for name, place in entry.items()}
        for r, entry in enumerate(data.get("aliases", []))
        if isinstance(entry, dict)
    ]
    options = {name: data[name] for name in OPTIONAL if name in data}
    for name, kind in (("name", str), ("operation", str), ("root", int), ("commutative", bool), ("buffering", str)):
        if name in options and type(options[name]) is not kind:
            raise InvalidScheduleError(f'"{name}" must be {kind.__name__}, not {options[name]!r}')
    if options.get("buffering", "zero") not in ("zero", "infinite"):
        raise InvalidScheduleError(f'"buffering" must be "zero" or "infinite", not {options["buffering"]!r}')
    if options.get("counts") is not None:
        options["counts"] = [
            [_number(each, '"counts"') for each in row] if isinstance(row, list) else _number(row, '"counts"')
            for row in _list(options["counts"], '"counts"')
        ]
    if "groups" in options:
        groups = [_number(size, '"groups"') for size in _list(options["groups"], '"groups"')]
        if len(groups) != 2:
            raise InvalidScheduleError(f'"groups" must have the sizes of two groups, not {len(groups)}')
        options["groups"] = (groups[0], groups[1])
    return Schedule(ranks, steps, buffers, aliases, **options)


def _typed(data: Mapping[str, Any], key: str, kind: type) -> Any:
    if type(data.get(key)) is not kind:
        raise InvalidScheduleError(f'"{key}" must be {kind.__name__}, not {data.get(key)!r}'[:200])
    return data[key]


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidScheduleError(f"{what} must be a list, not {value!r}"[:200])
    return value


def _number(value: Any, what: str) -> int:
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise InvalidScheduleError(f"{what} must be a number from 0 to 2^53, not {value!r}"[:200])
    return value


def _sizes(value: Any, what: str) -> dict[str, int]:
    if not isinstance(value, dict):
        raise InvalidScheduleError(f"{what} must be an object of sizes, not {value!r}"[:200])
    return {str(name): _number(size, f"{what}: {name}") for name, size in value.items()}


def _place(value: Any, what: str) -> tuple[str, int]:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise InvalidScheduleError(f"{what} must be [buffer, offset], not {value!r}"[:200])
    return value[0], _number(value[1], what)


def _step_in(value: Any, what: str) -> Step:
    if not isinstance(value, dict):
        raise InvalidScheduleError(f"{what} must be an object, not {value!r}"[:200])
    known = {*KINDS, "tag", "source", "target", "after", "after_start", *UNITS}
    if unknown := next((key for key in value if key not in known), None):
        raise InvalidScheduleError(f"{what}: unknown key {unknown!r}; a step has {', '.join(sorted(known))}")
    kinds = [kind for kind in KINDS if kind in value]
    if len(kinds) != 1:
        raise InvalidScheduleError(f"{what} must have exactly one of {', '.join(KINDS)}, not {len(kinds)}")
    kind = kinds[0]
    seconds = value[kind] if kind == "compute" else 0.0
    if not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e18:
        raise InvalidScheduleError(f"{what}: compute needs seconds, not {seconds!r}"[:200])
    ranges = {name: _range_in(value[name], f"{what}, {name}") for name in ("source", "target") if name in value}
    after = {name: tuple(_number(index, f"{what}, {name}") for index in _list(value.get(name, []), f"{what}, {name}"))
             for name in ("after", "after_start")}  # fmt: skip
    peer = _number(value[kind], f"{what}, {kind}") if kind in ("send", "recv") else -1
    tag = _number(value.get("tag", 0), f"{what}, tag")
    units = {name: _number(value.get(name, 0), f"{what}, {name}") for name in UNITS}
    source, target = ranges.get("source"), ranges.get("target")
    return Step(kind, peer, tag, source, target, float(seconds), after["after"], after["after_start"], *units.values())


def _range_in(value: Any, what: str) -> Range:
    if not isinstance(value, list) or len(value) != 3 or not isinstance(value[0], str):
        raise InvalidScheduleError(f"{what} must be [buffer, offset, bytes], not {value!r}"[:200])
    return Range(value[0], _number(value[1], what), _number(value[2], what))
