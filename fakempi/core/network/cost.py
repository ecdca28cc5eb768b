"""The interface of cost models: objects that determine how long a transfer takes and which links it uses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from fakempi.core.network.files import FileServer
from fakempi.core.network.parameters import Parametrized, Time, check
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG

MAX_PROCESSES = 10_000_000
"""The largest number of ranks; each needs some kilobytes."""


def format_count(count: int) -> str:
    """Return a number as text, also if it is very large."""
    return f"{count:,}" if count < 10**18 else "more than 10^18"


class Link(NamedTuple):
    """A link that processes share: it serves `width` transfers at a time, each for gap + n t_w.

    A message reaches the next link of its route `latency` seconds after it gets the link.

    Attributes
    ----------
    t_w
        Seconds per byte.
    width
        The number of transfers at a time.
    gap
        Additional seconds per transfer.
    latency
        Seconds until the first byte is at the other end.

    Examples
    --------
    >>> Link(1e-9, width=2)
    Link(t_w=1e-09, width=2, gap=0, latency=0)
    """

    t_w: Time
    width: int = 1
    gap: Time = 0
    latency: Time = 0


class CostModel(Parametrized):
    """Base class of all cost models. A user-defined model overrides `transfer`, and other members if they differ.

    Attributes
    ----------
    eager_limit
        A message of at most this number of bytes does not wait for its receive. With 0, every message waits.
    duplex
        Whether a process can send and receive at the same time.
    ports
        The number of messages that a process can send at a time, and the number that it can receive at a time.
    network_ports
        The number of messages that a node can send to other nodes at a time, and the number that it can receive.
    places
        The maximum number of processes, including spawned ones; None: no limit.
    compute_per_byte
        Modeled seconds to combine one byte in a reduction.
    linear
        (t_s, t_w) if every transfer of n bytes takes t_s + n t_w at both ends: then `transfer` is not called.
    uniform_latency
        True if `latency` is the same for all messages, so that they reach a port in the order in which they start.
    files
        The cost of accesses to files (a `FileServer`); None: they take no time.
    in_order
        True if transfers between two processes arrive in the order in which they start, with half duplex also those from
        different processes, so that arrivals need not be booked.

    Examples
    --------
    A network that is a tree with the processes as its leaves. A transfer takes longer the more levels it crosses.

    >>> class Tree(CostModel):
    ...     def __init__(self, arity=2, hop=1e-6, t_w=1e-9):
    ...         self.arity, self.hop, self.t_w = arity, hop, t_w
    ...
    ...     def transfer(self, source, dest, nbytes):
    ...         levels = 0
    ...         while source != dest:  # up to the common ancestor
    ...             source, dest, levels = source // self.arity, dest // self.arity, levels + 1
    ...         seconds = 2 * levels * self.hop + nbytes * self.t_w
    ...         return seconds, seconds, seconds  # ports, sender, receiver

    >>> [Tree(arity=4, hop=1, t_w=0).transfer(0, dest, 8)[0] for dest in (1, 3, 4, 15, 16)]
    [2, 2, 4, 4, 6]

    `run(main, 64, cost=Tree(arity=4))` uses it, and from a file `fakempi run --cost './tree.py:Tree(arity=4)'`.
    """

    eager_limit: int = 65536
    duplex: bool = True
    ports: int = 1
    network_ports: int = 1
    places: int | None = None
    compute_per_byte: Time = 0
    files: FileServer | None = None
    in_order: bool = False
    linear: tuple[Time, Time] | None = None
    uniform_latency: bool = False

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return the seconds from the start of a transfer until its ports are free, the send ends, and the data arrives."""
        raise NotImplementedError(f"{type(self).__name__} does not define the cost of a transfer: override transfer()")

    def latency(self, source: int, dest: int, nbytes: int) -> Time:
        """Return the seconds from the start of a transfer until its first byte reaches the receiver's port.

        The transfer takes that port at this time. By default, it is the part of the time of arrival in which ports are free.
        """
        hold, _, arrived = self.transfer(source, dest, nbytes)
        return max(0, arrived - hold)

    def route(self, source: int, dest: int) -> Sequence[Hashable] | None:
        """Return the names of the links from one process to another, in the order of the path.

        None: no links. Between two nodes, their network ports are used instead, for as long as the processes' ports.
        """
        return None

    def link(self, name: Hashable) -> Link:
        """Return the properties of the link with a name that `route` returned. Called once per name and run."""
        raise NotImplementedError(f"{type(self).__name__} does not define its links: override link()")

    def node(self, process: int) -> Hashable:
        """Return the node on which a process runs."""
        return 0

    def node_name(self, process: int) -> str:
        """Return the result of `MPI.Get_processor_name()` for a process."""
        return f"node{self.node(process)}"

    def location(self, process: int) -> dict[str, Hashable]:
        """Return the parts of the machine that contain a process, from the outermost level; used by views of a trace.

        Names are those of the levels, such as group, node, socket; values identify a part in the whole machine.
        """
        return {"node": self.node(process)}

    @property
    def shares(self) -> bool:
        """Whether transfers may use more than the ports of two processes."""
        return type(self).node is not CostModel.node or type(self).route is not CostModel.route

    def validate(self) -> None:
        """Raise an error if a parameter is invalid."""
        if not isinstance(self.duplex, bool):
            raise MPITypeError(ERR_ARG, f"{type(self).__name__}: duplex={self.duplex!r} is not True or False.")
        check(type(self).__name__, eager_limit=self.eager_limit, compute_per_byte=self.compute_per_byte)
        check(type(self).__name__, minimum=1, ports=self.ports, network_ports=self.network_ports)
