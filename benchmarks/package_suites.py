"""The test suites that benchmarks/package_tests.py runs: which tests of which sdist, with which command.

    python benchmarks/package_suites.py        print the names of the packages whose suites are quick

.ci/full installs these and runs their suites.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """The tests of a package: a directory of its sdist, and a command that follows `python`.

    `ranks`: 0 if the tests themselves start mpirun or mpiexec. `marked`: the tests have markers that the pytest plugin
    knows. `quick`: .ci/full runs the suite.
    """

    name: str
    tests: str
    command: str = "-m pytest ."
    ranks: int = 2
    marked: bool = False
    quick: bool = False

    def started(self):
        """Return the cell that says what is run."""
        return f"`{f'-n {self.ranks} ' if self.ranks else ''}{self.command}` in `{self.tests}`"


SUITES = [
    Suite("mpi_list", "tests", ranks=3, quick=True),
    Suite("mpiplus", "mpiplus/tests", quick=True),
    Suite("schwimmbad", "tests", "test_mpi.py", quick=True),
    Suite("distwq", "tests", "test_distwq.py", ranks=3, quick=True),
    Suite("fluiddyn", ".", "-m pytest fluiddyn/util/test/test_mpi.py", quick=True),
    Suite("mpinum", "tests", "-m pytest testCubeDecomp.py testDistArray.py testGet.py testGhostedDistArray.py", quick=True),
    Suite("mpiarray", ".", "-m pytest src/mpiarray/tests/unit"),
    Suite("pylops-mpi", "tests", "-m pytest --with-mpi test_stack.py", marked=True),
    Suite("NuMPI", "test", "-m pytest Tools"),
    Suite("litebird_sim", "test", "-m pytest test_mpi.py"),
    Suite("mpi4py-fft", "tests", "-m pytest test_darray.py test_pencil.py"),
    Suite("cobaya", "tests", "-m pytest --with-mpi -m mpi test_ref.py", marked=True),
    Suite("ultranest", "tests", "-m pytest test_run.py -k 'custom_comm or comm_none'"),
    Suite("pyGSTi", "test/unit/mpi", "run_me_with_mpiexec.py"),
    Suite("nifty8", "test", "-m pytest test_mpi/test_sync.py"),
    Suite(
        "qutip",
        "qutip/tests/solver",
        "-m mpi4py.futures -m pytest --pyargs qutip.tests.solver.test_parallel -k mpi",
        ranks=3,
    ),
    Suite("smcpy", ".", "-m pytest tests/integration tests/unit/test_mpi_utils.py tests/unit/test_parallel_mcmc.py"),
    Suite("ipie", ".", "-m pytest ipie/systems/tests/test_generic.py ipie/propagation/tests/test_generic_chunked.py"),
    Suite("mpi-sppy", "mpisppy/tests", "-m pytest test_spwindow_multisource.py", ranks=6),
    Suite("libensemble", "libensemble/tests/functionality_tests", "test_mpi_comms.py", ranks=4),
    Suite("libensemble", "libensemble/tests/functionality_tests", "test_1d_splitcomm.py", ranks=4),
    Suite("libensemble", "libensemble/tests/functionality_tests", "test_1d_uniform_sampling_with_comm_dup.py", ranks=4),
    Suite("libensemble", "libensemble/tests/functionality_tests", "test_worker_exceptions.py", ranks=4),
    Suite("dask-mpi", "dask_mpi/tests", "-m pytest test_initialize.py", ranks=0),
]

if __name__ == "__main__":
    print(*(suite.name for suite in SUITES if suite.quick))
