"""TreeCorr distributes the patches of a catalog over ranks and counts pairs of objects."""

import numpy as np
import treecorr
from mpi4py import MPI

comm = MPI.COMM_WORLD
rng = np.random.RandomState(5)
x, y, values = rng.rand(200), rng.rand(200), rng.rand(200)
catalog = treecorr.Catalog(x=x, y=y, k=values, patch=(4 * x).astype(int))
found = treecorr.KKCorrelation(min_sep=0.05, max_sep=0.5, nbins=4, bin_slop=0, verbose=0)
found.process(catalog, comm=comm, low_mem=True)
if comm.rank == 0:
    print(np.round(found.npairs).tolist(), np.round(found.xi, 8).tolist())
