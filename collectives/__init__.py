"""Collective algorithms written with point-to-point messages only.

The same source runs on a real MPI library (with an mpi4py communicator) and on the emulator. Every algorithm has claims
that can be verified: rounds, bytes sent, scratch memory and modeled time are functions of a case.

The machine model of all claims: p processes, numbered 0 .. p-1, start at time 0. A message of k bytes takes
t_s + k t_w: the start-up time t_s, and t_w seconds per byte. Single port: a process participates in at most one send and
one receive at a time. Full duplex: this send and this receive may overlap, also with different partners. Synchronous: a
transfer starts when the send and the matching receive are posted and both ports are free, occupies both ports until its
end, and both operations complete then; there is no buffering. Combining k bytes of two operands of a reduction takes k c
on the process that combines them, which does not send or receive meanwhile; c is 0 by default, and all other local
work is free. m is the number of bytes of one rank's block, or of the whole message for operations without blocks
(bcast, reduce, allreduce, scan). Empty blocks are not sent. The number of rounds is the length of the longest chain of
dependent messages.

Contents; to write an algorithm, read `tools` and `catalogue`:

tools/             functions that algorithms call: messages, blocks, numbers, the communicator's interface
catalogue/         Algorithm, Case, claims and schedules
patterns/          code that algorithms within a group share: rings, trees, pairs, pipelines
inter_patterns/    code that algorithms between two groups share
intra/             intra/<operation>/<name>.py: one algorithm, <operation>_<name>(comm, ...)
inter/             inter/<operation>/<name>.py: one algorithm between two groups, <operation>_<name>(inter, local, ...)
chain/             groups as chains of ranks: scans, collectives, trees; chain/sort/<name>.py: sorts
split/             split/<name>.py: split_<name>(comm or chain, color, key) returns the chain of a group
comm_creation/     agreement on a new communicator: create_group, create_intercomm, merge
files/             collective file access: write_all, read_all
levels             chains of several levels (node, switch, power supply), and redundancy sets across them
entries            CATALOGUE, find, fitting; `python -m collectives` lists the catalogue
bundled            the algorithms of this package
neighbors          modules next to the file of a user's algorithm
loading            algorithms of installed packages, and of a file: load(path)
pickling           pickles objects with algorithms as references, for workers
schedules/         schedules as data: import (GOAL, MSCCL, JSON), verify, run, export
verification/      verify(ALGORITHM): check results and claims on many cases
block_sizes        block sizes of blocked rings
distributions      distributions of data over ranks
simulation         an irregular allgatherv derived from a regular allgather
trials/            cases, arguments and timing for measurements
measure            `python -m collectives.measure`: measure algorithms on a machine
measure_options    the options of collectives.measure

PYTEST_DONT_REWRITE: this package is installed with a pytest plugin, and pytest warns about modules of such a distribution
that are imported before the plugin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.declaration import algorithm
from collectives.entries import CATALOGUE, find, fitting

__all__ = ["CATALOGUE", "Algorithm", "Case", "UnsupportedCaseError", "algorithm", "find", "fitting", "verify"]

if TYPE_CHECKING:
    from collectives.verification.sweep import verify
else:  # so that type checkers report names that do not exist

    def __getattr__(name: str) -> Any:
        """Import `verify` when it is first used, which keeps `import collectives` fast."""
        if name != "verify":
            raise AttributeError(f"module 'collectives' has no attribute {name!r}")
        from collectives.verification.sweep import verify

        return verify

    def __dir__() -> list[str]:
        return sorted([*globals(), "verify"])
