"""Compare algorithms of one operation from a program: the public names of `fakempi.apps.compare`.

Examples
--------
>>> from fakempi.compare import rows, sweep
>>> result = sweep("allgather", [6], [1024], cost="hockney:eager_limit=0")
>>> rows(result)[0]["algorithm"]
'bine'
"""

from fakempi.apps.compare import CaseTime, Column, Contender, Sweep, contenders, rows, sweep

__all__ = ["CaseTime", "Column", "Contender", "Sweep", "contenders", "rows", "sweep"]
