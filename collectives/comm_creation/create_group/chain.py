"""Create_group along a chain: a double scan of the members finds the largest of the numbers that they propose.

Every member knows the group, and therefore its two neighbors in it. Other processes do not participate. No communicator of
the group is needed: the messages contain addresses.

    p = 4, free numbers 5 3 3 7     after round 0: 5 5 7 7; after round 1: 7 7 7 7

Rounds   2 ceil(log2 p)    Sent per rank   at most 32 ceil(log2 p)    Scratch   none
Time     2 ceil(log2 p) (t_s + 16 t_w)
Fits     any p
Best     groups of which other processes have no information
Source   the call: Dinan, Krishnamoorthy, Balaji, Hammond, Krishnan, Tipparaju, Vishnu, Noncollective Communicator
         Creation in MPI, EuroMPI 2011; the double scan: Moody, Ahn, de Supinski, Exascale Algorithms for Generalized
         MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Rounds, Seconds
from collectives.chain.agreement import NUMBER, agree
from collectives.chain.chain import Chain, chain_of
from collectives.chain.scan import HEADER
from collectives.chain.schedules import scan_rounds
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Comm


def schedule(case: Case) -> Rounds:
    return scan_rounds(case.p, NUMBER)


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return 2 * ceil_log2(case.p) * (t_s + (HEADER + NUMBER) * t_w)


@algorithm(schedule=schedule, closed_time=closed_time)
def create_group_chain(group: Comm | Chain, number: int, *, tag: int = 0) -> int:
    """Return the number of the new communicator: the largest that any member proposes."""
    return agree(chain_of(group, tag), number)
