"""pyGSTi distributes the circuits of a layout over ranks and computes the probabilities of their outcomes."""

from mpi4py import MPI
from pygsti.baseobjs import ResourceAllocation
from pygsti.circuits import to_circuits
from pygsti.modelpacks import smq1Q_XYI

comm = MPI.COMM_WORLD
names = ["{}", "Gxpi2:0", "Gypi2:0", "Gxpi2:0Gypi2:0", "Gxpi2:0Gxpi2:0"]
model = smq1Q_XYI.target_model()
found = model.sim.bulk_probs(to_circuits(names, line_labels=(0,)), resource_alloc=ResourceAllocation(comm))
if comm.rank == 0:
    for circuit, outcomes in found.items():
        print(circuit.str, [round(abs(float(value)), 6) for value in outcomes.values()])
