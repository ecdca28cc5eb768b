"""What a cost model is: a small object that says how long a transfer takes and which ports it holds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError, MPIValueError

Time = float

MOST = 1e100
"""More seconds than anything takes, so that sums and products of what is given are finite, too."""


MOST_PROCESSES = 10_000_000
"""Each takes some kilobytes."""


def many(count: int) -> str:
    """A number that may be any."""
    return f"{count:,}" if count < 10**18 else "more than 10^18"


class Link(NamedTuple):
    """What many processes share: `width` transfers at a time, each of which has it for gap + n t_w.

    Attributes
    ----------
    t_w
        Seconds a byte.
    width
        How many transfers at a time.
    gap
        Seconds for each transfer, beside its bytes.

    Examples
    --------
    >>> Link(1e-9, width=2)
    Link(t_w=1e-09, width=2, gap=0)
    """

    t_w: Time
    width: int = 1
    gap: Time = 0


class CostModel:
    """Base of all cost models; a model of your own overrides `transfer`, and the rest where it differs.

    Attributes
    ----------
    eager_limit
        Messages of at most so many bytes travel without waiting for their receive; with 0 none does.
    duplex
        Whether a process can send and receive at the same time.
    ports
        How many transfers a process can take part in at a time, each way.
    network_ports
        How many transfers to and from other nodes a node can take part in at a time, each way.
    places
        How many processes there is room for, those that are born later included; None is any number.
    compute_per_byte
        Modelled seconds to combine one byte in a reduction.
    linear
        (t_s, t_w) if every transfer of n bytes takes t_s + n t_w at both ends: then `transfer` is not called.
    files
        What accesses to files cost (a `FileServer`); None is nothing.
    in_order
        True if transfers to one process arrive in the order in which they start, so that nothing need be booked.

    Examples
    --------
    A network that is a tree with the processes as its leaves: the further two are apart, the longer it takes.

    >>> class Tree(CostModel):
    ...     def __init__(self, arity=2, hop=1e-6, t_w=1e-9):
    ...         self.arity, self.hop, self.t_w = arity, hop, t_w
    ...
    ...     def transfer(self, source, dest, nbytes):
    ...         levels = 0
    ...         while source != dest:  # up to where the two ways meet
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
    files: Any = None
    in_order: bool = False
    linear: tuple[Time, Time] | None = None

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Seconds from the start of a transfer until its ports are free, the sender is done, and all has arrived."""
        raise NotImplementedError(f"{type(self).__name__} must say what a transfer costs: override transfer()")

    def route(self, source: int, dest: int) -> Sequence[Hashable] | None:
        """The names of the links from one process to another, in the order in which a message comes to them.

        None is no links, but the network ports of the two nodes, if these are two, held as long as the processes' ports.
        """
        return None

    def link(self, name: Any) -> Link:
        """What is behind a name that `route` gave; asked for once in a run, when the name first occurs."""
        raise NotImplementedError(f"{type(self).__name__} must say what its links are: override link()")

    def node(self, process: int) -> Any:
        """The node that a process runs on."""
        return 0

    def node_name(self, process: int) -> str:
        """What `MPI.Get_processor_name()` says there."""
        return f"node{self.node(process)}"

    @property
    def shares(self) -> bool:
        """Whether transfers may hold more than the ports of two processes."""
        return type(self).node is not CostModel.node or type(self).route is not CostModel.route

    def validate(self) -> None:
        """Refuse numbers that make no sense."""
        check(type(self).__name__, eager_limit=self.eager_limit, compute_per_byte=self.compute_per_byte)
        check(type(self).__name__, minimum=1, ports=self.ports, network_ports=self.network_ports)


def check(model: str, minimum: int = 0, **numbers: Any) -> None:
    """Complain about numbers that make no sense, by their names. Where the least is 1 they count things, and are whole."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Real):
            raise MPITypeError(ERR_ARG, f"{model}: {name}={number!r} is not a number.")
        what = _wrong(number, minimum, name == "eager_limit")
        if what:
            value = f"{name}={number!r}" if isinstance(number, float) or abs(number) < MOST else name  # type: ignore[operator]
            raise MPIValueError(ERR_ARG, f"{model}: {value} {what}.")


def _wrong(number: Any, minimum: int, limit: bool) -> str:
    """What is wrong with a number; a limit may be infinite."""
    if number != number:
        return "is not a number"
    if number < minimum:
        return "is negative" if minimum == 0 else f"is less than {minimum}"
    if minimum and not isinstance(number, Integral):
        return "is not a whole number"
    if number <= MOST or (limit and number == inf):
        return ""
    return "is not finite" if number == inf else f"is more than {MOST:g}"
