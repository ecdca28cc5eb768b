"""Collective communication written with point-to-point messages alone.

The same text runs on real MPI (hand it an mpi4py communicator) and on the emulator, and comes with claims that can
be checked: rounds, bytes sent, scratch memory and modelled time are functions of a case.

The machine model of every claim. p processes, numbered 0 .. p-1, all start at time 0. A message of k bytes from x to
y takes t_s + k t_w: t_s seconds to start it, t_w seconds for each byte. Single port: a process takes part in at most
one send and one receive at a time. Full duplex: that send and that receive may overlap, also with different partners.
Synchronous: a transfer begins when the send and the matching receive are both posted and both ports are free, holds
both ports until its end, and both operations complete then; nothing is buffered. Combining k bytes of two operands in
a reduction takes k c on the process that does it, which neither sends nor receives meanwhile; c is 0 unless said
otherwise, and all other local work is free. m stands for the bytes of one rank's block, or of the whole message where
there is but one (bcast, reduce, allreduce, scan). Blocks that are empty are not sent at all. Rounds are the messages
on the longest chain of messages that wait for each other.

The map. Whoever writes an algorithm needs the first two:
    tools/          what its text calls: messages, blocks, numbers, and what may be asked of a communicator
    catalogue/      what an algorithm is: Algorithm, Case, claims, schedules
    shapes/         texts that algorithms within a group share: rings, trees, pairs, pipelines
    between/        texts that algorithms between two groups share
    intra/<operation>/<name>.py     one algorithm each: <operation>_<name>(comm, ...)
    inter/<operation>/<name>.py     the same between two groups: <operation>_<name>(inter, local, ...)
    chain/          groups as chains: scans, collectives, trees; chain/sort/<name>.py: sorts
    split/<name>.py                 split_<name>(comm or chain, colour, key): a chain of each group
    levels          units of several levels (node, switch, supply) as chains, and redundancy sets across them
    making/<operation>/<name>.py    what makers of communicators tell each other: create_group, create_intercomm, merge
    files/<operation>/<name>.py     accesses of all ranks to a file: write_all, read_all
    entries         CATALOGUE, find, fitting: `python -m collectives` lists them
    ours, loading   what is in it: the algorithms of this package, and those of installed ones; `load(path)` for a file's
    verification/   verify(ALGORITHM): does an algorithm do what it claims?
    block_sizes, distributions, simulation     blocks of a ring; totals over ranks; irregular from regular
    trials/         cases to try an algorithm on; `python -m collectives.measure` times them on a machine

PYTEST_DONT_REWRITE: pytest warns of a plugin's package that is there before it, and this one comes with such a plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectives.catalogue.algorithm import Algorithm, Case, DoesNotFit
from collectives.entries import CATALOGUE, find, fitting

if TYPE_CHECKING:
    from collectives.verification.counterexample import Counterexample
    from collectives.verification.machine import Machine

__all__ = ["CATALOGUE", "Algorithm", "Case", "DoesNotFit", "find", "fitting", "verify"]


def verify(algorithm: Algorithm, machine: Machine | None = None, **options: Any) -> list[Counterexample]:
    """Counterexamples to an algorithm's claims, smallest first; empty if all holds.

    Parameters
    ----------
    algorithm
        Ours, or one of yours.
    machine
        What to run it on; the one that an installed package offers unless given.
    **options
        `ranks` (the most, 17), `cases` (about how many, 600), `seconds` (after which no case is begun), `tell`.

    Returns
    -------
    list of Counterexample
        Each shows itself as text: what is wrong, the case, the round where paper and run part.

    Examples
    --------
    >>> from collectives import find, verify
    >>> verify(find("barrier", "dissemination"), ranks=4, cases=6)
    []
    """
    from collectives.verification import sweep  # not before it is needed

    return sweep.verify(algorithm, machine, **options)
