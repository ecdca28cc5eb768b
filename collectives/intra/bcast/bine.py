"""Broadcast by a Bine tree: a binomial tree with partners at negabinary distances, which are closer.

The ranks are a run of positions with the root inside it. The root sends to the root of the other half of the run, and
both continue in their halves; the distances are |J_s| = 1, 1, 3, 5, 11, ..., about 2^s / 3, instead of 2^(s-1)
(`plans.negabinary`). Fewer messages therefore leave a group of neighboring ranks.

    p = 4     start   1st     2nd         root 0: positions are the ranks 2, 3, 0, 1
    rank 0    x       x       x           1st: 0 -> 3
    rank 1    .       .       x           2nd: 0 -> 1, 3 -> 2
    rank 2    .       .       x
    rank 3    .       x       x

Rounds   ceil(log2 p)    Sent per rank   m bytes to each child    Scratch   none
Time     ceil(log2 p) (t_s + m t_w)
Fits     any p
Best     short messages where neighboring ranks are close: up to a third fewer bytes between groups than binomial
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; the rule for p that are not a power of two is fakempi's)
"""

from collectives.catalogue.closed_forms import one_message_per_round
from collectives.patterns.plans.negabinary import BINE
from collectives.patterns.run_tree_messages import tree_bcast
from collectives.tools.numbers import ceil_log2

bcast_bine = tree_bcast(__name__, lambda: BINE, closed_time=one_message_per_round(ceil_log2))
