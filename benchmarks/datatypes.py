"""The cost of derived datatypes: packing, unpacking, and a message of a rank to itself, small and large.

    python benchmarks/datatypes.py [--real] [case ...]

Microseconds and gigabytes per second of CPU time, the minimum of several samples. With `--real`, mpi4py on the installed MPI
does the same in the same process (without mpiexec), alternately, and the last column of each call is the ratio of fakempi's
time to MPI's: below 1 fakempi is faster. A case is selected by the beginning of its name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import fakempi
from fakempi import MPI as EMULATED

SIZES = {"small": 96, "large": 10_000_000}
Make = Callable[[Any, int], tuple[Any, int]]


class Case(NamedTuple):
    """A committed datatype of one MPI, the number of elements to pack, and the bytes of memory that they span."""

    datatype: Any
    count: int
    memory: int

    @property
    def packed(self) -> int:
        """Number of packed bytes."""
        return int(self.datatype.Get_size()) * self.count


def _vector(length: int) -> Make:
    def make(mpi: Any, doubles: int) -> tuple[Any, int]:
        return mpi.DOUBLE.Create_vector(doubles // length, length, 2 * length), 1

    return make


def _subarray(sizes: Callable[[int], tuple[list[int], list[int]]]) -> Make:
    """A subarray that starts at index 1 on the axes that it does not cover completely."""

    def make(mpi: Any, doubles: int) -> tuple[Any, int]:
        whole, part = sizes(doubles)
        starts = [int(n < m) for n, m in zip(part, whole, strict=True)]
        return mpi.DOUBLE.Create_subarray(whole, part, starts), 1

    return make


def _square(doubles: int) -> int:
    return max(2, int(doubles**0.5))


def _scattered(length: int) -> Make:
    def make(mpi: Any, doubles: int) -> tuple[Any, int]:
        places = np.random.default_rng(1).permutation(2 * doubles // length)[: doubles // length] * length
        return mpi.DOUBLE.Create_indexed_block(length, places.tolist()), 1

    return make


def _uneven(mpi: Any, doubles: int) -> tuple[Any, int]:
    lengths = np.random.default_rng(1).integers(1, 8, doubles // 4)
    places = np.cumsum(lengths + 1) - lengths
    return mpi.DOUBLE.Create_indexed(lengths.tolist(), places.tolist()), 1


def _even(mpi: Any, doubles: int) -> tuple[Any, int]:
    blocks = doubles // 3
    return mpi.DOUBLE.Create_indexed([3] * blocks, [5 * i for i in range(blocks)]), 1


def _long(mpi: Any, doubles: int) -> tuple[Any, int]:
    lengths = [doubles // 40 + i for i in range(8)]
    return mpi.DOUBLE.Create_indexed(lengths, [(doubles // 20 + 10) * i for i in range(8)]), 5


def _record(mpi: Any, doubles: int) -> tuple[Any, int]:
    """A C struct of an int, two doubles and a char."""
    return mpi.Datatype.Create_struct([1, 2, 1], [0, 8, 24], [mpi.INT, mpi.DOUBLE, mpi.CHAR]), doubles * 8 // 21


def _nested(mpi: Any, doubles: int) -> tuple[Any, int]:
    n = max(1, doubles // 12)
    return mpi.DOUBLE.Create_vector(3, 2, 3).Create_hvector(2, 1, 100).Create_hvector(n, 1, 240), 1


def _columns(mpi: Any, doubles: int) -> tuple[Any, int]:
    """The columns of a square matrix in order."""
    n = _square(doubles)
    return mpi.DOUBLE.Create_vector(n, 1, n).Create_resized(0, 8), n


CASES: dict[str, Make] = {
    "vector of 1": _vector(1),
    "vector of 2": _vector(2),
    "vector of 4": _vector(4),
    "vector of 100": lambda mpi, doubles: _vector(min(100, doubles // 2))(mpi, doubles),
    "vector nested": _nested,
    "subarray, 2-d face": _subarray(lambda n: ([n, 4], [n, 1])),
    "subarray, 2-d block": _subarray(lambda n: ([n // 2, 5], [n // 2, 2])),
    "subarray, 3-d face x": _subarray(lambda n: ([3, _square(n), _square(n)], [1, _square(n), _square(n)])),
    "subarray, 3-d face y": _subarray(lambda n: ([_square(n), 3, _square(n)], [_square(n), 1, _square(n)])),
    "subarray, 3-d face z": _subarray(lambda n: ([_square(n), _square(n), 3], [_square(n), _square(n), 1])),
    "subarray, 3-d inner": _subarray(lambda n: ([_square(n), _square(n) + 2, 3], [_square(n) - 1, _square(n) // 2, 2])),
    "indexed, regular": _even,
    "indexed, doubles": _scattered(1),
    "indexed, blocks of 4": _scattered(4),
    "indexed, uneven": _uneven,
    "indexed, few and long": _long,
    "struct": _record,
    "resized columns": _columns,
}


def case(mpi: Any, name: str, nbytes: int) -> Case:
    """A case with about this number of packed bytes."""
    datatype, count = CASES[name](mpi, nbytes // 8)
    datatype.Commit()
    low, extent = datatype.Get_true_extent()
    full = datatype.Get_extent()[1]
    memory = max(count * full, (count - 1) * full + low + extent)
    if memory >= (count + 1) * full:  # Pack counts whole extents; a resized type may be longer than its extent
        datatype, count = datatype.Create_contiguous(count).Create_resized(0, memory).Commit(), 1
    return Case(datatype, count, memory)


def calls(mpi: Any, what: Case) -> dict[str, Callable[[], Any]]:
    """The functions to measure, by name."""
    comm, datatype, memory = mpi.COMM_SELF, what.datatype, np.zeros(what.memory, np.uint8)
    memory[...] = np.arange(what.memory, dtype=np.uint8)
    other, packed = np.zeros_like(memory), np.zeros(what.packed, np.uint8)
    source, target = [memory, what.count, datatype], [other, what.count, datatype]
    return {
        "Pack": lambda: datatype.Pack(memory, packed, 0, comm),
        "Unpack": lambda: datatype.Unpack(packed, 0, other, comm),
        "Sendrecv": lambda: comm.Sendrecv(source, 0, 0, target, 0, 0),
    }


def quickest(functions: list[Callable[[], Any]], seconds: float, repeats: int = 5) -> list[float]:
    """Seconds per call of each function: the minimum of several alternating repeats of about this duration."""
    rounds = []
    for function in functions:
        function()
        start = process_time()
        function()
        rounds.append(max(1, round(seconds / max(process_time() - start, 1e-6))))
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = process_time()
            for _ in range(rounds[i]):
                function()
            best[i] = min(best[i], (process_time() - start) / rounds[i])
    return best


def line(name: str, nbytes: int, mpis: list[Any], seconds: float) -> str:
    """A row of the table: the emulator, compared with the real MPI if requested."""
    cases = [case(mpi, name, nbytes) for mpi in mpis]
    found, text = [calls(mpi, each) for mpi, each in zip(mpis, cases, strict=True)], f"{name:24}{cases[0].packed:>10}"
    for call in found[0]:
        times = [max(time, 1e-9) for time in quickest([each[call] for each in found], seconds)]
        text += f"{times[0] * 1e6:12.1f}{cases[0].packed / times[0] / 1e9:7.2f}"
        if len(times) > 1:
            text += f"{times[0] / times[1]:7.2f}"
    for each in cases:
        each.datatype.Free()
    return text


def main(comm: Any, arguments: list[str], sizes: dict[str, int] = SIZES, seconds: float = 0.02) -> None:
    """Print the table; this runs on the only rank of a run."""
    mpis, wanted = [EMULATED], tuple(each for each in arguments if each != "--real")
    if "--real" in arguments:
        from mpi4py import MPI as real

        mpis.append(real)
        print(real.Get_library_version().splitlines()[0])
    ratio = f"{'ratio':>7}" if len(mpis) > 1 else ""
    for size, nbytes in sizes.items():
        heads = [f"{call + ' us':>12}{'GB/s':>7}{ratio}" for call in ("Pack", "Unpack", "Sendrecv")]
        print(f"{size:24}{'bytes':>10}" + "".join(heads))
        for name in CASES:
            if name.startswith(wanted or ""):
                print(line(name, nbytes, mpis, seconds))


if __name__ == "__main__":
    fakempi.run(main, 1, sys.argv[1:])
