import os
import sys
from mpi4py import MPI

comm = MPI.COMM_WORLD
counter = globals().get("counter", 0) + 1
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    module = __import__(os.path.splitext(os.path.basename(__file__))[0])
    print(
        comm.rank,
        module is sys.modules["__main__"],
        module.counter,
        counter,
        module.comm == comm,
        module.__name__ == "main_reimported",
    )
# when: full
