"""unittest.main with arguments, exit status and setUpModule."""

# args: T.test_a -q
import unittest
import sys
import os
from mpi4py import MPI

comm = MPI.COMM_WORLD


def setUpModule():
    print("setup", comm.rank)


def tearDownModule():
    print("teardown", comm.rank)


class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.comm = comm.Dup()

    @classmethod
    def tearDownClass(cls):
        cls.comm.Free()

    def test_a(self):
        self.assertEqual(self.comm.allreduce(1), 3)
        with self.subTest(i=1):
            self.assertTrue(True)

    @unittest.skipIf(comm.rank == 1, "rank 1")
    def test_b(self):
        pass

    def test_log(self):
        with self.assertLogs("x"):
            pass


if __name__ == "__main__":
    if comm.rank:
        sys.stderr = open(os.devnull, "w")
    unittest.main()
