"""Selection of the algorithm for a collective call: from the options of the run and the table of `fakempi.tuning`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fakempi.mpi.base.context import Side
from fakempi.mpi.base.process import RunState, Universe

if TYPE_CHECKING:
    from fakempi.tuning.rule import Facts, NodesOfRanks, SendCosts, Sizes
    from fakempi.tuning.table import Choice, Table


class Selection(RunState):
    """The table of algorithms of a run, and the facts that its choices depend on."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self._table: Table | None = None
        self._placements: WeakKeyDictionary[Side, NodesOfRanks | None] = WeakKeyDictionary()
        self._by_nodes: dict[tuple[Hashable, ...], NodesOfRanks | None] = {}
        self._weights: WeakKeyDictionary[Side, dict[int, SendCosts]] = WeakKeyDictionary()  # by bytes

    def choose(self, **facts: Any) -> Choice:
        """Return the algorithm, and its parameters, for a collective call that all ranks describe in the same way."""
        table = self._table or self.load_table()
        return table.choose(self._facts(startup_bytes=self._startup_bytes, **facts))

    def load_algorithms(self) -> None:
        """Load the algorithms of all operations before a call needs them: 0.05 s, once for each table of a process."""
        (self._table or self.load_table()).load()

    def sizes(self, sizes: Sequence[int]) -> Sizes | Sequence[int]:
        """Return the sizes of blocks as a fact."""
        if self._table is None:
            self.load_table()
        return self._sizes.of(sizes)

    def placement(self, side: Side) -> NodesOfRanks | None:
        """Return the placement of a communicator's ranks on nodes, if it matters; equal placements share one object."""
        if side not in self._placements:
            if self._table is None:
                self.load_table()
            names = tuple(self.universe.cost.node(process) for process in side.members)
            if names not in self._by_nodes:
                self._by_nodes[names] = self._placement.of(names)
            self._placements[side] = self._by_nodes[names]
        return self._placements[side]

    def needs_send_costs(self, operation: str) -> bool:
        """Return whether the choice depends on the cost of each rank's sends: an algorithm uses it, and it differs."""
        if self.universe.cost.linear is not None:
            return False
        return (self._table or self.load_table()).needs_send_costs(operation)

    def send_costs(self, side: Side, nbytes: int) -> SendCosts:
        """Return the time that each rank of a communicator takes to send a number of bytes."""
        known = self._weights.setdefault(side, {})
        if nbytes not in known:
            known[nbytes] = self._costs.of(self.universe.network.price, list(side.members), nbytes)
        return known[nbytes]

    def choose_split(self, p: int) -> Choice | None:
        """Return the algorithm that splits `p` ranks, if the run specifies one; otherwise a split takes no modeled time."""
        if self._table is None or not self._table.splits:
            return None
        return self.choose(kind="split", operation="split", p=p)

    def choose_comm_creation(self, operation: str, p: int) -> Choice | None:
        """Return the algorithm by which `p` ranks (of two groups, those of one) agree on a communicator, if there is one."""
        if self._table is None or ("comm_creation", operation) not in self._table.rules:
            return None
        return self.choose(kind="comm_creation", operation=operation, p=p)

    def choose_files(self, operation: str, p: int, *, hinted: bool) -> Choice | None:
        """Return the algorithm by which `p` ranks access a file together, if the run or an info hint specifies one."""
        if self._table is not None and ("files", operation) in self._table.rules:
            return self.choose(kind="files", operation=operation, p=p)
        if not hinted:
            return None
        from fakempi.tuning.table import two_phase  # imported here, because few runs need it

        return two_phase(operation)

    def load_table(self) -> Table:
        """Make the table; raise an error if the run specifies an algorithm that does not exist."""
        # Imported here, because it imports all algorithms.
        from fakempi.tuning import Facts, NodesOfRanks, SendCosts, Sizes, resolve, startup_bytes

        universe, linear = self.universe, self.universe.cost.linear
        table = self._table = resolve(universe.algorithms, linear)
        if universe.choices is not None:
            universe.choices.keep_table(table)
        self._facts: type[Facts] = Facts
        self._startup_bytes = startup_bytes(linear)
        self._placement: type[NodesOfRanks] = NodesOfRanks
        self._sizes: type[Sizes] = Sizes
        self._costs: type[SendCosts] = SendCosts
        return table
