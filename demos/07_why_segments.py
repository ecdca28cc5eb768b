"""Why blocks are cut: without segments, an allgather between groups can be as slow as you like (Kang et al. 2018, 2019).

    python demos/07_why_segments.py

Group A grows, group B stays at 4 ranks with long blocks. Everybody in A must receive B's four blocks: the lower bound M
does not change. Without segments b_j gives its whole block to each of its p/q partners in turn, so its port is busy for
p/q blocks. With segments it gives each partner a part, and A passes the parts on by itself.
"""

from rich.padding import Padding
from rich.table import Table
from screen import asked, console

import fakempi
from collectives import find
from fakempi import Hockney
from fakempi.view.plot import plot

Q, K_A, K_B = 4, 8, 1024  # p k_A < q k_B: M is 4,096 throughout
RATIOS = (1, 2, 4, 8, 16, 32)
NAMES = {"unsegmented": "unsegmented", "two_stage": "two stages", "full_duplex": "full duplex"}


def time(name, p):
    """The modelled time in bytes: no start-ups, one byte a unit of time, payloads without contents."""

    def main(comm):
        in_a = comm.Get_rank() < p
        local = comm.Split(0 if in_a else 1, comm.Get_rank())
        inter = local.Create_intercomm(0, comm, p if in_a else 0)
        mine, others = (K_A, Q * K_B) if in_a else (K_B, p * K_A)
        find("allgather", name, kind="inter").run(inter, local, fakempi.phantom(mine), fakempi.phantom(others))

    return fakempi.run(main, p + Q, cost=Hockney(t_s=0, t_w=1, eager_limit=0)).time


asked(__doc__)
screen = console()
bound = Q * K_B
curves = {label: [(c, time(name, c * Q) / bound) for c in RATIOS] for name, label in NAMES.items()}
screen.print(
    plot(
        curves,
        width=min(screen.width, 100) - 2,
        height=16,
        x_log=True,
        y_log=True,
        x_label="p/q, with q = 4, blocks of 8 bytes in A and 1,024 in B",
        y_label="time / M",
        title="What segments are for",
    )
)
table = Table(box=None, header_style="bold", padding=(0, 3, 0, 0))
table.add_column("p/q")
for c in RATIOS:
    table.add_column(str(c), justify="right")
for label, points in curves.items():
    table.add_row(label, *(f"{ratio:.2f}" for _, ratio in points), style="green" if label == "full duplex" else "")
screen.print(Padding(table, (1, 0)))
screen.print(
    "Unsegmented: (p/q + q - 1) / q, without bound. The others stay within one block of B, M + k_B (Theorem 1). Times are "
    "the emulator's, every message of them."
)
