"""Compare the algorithms of an operation over numbers of ranks or sizes. Nothing is printed here.

    >>> from fakempi.apps.compare import rows, sweep
    >>> result = sweep("allgather", [6], [1024], cost="hockney:eager_limit=0", measure=True)
    >>> result.columns[0].best[:4]
    ['bine', 'bruck', 'bruck_ring', 'circulant']
    >>> rows(result)[0]["algorithm"], rows(result)[0]["how"]
    ('bine', 'emulated')

bits             sources of differences in the bits of reductions
bounds           lower bounds on the time of an operation
node_bounds      tighter ones for machines of two levels
budget           a limit on the messages that one time may take to compute
elements         the element type of a comparison
timing           the time of one algorithm in one case: claimed, emulated, or both
search           the best segment sizes of pipelined algorithms
simulation       the time of an algorithm from its schedule, without running its code
instants         the same for rounds on two levels, all messages of an instant in arrays
link_simulation  the same for rounds on links, one message after the other
link_routes      messages between nodes, and the links that they take
jobs             runs timings in this process or on an executor
sweep            all cases of a comparison, their times, and the fastest algorithms
rows             a sweep as records, CSV and JSON
measurements     reads times measured on a real machine
benchmark_loop   emulates one call, or the loop of a benchmark program
flat             node-aware algorithms on a machine without nodes
gap_inference    the gap of a machine from measured linear broadcasts
"""

from fakempi.apps.compare.rows import rows
from fakempi.apps.compare.sweep import Column, Contender, Sweep, contenders, sweep
from fakempi.apps.compare.timing import CaseTime

__all__ = ["CaseTime", "Column", "Contender", "Sweep", "contenders", "rows", "sweep"]
