"""The MPI calls of a rank's program: communicators, requests, groups, datatypes, windows, files.

A part imports only parts above it in this list:

interfaces/    Protocols of optional services, and records of requests and resources
base/          constants, handles, errors; process, context, waiting, call matching
failures/      failed processes and ULFM's calls
datatypes/     layouts of elements in memory; packing
buffers/       from a buffer specification or an object to a payload
operations/    reduction operations
point/         point-to-point communication and requests
partitions/    partitioned communication
collective/    collective calls: describe buffers, match calls, choose and run an algorithm
topologies/    Cartesian and graph topologies; neighborhood collectives
comms/         groups and communicators; split, spawn, connect
sessions       sessions: process sets by name, and their groups
windows/       one-sided communication
files/         MPI files
diagnostics/   records for reports: blocked ranks, leaks, polling
singleton      COMM_WORLD outside a run: one rank
public_calls   the hook point of public calls
"""

from __future__ import annotations

from fakempi.mpi.base.current import outside
from fakempi.mpi.base.process import Process


def _singleton() -> Process:
    from fakempi.mpi.singleton import singleton  # imported only if needed

    return singleton()


outside.new_singleton = _singleton
