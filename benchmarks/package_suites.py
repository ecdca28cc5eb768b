"""The test suites that benchmarks/package_tests.py runs: which tests of which sdist, with which command.

    python benchmarks/package_suites.py        print the names of the packages whose suites are quick

.ci/full installs these and runs their suites.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """The tests of a package: a directory of its sdist, and a command that follows `python`.

    `marked`: the tests have markers that the pytest plugin knows. `quick`: .ci/full runs the suite.
    """

    name: str
    tests: str
    command: str = "-m pytest ."
    ranks: int = 2
    marked: bool = False
    quick: bool = False


SUITES = [
    Suite("mpi_list", "tests", ranks=3, quick=True),
    Suite("mpiplus", "mpiplus/tests", quick=True),
    Suite("schwimmbad", "tests", "test_mpi.py", quick=True),
    Suite("distwq", "tests", "test_distwq.py", ranks=3, quick=True),
    Suite("fluiddyn", ".", "-m pytest fluiddyn/util/test/test_mpi.py", quick=True),
    Suite("mpinum", "tests", "-m pytest testCubeDecomp.py testDistArray.py testGet.py testGhostedDistArray.py", quick=True),
    Suite("mpiarray", ".", "-m pytest src/mpiarray/tests/unit"),
    Suite("pylops-mpi", "tests", "-m pytest --with-mpi test_stack.py", marked=True),
    Suite("NuMPI", "test"),
    Suite("litebird_sim", "test", "-m pytest test_mpi.py"),
    Suite("mpi4py-fft", "tests", "-m pytest test_darray.py test_pencil.py test_mpifft.py"),
    Suite("cobaya", "tests", "-m pytest --with-mpi -m mpi test_ref.py", marked=True),
]

if __name__ == "__main__":
    print(*(suite.name for suite in SUITES if suite.quick))
