"""Environment variables by which launchers (mpiexec, mpirun, srun) inform each process of its rank.

Descriptors and addresses of a launcher (`PMI_FD`, `PMI_PORT`, `PMIX_SERVER_URI`) are not set and are removed: a program that
a rank starts, and that uses a real MPI, would try to connect to a launcher. Without them it starts as a singleton.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Sequence
from itertools import groupby
from typing import NamedTuple

from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG
from fakempi.mpi.base.process import Process, RunState, Universe

OF_LAUNCHERS = re.compile(
    r"PMI2?_(RANK|SIZE|ID|FD|PORT|HOSTNAME|SPAWNED|JOBID|LOCAL_RANK|LOCAL_SIZE|UNIVERSE_SIZE)|MPI_LOCAL(RANKID|NRANKS)"
    r"|HYDI_CONTROL_FD|PMIX_(?!MCA_).*|OMPI_COMM_WORLD_.*|OMPI_UNIVERSE_SIZE|MV2_COMM_WORLD_.*"
    r"|SLURM_(PROCID|LOCALID|NODEID|NTASKS|NPROCS|NNODES|JOB_NUM_NODES|TASKS_PER_NODE|NTASKS_PER_NODE|GTIDS|TASK_PID|STEPID)"
    r"|SLURM_STEP_.*|PALS_.*|ALPS_APP_PE|FLUX_TASK_(RANK|LOCAL_ID)|JSM_NAMESPACE_.*"
)
"""Names of variables that describe one process of a run. Variables of a launcher around fakempi are removed.

Variables that describe a job (`SLURM_JOB_ID`, `SLURM_CPUS_PER_TASK`) and settings (`OMPI_MCA_*`) are kept.
"""


class Placed(NamedTuple):
    """A process: its rank, its node, and the processes with which it started.

    Attributes
    ----------
    rank, size : in its COMM_WORLD
    local_rank, local_size : among the processes of its COMM_WORLD on its node
    node_rank : among all processes on its node, also those with which it did not start
    node, per_node : the index of its node, and the number of processes of its COMM_WORLD on each node
    hosts : the names of the nodes
    mates : the ranks on its node
    universe_size : the number of processes with which the run has started
    spawned : whether it was spawned
    """

    rank: int
    size: int
    local_rank: int
    local_size: int
    node_rank: int
    node: int
    per_node: Sequence[int]
    hosts: Sequence[str]
    mates: Sequence[int]
    universe_size: int
    spawned: bool


class World(NamedTuple):
    """The nodes of the processes of a COMM_WORLD: the node index and the local rank of each rank, the ranks on each node."""

    node: list[int]
    local: list[int]
    ranks: list[list[int]]
    hosts: list[str]


class ProcessPlaces(RunState):
    """The nodes of each COMM_WORLD of a run, and the variables of launchers around fakempi."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.foreign = [name for name in os.environ if OF_LAUNCHERS.fullmatch(name)]
        self.worlds: dict[int, World] = {}  # by the number of its first process

    def of(self, process: Process) -> Placed:
        """Return the place of a process."""
        members = process.comm_world._local().members
        world = self.worlds.get(members[0])
        if world is None:
            world = self.worlds[members[0]] = self._world(members)
        rank, cost, number = process.comm_world._rank, self.universe.cost, process.number
        node, spawned = world.node[rank], number >= self.universe.started
        local = node_rank = world.local[rank]
        if spawned:
            node_rank = sum(cost.node(other) == cost.node(number) for other in range(number))
        return Placed(
            rank, len(members), local, len(world.ranks[node]), node_rank, node, [len(ranks) for ranks in world.ranks],
            world.hosts, world.ranks[node], self.universe.started, spawned,
        )  # fmt: skip

    def _world(self, members: Sequence[int]) -> World:
        index: dict[Hashable, int] = {}
        found = World([], [], [], [])
        for rank, number in enumerate(members):
            node = index.setdefault(self.universe.cost.node(number), len(index))
            if node == len(found.ranks):
                found.ranks.append([])
                found.hosts.append(self.universe.cost.node_name(number))
            found.node.append(node)
            found.local.append(len(found.ranks[node]))
            found.ranks[node].append(rank)
        return found


def _mpich(at: Placed) -> dict[str, object]:
    spawned: dict[str, object] = {"PMI_SPAWNED": 1} if at.spawned else {}
    return {
        "PMI_RANK": at.rank, "PMI_SIZE": at.size, "MPI_LOCALRANKID": at.local_rank, "MPI_LOCALNRANKS": at.local_size,
        "PMI_HOSTNAME": at.hosts[at.node], "GFORTRAN_UNBUFFERED_PRECONNECTED": "y", **spawned,
    }  # fmt: skip


def _openmpi(at: Placed) -> dict[str, object]:
    return {
        "OMPI_COMM_WORLD_RANK": at.rank, "OMPI_COMM_WORLD_SIZE": at.size, "OMPI_COMM_WORLD_LOCAL_RANK": at.local_rank,
        "OMPI_COMM_WORLD_LOCAL_SIZE": at.local_size, "OMPI_COMM_WORLD_NODE_RANK": at.node_rank,
        "OMPI_UNIVERSE_SIZE": at.universe_size, "PMIX_RANK": at.rank,
    }  # fmt: skip


def _slurm(at: Placed) -> dict[str, object]:
    runs = [(count, len(list(same))) for count, same in groupby(at.per_node)]
    tasks = ",".join(f"{count}(x{times})" if times > 1 else str(count) for count, times in runs)
    nodes, job = len(at.per_node), os.environ.get("SLURM_JOB_ID", "1")
    hosts = ",".join(at.hosts)
    return {
        "SLURM_PROCID": at.rank, "SLURM_NTASKS": at.size, "SLURM_NPROCS": at.size, "SLURM_LOCALID": at.local_rank,
        "SLURM_NODEID": at.node, "SLURM_NNODES": nodes, "SLURM_JOB_NUM_NODES": nodes, "SLURM_TASKS_PER_NODE": tasks,
        "SLURM_STEP_NUM_TASKS": at.size, "SLURM_STEP_NUM_NODES": nodes, "SLURM_STEP_TASKS_PER_NODE": tasks,
        "SLURM_STEP_ID": 0, "SLURM_STEPID": 0, "SLURM_JOB_ID": job, "SLURM_JOBID": job,
        "SLURM_NODELIST": hosts, "SLURM_JOB_NODELIST": hosts, "SLURM_STEP_NODELIST": hosts,
        "SLURMD_NODENAME": at.hosts[at.node], "SLURM_GTIDS": ",".join(map(str, at.mates)),
    }  # fmt: skip


LAUNCHERS: dict[str, Callable[[Placed], dict[str, object]]] = {"mpich": _mpich, "openmpi": _openmpi, "slurm": _slurm}
"""The launchers, and the variables that each of them sets."""


def check_launcher(name: str) -> str:
    """Return the name of a launcher, or raise an error."""
    if name not in LAUNCHERS:
        raise MPIValueError(ERR_ARG, f"program: mpi is {name!r}, but must be one of {', '.join(LAUNCHERS)}.")
    return name


def launcher_variables(name: str, process: Process) -> dict[str, str | None]:
    """Return the variables that a launcher sets for a process, and with None those of other launchers to be removed."""
    places = process.universe.state(ProcessPlaces)
    found = {variable: str(value) for variable, value in LAUNCHERS[name](places.of(process)).items()}
    return dict.fromkeys(places.foreign) | found
