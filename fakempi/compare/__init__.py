"""Algorithms of one operation against each other, over numbers of ranks or sizes. Nothing is printed here.

    >>> from fakempi.compare import rows, sweep
    >>> made = sweep("allgather", [6], [1024], cost="hockney:eager_limit=0", measure=True)
    >>> made.columns[0].best
    ['bruck', 'bruck_ring', 'circulant', 'neighbor_exchange']
    >>> rows(made)[0]["algorithm"], rows(made)[0]["how"]
    ('bruck', 'measured')

bounds    what no algorithm can beat
timing    how long one algorithm takes in one case: claimed, measured, or both
jobs      the same, handed to an executor
sweep     the cases, their times, and the best
rows      a sweep as records, CSV and JSON
machine   what was measured on a machine, to be put beside a sweep
"""

from fakempi.compare.rows import rows
from fakempi.compare.sweep import Column, Contender, Sweep, contenders, sweep
from fakempi.compare.timing import Figure

__all__ = ["Column", "Contender", "Figure", "Sweep", "contenders", "rows", "sweep"]
