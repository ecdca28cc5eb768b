"""unittest on every rank; the exit status of failures."""

import io
import sys
import unittest

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()

class Test(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(comm.allreduce(1), size)

    def test_wrong(self):
        self.assertEqual(comm.allreduce(rank), -1)


result = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(Test))
print(rank, result.testsRun, len(result.failures))
sys.exit(not result.wasSuccessful())
