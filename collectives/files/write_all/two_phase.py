"""Write_all by two phases: ranks send what they have to aggregators, which write it in few large pieces.

All find the first and the last byte that anybody writes; in each round a rank hears of twice as many. What lies between
is cut into A nearly equal domains, one for each of A aggregators, which are spread over the ranks. Every rank tells each
aggregator how many runs it has in that domain, and then where they are. Then a window of buffer_bytes moves through all
domains at once: every rank sends its bytes in each window to the aggregator there, k ranks on in step k. The aggregator
joins the runs of all ranks, and writes each that is left by one call. Of bytes that several ranks write, those of the last
one stay. At the end all wait for all, and hear of errors.

    p = 4, A = 2, blocks of one byte dealt out in turn: ranks have bytes 0 4, 1 5, 2 6, 3 7; domains 0-3 and 4-7
    step 1: 3 sends byte 3 to 0, 1 sends 5 to 2; step 2: 2 sends 2 to 0, 0 sends 4 to 2;
    step 3: 1 sends 1 to 0, 3 sends 7 to 2; then 0 and 2 write four bytes each

Rounds   2 ceil(log2 p) + (2 + R) (p-1)    Sent per rank   24 L + 8 A + 16 n + m; less what it has for itself
         Scratch   24; on an aggregator also 8 + 16 runs for each other rank, and nearly twice N/A
Time     2 L (t_s + 12 t_w) + r t_s + s t_w; r = (p-1) (2 + R), s = (p-1) (8 + (16 n + m)/A), L = ceil(log2 p), N = p m in
         all, n = m/b blocks of b bytes a rank, dealt out in turn, R windows a domain, each of whole turns. On a file server
         with P >= A ports, or with R = 1, accesses take R ceil(A/P) (f_s + N/(A R) f_w) more, and A R of them are made.
         If each rank wrote for itself, that would be p n accesses, of f_s + b f_w each
Fits     any p, 1 <= A <= p
Best     many small runs with no holes between those of different ranks, and a file that takes long to begin
Source   del Rosario, Bordawekar, Choudhary, Improved Parallel I/O via a Two-Phase Run-time Access Strategy, 1993; Thakur,
         Gropp, Lusk, Data Sieving and Collective I/O in ROMIO, 1999. It is what Kang et al., 2019, want their algorithms
         for: there compute nodes and I/O nodes are two groups, and the domains are the even cut of their Algorithm 2.
         Here the second group is some of the ranks
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.files.paper import claims
from collectives.files.two_phase import File, Plan, deal
from collectives.tools.protocol import Comm


def write_all_two_phase(
    comm: Comm, file: File, runs: Any, data: Any, *, aggregators: int = 1, buffer_bytes: int = 16 << 20, tag: int = 0
) -> None:
    """Write `data`, bytes, to this rank's runs of the file, each a place and a length."""
    ALGORITHM.check(Case(p=comm.Get_size(), parameters={"aggregators": aggregators, "buffer_bytes": buffer_bytes}))
    plan = Plan(comm, runs, aggregators, buffer_bytes, tag)
    if plan.runs.size != data.size:
        raise ValueError(f"the data have {data.size} bytes, but the runs {plan.runs.size}")
    for low, mine, parts, room, window in plan.turns(data):
        deal(comm, mine, room, tag)
        for rank, part in parts.items():
            contents = mine[rank] if rank == plan.rank else room[rank]
            for inside, at in part.places(low):
                window[inside] = contents[at]
        plan.access(parts, window, low, file.Write_at)
    plan.conclude()


ALGORITHM = Algorithm(
    operation="write_all",
    name="two_phase",
    run=write_all_two_phase,
    parameters={"aggregators": 1, "buffer_bytes": 16 << 20},
    kind="files",
    **claims(write=True),
)
