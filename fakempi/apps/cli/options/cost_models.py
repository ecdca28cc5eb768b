"""The section on `--cost` of a command's help."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from fakempi.core.options import MODELS

WIDTH = 79
COMMON = ("eager_limit", "duplex", "ports", "compute_per_byte", "files")
"""Parameters of nearly every cost model, explained once."""

COST_EXAMPLES = """\
examples of --cost:
  hockney:t_s=1e-6,t_w=1e-9,eager_limit=64k
  hockney:eager_limit=0                       every send waits for its receive
  two_level:ranks_per_node=32,inter.t_s=2e-6
  torus:shape=8x8x8,ranks_per_node=4
  cori:ranks_per_node=32
  cluster.toml                                written by fakempi calibrate
  cluster.toml:ranks_per_node=32              with another placement
  './tree.py:Tree(arity=4)'                   a CostModel that a file defines
  'package.module:Tree(arity=4)'              a CostModel in an installed module
"""


def cost_models() -> str:
    """Return the section on `--cost`: every name in the table of models, with its parameters and their defaults."""
    lines = ["cost models (--cost NAME:PARAMETER=VALUE,...); times in seconds, t_w in seconds", "per byte:"]
    machines = {name: model for name, model in MODELS.items() if inspect.isfunction(model)}  # the others are classes
    for name, model in MODELS.items():
        if name not in machines:
            lines += _entry(name, model)
    lines += ["  most models also take:"]
    common = {
        "eager_limit": "messages of at most this many bytes do not wait for their receive (default 64k)",
        "duplex": "false: a process cannot send and receive at the same time",
        "ports": "messages that a process can send, or receive, at the same time (default 1)",
        "compute_per_byte": "cost of a reduction, per byte (default 0)",
        "files": "a file server: files.t_s, files.t_w, files.ports (default: file access takes no time)",
    }
    for name in COMMON:
        lines += _paragraph(f"{name}: {common[name]}", indent=4)
    lines += _paragraph(
        "machines: two_level with the values of a machine (mostly estimates); they also take two_level's parameters:",
        indent=2,
    )
    for name, model in machines.items():
        lines += _entry(name, model)
    return "\n".join(lines) + "\n\n" + COST_EXAMPLES


def _entry(name: str, model: Callable[..., Any]) -> Iterator[str]:
    """Yield the lines on a model: the first sentence of its docstring, then its parameters."""
    sentence = re.split(r"\.(?:\s|$)", inspect.getdoc(model) or "")[0].replace("`", "")
    sentence = " ".join(re.sub(r" \([A-Z][^)]*\d{4}[^)]*\)", "", sentence).split())
    yield from _paragraph(f"{name}: {sentence}", indent=2)
    values = [
        _parameter(parameter) for parameter in inspect.signature(model).parameters.values() if parameter.name not in COMMON
    ]
    if values := [value for value in values if value]:
        yield from _paragraph(", ".join(values), indent=6, hang=0)


def _parameter(parameter: inspect.Parameter) -> str:
    """Return `name=default` as it can be typed, or an empty text for `**options`."""
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return ""
    if parameter.name in ("intra", "inter"):
        return f"{parameter.name}.t_s, {parameter.name}.t_w"
    default = parameter.default
    if default is inspect.Parameter.empty:
        return f"{parameter.name} (required)"
    values = default if isinstance(default, tuple) else (default,)
    return (
        f"{parameter.name}={'x'.join(f'{value:g}' if isinstance(value, float) else str(value).lower() for value in values)}"
    )


def _paragraph(text: str, indent: int, hang: int = 4) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + hang), break_on_hyphens=False
    )
