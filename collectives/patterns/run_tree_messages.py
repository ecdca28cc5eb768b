"""Whole messages up and down the trees of `run_trees`: shared code of broadcasts and reductions.

For a noncommutative op, rank 0 is at position 0 of the tree, so that operands are combined in rank order. The rank at the
root of the tree then sends the result to the root of the call, if these are different ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case, Claims
from collectives.catalogue.family import chosen, member
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.patterns.reductions import combine_in_order, operand, send_to_root
from collectives.patterns.run_trees import PlacedTree, RunTree
from collectives.tools.blocks import copy_of, load, required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Op


def send_down(comm: Comm, buf: Buffer, tree: PlacedTree, tag: int) -> None:
    """Copy the root's `buf` to `buf` on every rank."""
    node = tree.node(comm.Get_rank())
    if node.parent is not None:
        receive(comm, buf, tree.rank(node.parent), tag)
    for child in node.children:
        send(comm, buf, tree.rank(child.position), tag)


def ordered_root(tree: RunTree, root: int, p: int, *, commutative: bool) -> int:
    """The rank at the root of the tree: the root of the call; for a noncommutative op, the rank `tree.root(p)`.

    With a noncommutative op, each position of the tree is the rank of the same number, so operands are in rank order.
    """
    return root if commutative else tree.root(p)


def combine_up(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, op: Op, tree: RunTree, root: int, tag: int
) -> None:
    """Leave the result in the root's `recvbuf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    held = operand(sendbuf, recvbuf, rank, root)
    top = ordered_root(tree, root, p, commutative=op.Is_commutative())
    placed = PlacedTree(tree, top, p)
    node, position = placed.node(rank), (rank - placed.start) % p
    if rank == root == top:
        held = required(recvbuf, "the root of a reduce")
        load(held, sendbuf)
    elif node.children:
        held = copy_of(held)
    if node.children:
        spare = spare_memory(held, held.size)
        for child in reversed(node.children):
            receive(comm, spare, placed.rank(child.position), tag)
            combine_in_order(op, held, spare, other_is_left=child.position < position)
    if node.parent is not None:
        send(comm, held, placed.rank(node.parent), tag)
    send_to_root(comm, held, recvbuf, top, root, tag)


def tree_bcast(module: str, tree: Callable[..., RunTree], **claims: Any) -> Algorithm:
    """Declare the bcast of a module; the keyword-only arguments of `tree` are the parameters (`catalogue.family`)."""

    @member(module, tree, **down_claims(lambda case: tree(**chosen(tree, case))), **claims)
    def run(comm: Comm, buf: Buffer, *, root: int = 0, tag: int = 0, **parameters: Any) -> None:
        """Copy the root's `buf` to `buf` on every rank."""
        send_down(comm, buf, PlacedTree(tree(**parameters), root, comm.Get_size()), tag)

    return run


def tree_reduce(module: str, tree: Callable[..., RunTree], rounds: Callable[[Case], int | None], **claims: Any) -> Algorithm:
    """Declare the reduce of a module; `rounds` is the number of rounds to the top of the tree.

    `claims` may contain a schedule in which messages between different ranks share a round.
    """

    def of(case: Case) -> RunTree:
        return tree(**chosen(tree, case))

    def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
        known = rounds(case)
        return None if known is None else (known + (top_of(of(case), case) != case.root)) * message(case.m, t_s, t_w)

    def closed_combined(case: Case) -> int | None:
        known = rounds(case)
        return None if known is None else known * case.m

    forms = Claims(closed_time=closed_time, closed_combined=closed_combined)

    @member(module, tree, in_order=True, **{**up_claims(of), **forms, **claims})
    def run(
        comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, op: Op, root: int = 0, tag: int = 0, **parameters: Any
    ) -> None:
        """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
        combine_up(comm, sendbuf, recvbuf, op, tree(**parameters), root, tag)

    return run


def down_claims(tree_of: Callable[[Case], RunTree]) -> Claims:
    """The schedule and the bytes sent of `send_down`."""

    def schedule(case: Case) -> Iterator[Round]:
        tree = PlacedTree(tree_of(case), case.root, case.p)
        for parent, child in tree.edges() if case.m else ():
            yield [Transfer(tree.rank(parent), tree.rank(child.position), case.m)]

    def sent(case: Case, rank: int) -> int:
        return len(PlacedTree(tree_of(case), case.root, case.p).node(rank).children) * case.m

    return Claims(schedule=schedule, closed_sent=sent)


def up_claims(tree_of: Callable[[Case], RunTree]) -> Claims:
    """The schedule, scratch and bytes sent of `combine_up`."""

    def schedule(case: Case) -> Iterator[Round]:
        top = top_of(tree_of(case), case)
        tree = PlacedTree(tree_of(case), top, case.p)
        for parent, child in reversed(list(tree.edges())) if case.m else ():
            yield [Transfer(tree.rank(child.position), tree.rank(parent), case.m, case.m)]
        if case.m and top != case.root:
            yield [Transfer(top, case.root, case.m)]

    def scratch_bytes(case: Case, rank: int) -> int:
        top = top_of(tree_of(case), case)
        if not PlacedTree(tree_of(case), top, case.p).node(rank).children:
            return 0
        return case.m if rank == case.root == top else 2 * case.m

    def sent(case: Case, rank: int) -> int:
        return case.m if rank != top_of(tree_of(case), case) or rank != case.root else 0

    return Claims(schedule=schedule, scratch=scratch_bytes, closed_sent=sent)


def top_of(tree: RunTree, case: Case) -> int:
    """The rank at the root of the tree in a case; see `ordered_root`."""
    return ordered_root(tree, case.root, case.p, commutative=case.commutative)
