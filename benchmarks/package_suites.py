"""The test suites that benchmarks/package_tests.py runs: which tests of which sdist, with which command."""

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
    Suite("NuMPI", "test"),
    Suite("pylops-mpi", "tests", "-m pytest --with-mpi .", marked=True),
    Suite("litebird_sim", "test", "-m pytest test_mpi.py test_detector_blocks.py test_binner.py test_seeding.py"),
    Suite("pyspod", "tests", "-m pytest --with-mpi test_utils_parallel.py", marked=True),
    Suite("schwimmbad", "tests", "test_mpi.py"),
    Suite("mpi4py-fft", "tests"),
    Suite("mpiarray", ".", "-m pytest src/mpiarray/tests/unit"),
    Suite("mpsort", "mpsort/tests", "-m pytest --with-mpi .", marked=True),
    Suite("mpi-pytest", "tests", marked=True, ranks=3),
    Suite("mpiplus", "mpiplus/tests"),
    Suite("mpinum", "tests", "-m pytest testCubeDecomp.py testDistArray.py testGet.py testGhostedDistArray.py testRma.py "
          "testGhostedMaskedDistArray.py testLaplacian.py testMaskedDistArray.py testMultiArrayIter.py "
          "testStencilOperator.py testUpwind.py"),
    Suite("cobaya", "tests", "-m pytest -m mpi test_ref.py test_mcmc.py test_minimize.py test_post.py", marked=True),
    Suite("qsonic", "tests", "-m pytest --with-mpi test_mpi_utils.py test_io.py test_catalog.py", marked=True),
    Suite("ipie", ".", "-m pytest ipie/qmc/tests"),
    Suite("mpi-sppy", ".", "-m pytest mpisppy/tests/test_with_cylinders.py mpisppy/tests/test_component_map_usage.py mpisppy/tests/test_comm_lor_check.py mpisppy/tests/test_sputils.py mpisppy/tests/test_overlap_map.py mpisppy/tests/test_spwindow_multisource.py mpisppy/tests/test_spwindow_partial_get.py mpisppy/tests/test_rank_apportionment.py"),
    Suite("pyoperators", "tests", "-m pytest test_mpi.py test_mpi_comms.py"),
    Suite("nifty8", "test", "-m pytest test_mpi"),
    Suite("fluiddyn", ".", "-m pytest fluiddyn/util/test"),
    Suite("pyGSTi", "test", "-m pytest unit/mpi unit/protocols/test_run_mpi.py"),
    Suite("ptmcmcsampler", "tests"),
    Suite("simsopt", "tests", "-m pytest solve/test_mpi.py util/test_mpi_partition.py field/test_mpi_tracing.py"),
    Suite("bet", "test", "-m pytest test_Comm.py"),
    Suite("runtests", "runtests/mpi/tests"),
    Suite("heat", "tests"),
    Suite("distwq", "tests", "test_distwq.py", ranks=3),
    Suite("quimb", "tests/test_matrix/test_linalg", "-m pytest test_mpi_linalg.py"),
    Suite("qutip", "qutip/tests/solver", "-m pytest --pyargs qutip.tests.solver.test_parallel"),
    Suite("ultranest", "tests", "-m pytest test_run.py"),
    Suite("mpiutils", "test"),
    Suite("modred", "modred/tests", "-m pytest testparallel.py testutil.py"),
    Suite("TreeCorr", "tests", "-m pytest test_mpi.py test_mpi3pt.py"),
    Suite("pytest-isolate-mpi", "tests", marked=True),
    Suite("libensemble", "libensemble/tests", "-m pytest unit_tests_mpi_import"),
    Suite("abcpy", "tests", "-m pytest backend_tests_mpi.py"),
    Suite("emcee", "src/emcee/tests", "-m pytest unit"),
    Suite("dynesty", "tests", "-m pytest test_misc.py test_ellipsoid.py"),
    Suite("smcpy", "tests", "-m pytest unit"),
    Suite("Platypus-Opt", "platypus/tests"),
    Suite("spotpy", "tests"),
]  # fmt: skip
