"""QuTiP applies a function to values in a pool of MPI ranks."""

import qutip


def occupation(levels):
    """The expectation of the number operator."""
    return float(qutip.expect(qutip.num(levels), qutip.basis(levels, levels - 1)))


if __name__ == "__main__":
    print(qutip.solver.parallel.mpi_pmap(occupation, [2, 3, 4, 5], map_kw={"num_cpus": 2}))
