"""Measured machines: costs by level (within a cache, socket, node, and between nodes), piecewise linear in the size.

Hockney's line misses the protocols of an MPI library, which change with the size of a message. A piecewise-linear cost has a
start-up time and a time per byte for each range of sizes. A machine file (`machine_file`) describes such a model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

from fakempi.core.network.cost import Link
from fakempi.core.network.models.builtin import BuiltinModel, Count
from fakempi.core.network.parameters import Time, check
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG

LEVELS = ("cache", "socket", "node", "network")
"""The levels from the innermost one: the same last-level cache, the same socket, the same node, different nodes."""


class CostPiece(NamedTuple):
    """From `start` bytes up to the next piece, n bytes take t_s + n t_w."""

    start: int
    t_s: Time
    t_w: Time


class PiecewiseLinear:
    """Seconds by number of bytes: a start-up time and a time per byte for each range of sizes.

    Parameters
    ----------
    pieces
        (start, t_s, t_w) for each range; the first one starts at 0 bytes. Between two ranges the cost may jump, and it may
        fall where a library changes to a faster protocol.

    Examples
    --------
    >>> cost = PiecewiseLinear([(0, 1.0, 0.5), (8, 6.0, 0.25)])
    >>> cost(4), cost(7), cost(8)
    (3.0, 4.5, 8.0)
    """

    def __init__(self, pieces: Iterable[Sequence[Time]]) -> None:
        self.pieces = tuple(CostPiece(int(start), t_s, t_w) for start, t_s, t_w in pieces)
        self._starts = [piece.start for piece in self.pieces]
        for number, piece in enumerate(self.pieces):
            check(f"piece {number}", t_s=piece.t_s, t_w=piece.t_w)
        if not self.pieces or self._starts[0] != 0 or self._starts != sorted(set(self._starts)):
            raise MPIValueError(ERR_ARG, f"pieces must start at 0 bytes and ascend, but they start at {self._starts}.")

    def __call__(self, nbytes: int) -> Time:
        """Return the seconds for a number of bytes."""
        _, t_s, t_w = self.pieces[bisect_right(self._starts, nbytes) - 1]
        return t_s + nbytes * t_w

    @property
    def t_w(self) -> Time:
        """Seconds per byte of the largest messages."""
        return self.pieces[-1].t_w

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PiecewiseLinear) and self.pieces == other.pieces

    def __hash__(self) -> int:
        return hash(self.pieces)

    def __repr__(self) -> str:
        return f"PiecewiseLinear({[tuple(piece) for piece in self.pieces]})"


class ErrorRange(NamedTuple):
    """The relative error of a fit at points that were held out, for the sizes from `low` to `high` bytes."""

    low: int
    high: int
    median: float
    worst: float


class Level(NamedTuple):
    """The costs of one level.

    Attributes
    ----------
    time
        Seconds from the start of a transfer until the data arrives, by size; half of a ping-pong.
    gap
        Seconds for which a transfer holds the ports of both processes; None: `time`.
    overhead
        Seconds until the send ends; None: `gap`, or `time` without a gap.
    ports
        The number of transfers that all processes of a node can make at the same time, per direction, on the level
        network; on the other levels, the number of transfers within one node, socket or cache. None: no limit.
    port_t_w, port_gap
        Seconds per byte, and per transfer, for which a transfer holds one of these ports.
    errors
        The errors of the fit by size.
    """

    time: PiecewiseLinear
    gap: PiecewiseLinear | None = None
    overhead: PiecewiseLinear | None = None
    ports: int | None = None
    port_t_w: Time = 0
    port_gap: Time = 0
    errors: tuple[ErrorRange, ...] = ()


@dataclass(eq=False, repr=False)
class MultiLevel(BuiltinModel):
    """A measured machine: piecewise-linear costs within a cache, a socket, a node, and between nodes.

    A transfer of n bytes arrives after time(n). It holds the ports of both processes for gap(n), and the send ends after
    overhead(n). Where a level is missing, the next outer one is used; without one, the next inner one, except between nodes.

    Parameters
    ----------
    levels
        The costs by name: cache, socket, node, network.
    ranks_per_node, ranks_per_socket, ranks_per_cache
        The number of processes per node, per socket of a node, and per last-level cache of a socket; they fill all in
        order. None: one node; one socket per node; one cache per socket.
    provenance
        Where the numbers are from, as (name, text); not used in a run.
    eager_limit, duplex, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> node, network = PiecewiseLinear([(0, 1, 0)]), PiecewiseLinear([(0, 10, 0)])
    >>> cost = MultiLevel({"node": Level(node), "network": Level(network)}, ranks_per_node=2)
    >>> fakempi.run(lambda comm: comm.Barrier(), 4, cost=cost).time
    20
    """

    levels: dict[str, Level]
    ranks_per_node: Count | None = None
    ranks_per_socket: Count | None = None
    ranks_per_cache: Count | None = None
    _: KW_ONLY
    provenance: Iterable[tuple[str, str]] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        self.levels = dict(sorted(self.levels.items(), key=lambda each: (*LEVELS, each[0]).index(each[0])))
        self.provenance = tuple(self.provenance)
        super().__post_init__()
        # With a gap, a short message may overtake a long one, and with half duplex those of other levels, too.
        self.in_order = type(self) is MultiLevel and all(level.gap is None for level in self.levels.values())
        known = list(self.levels.values())
        outward = {one: [self.levels[name] for name in LEVELS[i:] if name in self.levels] for i, one in enumerate(LEVELS)}
        self._costs = {name: _costs((outer or known[-1:])[0]) for name, outer in outward.items()}
        self._shared = any(level.ports for level in known)

    @property
    def shares(self) -> bool:
        """Whether a level has ports that its processes share."""
        return self._shared

    def validate(self) -> None:
        """Raise an error if a level is unknown or missing, or a number is invalid."""
        super().validate()
        unknown = [name for name in self.levels if name not in LEVELS]
        if unknown or not self.levels:
            found = ", ".join(map(repr, unknown)) or "none"
            raise MPIValueError(ERR_ARG, f"MultiLevel: levels must be some of {', '.join(LEVELS)}, not {found}.")
        if self.ranks_per_node is not None and "network" not in self.levels:
            raise MPIValueError(
                ERR_ARG,
                f"MultiLevel: ranks_per_node={self.ranks_per_node} places ranks on several nodes, but there is no level "
                "'network': measure one, or omit ranks_per_node.",
            )
        for name, level in self.levels.items():
            check(f"MultiLevel, level {name}", port_t_w=level.port_t_w, port_gap=level.port_gap)
            if level.ports is not None:
                check(f"MultiLevel, level {name}", minimum=1, ports=level.ports)

    def node(self, process: int) -> int:
        """Return the node of a process: processes fill the nodes in order."""
        return 0 if self.ranks_per_node is None else process // self.ranks_per_node

    def place(self, process: int) -> tuple[int, int, int]:
        """Return the node of a process, its socket on that node, and its cache on that socket."""
        node, rest = (0, process) if self.ranks_per_node is None else divmod(process, self.ranks_per_node)
        socket, rest = (0, rest) if self.ranks_per_socket is None else divmod(rest, self.ranks_per_socket)
        return node, socket, 0 if self.ranks_per_cache is None else rest // self.ranks_per_cache

    def location(self, process: int) -> dict[str, Hashable]:
        """Return the node, the socket and the last-level cache of a process."""
        place = self.place(process)
        return {"node": place[:1], "socket": place[:2], "cache": place}

    def level_name(self, source: int, dest: int) -> str:
        """Return the name of the level that connects two processes, whether or not the model has costs for it."""
        one, other = self.place(source), self.place(dest)
        if one[0] != other[0]:
            return "network"
        return "node" if one[1] != other[1] else "socket" if one[2] != other[2] else "cache"

    def route(self, source: int, dest: int) -> Sequence[Hashable] | None:
        """Return the shared ports of the level, as links."""
        if not self._shared:
            return ()
        name = self.level_name(source, dest)
        if not self._costs[name].level.ports:
            return ()
        if name == "network":
            return ((name, self.node(source), "out"), (name, self.node(dest), "in"))
        return ((name, *self.place(source)[: ("node", "socket", "cache").index(name) + 1]),)

    def link(self, name: Hashable) -> Link:
        """Return the shared ports of a node, socket or cache."""
        assert isinstance(name, tuple)
        level, gap, _, time = self._costs[name[0]]
        latency = max(0, time(0) - gap(0)) if name[-1] == "out" else 0  # to the port of the other node
        return Link(level.port_t_w, level.ports or 1, level.port_gap, latency)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return the times of the ports, the sender and the receiver."""
        _, gap, overhead, time = self._costs[self.level_name(source, dest)]
        if gap is time and overhead is time:
            seconds = time(nbytes)
            return seconds, seconds, seconds
        return gap(nbytes), overhead(nbytes), time(nbytes)


class _Costs(NamedTuple):
    """A level, and its costs with the defaults filled in."""

    level: Level
    gap: PiecewiseLinear
    overhead: PiecewiseLinear
    time: PiecewiseLinear


def _costs(level: Level) -> _Costs:
    gap = level.gap or level.time
    return _Costs(level, gap, level.overhead or gap, level.time)
