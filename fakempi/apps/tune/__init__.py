"""Choose collective algorithms for a real MPI library by a cost model, and write the file that the library reads.

    >>> from fakempi.apps.tune import tune
    >>> rules = tune("openmpi", "hockney:eager_limit=0", [8, 16], [8, 65536], ["bcast"])
    >>> [str(cell.pick) for cell in rules.rows["bcast"][1].cells]
    ['binomial', 'scatter_allgather']

targets         the algorithms of Open MPI and MPICH, and their counterparts in the catalogue
estimates       the time of an algorithm on any cost model
choosing        the best algorithm for each operation, number of ranks and size; merged rules
openmpi_files   Open MPI's rule files: classic text and JSON
mpich_files     MPICH's selection file
mpich_defaults  MPICH's decisions for the collectives that are not tuned
"""

from fakempi.apps.tune.choosing import Rules, TunedCase, tune
from fakempi.apps.tune.targets import TARGETS

__all__ = ["TARGETS", "Rules", "TunedCase", "tune"]
