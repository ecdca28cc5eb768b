"""Write_all by two phases: ranks send their data to aggregators, which write them in few large pieces.

A dissemination finds the first and the last byte that any rank writes. The range between them is divided into A nearly equal
domains, one for each of A aggregators, which are distributed evenly over the ranks. Every rank sends each aggregator the
number of its runs in that domain, then the runs. Then a window of buffer_bytes moves through all domains at the same time:
every rank sends its bytes in each window to the aggregator, in step k to and from the ranks at distance k. The aggregator
joins the runs of all ranks and writes each joined run by one call. If several ranks write a byte, the highest rank's byte is
written. A final dissemination waits for all ranks and distributes errors.

    p = 4, A = 2, blocks of one byte, round robin: ranks have bytes 0 4, 1 5, 2 6, 3 7; domains 0-3 and 4-7
    step 1: 3 sends byte 3 to 0, 1 sends 5 to 2; step 2: 2 sends 2 to 0, 0 sends 4 to 2;
    step 3: 1 sends 1 to 0, 3 sends 7 to 2; then 0 and 2 write four bytes each

Rounds   2 ceil(log2 p) + (2 + R) (p-1)    Sent per rank   24 L + 8 A + 16 n + m; not counting itself
         Scratch   24; on an aggregator also 8 + 16 j for each other rank with j runs, and nearly 2 N/A
Time     2 L (t_s + 12 t_w) + r t_s + s t_w; r = (p-1) (2 + R), s = (p-1) (8 + (16 n + m)/A), L = ceil(log2 p). The
         claims are for this case: each rank writes m bytes in n = m/b blocks of b bytes, round robin, N = p m bytes in
         all, and each domain has R equal windows. A file server with P ports that takes f_s + k f_w for k bytes adds R
         ceil(A/P) (f_s + N/(A R) f_w) for the A R accesses, if P >= A or R = 1. Independent writes would be p n
         accesses of f_s + b f_w each
Fits     any p, 1 <= A <= p
Best     many small runs without holes between those of different ranks, and a file with a high cost per access
Source   del Rosario, Bordawekar, Choudhary, Improved Parallel I/O via a Two-Phase Run-time Access Strategy, 1993;
         Thakur, Gropp, Lusk, Data Sieving and Collective I/O in ROMIO, 1999. Kang et al., 2019, designed their
         algorithms for this use: there compute nodes and I/O nodes are two groups, and the domains are the blocks of
         their Algorithm 2. Here the second group is a subset of the ranks
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.files.claims import claims
from collectives.files.two_phase import AccessPlan, File, exchange_blocks
from collectives.tools.protocol import Comm


@algorithm(**claims(write=True))
def write_all_two_phase(
    comm: Comm, file: File, runs: Any, data: Any, *, aggregators: int = 1, buffer_bytes: int = 16 << 20, tag: int = 0
) -> None:
    """Write `data`, an array of bytes, to this rank's runs of the file (offset, length)."""
    plan = AccessPlan(comm, runs, aggregators, buffer_bytes, tag)
    if plan.runs.size != data.size:
        raise ValueError(f"the data have {data.size} bytes, but the runs have {plan.runs.size}; they must be equal")
    for low, mine, parts, buffers, window in plan.windows(data):
        exchange_blocks(comm, mine, buffers, tag)
        for rank, part in parts.items():
            contents = mine[rank] if rank == plan.rank else buffers[rank]
            for inside, at in part.slices_in(low):
                window[inside] = contents[at]
        plan.access(parts, window, low, file.Write_at)
    plan.finish()
