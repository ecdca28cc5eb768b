"""Show why blocks must be cut: without segments an inter-group allgather can be arbitrarily slow (Kang et al. 2018, 2019).

    python demos/19_why_segments.py

Group A grows; group B stays at 4 ranks with long blocks. Every rank of A must receive B's four blocks, so the lower bound M
does not change. Without segments b_j sends its whole block to each of its p/q partners in turn, so its port is busy for
p/q blocks. With segments it sends each partner a part, and the ranks of A forward the parts among themselves.
"""

from rich.padding import Padding
from rich.table import Table
from screen import arguments, console

import fakempi
from collectives import find
from fakempi import Hockney
from fakempi.view.plot import plot

Q, K_A, K_B = 4, 8, 1024  # p k_A < q k_B: M is 4,096 throughout
RATIOS = (1, 2, 4, 8, 16, 32)
NAMES = {"unsegmented": "unsegmented", "two_stage": "two stages", "full_duplex": "full duplex"}


def time(name, p):
    """The modeled time: no start-ups, one unit of time per byte, phantom buffers."""

    def main(comm):
        in_a = comm.Get_rank() < p
        local = comm.Split(0 if in_a else 1, comm.Get_rank())
        inter = local.Create_intercomm(0, comm, p if in_a else 0)
        mine, others = (K_A, Q * K_B) if in_a else (K_B, p * K_A)
        find("allgather", name, kind="inter").run(inter, local, fakempi.phantom(mine), fakempi.phantom(others))

    return fakempi.run(main, p + Q, cost=Hockney(t_s=0, t_w=1, eager_limit=0)).time


arguments(__doc__)
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
        title="Effect of segments",
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
    "Unsegmented: (p/q + q - 1) / q, which is unbounded. The others stay within one block of B, M + k_B (Theorem 1). All "
    "times are from emulated runs."
)
