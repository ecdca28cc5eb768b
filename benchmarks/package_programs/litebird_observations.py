"""litebird_sim distributes the samples of an observation over ranks and sums a map of hits."""

import litebird_sim as lbs
import numpy as np

comm = lbs.MPI_COMM_WORLD
detectors = [{"name": name, "sampling_rate_hz": 1} for name in ("left", "right")]
found = lbs.Observation(detectors=detectors, n_samples_global=20, start_time_global=0.0, sampling_rate_hz=1.0,
                        n_blocks_time=comm.size, comm=comm)  # fmt: skip
found.tod[:] = found.get_times()
total = comm.allreduce(float(np.sum(found.tod)))
print(f"{comm.rank}: {found.tod.shape} {found.start_time:.1f} {total:.1f}\n", end="", flush=True)
