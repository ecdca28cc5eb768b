"""Write a schedule as GOAL text."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from collectives.schedules import json_format
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Step

HEADER: Final = "// fakempi schedule "
NOTE: Final = "// fakempi step "
"""Start of a comment with properties of a step that GOAL cannot express."""


def write(schedule: Schedule) -> str:
    """Return the schedule as GOAL text. Reductions and copies are `calc 0`, since GOAL has no cost per byte."""
    data = json.loads(json_format.write(replace(schedule, steps=[[] for _ in schedule.steps])))
    lines = [
        HEADER + json.dumps({key: value for key, value in data.items() if key != "steps"}),
        f"num_ranks {schedule.ranks}",
    ]
    for rank, steps in enumerate(schedule.steps):
        lines.append(f"rank {rank} {{")
        for index, step in enumerate(steps):
            lines += [*_note(step), f"l{index + 1}: {_statement(step)}"]
        for index, step in enumerate(steps):
            lines += [f"l{index + 1} requires l{other + 1}" for other in step.after]
            lines += [f"l{index + 1} irequires l{other + 1}" for other in step.after_start]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _statement(step: Step) -> str:
    cpu, nic = (f" {name} {number}" if number else "" for name, number in (("cpu", step.cpu), ("nic", step.nic)))
    if step.kind == "send":
        return f"send {step.nbytes}b to {step.peer} tag {step.tag}{cpu}{nic}"
    if step.kind == "recv":
        return f"recv {step.nbytes}b from {step.peer} tag {step.tag}{cpu}{nic}"
    return f"calc {round(step.seconds * 1e9)}{cpu}"


def _note(step: Step) -> list[str]:
    """The comment with the properties of a step that GOAL cannot express."""
    ranges = {
        name: [where.buffer, where.offset, where.nbytes] for name in ("source", "target") if (where := getattr(step, name))
    }
    known = all(where[0] != UNKNOWN for where in ranges.values())
    return [NOTE + json.dumps({"kind": step.kind} | ranges)] if ranges and known else []
