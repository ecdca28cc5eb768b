"""Write a machine file: TOML with comments, which `fakempi.core.network.models.machine_file` reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from fakempi.core.network.models.machine_file import VERSION
from fakempi.core.network.models.multi_level import Level, MultiLevel, PiecewiseLinear

_COMMENTS = {
    "time": "half of a ping-pong. Rows: from this number of bytes, start-up seconds, seconds per byte",
    "gap": "how long a message holds the ports of both processes; without it: time",
    "overhead": "when the send ends; without it: gap",
}
_TITLES = {
    "cache": "two processes whose cores share a last-level cache",
    "socket": "two processes on one socket, without a common last-level cache if there is a level cache",
    "node": "two processes on one node, on different sockets if there is a level socket",
    "network": "two processes on different nodes",
}


def machine_text(model: MultiLevel) -> str:
    """Return the text of the machine file of a model."""
    return "\n".join(_lines(model)) + "\n"


def _lines(model: MultiLevel) -> Iterator[str]:
    yield '# Machine file of fakempi: use it as --cost FILE.toml, or as cost="FILE.toml". Times are in seconds.'
    yield f"version = {VERSION}"
    yield f"eager_limit = {model.eager_limit}  # messages of at most this number of bytes do not wait for their receive"
    yield f"duplex = {str(model.duplex).lower()}  # whether a process can send and receive at the same time"
    yield f"ports = {model.ports}  # messages that a process can send, or receive, at a time"
    yield f"compute_per_byte = {float(model.compute_per_byte)!r}  # seconds to combine one byte in a reduction"
    for name in ("ranks_per_node", "ranks_per_socket", "ranks_per_cache"):
        number = getattr(model, name)
        yield f"{name} = {number}" if number is not None else f"# {name} = 1  # without it: no limit"
    if model.provenance:
        yield "\n[provenance]"
        for key, text in model.provenance:
            yield f"{key if re.fullmatch(r'[A-Za-z0-9_-]+', key) else _string(key)} = {_string(text)}"
    for name, level in model.levels.items():
        yield f"\n[level.{name}]  # {_TITLES[name]}"
        yield from _level(level)


def _level(level: Level) -> Iterator[str]:
    for name in ("time", "gap", "overhead"):
        cost: PiecewiseLinear | None = getattr(level, name)
        if cost is not None:
            yield f"{name} = [  # {_COMMENTS[name]}"
            yield from (f"  [{piece.start}, {float(piece.t_s)!r}, {float(piece.t_w)!r}]," for piece in cost.pieces)
            yield "]"
    if level.ports is not None:
        yield f"ports = {level.ports}  # messages at a time, shared by the processes of the node, socket or cache"
        yield f"port_t_w = {float(level.port_t_w)!r}  # seconds per byte for which a message holds such a port"
        yield f"port_gap = {float(level.port_gap)!r}  # additional seconds per message"
    if level.errors:
        yield "errors = [  # of times at held-out sizes. Rows: from bytes, to bytes, median and largest relative error"
        yield from (f"  [{error.low}, {error.high}, {error.median!r}, {error.worst!r}]," for error in level.errors)
        yield "]"


def _string(text: str) -> str:
    """Return a TOML string. TOML has the escapes of JSON, but no surrogate pairs; DEL must be escaped in TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
