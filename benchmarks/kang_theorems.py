"""The bounds of Kang et al. (2019) next to the modeled transfer times: t_s = 0, t_w = 1, so times are numbers of bytes.

    python benchmarks/kang_theorems.py          (seconds)

Times are the algorithms' claims, which the tests compare with the emulator. docs/papers/kang.md has the proof of the bound
in the column "proved".
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import log2
from random import Random

from rich.console import Console
from rich.table import Table

from collectives import Case, find

ALLGATHERV = find("allgatherv", "full_duplex", kind="inter")
RUNS, EVEN_CUT = find("allgather", "full_duplex", kind="inter"), find("allgather", "even_cut", kind="inter")
MPICH = find("allgather", "root_gathering_mpich", kind="inter")
EXAMPLES = {
    "8 + 1 random blocks": ((45, 59, 175, 73, 191, 174, 134, 141), (247,)),
    "100 + 28 blocks of one byte": ((1,) * 100, (1,) * 28),
}
RANDOM_CASES, SEED = 2000, 55


def case_of(a, b):
    """An allgatherv between groups with blocks of these sizes in bytes."""
    return Case(len(a), counts=tuple(a), q=len(b), counts_b=tuple(b))


def counting(case):
    """Time of the allreduce and the exscan of one count of 8 bytes in the larger group."""
    parts = find("allreduce", "recursive_doubling"), find("exscan", "recursive_doubling")
    return max(sum(part.time(Case(n, 8), 0, 1) for part in parts) for n in (case.p, case.q))


def lower_bound(case):
    """M: the bytes that a rank of one of the groups receives."""
    return max(sum(case.counts), sum(case.counts_b))


def printed(case):
    """Theorem 3 as the paper prints it: M + the longest block + log2(pq)."""
    return lower_bound(case) + max(case.counts + case.counts_b) + log2(case.p * case.q)


def proved(case):
    """M + the longest block + the exchange of counts + max(p, q) - 1 for rounding."""
    return lower_bound(case) + max(case.counts + case.counts_b) + counting(case) + max(case.p, case.q) - 1


def random_case(random):
    """Groups of 1 to 12 ranks: random sizes, mostly empty blocks, short and long blocks, or few bytes."""
    sizes = random.choice((range(301), (0, 0, 0, 100), (1, 90), range(4)))
    a, b = ([random.choice(sizes) for _ in range(random.randint(1, 12))] for _ in range(2))
    return case_of(a, b)


def theorem_3():
    """Two examples above the printed bound, and random cases."""
    table = Table(title="Theorem 3: bytes", title_justify="left", box=None, pad_edge=False)
    for name in ("blocks", "modeled", "of these counts", "printed bound", "proved bound"):
        table.add_column(name, justify="left" if name == "blocks" else "right")
    for name, blocks in EXAMPLES.items():
        case = case_of(*blocks)
        bounds = f"{printed(case):,.0f}", f"{proved(case):,.0f}"
        table.add_row(name, f"{ALLGATHERV.time(case, 0, 1):,}", str(counting(case)), *bounds)
    return table


def above(cases):
    """Number of cases above the printed bound, above it without the exchange of counts, and above the proved bound."""
    times = [ALLGATHERV.time(case, 0, 1) for case in cases]
    free = [lower_bound(case) + max(case.counts + case.counts_b) for case in cases]
    return (
        sum(time > printed(case) for time, case in zip(times, cases, strict=True)),
        sum(time - counting(case) > bound for time, case, bound in zip(times, cases, free, strict=True)),
        sum(time > proved(case) for time, case in zip(times, cases, strict=True)),
    )


def random_cases():
    """The sentence about random cases."""
    random = Random(SEED)
    cases = [random_case(random) for _ in range(RANDOM_CASES)]
    as_printed, without_counts, as_proved = above(cases)
    return (
        f"Of {RANDOM_CASES:,} random cases (1 to 12 ranks in each group, seed {SEED}), {as_printed:,} are above the printed "
        f"bound, {without_counts} of them also without the exchange of counts, and {as_proved} are above the proved bound."
    )


def root_gathering_start_ups(p, q):
    """Start-ups of root gathering with blocks that divide: Eq. 2, the model, and the two rings."""
    paper = 2 + 2 * log2(p) + log2(q)
    case = Case(p, q, q=q, m_b=p, parameters={"first": True})
    modeled = MPICH.time(case, 1, 0)
    return (
        f"Start-ups of Eq. 2 for p = q = {p}: {paper:.0f} in the paper, {modeled} in the model. The rings in the two "
        f"broadcasts have p - 1 + q - 1 = {p + q - 2} more."
    )


def indivisible(p, q, k):
    """Algorithm 1 and the even cut for p just above q."""
    case = Case(p, k, q=q, m_b=k)
    bound = p * k
    return (
        f"{p} + {q} ranks, 1 MiB each, no start-ups: Algorithm 1 takes {RUNS.time(case, 0, 1) / bound:.2f} M, the even cut "
        f"{EVEN_CUT.time(case, 0, 1) / bound:.2f} M."
    )


def algorithm_1_start_ups(p, q):
    """p/q + log p with Bruck's algorithm, p/q + p - 1 with a ring."""
    inside = {"allgather": find("allgather", "bruck"), "allgatherv": find("allgatherv", "bruck")}
    case = Case(p, p, q=q, m_b=p)
    bruck, ring = RUNS.time(replace(case, parameters=inside), 1, 0), RUNS.time(case, 1, 0)
    return f"Start-ups of Algorithm 1 for {p} + {q} ranks: {bruck} with Bruck's algorithm inside, {ring} with a ring."


PARTS = (
    theorem_3,
    random_cases,
    partial(root_gathering_start_ups, 16, 16),
    partial(algorithm_1_start_ups, 64, 16),
    partial(indivisible, 129, 128, 2**20),
)

if __name__ == "__main__":
    console = Console(width=125, highlight=False)
    for part in PARTS:
        console.print(part())
        console.print()
