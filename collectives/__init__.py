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

The map:
    algorithm, card, catalogue      a name, a function, its claims, its card; CATALOGUE, find, fitting
    schedule, closed_forms,         an algorithm on paper and the exact recurrence for its time; rounds and times
    composite                       that many share; parts in a row
    protocol, messages              what is asked of a communicator; send, receive, exchange
    blocks, numbers                 how a buffer is cut, scratch memory; logarithms and bits
    nodes, pipeline                 ranks on nodes in one ring; blocks round it, round by round
    block_sizes, distributions      how large blocks should be; how a total is spread over the ranks
    simulation                      an irregular allgatherv made from a regular allgather on a cluster
    groups                          two groups: whose part is whose, schedules side by side
    full_duplex, root_gathering,    texts that algorithms between two groups share: allgathers; roots and leaves,
    leaders, rooted, across,        blocks for everybody over there, reductions dealt out across, both groups as one;
    reduced_across, union           full_duplex_claims, root_gathering_claims, rooted_claims: these on paper
    trees, two_trees, circulant     the graphs: binomial, two binary trees at once, circulant with its schedules
    star, binomial, segmented,      texts that several algorithms share: blocks between the root and each, up and
    runs, ring, pairs               down a tree, along a chain, in growing runs, around the ring, between all pairs
    reductions, folding             operands in rank order; p ranks made a power of two
    rabenseifner, halving, prefix,  texts that several reductions share: vectors halved two ways, prefixes,
    pair_reductions, scattered      blocks reduced in pairs or by way of rank 0
    intra/<operation>/<name>.py     one algorithm each: <operation>_<name>(comm, ...)
    inter/<operation>/<name>.py     the same between two groups: <operation>_<name>(inter, local, ...)
    chain/                          groups as chains: scans, collectives, trees; chain/sort/<name>.py: sorts
    split/<name>.py                 split_<name>(comm or chain, colour, key): a chain of each group
    __main__    python -m collectives: the catalogue as a table
"""

from collectives.algorithm import Algorithm, Case, DoesNotFit
from collectives.catalogue import CATALOGUE, find, fitting

__all__ = ["CATALOGUE", "Algorithm", "Case", "DoesNotFit", "find", "fitting"]
